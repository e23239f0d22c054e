//! The connections of the watched ports by TCP state, and the accept queues.
//!
//! A connection counts to the port that it was accepted on (its local port), whatever the address;
//! the clients' ends of connections over loopback are not counted. The kernel's socket monitor,
//! `sock_diag(7)`, is asked for the watched ports only and counts quickly; where it is refused,
//! `/proc/net/tcp` is read, which costs about twice as much and does not know the limit of an
//! accept queue.

mod diag;
mod table;

use crate::files::Files;
use crate::kept_file::KeptFile;
use crate::reading::{Reading, put};

use diag::SockDiag;

/// The states that are told apart, in the order of a connection's life.
///
/// `fin-wait` is FIN-WAIT-1 and FIN-WAIT-2 together: the other side has not closed yet.
const STATES: [&str; 7] = [
    "syn-recv",
    "established",
    "fin-wait",
    "close-wait",
    "last-ack",
    "closing",
    "time-wait",
];

/// Place in [`STATES`] of a state as the kernel numbers it (`include/net/tcp_states.h`); `None` for
/// states that no accepted connection is in. 12 is a half-open connection as the kernel keeps it.
fn place(state: u8) -> Option<usize> {
    Some(match state {
        3 | 12 => 0,
        1 => 1,
        4 | 5 => 2,
        8 => 3,
        9 => 4,
        11 => 5,
        6 => 6,
        _ => return None,
    })
}

/// The kernel's number of a listening socket's state.
const LISTEN: u8 = 10;
/// The kernel's number of the state of a client that waits for the answer to its first packet.
const SYN_SENT: u8 = 2;

/// A socket as either source tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Socket {
    local_port: u16,
    remote_port: u16,
    state: u8,
    /// Of a listening socket: connections that wait to be accepted.
    receive_queue: u64,
    /// Of a listening socket: the most that may wait, where the source knows it.
    queue_limit: Option<u64>,
}

/// What was counted for one port.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PortCount {
    port: u16,
    connections: [u64; STATES.len()],
    listeners: u64,
    accept_queue: u64,
    accept_queue_limit: Option<u64>,
    /// Attempts of this machine to connect to the port; they are not always asked for.
    attempts: Option<u64>,
}

/// What was counted for all watched ports in one second.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Counts(Vec<PortCount>);

impl Counts {
    fn none(ports: &[u16]) -> Self {
        let none = |&port| PortCount {
            port,
            connections: [0; STATES.len()],
            listeners: 0,
            accept_queue: 0,
            accept_queue_limit: Some(0),
            attempts: None,
        };
        Self(ports.iter().map(none).collect())
    }

    fn add(&mut self, socket: Socket) {
        let Some(count) = self
            .0
            .iter_mut()
            .find(|count| count.port == socket.local_port)
        else {
            return;
        };
        if socket.state == LISTEN {
            count.listeners += 1;
            count.accept_queue += socket.receive_queue;
            let limits = count.accept_queue_limit.zip(socket.queue_limit);
            count.accept_queue_limit = limits.map(|(sum, limit)| sum + limit);
        } else if let Some(place) = place(socket.state) {
            count.connections[place] += 1;
        }
    }

    fn add_attempt(&mut self, socket: Socket) {
        let mut ports = self.0.iter_mut();
        if let Some(count) = ports.find(|count| count.port == socket.remote_port) {
            count.attempts = Some(count.attempts.unwrap_or(0) + 1);
        }
    }

    /// Whether connections of a port find no place any more.
    fn is_full(&self) -> bool {
        self.0.iter().any(PortCount::is_full)
    }

    /// Puts them under the ports' numbers, those of the gateway's port under its name.
    fn put_into(&self, gate: Option<u16>, reading: &mut Reading) {
        for count in &self.0 {
            let port = if Some(count.port) == gate {
                GATE.to_owned()
            } else {
                count.port.to_string()
            };
            for (state, connections) in STATES.iter().zip(count.connections) {
                put(
                    reading,
                    format!("tcp.{port}.{state}"),
                    Some(connections as f64),
                );
            }
            let attempts = count.attempts.map(|attempts| attempts as f64);
            put(reading, format!("tcp.{port}.syn-sent"), attempts);
            // Without a listener there is no queue, which is not the same as an empty one.
            if count.listeners > 0 {
                let queue = count.accept_queue as f64;
                put(reading, format!("tcp.{port}.accept-queue"), Some(queue));
                let limit = count.accept_queue_limit.map(|limit| limit as f64);
                put(reading, format!("tcp.{port}.accept-queue.limit"), limit);
            }
        }
    }
}

