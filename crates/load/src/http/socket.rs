//! An open socket, in the open or behind TLS.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::client::TlsStream;

use crate::clock::Moment;
use crate::http::io_context::IoContext;
use crate::http::outcome::Failure;
use crate::http::response::ResponseReader;
use crate::http::tls;

/// Bytes to a server and back, in the open or not. An enum, because most are in the open and read
/// without a detour.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Whether both sides have agreed on HTTP/2.
    pub(crate) fn is_http2(&self) -> bool {
        match self {
            Self::Plain(_) => false,
            Self::Tls(stream) => tls::is_http2(stream),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Self::Tls(stream) => match ready!(Pin::new(stream).poll_read(context, into)) {
                // Java's default too: a server may end a connection without saying so in TLS.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Poll::Ready(Ok(())),
                read => Poll::Ready(read),
            },
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}

/// An open socket, counted while it lives.
#[derive(Debug)]
pub(crate) struct Socket {
    pub(crate) stream: Stream,
    pub(crate) opened: Moment,
    _open: Open,
}

/// Counts an open socket.
#[derive(Debug)]
struct Open(Rc<IoContext>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.sockets.set(self.0.sockets.get() - 1);
    }
}

impl Socket {
    /// Connects; waits as long as the system does.
    pub(crate) async fn connect(io: &Rc<IoContext>, to: (IpAddr, u16)) -> io::Result<Self> {
        let address = SocketAddr::from(to);
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        let stream = socket.connect(address).await?;
        // A request is written in one piece: there is nothing to wait for.
        stream.set_nodelay(true)?;
        io.sockets.set(io.sockets.get() + 1);
        Ok(Self {
            stream: Stream::Plain(stream),
            opened: io.clock.now(),
            _open: Open(Rc::clone(io)),
        })
    }

    /// This socket after its stream has become another one.
    pub(crate) async fn secured<F, E>(self, secure: impl FnOnce(TcpStream) -> F) -> Result<Self, E>
    where
        F: Future<Output = Result<TlsStream<TcpStream>, E>>,
    {
        let stream = match self.stream {
            Stream::Plain(stream) => Stream::Tls(Box::new(secure(stream).await?)),
            stream @ Stream::Tls(_) => stream,
        };
        Ok(Self { stream, ..self })
    }

    /// Reads once into a reader of a response; when that was.
    pub(crate) fn poll_feed(
        &mut self,
        context: &mut Context<'_>,
        io: &IoContext,
        reader: &mut ResponseReader,
    ) -> Poll<Result<Moment, Failure>> {
        // The runtime's one buffer is borrowed for this poll only: what has come is read and
        // forgotten before anyone else runs.
        let mut buffer = io.buffer.borrow_mut();
        let mut filled = ReadBuf::new(&mut buffer);
        let read = Pin::new(&mut self.stream).poll_read(context, &mut filled);
        if let Err(error) = ready!(read) {
            return Poll::Ready(Err(Failure::of_io(&error)));
        }
        let at = io.now();
        let mut texts = io.texts.borrow_mut();
        let read = match filled.filled() {
            [] => reader.end(&mut texts),
            bytes => reader.feed(bytes, &mut texts),
        };
        Poll::Ready(read.map(|()| at))
    }

    /// Whether the server has neither closed the connection nor sent what nobody asked for, as far
    /// as this machine knows. Costs a system call only if something has come.
    pub(super) fn is_quiet(&mut self) -> bool {
        match &mut self.stream {
            Stream::Plain(stream) => {
                let read = stream.try_read(&mut [0]);
                matches!(read, Err(error) if error.kind() == io::ErrorKind::WouldBlock)
            }
            // TLS has to look itself: what has come may be no more than tickets for sessions.
            Stream::Tls(stream) => {
                let mut byte = [0];
                let mut context = Context::from_waker(Waker::noop());
                let read = Pin::new(stream).poll_read(&mut context, &mut ReadBuf::new(&mut byte));
                read.is_pending()
            }
        }
    }
}
