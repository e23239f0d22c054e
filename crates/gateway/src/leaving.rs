//! Clients that leave while their request runs.
//!
//! hyper finds out by reading on, for which each request that runs or waits would have another
//! buffer of 8 KiB. Where the end of a stream can be seen without taking anything from it, hyper is
//! told not to, and it is seen here.

use std::task::{Context, Poll};

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::server::TlsStream;

use crate::socket::{Connected as _, Socket};

/// What a client is connected by, with or without TLS.
pub(crate) trait ClientStream:
    AsyncRead + AsyncWrite + Leaving + Unpin + Send + 'static
{
    /// The socket below.
    fn socket(&self) -> &Socket;
}

impl ClientStream for Socket {
    fn socket(&self) -> &Socket {
        self
    }
}

impl ClientStream for TlsStream<Socket> {
    fn socket(&self) -> &Socket {
        self.get_ref().0
    }
}

/// What a client is seen to have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// It sends nothing more: it has left, or has closed its side alone and waits for the answer.
    Silent,
    /// Its connection is broken.
    Gone,
    /// Not seen: it has sent more, and nobody can see what comes behind that.
    Hidden,
}

/// A client's stream, of which the end may be seen without reading on.
pub(crate) trait Leaving {
    /// Whether [`poll_left`](Self::poll_left) sees it.
    const IS_SEEN: bool;

    /// Ready when something is seen; wakes the task to look again when something comes.
    fn poll_left(&self, context: &mut Context<'_>) -> Poll<Seen>;
}

impl Leaving for Socket {
    const IS_SEEN: bool = true;

    fn poll_left(&self, context: &mut Context<'_>) -> Poll<Seen> {
        let mut first = [0];
        match self.poll_peek(context, &mut first) {
            Poll::Ready(Ok(0)) => Poll::Ready(Seen::Silent),
            Poll::Ready(Err(_)) => Poll::Ready(Seen::Gone),
            Poll::Ready(Ok(_)) => Poll::Ready(Seen::Hidden),
            Poll::Pending => Poll::Pending,
        }
    }
}

/// The end stands in a record of its own, which cannot be understood without being read.
impl Leaving for TlsStream<Socket> {
    const IS_SEEN: bool = false;

    fn poll_left(&self, _: &mut Context<'_>) -> Poll<Seen> {
        Poll::Pending
    }
}

impl<S: Leaving> Leaving for TokioIo<S> {
    const IS_SEEN: bool = S::IS_SEEN;

    fn poll_left(&self, context: &mut Context<'_>) -> Poll<Seen> {
        self.inner().poll_left(context)
    }
}
