//! What a connection is made of: TCP or a socket of the file system.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd as _;
use std::task::{Context, Poll, ready};

use rustix::net::{RecvFlags, recv};
use tokio::io::{Interest, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_util::either::Either;

/// A connection.
pub(crate) type Socket = Either<TcpStream, UnixStream>;

/// What both have, each in its way.
pub(crate) trait Connected {
    /// Sends what is there at once. Without it, the second half of a message would wait for the
    /// other side's acknowledgement of the first.
    fn without_delay(&self);

    /// The address of the other side, if it has one.
    fn peer(&self) -> Option<SocketAddr>;

    /// Comes when there is something to read, or the other side has ended.
    fn readable(&self) -> impl Future<Output = io::Result<()>> + Send;

    /// Reads, and leaves what is read there.
    fn peek(&self, into: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send;

    /// As [`peek`](Self::peek).
    fn poll_peek(&self, context: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>>;
}

impl Connected for Socket {
    fn without_delay(&self) {
        if let Self::Left(tcp) = self {
            // One that is closed already is noticed when it is read.
            let _ = tcp.set_nodelay(true);
        }
    }

    fn peer(&self) -> Option<SocketAddr> {
        match self {
            Self::Left(tcp) => tcp.peer_addr().ok(),
            Self::Right(_) => None,
        }
    }

    async fn readable(&self) -> io::Result<()> {
        match self {
            Self::Left(tcp) => tcp.readable().await,
            Self::Right(unix) => unix.readable().await,
        }
    }

    async fn peek(&self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Left(tcp) => tcp.peek(into).await,
            Self::Right(unix) => {
                let look = || look(unix, into);
                unix.async_io(Interest::READABLE, look).await
            }
        }
    }

    fn poll_peek(&self, context: &mut Context<'_>, into: &mut [u8]) -> Poll<io::Result<usize>> {
        match self {
            Self::Left(tcp) => tcp.poll_peek(context, &mut ReadBuf::new(into)),
            Self::Right(unix) => loop {
                ready!(unix.poll_read_ready(context))?;
                let look = || look(unix, into);
                match unix.try_io(Interest::READABLE, look) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    looked => return Poll::Ready(looked),
                }
            },
        }
    }
}

fn look(unix: &UnixStream, into: &mut [u8]) -> io::Result<usize> {
    let (count, _) = recv(unix.as_fd(), into, RecvFlags::PEEK)?;
    Ok(count)
}
