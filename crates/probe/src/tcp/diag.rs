//! Sockets from the kernel's socket monitor over netlink: `sock_diag(7)`.
//!
//! The question is one dump with a filter program that makes the kernel leave out every socket of
//! another local port. It is put in the older of the two forms, `TCPDIAG_GETSOCK`, because that
//! takes all address families at once: with the newer one the kernel walks its whole table of
//! connections once for each family, which is most of the cost. The messages are written and read
//! here by hand, because the known crates have no filter programs and allocate for each socket
//! that is told.

use std::fs::File;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
    sockopt,
};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use super::{LISTEN, SYN_SENT, Socket, place};

/// `TCPDIAG_GETSOCK`, `include/uapi/linux/inet_diag.h`.
const GET_SOCKETS: u16 = 18;
/// `NLM_F_REQUEST | NLM_F_DUMP`, `include/uapi/linux/netlink.h`; so are the next two.
const REQUEST_DUMP: u16 = 0x301;
const MESSAGE_ERROR: u16 = 2;
const MESSAGE_DONE: u16 = 3;
/// `INET_DIAG_REQ_BYTECODE`, `include/uapi/linux/inet_diag.h`; so are the next two.
const FILTER: u16 = 1;
const JUMP: u8 = 1;
const LOCAL_PORT_IS: u8 = 11;
const REMOTE_PORT_IS: u8 = 12;
/// Lengths of `nlmsghdr`, `inet_diag_req`, `nlattr` and `inet_diag_msg`.
const HEADER: usize = 16;
const QUESTION: usize = 60;
const ATTRIBUTE: usize = 4;
const ANSWER: usize = 72;
/// What the kernel fills at most in one message of a dump.
const RECEIVE_BYTES: usize = 32 * 1024;
/// The kernel answers at once; this only keeps a watch from hanging if it ever did not.
const PATIENCE: Duration = Duration::from_millis(200);

/// An open socket to the monitor, with the question ready.
#[derive(Debug)]
pub(super) struct SockDiag {
    socket: OwnedFd,
    question: Vec<u8>,
    sequence: u32,
    received: Vec<u8>,
}

impl SockDiag {
    /// Asks for the sockets that have one of these ports.
    pub(super) fn open(ports: &[u16]) -> Result<Self, Errno> {
        Self::ask(question(ports, LOCAL_PORT_IS, states()))
    }

    /// As `open`, in the network namespace of a process: the monitor is asked in the one in which
    /// the socket was made. Only root may go there, and a thread of its own does.
    pub(super) fn open_in_namespace_of(pid: u32, ports: &[u16]) -> Result<Self, Errno> {
        let namespace = File::open(format!("/proc/{pid}/ns/net")).map_err(|_| Errno::ACCESS)?;
        let ports = ports.to_vec();
        let opened = std::thread::spawn(move || {
            let network = Some(LinkNameSpaceType::Network);
            move_into_link_name_space(namespace.as_fd(), network)?;
            Self::open(&ports)
        });
        opened.join().unwrap_or(Err(Errno::IO))
    }

    /// Asks for the attempts to connect to one of these ports.
    pub(super) fn open_attempts(ports: &[u16]) -> Result<Self, Errno> {
        Self::ask(question(ports, REMOTE_PORT_IS, 1 << SYN_SENT))
    }

    fn ask(question: Vec<u8>) -> Result<Self, Errno> {
        let socket = socket_with(
            AddressFamily::NETLINK,
            SocketType::DGRAM,
            SocketFlags::CLOEXEC,
            Some(netlink::SOCK_DIAG),
        )?;
        sockopt::set_socket_timeout(&socket, sockopt::Timeout::Recv, Some(PATIENCE))?;
        Ok(Self {
            socket,
            question,
            sequence: 0,
            received: vec![0; RECEIVE_BYTES],
        })
    }

    /// Gives every socket of the ports to `tell`.
    pub(super) fn each(&mut self, mut tell: impl FnMut(Socket)) -> Result<(), Errno> {
        self.sequence = self.sequence.wrapping_add(1);
        self.question[8..12].copy_from_slice(&self.sequence.to_ne_bytes());
        send(&self.socket, &self.question, SendFlags::empty())?;
        while !self.receive(&mut tell)? {}
        Ok(())
    }

    /// Takes one datagram; true when it was the last of the dump.
    fn receive(&mut self, tell: &mut impl FnMut(Socket)) -> Result<bool, Errno> {
        let (length, _) = recv(
            &self.socket,
            self.received.as_mut_slice(),
            RecvFlags::empty(),
        )?;
        answers(&self.received[..length], self.sequence, tell)
    }
}

/// Reads the messages of a datagram; true when the end of the dump is among them.
fn answers(
    mut datagram: &[u8],
    sequence: u32,
    tell: &mut impl FnMut(Socket),
) -> Result<bool, Errno> {
    while datagram.len() >= HEADER {
        let length = u32_at(datagram, 0) as usize;
        if length < HEADER || length > datagram.len() {
            return Err(Errno::BADMSG);
        }
        let (message, rest) = datagram.split_at(length);
        // Messages are aligned to four bytes; the last one may end short of that.
        datagram = rest
            .get(length.next_multiple_of(4) - length..)
            .unwrap_or(&[]);
        if u32_at(message, 8) != sequence {
            continue;
        }
        let body = &message[HEADER..];
        match u16::from_ne_bytes([message[4], message[5]]) {
            MESSAGE_DONE => return Ok(true),
            MESSAGE_ERROR => return Err(refusal(body)),
            GET_SOCKETS => tell(answer(body).ok_or(Errno::BADMSG)?),
            _ => {}
        }
    }
    Ok(false)
}