impl PortCount {
    fn is_full(&self) -> bool {
        self.listeners > 0
            && self
                .accept_queue_limit
                .is_some_and(|limit| self.accept_queue >= limit)
    }
}

/// What stands for its number in the signals of a gateway's port.
const GATE: &str = "gate";

/// The watched ports and where their sockets are read.
#[derive(Debug)]
pub(crate) struct Tcp {
    ports: Vec<u16>,
    /// Which of them is that of a gateway in front of the target.
    gate: Option<u16>,
    /// Where the tables of their network namespace are.
    folder: String,
    source: Source,
    attempts: Option<SockDiag>,
}

/// The tables of this network namespace.
const OWN: &str = "/proc/net";

#[derive(Debug)]
enum Source {
    Monitor(SockDiag),
    Tables([KeptFile; 2]),
}

impl Source {
    /// The tables in a folder, which are those of a network namespace.
    fn tables(ports: &[u16], folder: &str) -> Self {
        let ports: Vec<String> = ports.iter().map(|port| format!("{port:04X}")).collect();
        // Of the other side's address the port is never needed.
        let local = format!(":({})$", ports.join("|"));
        let table = |name: &str| KeptFile::table(format!("{folder}/{name}"), local.as_str());
        Self::Tables([table("tcp"), table("tcp6")])
    }
}

/// Whether the text of a table of sockets has a connection between these ports.
pub(crate) fn has_connection(table: &[u8], local: u16, remote: u16) -> bool {
    table::sockets(table).any(|one| one.local_port == local && one.remote_port == remote)
}

fn in_order(ports: &[u16]) -> Vec<u16> {
    let mut ports = ports.to_vec();
    ports.sort_unstable();
    ports.dedup();
    ports
}

impl Tcp {
    pub(crate) fn new(ports: &[u16]) -> Self {
        let ports = in_order(ports);
        Self::asking(SockDiag::open(&ports).ok(), ports, OWN.to_owned())
    }

    /// The ports of the network namespace of a process, which is another one than this.
    pub(crate) fn of_namespace(ports: &[u16], pid: u32) -> Self {
        let ports = in_order(ports);
        let monitor = SockDiag::open_in_namespace_of(pid, &ports).ok();
        Self::asking(monitor, ports, format!("/proc/{pid}/net"))
    }

    fn asking(monitor: Option<SockDiag>, ports: Vec<u16>, folder: String) -> Self {
        Self {
            source: monitor.map_or_else(|| Source::tables(&ports, &folder), Source::Monitor),
            // Clients are in this namespace, wherever the server is.
            attempts: SockDiag::open_attempts(&ports).ok(),
            ports,
            gate: None,
            folder,
        }
    }

    /// This watch; one of the ports is a gateway's, whose number says nothing.
    pub(crate) fn naming_gate(self, gate: Option<u16>) -> Self {
        Self { gate, ..self }
    }

    /// The ports of another machine, whose socket monitor cannot be asked.
    pub(crate) fn of_tables(ports: &[u16]) -> Self {
        let ports = in_order(ports);
        Self {
            source: Source::tables(&ports, OWN),
            ports,
            gate: None,
            folder: OWN.to_owned(),
            attempts: None,
        }
    }

    pub(crate) fn sample(&mut self, files: &mut Files, reading: &mut Reading) {
        if let Some(counts) = self.count(files) {
            counts.put_into(self.gate, reading);
        }
    }

    /// Counts the clients of this machine that get no answer, while an accept queue is full: the
    /// question costs another walk through all connections.
    fn count_attempts(&mut self, counts: &mut Counts) {
        let Some(monitor) = self.attempts.as_mut().filter(|_| counts.is_full()) else {
            return;
        };
        for count in counts.0.iter_mut().filter(|count| count.is_full()) {
            count.attempts = Some(0);
        }
        if monitor.each(|socket| counts.add_attempt(socket)).is_err() {
            for count in &mut counts.0 {
                count.attempts = None;
            }
        }
    }

