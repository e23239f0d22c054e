//! Whether anybody takes connections at an address.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long a connection may take to open.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens a connection to one of these addresses, and closes it. Without an address there is nothing
/// to ask.
///
/// # Errors
/// Nobody takes it: why, in words for people.
pub fn takes_connections(addresses: &[SocketAddr]) -> Result<(), String> {
    let mut why = None;
    for address in addresses {
        match TcpStream::connect_timeout(address, PATIENCE) {
            Ok(_) => return Ok(()),
            Err(error) => why = Some(reason(&error)),
        }
    }
    why.map_or(Ok(()), Err)
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        ErrorKind::TimedOut => format!("no connection within {} s", PATIENCE.as_secs()),
        _ => error.to_string(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn one_address_that_answers_is_enough() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = listener.local_addr().unwrap();
        let gone = TcpListener::bind("127.0.0.1:0").unwrap();
        let free = gone.local_addr().unwrap();
        drop(gone);
        assert_eq!(takes_connections(&[free, taken]), Ok(()));
        assert_eq!(takes_connections(&[]), Ok(()));
        let refused = Err("connection refused".to_owned());
        assert_eq!(takes_connections(&[free]), refused);
    }
}
