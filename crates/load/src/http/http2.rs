//! A connection that speaks HTTP/2: each user has its own, and sends one request at a time on it.
//!
//! Users stand for people with a browser of their own, and a browser opens one HTTP/2 connection to
//! a server. One connection for all users would put a different load on the server: one socket,
//! one window for all of them.
//!
//! Requests come as the bytes of HTTP/1.1, which are read again here: a plan's request is built in
//! one way, whatever it is sent with. What belongs to a connection in HTTP/1.1 is left out (RFC
//! 9113, section 8.2.2). A response has no reason phrase.

use std::cell::Cell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Reason, RecvStream};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, Version};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::JoinHandle;

use crate::clock::Moment;
use crate::http::outcome::Failure;
use crate::http::socket::{Socket, Stream};

/// What a server may send of one body, and of all bodies together, before it has to wait until
/// somebody reads: enough for a long way at a high speed, and the bound on what waits in memory.
const WINDOW_BYTES: u32 = 1024 * 1024;
/// The longest list of header fields that is taken.
const FIELDS_BYTES_MAX: u32 = 256 * 1024;
/// Fields of a request; plans have a handful.
const REQUEST_FIELDS_MAX: usize = 256;

/// A connection to one server.
#[derive(Debug)]
pub(crate) struct Http2 {
    requests: SendRequest<Bytes>,
    received: Rc<Cell<u64>>,
    pub(crate) opened: Moment,
    driver: JoinHandle<()>,
}

impl Http2 {
    /// Begins to speak HTTP/2 on an open connection.
    pub(crate) async fn begin(socket: Socket) -> Result<Self, Failure> {
        let received = Rc::new(Cell::new(0));
        let opened = socket.opened;
        let counted = Counted {
            socket,
            received: Rc::clone(&received),
        };
        let shaken = h2::client::Builder::new()
            .initial_window_size(WINDOW_BYTES)
            .initial_connection_window_size(WINDOW_BYTES)
            .max_header_list_size(FIELDS_BYTES_MAX)
            .enable_push(false)
            .handshake(counted)
            .await;
        let (requests, connection) = shaken.map_err(|error| failure(&error))?;
        let driver = tokio::task::spawn_local(async move {
            // Whoever waits for a response hears how the connection ended.
            let _ = connection.await;
        });
        Ok(Self {
            requests,
            received,
            opened,
            driver,
        })
    }

    /// Whether another request can be sent, as far as this machine knows.
    pub(crate) fn is_usable(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        matches!(self.requests.poll_ready(&mut context), Poll::Ready(Ok(())))
    }

    /// Bytes that have come on the connection, frames and all.
    pub(crate) fn received(&self) -> u64 {
        self.received.get()
    }

    /// Sends a request, given as the bytes of HTTP/1.1; notes that the connection has taken it.
    pub(crate) async fn send(
        &mut self,
        bytes: &[u8],
        is_tls: bool,
        is_written: &mut bool,
    ) -> Result<Answer, Failure> {
        let (request, body) = request_of(bytes, is_tls)?;
        poll_fn(|context| self.requests.poll_ready(context))
            .await
            .map_err(|error| failure(&error))?;
        let sent = self.requests.send_request(request, body.is_empty());
        let (response, mut stream) = sent.map_err(|error| failure(&error))?;
        *is_written = true;
        if !body.is_empty() {
            let sent = stream.send_data(body, true);
            sent.map_err(|error| failure(&error))?;
        }
        Ok(Answer::Head(response))
    }
}

impl Drop for Http2 {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

/// A response that comes.
#[derive(Debug)]
pub(crate) enum Answer {
    Head(ResponseFuture),
    Body(RecvStream),
}

/// A piece of a response.
#[derive(Debug)]
pub(crate) enum Piece {
    Head(Response<()>),
    Data(Bytes),
    End,
}

impl Answer {
    /// Waits for what comes next.
    pub(crate) async fn next(&mut self) -> Result<Piece, Failure> {
        match self {
            Self::Head(response) => {
                let response = response.await.map_err(|error| failure(&error))?;
                let (head, body) = response.into_parts();
                *self = Self::Body(body);
                Ok(Piece::Head(Response::from_parts(head, ())))
            }
            Self::Body(body) => match body.data().await {
                None => Ok(Piece::End),
                Some(Err(error)) => Err(failure(&error)),
                Some(Ok(data)) => {
                    let released = body.flow_control().release_capacity(data.len());
                    released.map_err(|error| failure(&error))?;
                    Ok(Piece::Data(data))
                }
            },
        }
    }
}

/// A response's head as text, as HTTP/1.1 would have it.
pub(crate) fn head_text(response: &Response<()>) -> Vec<u8> {
    let mut text = format!("HTTP/2 {}\r\n", response.status().as_str()).into_bytes();
    for (name, value) in response.headers() {
        text.extend_from_slice(name.as_str().as_bytes());
        text.extend_from_slice(b": ");
        text.extend_from_slice(value.as_bytes());
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"\r\n");
    text
}

/// The request and its body.
fn request_of(bytes: &[u8], is_tls: bool) -> Result<(http::Request<()>, Bytes), Failure> {
    let mut fields = [httparse::EMPTY_HEADER; REQUEST_FIELDS_MAX];
    let mut parsed = httparse::Request::new(&mut fields);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) | Err(_) => return Err(unsendable("its head")),
    };
    let method = Method::from_bytes(parsed.method.unwrap_or_default().as_bytes());
    let mut headers = HeaderMap::new();
    let mut authority = None;
    for field in &*parsed.headers {
        if field.name.eq_ignore_ascii_case("host") {
            authority = Authority::try_from(field.value).ok();
        } else if !is_of_connection(field) {
            let name = HeaderName::from_bytes(field.name.as_bytes());
            let value = HeaderValue::from_bytes(field.value);
            headers.append(
                name.map_err(|_| unsendable(field.name))?,
                value.map_err(|_| unsendable(field.name))?,
            );
        }
    }
    let scheme = if is_tls { Scheme::HTTPS } else { Scheme::HTTP };
    let uri = Uri::builder()
        .scheme(scheme)
        .authority(authority.ok_or_else(|| unsendable("Host"))?)
        .path_and_query(path_of(parsed.path.unwrap_or_default())?)
        .build();
    let mut request = http::Request::new(());
    *request.method_mut() = method.map_err(|_| unsendable("its method"))?;
    *request.uri_mut() = uri.map_err(|_| unsendable("its URL"))?;
    *request.version_mut() = Version::HTTP_2;
    *request.headers_mut() = headers;
    Ok((request, Bytes::copy_from_slice(&bytes[length..])))
}

