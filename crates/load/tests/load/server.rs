//! A server of plain threads that records every request and answers as it is told.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use socket2::{Domain, SockRef, Socket, Type};

/// A request that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    /// Which connection, from 0, in the order in which they were accepted.
    pub(crate) connection: usize,
    /// Which request of its connection, from 0.
    pub(crate) place: usize,
    /// Request line and header fields.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: String,
    /// When it was complete.
    pub(crate) at: Instant,
}

impl Seen {
    /// The path and query of the request line.
    pub(crate) fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    /// The value of a header field.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.head.lines().skip(1).find_map(|line| {
            let (field, value) = line.split_once(": ")?;
            field.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// What the server does with a request.
pub(crate) enum Reply {
    /// Sends these bytes and reads on.
    Send(Vec<u8>),
    /// Sends these bytes and closes.
    SendAndClose(Vec<u8>),
    /// Waits, then sends these bytes and reads on.
    Late(Duration, Vec<u8>),
    /// Waits before each of these pieces, and reads on.
    Pieces(Duration, Vec<&'static str>),
    /// Resets the connection.
    Reset,
    /// Sends these bytes, leaves some time to read them, and resets the connection.
    SendAndReset(Vec<u8>),
    /// Never answers.
    Hang,
    /// Sends these bytes and nothing more.
    SendAndHang(Vec<u8>),
}

/// A whole response with this status and body.
pub(crate) fn response(status: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .into_bytes()
}

/// A good answer.
pub(crate) fn ok() -> Reply {
    Reply::Send(response("200 OK", "hello"))
}

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    reply: Box<dyn Fn(&Seen) -> Reply + Send + Sync>,
}

impl Server {
    /// A server on 127.0.0.1.
    pub(crate) fn start(reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_on(([127, 0, 0, 1], 0).into(), reply).unwrap()
    }

    /// A server on this address, if this machine has it. It serves until the tests end.
    pub(crate) fn start_on(
        address: SocketAddr,
        reply: impl Fn(&Seen) -> Reply + Send + Sync + 'static,
    ) -> Option<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, None).ok()?;
        socket.bind(&address.into()).ok()?;
        socket.listen(4096).unwrap();
        let listener = TcpListener::from(socket);
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            seen: Mutex::default(),
            connections: AtomicUsize::new(0),
            reply: Box::new(reply),
        });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (stream, shared) = (stream.unwrap(), Arc::clone(&accepting));
                let connection = shared.connections.fetch_add(1, Ordering::SeqCst);
                let builder = thread::Builder::new().stack_size(128 * 1024);
                builder
                    .spawn(move || shared.serve(stream, connection))
                    .unwrap();
            }
        });
        Some(Self { address, shared })
    }

    /// A server that always gives a good answer.
    pub(crate) fn good() -> Self {
        Self::start(|_| ok())
    }

    /// Every request so far, in the order of arrival.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    /// The paths of all requests so far.
    pub(crate) fn paths(&self) -> Vec<String> {
        let seen = self.seen();
        seen.iter().map(|seen| seen.path().to_owned()).collect()
    }

    /// How many connections were accepted so far.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream, connection: usize) {
        for place in 0.. {
            let Some((head, body)) = read_request(&mut stream) else {
                return;
            };
            let seen = Seen {
                connection,
                place,
                head,
                body,
                at: Instant::now(),
            };
            self.seen.lock().unwrap().push(seen.clone());
            // A client that has gone is no concern of the server's.
            let goes_on = match (self.reply)(&seen) {
                Reply::Send(bytes) => stream.write_all(&bytes).is_ok(),
                Reply::Late(wait, bytes) => {
                    thread::sleep(wait);
                    stream.write_all(&bytes).is_ok()
                }
                Reply::Pieces(wait, pieces) => pieces.iter().all(|piece| {
                    thread::sleep(wait);
                    stream.write_all(piece.as_bytes()).is_ok()
                }),
                Reply::SendAndClose(bytes) => {
                    let _ = stream.write_all(&bytes);
                    false
                }
                Reply::Reset => reset(&stream),
                Reply::SendAndReset(bytes) => {
                    let _ = stream.write_all(&bytes);
                    thread::sleep(Duration::from_millis(50));
                    reset(&stream)
                }
                Reply::Hang => hang(&mut stream),
                Reply::SendAndHang(bytes) => {
                    let _ = stream.write_all(&bytes);
                    hang(&mut stream)
                }
            };
            if !goes_on {
                return;
            }
        }
    }
}

/// The end of the stream is a reset.
fn reset(stream: &TcpStream) -> bool {
    let linger = SockRef::from(stream).set_linger(Some(Duration::ZERO));
    linger.unwrap();
    false
}

/// Waits until the client has gone.
fn hang(stream: &mut TcpStream) -> bool {
    let _ = stream.read(&mut [0]);
    false
}

fn read_request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end + 4].to_vec()).unwrap();
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                let is_length = name.eq_ignore_ascii_case("content-length");
                is_length.then(|| value.parse::<usize>().unwrap())
            });
            let length = length.unwrap_or(0);
            if bytes.len() >= end + 4 + length {
                let body = bytes[end + 4..end + 4 + length].to_vec();
                return Some((head, String::from_utf8(body).unwrap()));
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}
