//! One question at a time over one kept connection: the smallest HTTP/1.1 client that does it.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use socket2::{Domain, SockAddr, Socket, Type};

use crate::response::{LARGEST_BODY_BYTES, body, head};

/// How long sending a question waits for a connection, at most: that of this machine or its
/// neighbour is there by then. A slower one is waited for when the answer is, so that it does not
/// keep others from being asked.
const CONNECTS_AT_ONCE: Duration = Duration::from_millis(3);

/// One server that is asked, and the connection to it.
///
/// A connection that fails is opened anew the next time; one that the server had closed since the
/// last answer is opened anew at once, and the question is asked again.
///
/// ```
/// use std::time::{Duration, Instant};
/// use weir_exchange::{Exchange, MetricsUrl};
///
/// let url: MetricsUrl = "http://127.0.0.1:9/metrics".parse()?;
/// let mut exchange = Exchange::new(url.address());
/// let deadline = Instant::now() + Duration::from_secs(1);
/// exchange.ask(url.get(), deadline);
/// assert!(exchange.answer(deadline).is_err(), "nobody listens there");
/// # Ok::<(), weir_exchange::UrlError>(())
/// ```
pub struct Exchange {
    address: SockAddr,
    request: Vec<u8>,
    /// A connection that is not complete yet; the question is still to be sent.
    opening: Option<Socket>,
    connection: Option<Socket>,
    /// Why there is no connection.
    refused: Option<ExchangeError>,
    /// Whether the connection has answered before.
    kept: bool,
    received: Vec<u8>,
}

