//! One user's client: it opens connections, writes requests and reads responses.
//!
//! Which of this happens for a request, and how often, is decided in `exchange.rs`.

use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWrite as _;
use tokio_rustls::rustls::ClientConfig;
use weir_exchange::is_near;

use crate::clock::Moment;
use crate::http::connection::Connections;
use crate::http::io_context::IoContext;
use crate::http::outcome::{ConnectFailure, Failure};
use crate::http::request::{Exchange, Request};
use crate::http::response::{Asked, Codings, Head, Kept, ResponseReader};
use crate::http::server::Server;
use crate::http::servers::not_allowed;
use crate::http::socket::{Socket, Stream};
use crate::http::upload::{Pieces, UPLOAD_PIECE_BYTES};
use crate::timers::Timer;

/// Sends requests of one user, one after the other.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) io: Rc<IoContext>,
    /// The user's one place among the timers: whoever sends does not sleep.
    pub(crate) timer: Timer,
    pub(crate) connections: Connections,
    /// The user's TLS sessions, once it needs them.
    pub(super) tls: Option<Arc<ClientConfig>>,
    /// Servers whose proxies have asked for a name and a password.
    known_to_proxies: Vec<usize>,
    /// How many connections were refused or closed without an answer, one after the other.
    turned_away: u32,
}

/// A response that has been read.
pub(super) struct Answered {
    pub(super) head: Head,
    /// Whether another request can follow on the connection.
    pub(super) is_free: bool,
}

/// What an attempt has noted by the time it ends, however it ends.
#[derive(Debug, Default)]
pub(super) struct Notes {
    pub(super) connected: Option<Moment>,
    pub(super) first_body: Option<Moment>,
    pub(super) last_byte: Option<Moment>,
    pub(super) received: u64,
    pub(super) sent: u64,
    /// A byte of the request has left: the server may act on it.
    pub(super) is_written: bool,
    pub(super) kept: Option<Box<Kept>>,
}

impl Notes {
    /// Of an attempt on a connection that was opened at that moment.
    pub(super) fn on(connected: Option<Moment>) -> Self {
        Self {
            connected,
            ..Self::default()
        }
    }

    /// When the connection was open, unless it was kept.
    pub(super) fn connected(&self) -> Option<Moment> {
        self.connected
    }

    /// What was kept, for whoever wants its buffers back.
    pub(super) fn take_kept(&mut self) -> Option<Box<Kept>> {
        self.kept.take()
    }
}

impl Client {
    /// A client without connections.
    pub(crate) fn new(io: Rc<IoContext>) -> Self {
        Self {
            timer: Timer::new(&io.timers),
            connections: Connections::default(),
            tls: None,
            known_to_proxies: Vec::new(),
            turned_away: 0,
            io,
        }
    }