    fn count(&mut self, files: &mut Files) -> Option<Counts> {
        if let Source::Monitor(monitor) = &mut self.source {
            let mut counts = Counts::none(&self.ports);
            if monitor.each(|socket| counts.add(socket)).is_ok() {
                self.count_attempts(&mut counts);
                return Some(counts);
            }
            // Refused, or too old for the question: the tables from now on.
            self.source = Source::tables(&self.ports, &self.folder);
        }
        let Source::Tables([version4, version6]) = &mut self.source else {
            return None;
        };
        let mut counts = Counts::none(&self.ports);
        table::sockets(version4.read(files)?).for_each(|socket| counts.add(socket));
        // A machine without IPv6 has no second table.
        if let Some(text) = version6.read(files) {
            table::sockets(text).for_each(|socket| counts.add(socket));
        }
        Some(counts)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
#[expect(clippy::float_cmp, reason = "the figures are whole numbers")]
mod tests {
    use super::*;
    use rustix::net::{
        AddressFamily, SocketFlags, SocketType, bind, connect, getsockname, listen, socket_with,
    };
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
    use std::os::fd::OwnedFd;

    fn connection(local_port: u16, state: u8) -> Socket {
        Socket {
            local_port,
            remote_port: 0,
            state,
            receive_queue: 0,
            queue_limit: None,
        }
    }

    #[test]
    fn two_listeners_on_a_port_add_up() {
        let mut counts = Counts::none(&[80, 81]);
        for (receive_queue, limit) in [(3, 128), (4, 511)] {
            counts.add(Socket {
                local_port: 80,
                remote_port: 0,
                state: LISTEN,
                receive_queue,
                queue_limit: Some(limit),
            });
        }
        counts.add(connection(80, 12));
        counts.add(connection(80, 3));
        counts.add(connection(4000, 1));
        let mut reading = Reading::new();
        counts.put_into(None, &mut reading);
        assert_eq!(reading["tcp.80.accept-queue"], 7.0);
        assert_eq!(reading["tcp.80.accept-queue.limit"], 639.0);
        assert_eq!(reading["tcp.80.syn-recv"], 2.0);
        assert_eq!(reading["tcp.80.established"], 0.0, "none is a count");
        assert!(!reading.contains_key("tcp.81.accept-queue"), "no listener");
        assert!(!reading.keys().any(|name| name.as_str().contains("4000")));
    }

    #[test]
    fn who_gets_no_answer_is_counted_while_the_queue_is_full() {
        let listener = socket_with(
            AddressFamily::INET,
            SocketType::STREAM,
            SocketFlags::CLOEXEC,
            None,
        )
        .unwrap();
        bind(&listener, &SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
        // The kernel lets one more wait than was asked for.
        listen(&listener, 1).unwrap();
        let address: SocketAddr = getsockname(&listener).unwrap().try_into().unwrap();
        let mut files = Files::here();
        let mut tcp = Tcp::new(&[address.port()]);
        assert_eq!(
            tcp.count(&mut files).unwrap().0[0].attempts,
            None,
            "there is room"
        );
        let _waiting = [
            TcpStream::connect(address).unwrap(),
            TcpStream::connect(address).unwrap(),
        ];
        assert_eq!(tcp.count(&mut files).unwrap().0[0].attempts, Some(0));
        let attempts: Vec<OwnedFd> = (0..3)
            .map(|_| {
                let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
                let client =
                    socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
                assert_eq!(
                    connect(&client, &address),
                    Err(rustix::io::Errno::INPROGRESS)
                );
                client
            })
            .collect();
        let count = tcp.count(&mut files).unwrap();
        assert_eq!(count.0[0].attempts, Some(attempts.len() as u64));
        let mut reading = Reading::new();
        count.put_into(None, &mut reading);
        assert_eq!(
            reading[format!("tcp.{}.syn-sent", address.port()).as_str()],
            3.0
        );
    }

    #[test]
    fn both_sources_count_the_same() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let clients: Vec<TcpStream> = (0..5)
            .map(|_| TcpStream::connect(address).unwrap())
            .collect();
        let _accepted = [listener.accept().unwrap(), listener.accept().unwrap()];
        let mut files = Files::here();
        let mut tcp = Tcp::new(&[address.port()]);
        assert!(matches!(tcp.source, Source::Monitor(_)));
        let by_monitor = tcp.count(&mut files).unwrap();
        tcp.source = Source::tables(&tcp.ports, OWN);
        // The kernel gives a table page by page: while others connect, rows stand in it twice.
        let mut as_monitor = || {
            let mut by_tables = tcp.count(&mut files).unwrap();
            assert_eq!(by_tables.0[0].accept_queue_limit, None);
            by_tables.0[0].accept_queue_limit = by_monitor.0[0].accept_queue_limit;
            by_tables == by_monitor
        };
        assert!((0..100).any(|_| as_monitor()), "{by_monitor:?}");
        assert_eq!(
            by_monitor.0[0].connections,
            [0, clients.len() as u64, 0, 0, 0, 0, 0]
        );
        assert_eq!(by_monitor.0[0].accept_queue, 3);
    }
}
