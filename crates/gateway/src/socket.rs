//! What a connection is made of: TCP or a socket of the file system.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::net::{RecvFlags, recv};
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

/// A connection.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Socket {
    /// Sends what is there at once. Without it, the second half of a message would wait for the
    /// other side's acknowledgement of the first.
    pub(crate) fn without_delay(&self) {
        if let Self::Tcp(stream) = self {
            // One that is closed already is noticed when it is read.
            let _ = stream.set_nodelay(true);
        }
    }

    /// The address of the other side, if it has one.
    pub(crate) fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(stream) => stream.peer_addr().ok(),
            Self::Unix(_) => None,
        }
    }

    /// Comes when there is something to read, or the other side has ended.
    pub(crate) async fn readable(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.readable().await,
            Self::Unix(stream) => stream.readable().await,
        }
    }

    /// Reads, and leaves what is read there.
    pub(crate) async fn peek(&self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.peek(into).await,
            Self::Unix(stream) => {
                let look = || peek(stream, into);
                stream.async_io(Interest::READABLE, look).await
            }
        }
    }

    /// As [`peek`](Self::peek).
    pub(crate) fn poll_peek(
        &self,
        context: &mut Context<'_>,
        into: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Tcp(stream) => stream.poll_peek(context, &mut ReadBuf::new(into)),
            Self::Unix(stream) => loop {
                ready!(stream.poll_read_ready(context))?;
                let look = || peek(stream, into);
                match stream.try_io(Interest::READABLE, look) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    looked => return Poll::Ready(looked),
                }
            },
        }
    }
}

fn peek(stream: &UnixStream, into: &mut [u8]) -> io::Result<usize> {
    let (count, _) = recv(stream.as_fd(), into, RecvFlags::PEEK)?;
    Ok(count)
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, into),
            Self::Unix(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write_vectored(context, parts),
            Self::Unix(stream) => Pin::new(stream).poll_write_vectored(context, parts),
        }
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Self::Unix(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
