//! A socket that carries requests one after the other.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use super::request::{BODY_MAX, HEAD_MAX, Head};
use super::{Request, Response};

/// Bytes asked from the socket at a time.
const READ_SIZE: usize = 4 * 1024;
/// How long a refused client may go on sending before its connection is cut.
const LINGER: Duration = Duration::from_millis(500);

/// A connection with what has been read from it and not yet used.
pub(crate) struct HttpStream {
    socket: TcpStream,
    buffer: Vec<u8>,
    timeout: Duration,
}

/// Why there is no request.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// The client is gone, or never began to send.
    Gone,
    /// What it sent is refused; the connection is of no use after this answer.
    Refused(Response),
}

impl HttpStream {
    /// Takes a blocking socket; reading a request or writing an answer may take `timeout` each.
    pub(crate) fn new(socket: TcpStream, timeout: Duration) -> io::Result<Self> {
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(timeout))?;
        socket.set_write_timeout(Some(timeout))?;
        Ok(Self {
            socket,
            buffer: Vec::new(),
            timeout,
        })
    }

    /// Whether part of another request is already here.
    pub(crate) fn has_more(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Whether the client has closed its side and left nothing to read.
    pub(crate) fn is_closed_by_client(&self) -> bool {
        !matches!(self.socket.peek(&mut [0]), Ok(1..))
    }

    /// Reads the next request; blocks until it is complete.
    pub(crate) fn read_request(&mut self) -> Result<Request, Unreadable> {
        let deadline = Instant::now() + self.timeout;
        let head = loop {
            match Head::parse(&self.buffer) {
                Ok(Some(head)) => break head,
                Ok(None) => self.read_more(deadline)?,
                Err(refusal) => return Err(Unreadable::Refused(refusal)),
            }
        };
        let body_start = head.length;
        let end = body_start + head.body_length;
        if head.expects_continue && self.buffer.len() < end {
            self.socket
                .write_all(b"HTTP/1.1 100 Continue\r\n\r\n")
                .map_err(|_| Unreadable::Gone)?;
        }
        while self.buffer.len() < end {
            self.read_more(deadline)?;
        }
        let request = head
            .with_body(&self.buffer[body_start..end])
            .map_err(Unreadable::Refused);
        self.buffer.drain(..end);
        if self.buffer.is_empty() {
            // An idle connection should cost no buffer.
            self.buffer = Vec::new();
        }
        request
    }

    /// Sends an answer; an error means that the client is gone.
    pub(crate) fn write_response(
        &mut self,
        response: &Response,
        keep_alive: bool,
    ) -> io::Result<()> {
        self.socket.write_all(&response.encode(keep_alive))
    }

    /// Closes after a refusal, reading on for a moment: closing with unread bytes would reset the
    /// connection and the client would lose the answer (RFC 9112, section 9.6).
    pub(crate) fn close_after_refusal(mut self) {
        let deadline = Instant::now() + LINGER;
        let started = self
            .socket
            .shutdown(Shutdown::Write)
            .and_then(|()| self.socket.set_read_timeout(Some(LINGER)));
        let mut left = 4 * (HEAD_MAX + BODY_MAX);
        let mut sink = [0; READ_SIZE];
        while started.is_ok() && left > 0 && Instant::now() < deadline {
            match self.socket.read(&mut sink) {
                Ok(0) | Err(_) => break,
                Ok(count) => left = left.saturating_sub(count),
            }
        }
    }

    fn read_more(&mut self, deadline: Instant) -> Result<(), Unreadable> {
        if Instant::now() > deadline {
            return Err(self.timed_out());
        }
        let filled = self.buffer.len();
        self.buffer.resize(filled + READ_SIZE, 0);
        let outcome = self.socket.read(&mut self.buffer[filled..]);
        self.buffer
            .truncate(filled + outcome.as_ref().copied().unwrap_or(0));
        match outcome {
            Ok(0) => Err(Unreadable::Gone),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                Err(self.timed_out())
            }
            Err(_) => Err(Unreadable::Gone),
        }
    }

    fn timed_out(&self) -> Unreadable {
        if self.buffer.is_empty() {
            return Unreadable::Gone;
        }
        Unreadable::Refused(Response::refusal(
            408,
            format!("the request was not complete within {:?}", self.timeout),
        ))
    }
}

impl AsFd for HttpStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
