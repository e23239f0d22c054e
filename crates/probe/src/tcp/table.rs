//! Sockets from the text of `/proc/net/tcp` and `/proc/net/tcp6`; columns as in `proc_pid_net(5)`.

use crate::kernel_text::{hexadecimal, lines, words};

use super::{LISTEN, Socket};

/// The sockets of a table. Lines that are not understood, such as the heading, are passed over.
pub(super) fn sockets(text: &[u8]) -> impl Iterator<Item = Socket> {
    lines(text).filter_map(socket)
}

fn socket(line: &[u8]) -> Option<Socket> {
    let mut columns = words(line);
    let local_port = port(columns.nth(1)?)?;
    let remote_port = port(columns.next()?)?;
    let state = u8::try_from(hexadecimal(columns.next()?)?).ok()?;
    let queues = columns.next()?;
    let (_, receive_queue) = split(queues)?;
    Some(Socket {
        local_port,
        remote_port,
        state,
        receive_queue: match state {
            LISTEN => hexadecimal(receive_queue)?,
            _ => 0,
        },
        queue_limit: None,
    })
}

/// The port of an address.
fn port(address: &[u8]) -> Option<u16> {
    let (_, port) = split(address)?;
    u16::try_from(hexadecimal(port)?).ok()
}

fn split(word: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = word.iter().position(|&byte| byte == b':')?;
    Some((&word[..colon], &word[colon + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_listener_an_accepted_connection_and_one_over_ipv6() {
        let text = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            \x20  0: 0100007F:2378 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 9876 1 0000000000000000 100 0 0 10 0\n\
            \x20  1: 0100007F:2378 0100007F:C350 01 00000000:00000200 00:00000000 00000000     0        0 9877 1 0000000000000000 20 4 30 10 -1\n\
            \x20  2: 0000000000000000FFFF00000100007F:2378 0000000000000000FFFF00000100007F:C352 06 00000000:00000000 03:00000F2C 00000000     0        0 0 3 0000000000000000\n";
        let found: Vec<(u16, u8, u64)> = sockets(text)
            .map(|socket| (socket.local_port, socket.state, socket.receive_queue))
            .collect();
        assert_eq!(found, [(9080, 10, 3), (9080, 1, 0), (9080, 6, 0)]);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text: Vec<u8>) {
            let _ = sockets(&text).count();
        }
    }
}