/// The path of a request line, also of one that was written for a proxy.
fn path_of(target: &str) -> Result<PathAndQuery, Failure> {
    let uri = Uri::try_from(target).map_err(|_| unsendable("its URL"))?;
    Ok(uri
        .into_parts()
        .path_and_query
        .unwrap_or_else(|| PathAndQuery::from_static("/")))
}

/// Fields that HTTP/2 forbids (RFC 9113, section 8.2.2).
fn is_of_connection(field: &httparse::Header<'_>) -> bool {
    const FORBIDDEN: [&str; 5] = [
        "connection",
        "keep-alive",
        "proxy-connection",
        "transfer-encoding",
        "upgrade",
    ];
    let is = |name: &&str| field.name.eq_ignore_ascii_case(name);
    let is_te = field.name.eq_ignore_ascii_case("te");
    FORBIDDEN.iter().any(is) || (is_te && field.value != b"trailers")
}

fn unsendable(what: &str) -> Failure {
    Failure::Http2(format!(
        "the request cannot be sent with HTTP/2 because of {what}"
    ))
}

/// What ended a stream or a connection.
fn failure(error: &h2::Error) -> Failure {
    if let Some(problem) = error.get_io() {
        return match problem.kind() {
            io::ErrorKind::BrokenPipe | io::ErrorKind::UnexpectedEof => Failure::NoResponse,
            _ => Failure::of_io(problem),
        };
    }
    let Some(reason) = error.reason().filter(|_| error.is_remote()) else {
        return Failure::Http2(error.to_string());
    };
    match reason {
        // The server ends the connection and has not looked at the request.
        Reason::NO_ERROR | Reason::REFUSED_STREAM => Failure::Unprocessed,
        _ if error.is_go_away() => Failure::Http2(format!("Received GOAWAY: {reason:?}")),
        _ => Failure::Http2(format!("Received RST_STREAM: {reason:?}")),
    }
}

/// A socket whose bytes are counted, as they come out of TLS.
#[derive(Debug)]
struct Counted {
    socket: Socket,
    received: Rc<Cell<u64>>,
}

impl Counted {
    fn stream(self: Pin<&mut Self>) -> Pin<&mut Stream> {
        Pin::new(&mut self.get_mut().socket.stream)
    }
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(self.as_mut().stream().poll_read(context, into))?;
        let read = into.filled().len() - before;
        self.received.set(self.received.get() + read as u64);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_shutdown(context)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn requests_lose_what_belongs_to_a_connection() {
        let bytes =
            b"POST /a?b=c HTTP/1.1\r\nConnection: keep-alive\r\nX-One: 1\r\nContent-Length: 2\r\n\
                      Host: a.example:8443\r\nTE: gzip\r\nUser-Agent: weir\r\n\r\nhi";
        let (request, body) = request_of(bytes, true).unwrap();
        assert_eq!(request.method(), "POST");
        assert_eq!(request.uri(), "https://a.example:8443/a?b=c");
        let names: Vec<&str> = request.headers().keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["x-one", "content-length", "user-agent"]);
        assert_eq!(&body[..], b"hi");
    }

    #[test]
    fn what_was_written_for_a_proxy_keeps_its_path() {
        let bytes = b"GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\n\r\n";
        let (request, body) = request_of(bytes, false).unwrap();
        assert_eq!(request.uri(), "http://a.example/x");
        assert!(body.is_empty());
    }

    #[test]
    fn what_cannot_be_sent_says_why() {
        let failed = request_of(b"GET / HTTP/1.1\r\nX: y\r\n\r\n", false).unwrap_err();
        let says = "the request cannot be sent with HTTP/2 because of Host";
        assert_eq!(failed, Failure::Http2(says.to_owned()));
    }
}