    /// Milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        let now = self.io.now();
        self.io.clock.epoch_ms(now).cast_signed()
    }

    /// Forgets connections, TLS sessions and what proxies wanted: whoever sends next is somebody
    /// else.
    pub(crate) fn forget(&mut self) {
        self.connections = Connections::default();
        self.tls = None;
        self.known_to_proxies.clear();
    }

    /// Takes back what was kept of a response, for the next one.
    pub(crate) fn give_back(&self, kept: Box<Kept>) {
        self.io.kept.borrow_mut().put(kept);
    }

    /// Whether the proxy of a server is told name and password unasked.
    pub(super) fn is_known_to_proxy(&self, server: usize) -> bool {
        self.known_to_proxies.contains(&server)
    }

    /// The proxy of a server has asked for name and password.
    pub(super) fn is_asked_by_proxy(&mut self, server: usize) {
        self.known_to_proxies.push(server);
    }

    /// Tries the server's addresses in their order.
    pub(super) async fn connect(
        &mut self,
        server: &Server,
        timeout: Option<Duration>,
    ) -> Result<Socket, Failure> {
        let port = server.peer().1;
        let mut failure = Failure::UnknownHost;
        for ip in &server.addresses {
            // The last look, at the very address that is connected to.
            if !server.reaches_far && !is_near(*ip) {
                let says = not_allowed(server.peer().0, *ip);
                return Err(Failure::NotAllowed(says));
            }
            let until = timeout.map(|timeout| self.io.now().after(timeout));
            let connecting = Socket::connect(&self.io, (*ip, port));
            failure = Failure::Connect(match self.timer.within(until, connecting).await {
                Some(Ok(socket)) => return Ok(socket),
                Some(Err(error)) => ConnectFailure::of_io(&error),
                None => ConnectFailure::TimeOut,
            });
        }
        if failure.is_local() {
            self.io.counts.local_failures.update(|count| count + 1);
        }
        Err(failure)
    }

    /// Counts whether the server took the connection, and answered.
    pub(super) fn note(&mut self, exchange: &Exchange) {
        match &exchange.outcome {
            Ok(_) => self.turned_away = 0,
            Err(failure) if failure.is_turned_away() && exchange.received == 0 => {
                self.turned_away = self.turned_away.saturating_add(1);
            }
            // Whoever was refused for another reason, or ran out of time, is not asked to wait.
            Err(_) => {}
        }
    }

    /// How long a user waits who is turned away again and again: longer each time, at most a
    /// second.
    pub(crate) fn back_off(&self) -> Option<Duration> {
        const PATIENT: u32 = 10;
        const LONGEST_MS: u64 = 1_000;
        let over = self.turned_away.checked_sub(PATIENT)?;
        let ms = 1_u64.checked_shl(over).unwrap_or(LONGEST_MS);
        Some(Duration::from_millis(ms.min(LONGEST_MS)))
    }

    /// Sends a request and reads the response.
    pub(super) async fn ask(
        &mut self,
        socket: &mut Socket,
        asked: Asked,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Answered, Failure> {
        notes.sent = request.length();
        self.send(socket, request.bytes, request, notes).await?;
        if !request.uploads.is_empty() {
            Box::pin(self.send_files(socket, request, notes)).await?;
        }
        let kept = request
            .keep_body
            .map(|max| self.io.kept.borrow_mut().take(max));
        let mut reader = ResponseReader::new(asked, kept);
        let received = self.receive(socket, &mut reader, request, notes).await;
        notes.received = reader.received();
        received?;
        let is_free = reader.leaves_connection_usable();
        let (head, kept) = reader.take_parts();
        let head = head.ok_or(Failure::NotHttp)?;
        if let Some(kept) = kept {
            notes.kept = Some(self.decoded(kept, head.codings)?);
        }
        Ok(Answered { head, is_free })
    }

    /// What was kept, as it was before it was coded for the way.
    pub(super) fn decoded(
        &self,
        mut kept: Box<Kept>,
        codings: Codings,
    ) -> Result<Box<Kept>, Failure> {
        let store = &self.io.kept;
        let mut scratch = store.borrow_mut().take(0);
        let decoded = codings.undo(&mut kept, &mut scratch);
        store.borrow_mut().put(scratch);
        decoded.map(|()| kept)
    }

    async fn send(
        &mut self,
        socket: &mut Socket,
        bytes: &[u8],
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<(), Failure> {
        let mut rest = bytes;
        // What TLS has taken may still wait in memory.
        let mut is_flushed = matches!(socket.stream, Stream::Plain(_));
        while !rest.is_empty() || !is_flushed {
            let mut blocked = false;
            let write = poll_fn(|context| {
                let stream = Pin::new(&mut socket.stream);
                let polled = if rest.is_empty() {
                    stream.poll_flush(context).map_ok(|()| 0)
                } else {
                    stream.poll_write(context, rest)
                };
                blocked |= polled.is_pending();
                polled
            });
            let until = request.response_timeout.map(|t| self.io.now().after(t));
            let written = self.timer.within(until, write).await;
            if blocked {
                self.io.counts.blocked_sends.update(|count| count + 1);
            }
            match written {
                Some(Ok(length)) => {
                    notes.is_written |= length > 0;
                    is_flushed |= rest.is_empty();
                    rest = &rest[length..];
                }
                Some(Err(error)) => return Err(Failure::of_io(&error)),
                None => return Err(Failure::ReadTimeOut),
            }
        }
        Ok(())
    }

    /// Sends files piece by piece, whatever their size.
    async fn send_files(
        &mut self,
        socket: &mut Socket,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<(), Failure> {
        let mut buffer = vec![0; UPLOAD_PIECE_BYTES];
        for upload in request.uploads {
            let mut pieces = Pieces::open(upload)?;
            while let Some(piece) = pieces.next(&mut buffer)? {
                self.send(socket, piece, request, notes).await?;
            }
            self.send(socket, &upload.after, request, notes).await?;
        }
        Ok(())
    }

    async fn receive(
        &mut self,
        socket: &mut Socket,
        reader: &mut ResponseReader,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<(), Failure> {
        while !reader.is_done() {
            let until = request.response_timeout.map(|t| self.io.now().after(t));
            let io = &self.io;
            let piece = poll_fn(|context| socket.poll_feed(context, io, reader));
            let piece = self.timer.within(until, piece).await;
            let at = piece.unwrap_or(Err(Failure::ReadTimeOut))?;
            notes.last_byte = Some(at);
            if notes.first_body.is_none() && reader.has_body() {
                notes.first_body = Some(at);
            }
        }
        Ok(())
    }
}
