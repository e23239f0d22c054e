//! Reading a page over one kept connection: the smallest HTTP/1.1 client that does it.
//!
//! The question and the answer are two steps, so that a watch reads other things while the server
//! answers, and every wait ends at a deadline. A connection that fails is opened anew the next
//! time; one that the server had closed meanwhile is opened anew at once.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use super::MetricsUrl;

/// The largest page that is read; a page of metrics has some tens of kilobytes.
const LARGEST_PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Header fields that an answer may have.
const MOST_FIELDS: usize = 64;

/// One server's page of metrics.
#[derive(Debug)]
pub(super) struct Scraper {
    url: MetricsUrl,
    request: Vec<u8>,
    connection: Option<TcpStream>,
    /// Whether the connection has answered before.
    kept: bool,
    received: Vec<u8>,
}

/// Why there is no page. What went wrong is not told further: the stages are absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failure {
    /// The server closed the connection before it answered.
    Closed,
    /// Anything else.
    Other,
}

/// How the end of a body is known (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Length(usize),
    Chunked,
    UntilClosed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    length: usize,
    body: Body,
    keep: bool,
}

impl Scraper {
    pub(super) fn new(url: MetricsUrl) -> Self {
        Self {
            request: url.request(),
            url,
            connection: None,
            kept: false,
            received: Vec::new(),
        }
    }

    /// Sends the request; whether that worked shows when the answer is read.
    pub(super) fn ask(&mut self, deadline: Instant) {
        if self.connection.is_none() {
            self.kept = false;
            self.connection = connect(&self.url, deadline);
        }
        let sent = self.connection.as_ref().is_some_and(|mut connection| {
            time_left(connection, deadline).is_some() && connection.write_all(&self.request).is_ok()
        });
        if !sent {
            self.connection = None;
        }
    }

    /// The page, unless it does not come in time or is not one.
    pub(super) fn answer(&mut self, deadline: Instant) -> Option<String> {
        let was_kept = self.kept;
        match self.receive(deadline) {
            Ok(page) => Some(page),
            Err(failure) => {
                self.connection = None;
                if failure != Failure::Closed || !was_kept {
                    return None;
                }
                self.ask(deadline);
                let page = self.receive(deadline);
                if page.is_err() {
                    self.connection = None;
                }
                page.ok()
            }
        }
    }

    fn receive(&mut self, deadline: Instant) -> Result<String, Failure> {
        self.received.clear();
        // Sending may have found that the connection is gone.
        let closed = if self.kept {
            Failure::Closed
        } else {
            Failure::Other
        };
        let mut connection = self.connection.as_ref().ok_or(closed)?;
        let (head, body) = loop {
            let ended = read_some(&mut connection, &mut self.received, deadline)?;
            if ended && self.received.is_empty() {
                return Err(Failure::Closed);
            }
            if let Some(head) = head(&self.received)? {
                let received = &self.received[head.length..];
                if let Some(body) = body(received, head.body, ended)? {
                    break (head, body);
                }
            }
            if ended || self.received.len() > LARGEST_PAGE_BYTES {
                return Err(Failure::Other);
            }
        };
        self.kept = head.keep;
        if !head.keep {
            self.connection = None;
        }
        String::from_utf8(body).map_err(|_| Failure::Other)
    }
}

fn connect(url: &MetricsUrl, deadline: Instant) -> Option<TcpStream> {
    let left = deadline.checked_duration_since(Instant::now())?;
    let connection = TcpStream::connect_timeout(&url.address, left).ok()?;
    connection.set_nodelay(true).ok()?;
    Some(connection)
}

/// Sets what is left until the deadline as the longest wait; `None` when nothing is left.
fn time_left(connection: &TcpStream, deadline: Instant) -> Option<()> {
    let left = deadline.checked_duration_since(Instant::now())?;
    let left = Some(left).filter(|left| !left.is_zero())?;
    connection.set_read_timeout(Some(left)).ok()?;
    connection.set_write_timeout(Some(left)).ok()
}

/// Appends what one read gives; true at the end of the connection.
fn read_some(
    connection: &mut &TcpStream,
    received: &mut Vec<u8>,
    deadline: Instant,
) -> Result<bool, Failure> {
    const READ_BYTES: usize = 16 * 1024;
    time_left(connection, deadline).ok_or(Failure::Other)?;
    let filled = received.len();
    received.resize(filled + READ_BYTES, 0);
    let read = connection.read(&mut received[filled..]);
    received.truncate(filled + *read.as_ref().unwrap_or(&0));
    match read {
        Ok(read) => Ok(read == 0),
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(false),
        Err(error) if error.kind() == ErrorKind::ConnectionReset => Err(Failure::Closed),
        Err(_) => Err(Failure::Other),
    }
}

