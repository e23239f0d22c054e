//! The server under test and the plain client that talks to it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use weir_sample::{Options, Server};

/// How long a socket may be silent before a test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Options for a small server on free ports.
pub(crate) fn small() -> Options {
    Options {
        listen: "127.0.0.1:0".parse().unwrap(),
        admin: "127.0.0.1:0".parse().unwrap(),
        threads: 4,
        pool: 2,
        rows: 10_000,
        ..Options::default()
    }
}

pub(crate) fn start(options: &Options) -> Server {
    Server::start(options).unwrap()
}

/// An answer as it came.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn keeps_alive(&self) -> bool {
        self.head.contains("Connection: keep-alive\r\n")
    }
}

/// A connection that can carry several requests.
pub(crate) struct Client {
    pub(crate) socket: BufReader<TcpStream>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            socket: BufReader::new(socket),
        }
    }

    pub(crate) fn send(&mut self, text: &str) {
        self.socket.get_mut().write_all(text.as_bytes()).unwrap();
    }

    /// Reads one answer; none when the server has closed or reset the connection.
    pub(crate) fn receive(&mut self) -> Option<Answer> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            match self.socket.read_line(&mut head) {
                Ok(1..) => {}
                Ok(0) => return None,
                Err(error) => {
                    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
                    return None;
                }
            }
        }
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("Content-Length: "));
        let mut body = vec![0; length.unwrap().parse().unwrap()];
        self.socket.read_exact(&mut body).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Some(Answer {
            status,
            head,
            body: String::from_utf8(body).unwrap(),
        })
    }

    pub(crate) fn ask(&mut self, text: &str) -> Answer {
        self.send(text);
        self.receive().unwrap()
    }

    pub(crate) fn get(&mut self, target: &str) -> Answer {
        self.ask(&format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
    }
}

/// One GET on a connection of its own.
pub(crate) fn get(address: SocketAddr, target: &str) -> Answer {
    Client::connect(address).ask(&format!(
        "GET {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    ))
}

/// One PUT on a connection of its own.
pub(crate) fn put(address: SocketAddr, target: &str) -> Answer {
    Client::connect(address).ask(&format!(
        "PUT {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    ))
}

/// One GET from `count` clients at a time, each on a connection of its own.
pub(crate) fn get_at_once(
    address: SocketAddr,
    target: &'static str,
    count: u32,
) -> Vec<JoinHandle<Answer>> {
    (0..count)
        .map(|_| thread::spawn(move || get(address, target)))
        .collect()
}

/// One GET on `count` connections, sent and not waited for; the connections close when the
/// clients are dropped.
pub(crate) fn occupy(address: SocketAddr, target: &str, count: u32) -> Vec<Client> {
    let send = |_| {
        let mut client = Client::connect(address);
        client.send(&format!("GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        client
    };
    (0..count).map(send).collect()
}

/// Waits for the answers and checks that each is 200.
pub(crate) fn all_answered(clients: Vec<JoinHandle<Answer>>) {
    for client in clients {
        let answer = client.join().unwrap();
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}