/// Without the question: it may carry credentials.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Why there is no answer; each message fits after "failed to ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExchangeError {
    /// There is no connection.
    #[error("connect")]
    Connect(#[source] io::Error),
    /// The connection failed.
    #[error("send or receive")]
    Transfer(#[source] io::Error),
    /// The server closed the connection before it answered.
    #[error("get an answer: the connection was closed before one came")]
    Closed,
    /// The answer did not come until the deadline.
    #[error("get an answer in time")]
    TooLate,
    /// It answered with another status than 200 and 204.
    #[error("get an answer: the status is {code} ({says})")]
    Status {
        /// The status.
        code: u16,
        /// The start of the body, in one line.
        says: String,
    },
    /// What came is not HTTP, or was cut short.
    #[error("read the answer: it is not a whole HTTP response")]
    NotHttp,
    /// The answer is larger than what is read.
    #[error("read the answer: it has more than {LARGEST_BODY_BYTES} bytes")]
    TooLarge,
}

impl Exchange {
    /// With the server at this address; nothing is sent yet.
    pub fn new(address: SocketAddr) -> Self {
        Self::with(address.into())
    }

    /// With the server that listens at this path; an error if no socket can have it.
    pub fn at_path(path: &Path) -> io::Result<Self> {
        SockAddr::unix(path).map(Self::with)
    }

    fn with(address: SockAddr) -> Self {
        Self {
            address,
            request: Vec::new(),
            opening: None,
            connection: None,
            refused: None,
            kept: false,
            received: Vec::new(),
        }
    }

    /// Sends a request; whether that worked shows when the answer is read.
    pub fn ask(&mut self, request: Vec<u8>, deadline: Instant) {
        self.request = request;
        self.send(deadline.min(Instant::now() + CONNECTS_AT_ONCE), deadline);
    }

    /// As `ask`, over a new connection, so that it is never sent twice: for requests that change
    /// something.
    pub fn ask_once(&mut self, request: Vec<u8>, deadline: Instant) {
        self.connection = None;
        self.ask(request, deadline);
    }

    /// The body of the answer. No answer until the deadline ends the connection.
    pub fn answer(&mut self, deadline: Instant) -> Result<Vec<u8>, ExchangeError> {
        let was_kept = self.kept;
        if self.opening.is_some() {
            self.send(deadline, deadline);
        }
        let mut answer = self.receive(deadline);
        if was_kept && matches!(answer, Err(ExchangeError::Closed)) {
            self.connection = None;
            self.send(deadline, deadline);
            answer = self.receive(deadline);
        }
        if answer.is_err() {
            self.connection = None;
        }
        self.opening = None;
        answer
    }

    /// Sends the question over the connection that there is, or over a new one when that is there
    /// in time.
    fn send(&mut self, connected_until: Instant, deadline: Instant) {
        self.refused = None;
        let sent = match self.connected(connected_until) {
            Ok(()) => self.write(deadline),
            // It is still opening: tried again when the answer is wanted.
            Err(ExchangeError::TooLate) if self.opening.is_some() => return,
            Err(error) => Err(error),
        };
        if let Err(error) = sent {
            (self.opening, self.connection) = (None, None);
            self.refused = Some(error);
        }
    }

    fn connected(&mut self, until: Instant) -> Result<(), ExchangeError> {
        if self.connection.is_some() {
            return Ok(());
        }
        self.kept = false;
        let opening = match self.opening.take() {
            Some(opening) => opening,
            None => open(&self.address).map_err(ExchangeError::Connect)?,
        };
        let is_open = opened(&opening, until).map_err(ExchangeError::Connect)?;
        if is_open {
            opening
                .set_nonblocking(false)
                .map_err(ExchangeError::Connect)?;
            if self.address.domain() != Domain::UNIX {
                opening
                    .set_tcp_nodelay(true)
                    .map_err(ExchangeError::Connect)?;
            }
            self.connection = Some(opening);
            return Ok(());
        }
        self.opening = Some(opening);
        Err(ExchangeError::TooLate)
    }

    fn write(&self, deadline: Instant) -> Result<(), ExchangeError> {
        let mut connection = self.connection.as_ref().ok_or(ExchangeError::Closed)?;
        time_left(connection, deadline)?;
        connection.write_all(&self.request).map_err(failed)
    }

    fn receive(&mut self, deadline: Instant) -> Result<Vec<u8>, ExchangeError> {
        self.received.clear();
        let Some(mut connection) = self.connection.as_ref() else {
            let opening = self.opening.take().map(|_| ExchangeError::TooLate);
            let why = opening.or(self.refused.take());
            return Err(why.unwrap_or(ExchangeError::Closed));
        };
        let (head, body) = loop {
            let ended = read_some(&mut connection, &mut self.received, deadline)?;
            if ended && self.received.is_empty() {
                return Err(ExchangeError::Closed);
            }
            if let Some(head) = head(&self.received)? {
                let received = &self.received[head.length..];
                if let Some(body) = body(received, head.body, ended)? {
                    break (head, body);
                }
            }
            if self.received.len() > LARGEST_BODY_BYTES {
                return Err(ExchangeError::TooLarge);
            }
            if ended {
                return Err(ExchangeError::NotHttp);
            }
        };
        self.kept = head.keep;
        if !head.keep {
            self.connection = None;
        }
        match head.status {
            200 | 204 => Ok(body),
            code => Err(ExchangeError::Status {
                code,
                says: start_of(&body),
            }),
        }
    }
}

/// As much of a text as fits into a message, its white space as single spaces.
fn start_of(body: &[u8]) -> String {
    const CHARACTERS: usize = 300;
    let text = String::from_utf8_lossy(body);
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(CHARACTERS).collect()
}

/// Begins a connection without waiting for it.
fn open(address: &SockAddr) -> io::Result<Socket> {
    let socket = Socket::new(address.domain(), Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    match socket.connect(address) {
        Err(error) if Errno::from_io_error(&error) != Some(Errno::INPROGRESS) => Err(error),
        _ => Ok(socket),
    }
}

/// Whether a connection is complete, waiting for it until a moment.
fn opened(connection: &Socket, until: Instant) -> io::Result<bool> {
    let left = until.saturating_duration_since(Instant::now());
    let left = Timespec {
        tv_sec: left.as_secs().cast_signed(),
        tv_nsec: left.subsec_nanos().into(),
    };
    let mut wanted = [PollFd::new(connection, PollFlags::OUT)];
    match poll(&mut wanted, Some(&left)) {
        // A signal came first; it is asked again when the answer is.
        Ok(0) | Err(Errno::INTR) => return Ok(false),
        Ok(_) => {}
        Err(error) => return Err(error.into()),
    }
    connection.take_error()?.map_or(Ok(true), Err)
}

/// Sets what is left until the deadline as the longest wait.
fn time_left(connection: &Socket, deadline: Instant) -> Result<(), ExchangeError> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(ExchangeError::TooLate);
    }
    connection
        .set_read_timeout(Some(left))
        .and_then(|()| connection.set_write_timeout(Some(left)))
        .map_err(ExchangeError::Transfer)
}