/// The head of the answer, once all of it is there. Only a 200 is an answer.
fn head(received: &[u8]) -> Result<Option<Head>, Failure> {
    let mut fields = [httparse::EMPTY_HEADER; MOST_FIELDS];
    let mut response = httparse::Response::new(&mut fields);
    let parsed = response.parse(received).map_err(|_| Failure::Other)?;
    let httparse::Status::Complete(length) = parsed else {
        return Ok(None);
    };
    if response.code != Some(200) {
        return Err(Failure::Other);
    }
    let field = |name: &str| {
        let found = response
            .headers
            .iter()
            .find(|f| f.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok().map(str::trim)
    };
    let says = |name, word: &str| field(name).is_some_and(|value| value.eq_ignore_ascii_case(word));
    let body = if says("transfer-encoding", "chunked") {
        Body::Chunked
    } else if let Some(length) = field("content-length") {
        Body::Length(length.parse().map_err(|_| Failure::Other)?)
    } else {
        Body::UntilClosed
    };
    let keep = match response.version {
        Some(1) => !says("connection", "close"),
        _ => says("connection", "keep-alive"),
    };
    Ok(Some(Head {
        length,
        body,
        keep: keep && body != Body::UntilClosed,
    }))
}

/// The body, once all of it is there.
fn body(received: &[u8], kind: Body, ended: bool) -> Result<Option<Vec<u8>>, Failure> {
    match kind {
        Body::Length(length) if length > LARGEST_PAGE_BYTES => Err(Failure::Other),
        Body::Length(length) => Ok(received.get(..length).map(<[u8]>::to_vec)),
        Body::UntilClosed => Ok(ended.then(|| received.to_vec())),
        Body::Chunked => chunks(received),
    }
}

/// The chunks put together, once the last one is there.
fn chunks(mut received: &[u8]) -> Result<Option<Vec<u8>>, Failure> {
    let mut page = Vec::new();
    loop {
        let parsed = httparse::parse_chunk_size(received).map_err(|_| Failure::Other)?;
        let httparse::Status::Complete((start, size)) = parsed else {
            return Ok(None);
        };
        let size = usize::try_from(size).map_err(|_| Failure::Other)?;
        if page.len().saturating_add(size) > LARGEST_PAGE_BYTES {
            return Err(Failure::Other);
        }
        // Each chunk, and the last one of length 0, is followed by an end of line. Trailer fields
        // would stand before the last one; no server of metrics sends them.
        let Some(chunk) = received.get(start..start + size + 2) else {
            return Ok(None);
        };
        let (data, end) = chunk.split_at(size);
        if end != b"\r\n" {
            return Err(Failure::Other);
        }
        if size == 0 {
            return Ok(Some(page));
        }
        page.extend_from_slice(data);
        received = &received[start + size + 2..];
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread::JoinHandle;
    use std::time::Duration;

    /// A server that gives each connection these answers, one per request, and then closes it.
    fn serve(connections: Vec<Vec<&'static str>>) -> (Scraper, JoinHandle<usize>) {
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
        (Scraper::new(url.parse().unwrap()), server)
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

    fn scrape(scraper: &mut Scraper) -> Option<String> {
        // Long, so that a busy machine does not fail the test; nothing waits for it.
        let deadline = Instant::now() + Duration::from_secs(30);
        scraper.ask(deadline);
        scraper.answer(deadline)
    }

    #[test]
    fn two_pages_over_one_connection_then_a_new_one_when_it_was_closed() {
        const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nup 1\n";
        let (mut scraper, server) = serve(vec![vec![PAGE, PAGE], vec![PAGE]]);
        for _ in 0..3 {
            assert_eq!(scrape(&mut scraper).as_deref(), Some("up 1\n"));
        }
        assert_eq!(server.join().unwrap(), 3);
    }

    #[test]
    fn chunks_and_a_body_that_ends_with_the_connection() {
        let (mut scraper, server) = serve(vec![
            vec![
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                3\r\nup \r\n2\r\n1\n\r\n0\r\n\r\n",
            ],
            vec!["HTTP/1.0 200 OK\r\n\r\nup 2\n"],
        ]);
        assert_eq!(scrape(&mut scraper).as_deref(), Some("up 1\n"));
        assert_eq!(scrape(&mut scraper).as_deref(), Some("up 2\n"));
        server.join().unwrap();
    }

    #[test]
    fn what_is_not_a_page_is_none() {
        let (mut scraper, server) = serve(vec![
            vec!["HTTP/1.1 503 Service Unavailable\r\nContent-Length: 5\r\n\r\nup 1\n"],
            vec!["HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nup 1\n"],
            vec!["SSH-2.0-server\r\n"],
            vec!["HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n"],
        ]);
        for _ in 0..4 {
            assert_eq!(scrape(&mut scraper), None);
        }
        server.join().unwrap();
        assert_eq!(scrape(&mut scraper), None, "nobody listens");
    }

    #[test]
    fn a_server_that_does_not_answer_is_given_up_at_the_deadline() {
        // The kernel completes the connection; nobody ever accepts it.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let url = format!("http://{}/metrics", listener.local_addr().unwrap());
        let mut scraper = Scraper::new(url.parse().unwrap());
        let deadline = Instant::now() + Duration::from_millis(30);
        scraper.ask(deadline);
        assert_eq!(scraper.answer(deadline), None);
        assert!(Instant::now() >= deadline);
        assert!(
            scraper.connection.is_none(),
            "a late answer must not be taken for the next"
        );
    }

    proptest! {
        #[test]
        fn any_answer_is_taken(received: Vec<u8>, chunk: Vec<u8>) {
            let _ = head(&received);
            let _ = chunks(&chunk);
        }

        #[test]
        fn chunks_come_whole_or_not_yet(page in prop::collection::vec(any::<u8>(), 1..200), size in 1_usize..50) {
            let mut wire = Vec::new();
            for chunk in page.chunks(size) {
                wire.extend(format!("{:x}\r\n", chunk.len()).bytes());
                wire.extend(chunk);
                wire.extend(b"\r\n");
            }
            wire.extend(b"0\r\n\r\n");
            for cut in 0..wire.len() {
                prop_assert_eq!(chunks(&wire[..cut]), Ok(None));
            }
            prop_assert_eq!(chunks(&wire), Ok(Some(page)));
        }
    }
}
