//! A user's connections: opened when needed, kept when both sides agree.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::client::TlsStream;

use crate::clock::Moment;
use crate::core::Core;
use crate::http2::Http2;
use crate::outcome::Failure;
use crate::response::ResponseReader;
use crate::tls;

/// How long a connection is used at most, counted from its opening: JMeter's default
/// (`httpclient4.time_to_live`).
const LIFE_MAX: Duration = Duration::from_secs(60);

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
struct Open(Rc<Core>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.sockets.set(self.0.sockets.get() - 1);
    }
}

impl Socket {
    /// Connects; waits as long as the system does.
    pub(crate) async fn connect(core: &Rc<Core>, to: (IpAddr, u16)) -> io::Result<Self> {
        let address = SocketAddr::from(to);
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        let stream = socket.connect(address).await?;
        // A request is written in one piece: there is nothing to wait for.
        stream.set_nodelay(true)?;
        core.sockets.set(core.sockets.get() + 1);
        Ok(Self {
            stream: Stream::Plain(stream),
            opened: core.clock.now(),
            _open: Open(Rc::clone(core)),
        })
    }

    /// The same socket after its stream has become another one.
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
        core: &Core,
        reader: &mut ResponseReader,
    ) -> Poll<Result<Moment, Failure>> {
        // The runtime's one buffer is borrowed for this poll only: what has come is read and
        // forgotten before anyone else runs.
        let mut buffer = core.buffer.borrow_mut();
        let mut filled = ReadBuf::new(&mut buffer);
        let read = Pin::new(&mut self.stream).poll_read(context, &mut filled);
        if let Err(error) = ready!(read) {
            return Poll::Ready(Err(Failure::of_io(&error)));
        }
        let at = core.now();
        let mut texts = core.texts.borrow_mut();
        let read = match filled.filled() {
            [] => reader.end(&mut texts),
            bytes => reader.feed(bytes, &mut texts),
        };
        Poll::Ready(read.map(|()| at))
    }

    /// Whether the server has neither closed the connection nor sent what nobody asked for, as far
    /// as this machine knows. Costs a system call only if something has come.
    fn is_quiet(&mut self) -> bool {
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

/// A way to a server.
#[derive(Debug)]
pub(crate) enum Connection {
    Http1(Socket),
    Http2(Box<Http2>),
}

impl Connection {
    fn opened(&self) -> Moment {
        match self {
            Self::Http1(socket) => socket.opened,
            Self::Http2(connection) => connection.opened,
        }
    }

    fn is_usable(&mut self) -> bool {
        match self {
            Self::Http1(socket) => socket.is_quiet(),
            Self::Http2(connection) => connection.is_usable(),
        }
    }
}

/// The connections that a user has kept: at most one for each server of the plan.
#[derive(Debug, Default)]
pub(crate) struct Connections(Vec<Kept>);

#[derive(Debug)]
struct Kept {
    server: usize,
    connection: Connection,
    until: Moment,
}

impl Connections {
    /// The connection to a server, if one was kept and can still be used.
    pub(crate) fn take(&mut self, server: usize, now: Moment) -> Option<Connection> {
        let at = self.0.iter().position(|kept| kept.server == server)?;
        let mut kept = self.0.swap_remove(at);
        (now < kept.until && kept.connection.is_usable()).then_some(kept.connection)
    }

    /// The same to a server that speaks HTTP/1.
    pub(crate) fn take_socket(&mut self, server: usize, now: Moment) -> Option<Socket> {
        match self.take(server, now)? {
            Connection::Http1(socket) => Some(socket),
            Connection::Http2(_) => None,
        }
    }

    /// Keeps a connection after a response that was complete at `now`; the server closes it when
    /// it has been idle for `idle_s`, if it says so.
    pub(crate) fn keep(
        &mut self,
        server: usize,
        connection: Connection,
        now: Moment,
        idle_s: Option<u64>,
    ) {
        let end_of_life = connection.opened().after(LIFE_MAX);
        let idle = idle_s.map(|seconds| now.after(Duration::from_secs(seconds)));
        // Most users keep one, and a vector that grows by itself begins with room for four.
        self.0.reserve_exact(1);
        self.0.push(Kept {
            server,
            until: idle.map_or(end_of_life, |idle| idle.min(end_of_life)),
            connection,
        });
    }
}
