//! A connection to a backend, which speaks HTTP/1.1 for one request at a time or HTTP/2 for many.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};

use crate::body::RequestBody;
use crate::client::ClientAddress;
use crate::dial::BackendStream;
use crate::patience::Patience;

/// Room for a head and a frame of a response.
const BUFFER: usize = 64 * 1024;
/// Requests at once on a connection of HTTP/2; servers allow about as many.
pub(super) const STREAMS_MAX: usize = 100;
/// Bytes of a response that a backend may send before its client takes them.
const WINDOW: u32 = 64 * 1024;
/// Those of all together, so that no client that takes nothing keeps the others from theirs.
const WINDOW_OF_ALL: u32 = WINDOW * STREAMS_MAX as u32;
/// A backend that does not answer a ping for as long is gone.
const PING_EVERY: Duration = Duration::from_secs(20);

/// A connection to a backend, for one request.
#[derive(Debug)]
pub(crate) struct BackendConnection {
    pub(super) sender: Sender,
    pub(super) thread: usize,
    /// Where it goes to; a path has no address.
    pub(super) peer: Option<SocketAddr>,
    /// For whom it is, if the backend was told.
    pub(super) for_whom: Option<ClientAddress>,
    patience: Patience,
}

/// The side that sends.
#[derive(Debug)]
pub(crate) enum Sender {
    /// It is this request's until that has ended.
    Http1(http1::SendRequest<RequestBody>),
    /// Others use it at the same time, each with a handle of its own.
    Http2(Shared),
}

/// A connection of HTTP/2.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) sender: http2::SendRequest<RequestBody>,
    /// There is one for each handle.
    handles: Arc<()>,
}

impl Shared {
    /// Requests that it has.
    pub(super) fn used_by(&self) -> usize {
        Arc::strong_count(&self.handles) - 1
    }
}

impl Sender {
    /// Begins to speak; what goes on behind it runs in the runtime that this runs in.
    pub(super) async fn speak(stream: BackendStream, is_http2: bool) -> hyper::Result<Self> {
        let stream = TokioIo::new(stream);
        // What goes wrong is told to whoever waits for a response.
        if is_http2 {
            let (sender, connection) = http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .initial_stream_window_size(WINDOW)
                .initial_connection_window_size(WINDOW_OF_ALL)
                .max_header_list_size(BUFFER as u32)
                .keep_alive_interval(PING_EVERY)
                .keep_alive_timeout(PING_EVERY)
                .handshake(stream)
                .await?;
            tokio::spawn(async move {
                let _ = connection.await;
            });
            let handles = Arc::default();
            return Ok(Self::Http2(Shared { sender, handles }));
        }
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(BUFFER)
            .handshake(stream)
            .await?;
        tokio::spawn(async move {
            let _ = connection.with_upgrades().await;
        });
        Ok(Self::Http1(sender))
    }

    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Http1(sender) => sender.is_closed(),
            Self::Http2(shared) => shared.sender.is_closed(),
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        match self {
            Self::Http1(sender) => sender.is_ready(),
            Self::Http2(shared) => shared.sender.is_ready(),
        }
    }
}

impl BackendConnection {
    pub(super) fn new(
        sender: Sender,
        thread: usize,
        peer: Option<SocketAddr>,
        for_whom: Option<ClientAddress>,
        within: Duration,
    ) -> Self {
        Self {
            sender,
            thread,
            peer,
            for_whom,
            patience: Patience::new(within),
        }
    }

    /// The side that sends, and how long its request is waited for.
    pub(crate) fn parts(&mut self) -> (&mut Sender, &mut Patience) {
        (&mut self.sender, &mut self.patience)
    }

    /// Whether it speaks HTTP/2.
    pub(crate) fn is_http2(&self) -> bool {
        matches!(self.sender, Sender::Http2(_))
    }
}