/// The reason in an error message: a negative error number.
fn refusal(body: &[u8]) -> Errno {
    let raw = body.first_chunk().map_or(0, |raw| i32::from_ne_bytes(*raw));
    Errno::from_raw_os_error(raw.saturating_neg())
}

/// The parts of an `inet_diag_msg` that are needed.
fn answer(body: &[u8]) -> Option<Socket> {
    let body: &[u8; ANSWER] = body.first_chunk()?;
    let state = body[1];
    let listens = state == LISTEN;
    Some(Socket {
        local_port: u16::from_be_bytes([body[4], body[5]]),
        remote_port: u16::from_be_bytes([body[6], body[7]]),
        state,
        receive_queue: if listens { u32_at(body, 56).into() } else { 0 },
        queue_limit: listens.then(|| u32_at(body, 60).into()),
    })
}

/// Reads four bytes that the caller knows to be there.
fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// The whole request; its sequence number is set when it is sent.
fn question(ports: &[u16], comparison: u8, states: u32) -> Vec<u8> {
    let filter = filter(ports, comparison);
    let attribute = ATTRIBUTE + filter.len();
    let mut request = Vec::with_capacity(HEADER + QUESTION + attribute);
    request.extend(((HEADER + QUESTION + attribute) as u32).to_ne_bytes());
    request.extend(GET_SOCKETS.to_ne_bytes());
    request.extend(REQUEST_DUMP.to_ne_bytes());
    request.extend([0; 8]); // Sequence number, and the kernel as addressee.
    request.extend([0; 4 + 48]); // Any family and socket, no extensions.
    request.extend(states.to_ne_bytes());
    request.extend([0; 4]); // Not used by the kernel.
    request.extend((attribute as u16).to_ne_bytes());
    request.extend(FILTER.to_ne_bytes());
    request.extend(filter);
    request
}

/// One bit for every state that counts.
fn states() -> u32 {
    (0..=12)
        .filter(|&state| state == LISTEN || place(state).is_some())
        .fold(0, |mask, state| mask | 1 << state)
}

/// A program that accepts sockets whose local (or remote) port is one of these.
///
/// For each port: a comparison, its operand, and a jump to the end, which accepts. An operation is
/// four bytes: code, distance when it holds, distance when not. The comparison that fails goes on
/// after the jump, and the last one goes four bytes beyond the end, which rejects
/// (`inet_diag_bc_run` and `inet_diag_bc_audit` in `net/ipv4/inet_diag.c`).
fn filter(ports: &[u16], comparison: u8) -> Vec<u8> {
    const OPERATION: usize = 4;
    const PER_PORT: usize = 3 * OPERATION;
    let mut program = Vec::with_capacity(PER_PORT * ports.len());
    let mut operation = |code: u8, yes: usize, no: u16| {
        program.extend([code, yes as u8]);
        program.extend(no.to_ne_bytes());
    };
    for (at, &port) in ports.iter().enumerate() {
        let to_end = PER_PORT * (ports.len() - at);
        let last = at + 1 == ports.len();
        let if_not = if last { to_end + OPERATION } else { PER_PORT };
        operation(comparison, 2 * OPERATION, if_not as u16);
        operation(0, 0, port);
        operation(JUMP, OPERATION, (to_end - 2 * OPERATION) as u16);
    }
    program
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr, TcpListener};

    #[test]
    fn the_kernel_accepts_the_filter_for_many_ports_and_tells_no_others() {
        let listeners: Vec<TcpListener> = (0..6)
            .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap())
            .collect();
        let mut ports: Vec<u16> = listeners
            .iter()
            .map(|listener| listener.local_addr().unwrap().port())
            .collect();
        let left_out = ports.pop().unwrap();
        let mut told = Vec::new();
        SockDiag::open(&ports)
            .unwrap()
            .each(|socket| told.push(socket.local_port))
            .unwrap();
        assert!(!told.contains(&left_out));
        told.sort_unstable();
        ports.sort_unstable();
        assert_eq!(told, ports);
    }

    #[test]
    fn all_address_families_are_told() {
        let version4 = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = version4.local_addr().unwrap().port();
        // A machine without IPv6 has no second listener, nor one where the port is taken there.
        let version6 = TcpListener::bind((Ipv6Addr::LOCALHOST, port));
        let mut told = Vec::new();
        let mut monitor = SockDiag::open(&[port]).unwrap();
        monitor.each(|socket| told.push(socket.state)).unwrap();
        if version6.is_ok() {
            assert_eq!(told, [LISTEN, LISTEN]);
        }
    }

    #[test]
    fn a_refusal_carries_its_reason() {
        let mut message = Vec::new();
        message.extend(20_u32.to_ne_bytes());
        message.extend(MESSAGE_ERROR.to_ne_bytes());
        message.extend([0; 2]);
        message.extend(9_u32.to_ne_bytes());
        message.extend([0; 4]);
        message.extend((-13_i32).to_ne_bytes());
        let refused = answers(&message, 9, &mut |_| {});
        assert_eq!(refused, Err(Errno::ACCESS));
        assert_eq!(
            answers(&message, 8, &mut |_| {}),
            Ok(false),
            "of another question"
        );
    }

    proptest! {
        #[test]
        fn any_datagram_is_taken(datagram: Vec<u8>, length in 0_u32..40) {
            let _ = answers(&datagram, 0, &mut |_| {});
            let mut framed = length.to_ne_bytes().to_vec();
            framed.extend(datagram);
            let _ = answers(&framed, 0, &mut |_| {});
        }
    }
}
