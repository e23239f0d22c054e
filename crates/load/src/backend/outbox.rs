//! Where figures go: a database, over HTTP, UDP or TCP, from a thread of its own.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _, UdpSocket};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

use http::Uri;
use weir_exchange::Exchange;
use weir_plan::{Backend as Element, Database};
use weir_record::failed_to;

use super::{SentFigures, argument, place};
use crate::error::LoadError;
use crate::http::servers::Servers;
use crate::start::spawn;

/// How long a write may take: JMeter's defaults for the connection and the answer
/// (`backend_influxdb.connection_timeout`, `backend_influxdb.socket_timeout`).
const TIMEOUT: Duration = Duration::from_secs(4);
/// Writes that wait for the one before them.
const WRITES_MAX: usize = 8;
/// How long the end of the test waits for the last writes.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a write gets there; never shown, because it may carry credentials.
pub(super) enum Way {
    /// A write over HTTP.
    Http {
        exchange: Box<Exchange>,
        /// The head of each request up to the length of its body.
        head: String,
    },
    /// A datagram.
    Udp { socket: UdpSocket, to: SocketAddr },
    /// A connection that is kept.
    Tcp {
        to: SocketAddr,
        stream: Option<TcpStream>,
    },
}

impl Way {
    /// The way that the arguments of the element name; the error says what is wrong.
    pub(super) fn of(element: &Element<String>, servers: &Servers) -> Result<Self, String> {
        if element.to == Database::Graphite {
            let host = argument(element, "graphiteHost").ok_or("it has no graphiteHost")?;
            let addresses = addresses(&place(element))?;
            servers.may_be_told(host, &addresses)?;
            return Ok(Self::Tcp {
                to: addresses[0],
                stream: None,
            });
        }
        let to = argument(element, "influxdbUrl").ok_or("it has no influxdbUrl")?;
        let class = argument(element, "influxdbMetricsSender").unwrap_or_default();
        if class.ends_with("UdpMetricsSender") {
            let host = to.rsplit_once(':').map_or(to, |(host, _)| host);
            let addresses = addresses(to)?;
            servers.may_be_told(host, &addresses)?;
            let any = if addresses[0].is_ipv6() {
                "[::]:0"
            } else {
                "0.0.0.0:0"
            };
            let socket = UdpSocket::bind(any);
            return Ok(Self::Udp {
                socket: socket.map_err(|error| format!("no socket to send from: {error}"))?,
                to: addresses[0],
            });
        }
        if !to.starts_with("http://") {
            return Err("only http:// is supported".to_owned());
        }
        let uri: Uri = to
            .parse()
            .map_err(|error| format!("influxdbUrl: {error}"))?;
        let host = uri.host().unwrap_or_default();
        let port = uri.port_u16().unwrap_or(80);
        let addresses = addresses(&format!("{host}:{port}"))?;
        servers.may_be_told(host, &addresses)?;
        let path = uri.path_and_query().map_or("/", |path| path.as_str());
        let proof = argument(element, "influxdbToken");
        let proof = proof.map_or(String::new(), |token| {
            format!("Authorization: Token {token}\r\n")
        });
        Ok(Self::Http {
            exchange: Box::new(Exchange::new(addresses[0])),
            head: format!(
                "POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUser-Agent: weir\r\n{proof}Content-Type: \
                 text/plain; charset=UTF-8\r\nContent-Length: "
            ),
        })
    }

    fn send(&mut self, text: &[u8]) -> Result<(), String> {
        match self {
            Self::Http { exchange, head } => {
                let mut request = format!("{head}{}\r\n\r\n", text.len()).into_bytes();
                request.extend_from_slice(text);
                let deadline = Instant::now() + TIMEOUT;
                exchange.ask(request, deadline);
                let answer = exchange.answer(deadline);
                answer.map(|_| ()).map_err(|error| failed_to(&error))
            }
            Self::Udp { socket, to } => {
                let sent = socket.send_to(text, *to);
                sent.map(|_| ()).map_err(|error| error.to_string())
            }
            Self::Tcp { to, stream } => {
                let kept = stream.take().filter(is_open);
                let sent = match kept {
                    Some(kept) => Ok(kept),
                    None => connect(*to),
                };
                let sent = sent.and_then(|mut open| open.write_all(text).map(|()| open));
                *stream = Some(sent.map_err(|error| error.to_string())?);
                Ok(())
            }
        }
    }
}

/// Writes on their way.
#[derive(Debug)]
pub(super) struct Outbox {
    texts: SyncSender<Vec<u8>>,
    outcomes: Receiver<Result<(), String>>,
    to: String,
    writes: u64,
}

impl Outbox {
    /// Opens the way; `to` is what users call it.
    pub(super) fn open(way: Way, to: String) -> Result<Self, LoadError> {
        let (texts, to_send) = sync_channel::<Vec<u8>>(WRITES_MAX);
        let (told, outcomes) = channel();
        let mut way = way;
        spawn("weir-load-post", move || {
            for text in to_send {
                // Whoever waited for the last writes may have gone.
                if told.send(way.send(&text)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self {
            texts,
            outcomes,
            to,
            writes: 0,
        })
    }

    /// Sends a text after those before it.
    pub(super) fn put(&mut self, text: Vec<u8>) {
        self.writes += 1;
        // One that finds no room is lost: it has no outcome.
        drop(self.texts.try_send(text));
    }

    /// Waits a while for the last writes, and tells what became of all.
    pub(super) fn close(self) -> SentFigures {
        let Self {
            texts,
            outcomes,
            to,
            writes,
        } = self;
        drop(texts);
        let until = Instant::now() + PATIENCE;
        let (mut arrived, mut why) = (0, None);
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match outcomes.recv_timeout(left) {
                Ok(Ok(())) => arrived += 1,
                Ok(Err(says)) => {
                    why.get_or_insert(says);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    why.get_or_insert("it does not answer".to_owned());
                    break;
                }
            }
        }
        SentFigures {
            to,
            writes,
            lost_writes: writes - arrived,
            why,
            ..SentFigures::default()
        }
    }
}

fn connect(to: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect_timeout(&to, TIMEOUT)?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    Ok(stream)
}

/// Whether the other side has not closed a connection on which it never says anything.
fn is_open(stream: &TcpStream) -> bool {
    let looked = stream.set_nonblocking(true).and_then(|()| {
        let mut stream = stream;
        stream.read(&mut [0])
    });
    let is_silent = looked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
    is_silent && stream.set_nonblocking(false).is_ok()
}

/// The addresses of a host and port: one at least.
fn addresses(of: &str) -> Result<Vec<SocketAddr>, String> {
    let found = of.to_socket_addrs();
    let found: Vec<SocketAddr> = found.map_err(|error| format!("{of}: {error}"))?.collect();
    if found.is_empty() {
        return Err(format!("{of} has no address"));
    }
    Ok(found)
}
