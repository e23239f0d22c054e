//! One request and its response.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead as _, AsyncWrite as _, ReadBuf};

use crate::clock::Moment;
use crate::connection::{Connections, Socket};
use crate::core::Core;
use crate::names::Server;
use crate::outcome::{ConnectFailure, Failure};
use crate::response::{Codings, Head, Kept, ResponseReader};
use crate::timers::Timer;
use crate::work::Work;
use std::rc::Rc;

/// The most that is kept of a body. JMeter keeps all of it by default
/// (`httpsampler.max_bytes_to_store_per_sample`), which lets one server fill the memory of its
/// client.
#[allow(
    dead_code,
    reason = "the plan interpreter is what looks into responses"
)]
pub(crate) const BODY_MAX: usize = 16 * 1024 * 1024;

/// What is sent, to whom, and how long each part may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) bytes: &'a [u8],
    /// Place of the server among [`Work::servers`].
    pub(crate) server: usize,
    pub(crate) is_head: bool,
    pub(crate) keep_alive: bool,
    pub(crate) connect_timeout: Option<Duration>,
    /// Longest time without a byte sent or received.
    pub(crate) response_timeout: Option<Duration>,
    /// Head and body are kept, the body up to this many bytes ([`BODY_MAX`] unless the caller knows
    /// better; 0: the head alone). `None`: nothing is kept.
    pub(crate) keep_body: Option<usize>,
}

/// What became of a request.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Before anything is connected.
    pub(crate) started: Moment,
    /// When connecting ended, in whatever way; `None` on a connection that was kept.
    pub(crate) connected: Option<Moment>,
    /// When the first byte of the body was there; `None` without one.
    pub(crate) first_body: Option<Moment>,
    /// When the last byte was there, or the failure.
    pub(crate) ended: Moment,
    /// Bytes of head and body, as they were on the wire.
    pub(crate) received: u64,
    /// Bytes of a request that was answered, head and body.
    pub(crate) sent: u64,
    /// The response's head, or why there is no complete response.
    pub(crate) outcome: Result<Head, Failure>,
    /// What was kept of a complete response. Hand it back with [`Client::give_back`].
    #[allow(
        dead_code,
        reason = "the plan interpreter is what looks into responses"
    )]
    pub(crate) kept: Option<Box<Kept>>,
}

/// Sends requests of one user, one after the other.
#[derive(Debug)]
pub(crate) struct Client {
    core: Rc<Core>,
    /// The user's one place among the timers: whoever sends does not sleep.
    pub(crate) timer: Timer,
    connections: Connections,
}

/// What an attempt has noted by the time it ends, however it ends.
#[derive(Debug, Default)]
struct Notes {
    connected: Option<Moment>,
    first_body: Option<Moment>,
    last_byte: Option<Moment>,
    received: u64,
    kept: Option<Box<Kept>>,
}

impl Client {
    /// A client without connections.
    pub(crate) fn new(core: Rc<Core>) -> Self {
        Self {
            timer: Timer::new(&core.timers),
            connections: Connections::default(),
            core,
        }
    }

    /// Sends a request and reads the response to its end.
    ///
    /// A request is sent a second time, on a fresh connection, only if the first connection was
    /// kept from an earlier exchange and ended without a byte of the response.
    pub(crate) async fn exchange(&mut self, work: &Work, request: &Request<'_>) -> Exchange {
        let started = self.core.clock.now();
        let server = &work.servers[request.server];
        let mut notes = Notes::default();
        let kept = self.connections.take(request.server, started);
        let mut outcome = match kept {
            Some(socket) => {
                let first = self.attempt(socket, request, &mut notes).await;
                match first {
                    Err(failure) if failure.is_closed_connection() && notes.received == 0 => {
                        self.core.tally(|tally| tally.resent += 1);
                        None
                    }
                    first => Some(first),
                }
            }
            None => None,
        };
        if outcome.is_none() {
            outcome = Some(self.fresh(server, request, &mut notes).await);
        }
        let outcome = outcome.unwrap_or(Err(Failure::NoResponse));
        let ended = notes.last_byte.filter(|_| outcome.is_ok());
        Exchange {
            started,
            connected: notes.connected,
            first_body: notes.first_body,
            ended: ended.unwrap_or_else(|| self.core.clock.now()),
            received: notes.received,
            sent: if outcome.is_ok() {
                request.bytes.len() as u64
            } else {
                0
            },
            kept: notes.kept.filter(|_| outcome.is_ok()),
            outcome,
        }
    }