/// Appends what one read gives; true at the end of the connection.
fn read_some(
    connection: &mut &Socket,
    received: &mut Vec<u8>,
    deadline: Instant,
) -> Result<bool, ExchangeError> {
    const READ_BYTES: usize = 16 * 1024;
    time_left(connection, deadline)?;
    let filled = received.len();
    received.resize(filled + READ_BYTES, 0);
    let read = connection.read(&mut received[filled..]);
    received.truncate(filled + *read.as_ref().unwrap_or(&0));
    match read {
        Ok(read) => Ok(read == 0),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(failed(error)),
    }
}

/// What an error of a connection means.
fn failed(error: io::Error) -> ExchangeError {
    match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => ExchangeError::Closed,
        ErrorKind::WouldBlock | ErrorKind::TimedOut => ExchangeError::TooLate,
        _ => ExchangeError::Transfer(error),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::MetricsUrl;
    use std::net::{Ipv4Addr, TcpListener, TcpStream};
    use std::thread::JoinHandle;
    use std::time::Duration;

    /// A server that gives each connection these answers, one per request, and then closes it.
    fn serve(connections: Vec<Vec<&'static str>>) -> (Asker, JoinHandle<usize>) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        let server = std::thread::spawn(move || {
            let mut requests = 0;
            for answers in connections {
                let (mut connection, _) = listener.accept().unwrap();
                for answer in answers {
                    requests += usize::from(read_request(&mut connection));
                    connection.write_all(answer.as_bytes()).unwrap();
                }
            }
            requests
        });
        (Asker::new(&url), server)
    }

    fn read_request(connection: &mut TcpStream) -> bool {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            if connection.read(&mut byte).unwrap() == 0 {
                return false;
            }
            request.push(byte[0]);
        }
        request.starts_with(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:")
    }

    struct Asker {
        url: MetricsUrl,
        exchange: Exchange,
    }

    impl Asker {
        fn new(url: &str) -> Self {
            let url: MetricsUrl = url.parse().unwrap();
            let exchange = Exchange::new(url.address());
            Self { url, exchange }
        }

        /// The answer, or the start of the error's message.
        fn page(&mut self) -> Result<String, String> {
            // Long, so that a busy machine does not fail the test; nothing waits for it.
            let deadline = Instant::now() + Duration::from_secs(30);
            self.exchange.ask(self.url.get(), deadline);
            let answer = self.exchange.answer(deadline);
            answer
                .map(|body| String::from_utf8(body).unwrap())
                .map_err(|error| error.to_string())
        }
    }

    #[test]
    fn two_pages_over_one_connection_then_a_new_one_when_it_was_closed() {
        const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nup 1\n";
        let (mut asker, server) = serve(vec![vec![PAGE, PAGE], vec![PAGE]]);
        for _ in 0..3 {
            assert_eq!(asker.page().as_deref(), Ok("up 1\n"));
        }
        assert_eq!(server.join().unwrap(), 3);
    }

    #[test]
    fn chunks_and_a_body_that_ends_with_the_connection() {
        let (mut asker, server) = serve(vec![
            vec![
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                3\r\nup \r\n2\r\n1\n\r\n0\r\n\r\n",
            ],
            vec!["HTTP/1.0 200 OK\r\n\r\nup 2\n"],
        ]);
        assert_eq!(asker.page().as_deref(), Ok("up 1\n"));
        assert_eq!(asker.page().as_deref(), Ok("up 2\n"));
        server.join().unwrap();
    }

    #[test]
    fn what_is_not_a_page_is_none() {
        let (mut asker, server) = serve(vec![
            vec!["HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nup 1\n"],
            vec!["HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nup 1\n"],
            vec!["SSH-2.0-server\r\n"],
            vec!["HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"],
        ]);
        for why in [
            "get an answer: the status is 503 (up 1)",
            "read the answer: it is not a whole HTTP response",
            "read the answer: it is not a whole HTTP response",
            "read the answer: it has more than 4194304 bytes",
        ] {
            assert_eq!(asker.page(), Err(why.to_owned()));
        }
        server.join().unwrap();
        assert_eq!(asker.page(), Err("connect".to_owned()), "nobody listens");
    }

    #[test]
    fn a_server_may_listen_at_a_path() {
        let path = std::env::temp_dir().join(format!("weir-exchange-{}", std::process::id()));
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let server = std::thread::spawn(move || {
            let (mut connection, _) = listener.accept().unwrap();
            connection.read_exact(&mut [0; 4]).unwrap();
            let page = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nup 1\n";
            connection.write_all(page).unwrap();
        });
        let mut exchange = Exchange::at_path(&path).unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        exchange.ask(b"GET / HTTP/1.1\r\n\r\n".to_vec(), deadline);
        assert_eq!(exchange.answer(deadline).unwrap(), b"up 1\n");
        server.join().unwrap();
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_must_not_be_sent_twice_goes_over_a_new_connection() {
        const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nup 1\n";
        let (mut asker, server) = serve(vec![vec![PAGE], vec![]]);
        assert_eq!(asker.page().as_deref(), Ok("up 1\n"));
        let deadline = Instant::now() + Duration::from_secs(30);
        asker.exchange.ask_once(asker.url.get(), deadline);
        let answer = asker.exchange.answer(deadline);
        assert!(
            matches!(answer, Err(ExchangeError::Closed)),
            "{answer:?}: a third connection would have been refused"
        );
        assert_eq!(server.join().unwrap(), 1);
    }

    #[test]
    fn one_that_cannot_be_reached_does_not_keep_the_others_waiting() {
        // A full accept queue drops what comes: the connection stays half open.
        let listener = full_listener();
        let mut asker = Asker::new(&format!("http://{}/", listener.local_addr().unwrap()));
        let begun = Instant::now();
        let deadline = begun + Duration::from_millis(100);
        asker.exchange.ask(asker.url.get(), deadline);
        assert!(Instant::now() < deadline, "asking waits a few milliseconds");
        let answer = asker.exchange.answer(deadline);
        assert!(matches!(answer, Err(ExchangeError::TooLate)), "{answer:?}");
        assert!(asker.exchange.opening.is_none());
    }

    /// A listener for one connection more than it has.
    fn full_listener() -> TcpListener {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        socket.bind(&anywhere.into()).unwrap();
        socket.listen(0).unwrap();
        let listener = TcpListener::from(socket);
        let first = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // Stays in the queue, and its end closes with the process.
        std::mem::forget(first);
        listener
    }

    #[test]
    fn a_server_that_does_not_answer_is_given_up_at_the_deadline() {
        // The kernel completes the connection; nobody ever accepts it.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        let mut asker = Asker::new(&url);
        let deadline = Instant::now() + Duration::from_millis(30);
        asker.exchange.ask(asker.url.get(), deadline);
        let answer = asker.exchange.answer(deadline);
        assert!(matches!(answer, Err(ExchangeError::TooLate)), "{answer:?}");
        assert!(Instant::now() >= deadline);
        assert!(
            asker.exchange.connection.is_none(),
            "a late answer must not be taken for the next"
        );
    }
}