    /// Takes back what was kept of a response, for the next one.
    #[allow(
        dead_code,
        reason = "the plan interpreter is what looks into responses"
    )]
    pub(crate) fn give_back(&self, kept: Box<Kept>) {
        self.core.kept.borrow_mut().put(kept);
    }

    async fn fresh(
        &mut self,
        server: &Server,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Head, Failure> {
        let socket = self.connect(server, request.connect_timeout).await;
        notes.connected = Some(self.core.clock.now());
        self.attempt(socket?, request, notes).await
    }

    /// Tries the server's addresses in their order.
    async fn connect(
        &mut self,
        server: &Server,
        timeout: Option<Duration>,
    ) -> Result<Socket, Failure> {
        let mut failure = Failure::UnknownHost;
        for ip in &server.addresses {
            let until = timeout.map(|timeout| self.core.clock.now().after(timeout));
            let connecting = Socket::connect(&self.core, (*ip, server.port));
            failure = Failure::Connect(match self.timer.within(until, connecting).await {
                Some(Ok(socket)) => return Ok(socket),
                Some(Err(error)) => ConnectFailure::of_io(&error),
                None => ConnectFailure::TimeOut,
            });
        }
        if failure.is_local() {
            self.core.tally(|tally| tally.local_failures += 1);
        }
        Err(failure)
    }

    async fn attempt(
        &mut self,
        mut socket: Socket,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Head, Failure> {
        self.send(&mut socket, request).await?;
        let kept = request
            .keep_body
            .map(|max| self.core.kept.borrow_mut().take(max));
        let mut reader = ResponseReader::new(request.is_head, kept);
        let received = self.receive(&mut socket, &mut reader, request, notes).await;
        notes.received = reader.received();
        received?;
        let now = notes.last_byte.unwrap_or(Moment::ORIGIN);
        let usable = request.keep_alive && reader.leaves_connection_usable();
        let (head, kept) = reader.into_parts();
        let head = head.ok_or(Failure::NotHttp)?;
        if let Some(kept) = kept {
            notes.kept = Some(self.decoded(kept, head.codings)?);
        }
        if usable {
            self.connections
                .keep(request.server, socket, now, head.keep_alive_s);
        }
        Ok(head)
    }

    fn decoded(&self, mut kept: Box<Kept>, codings: Codings) -> Result<Box<Kept>, Failure> {
        let store = &self.core.kept;
        let mut scratch = store.borrow_mut().take(0);
        let decoded = codings.undo(&mut kept, &mut scratch);
        store.borrow_mut().put(scratch);
        decoded.map(|()| kept)
    }

    async fn send(&mut self, socket: &mut Socket, request: &Request<'_>) -> Result<(), Failure> {
        let mut rest = request.bytes;
        while !rest.is_empty() {
            let mut blocked = false;
            let write = poll_fn(|context| {
                let polled = Pin::new(&mut socket.stream).poll_write(context, rest);
                blocked |= polled.is_pending();
                polled
            });
            let until = request
                .response_timeout
                .map(|t| self.core.clock.now().after(t));
            let written = self.timer.within(until, write).await;
            if blocked {
                self.core.tally(|tally| tally.blocked_sends += 1);
            }
            match written {
                Some(Ok(length)) => rest = &rest[length..],
                Some(Err(error)) => return Err(Failure::of_io(&error)),
                None => return Err(Failure::ReadTimeOut),
            }
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
            let until = request
                .response_timeout
                .map(|t| self.core.clock.now().after(t));
            let core = &self.core;
            let piece = poll_fn(|context| {
                // The runtime's one buffer is borrowed for this poll only: what has come is read
                // and forgotten before anyone else runs.
                let mut buffer = core.buffer.borrow_mut();
                let mut filled = ReadBuf::new(&mut buffer);
                let read = Pin::new(&mut socket.stream).poll_read(context, &mut filled);
                if let Err(error) = ready!(read) {
                    return Poll::Ready(Err(Failure::of_io(&error)));
                }
                let at = core.clock.now();
                let bytes = filled.filled();
                let read = if bytes.is_empty() {
                    reader.end(&mut core.texts.borrow_mut())
                } else {
                    reader.feed(bytes, &mut core.texts.borrow_mut())
                };
                Poll::Ready(read.map(|()| at))
            });
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
