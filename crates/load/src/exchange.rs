//! One request and its response.

use std::borrow::Cow;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWrite as _;
use weir_script::Upload;

use tokio_rustls::rustls::ClientConfig;
use weir_script::{HttpVersion, Scheme};

use crate::clock::Moment;
use crate::connection::{Connection, Connections, Socket, Stream};
use crate::core::Core;
use crate::http2::{self, Http2, Piece};
use crate::names::Server;
use crate::outcome::{ConnectFailure, Failure};
use crate::response::{Asked, Codings, Head, Kept, ResponseReader};
use crate::timers::Timer;
use crate::tls;
use crate::tunnel::{self, Tunnel};
use crate::upload::{Pieces, UPLOAD_PIECE_BYTES};
use crate::usual;
use crate::work::Work;

/// The most that is kept of a body. JMeter keeps all of it by default
/// (`httpsampler.max_bytes_to_store_per_sample`), which lets one server fill the memory of its
/// client.
pub(crate) const BODY_MAX: usize = 16 * 1024 * 1024;

/// "Proxy Authentication Required".
pub(crate) const PROXY_WANTS_PASSWORD: u16 = 407;

/// What is sent, to whom, and how long each part may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) bytes: &'a [u8],
    /// The files after the bytes.
    pub(crate) uploads: &'a [Upload],
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

/// All bytes of a request at once: HTTP/2 sends files from memory, up to a limit.
fn whole<'a>(request: &Request<'a>) -> Result<Cow<'a, [u8]>, Failure> {
    if request.uploads.is_empty() {
        return Ok(Cow::Borrowed(request.bytes));
    }
    if request.length() > BODY_MAX as u64 {
        let says = format!("files of more than {BODY_MAX} bytes are not sent over HTTP/2");
        return Err(Failure::Upload(says));
    }
    let mut whole = request.bytes.to_vec();
    let mut buffer = vec![0; UPLOAD_PIECE_BYTES];
    for upload in request.uploads {
        let mut pieces = Pieces::open(upload)?;
        while let Some(piece) = pieces.next(&mut buffer)? {
            whole.extend_from_slice(piece);
        }
        whole.extend_from_slice(&upload.after);
    }
    Ok(Cow::Owned(whole))
}

impl Request<'_> {
    /// How many bytes it has, files included.
    fn length(&self) -> u64 {
        let files = self.uploads.iter();
        let files: u64 = files.map(|u| u.length + u.after.len() as u64).sum();
        self.bytes.len() as u64 + files
    }
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
    pub(crate) kept: Option<Box<Kept>>,
}

impl Exchange {
    /// Nothing was sent, for this reason.
    pub(crate) fn unsent(now: Moment, failure: Failure) -> Self {
        Self {
            started: now,
            connected: None,
            first_body: None,
            ended: now,
            received: 0,
            sent: 0,
            outcome: Err(failure),
            kept: None,
        }
    }

    /// What is seen of two exchanges of which only the last one shows.
    pub(crate) fn then(self, last: Self) -> Self {
        Self {
            started: self.started,
            connected: last.connected.or(self.connected),
            ..last
        }
    }
}

/// Sends requests of one user, one after the other.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) core: Rc<Core>,
    /// The user's one place among the timers: whoever sends does not sleep.
    pub(crate) timer: Timer,
    pub(crate) connections: Connections,
    /// The user's TLS sessions, once it needs them.
    tls: Option<Arc<ClientConfig>>,
    /// Servers whose proxies have asked for a name and a password.
    known_to_proxies: Vec<usize>,
}

/// What came of opening a connection.
enum Opened {
    Connection(Connection),
    /// The proxy does not let us through: its answer is the response.
    Refused(Box<Head>),
}

/// A response that has been read.
pub(crate) struct Answered {
    pub(crate) head: Head,
    /// Whether another request can follow on the connection.
    pub(crate) is_free: bool,
}

/// What an attempt has noted by the time it ends, however it ends.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    connected: Option<Moment>,
    first_body: Option<Moment>,
    last_byte: Option<Moment>,
    received: u64,
    sent: u64,
    kept: Option<Box<Kept>>,
}

impl Notes {
    /// Of an attempt on a connection that was opened at that moment.
    pub(crate) fn on(connected: Option<Moment>) -> Self {
        Self {
            connected,
            ..Self::default()
        }
    }

    /// When the connection was open, unless it was kept.
    pub(crate) fn connected(&self) -> Option<Moment> {
        self.connected
    }

    /// What was kept, for whoever wants its buffers back.
    pub(crate) fn take_kept(&mut self) -> Option<Box<Kept>> {
        self.kept.take()
    }
}

impl Client {
    /// A client without connections.
    pub(crate) fn new(core: Rc<Core>) -> Self {
        Self {
            timer: Timer::new(&core.timers),
            connections: Connections::default(),
            tls: None,
            known_to_proxies: Vec::new(),
            core,
        }
    }

    /// Milliseconds since 1970.
    pub(crate) fn now_ms(&self) -> i64 {
        let now = self.core.now();
        self.core.clock.epoch_ms(now).cast_signed()
    }

    /// Forgets connections, TLS sessions and what proxies wanted: whoever sends next is somebody
    /// else.
    pub(crate) fn forget(&mut self) {
        self.connections = Connections::default();
        self.tls = None;
        self.known_to_proxies.clear();
    }

    /// Sends a request and reads the response to its end.
    ///
    /// A request is sent a second time, on a fresh connection, only if the first connection was
    /// kept from an earlier exchange and ended without a byte of the response; and when a proxy
    /// asks for a name and a password.
    pub(crate) async fn exchange(&mut self, work: &Work, request: &Request<'_>) -> Exchange {
        let started = self.core.now();
        if !usual::is_usual(work, request) {
            return Box::pin(self.exchange_otherwise(work, request, started)).await;
        }
        let mut connected = None;
        let mut socket = self.connections.take_socket(request.server, started);
        loop {
            if let Some(socket) = socket.take() {
                let mut usual = self.begin_usual(socket, request);
                let read = self.read_usual(&mut usual, request).await;
                let times = (started, connected);
                if let Some(exchange) = self.end_usual(usual, read, request, times) {
                    return exchange;
                }
            }
            let server = &work.servers[request.server];
            // Boxed: most users connect once, and the tasks of all would have room for it.
            let opened = Box::pin(self.connect(server, request.connect_timeout)).await;
            connected = Some(self.core.now());
            match opened {
                Ok(opened) => socket = Some(opened),
                Err(failure) => {
                    return Exchange {
                        started,
                        connected,
                        ..Exchange::unsent(self.core.latest(), failure)
                    };
                }
            }
        }
    }

    /// The same through proxies, with TLS, over HTTP/2, with files.
    async fn exchange_otherwise(
        &mut self,
        work: &Work,
        request: &Request<'_>,
        started: Moment,
    ) -> Exchange {
        let server = &work.servers[request.server];
        let mut notes = Notes::default();
        let outcome = if server.proxy.is_none() {
            self.send_once(work, request, started, &mut notes).await
        } else {
            Box::pin(self.send_by_proxy(work, request, &mut notes)).await
        };
        let ended = notes.last_byte.filter(|_| outcome.is_ok());
        Exchange {
            started,
            connected: notes.connected,
            first_body: notes.first_body,
            ended: ended.unwrap_or_else(|| self.core.now()),
            received: notes.received,
            sent: if outcome.is_ok() { notes.sent } else { 0 },
            kept: notes.kept.filter(|_| outcome.is_ok()),
            outcome,
        }
    }

    /// Takes back what was kept of a response, for the next one.
    pub(crate) fn give_back(&self, kept: Box<Kept>) {
        self.core.kept.borrow_mut().put(kept);
    }

    /// Sends a request on the connection that was kept, if there is one, else on a fresh one.
    async fn send_once(
        &mut self,
        work: &Work,
        request: &Request<'_>,
        now: Moment,
        notes: &mut Notes,
    ) -> Result<Head, Failure> {
        let mut kept = self.connections.take(request.server, now);
        loop {
            let is_kept = kept.is_some();
            let mut connection = match kept.take() {
                Some(connection) => connection,
                None => match self.open(work, request, notes).await? {
                    Opened::Connection(connection) => connection,
                    Opened::Refused(head) => return Ok(*head),
                },
            };
            let answered = self.attempt(&mut connection, work, request, notes).await;
            match answered {
                Err(failure)
                    if is_kept && failure.is_closed_connection() && notes.received == 0 =>
                {
                    self.core.tally(|tally| tally.resent += 1);
                }
                Err(failure) => return Err(failure),
                Ok(Answered { head, is_free }) => {
                    if is_free && request.keep_alive {
                        let now = notes.last_byte.unwrap_or(Moment::ORIGIN);
                        let idle_s = head.keep_alive_s;
                        self.connections
                            .keep(request.server, connection, now, idle_s);
                    }
                    return Ok(head);
                }
            }
        }
    }

    /// As JMeter does it: a proxy gets a name and a password once it has asked for them.
    async fn send_by_proxy(
        &mut self,
        work: &Work,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Head, Failure> {
        let server = &work.servers[request.server];
        let forwarded = server.scheme == Scheme::Http;
        let proxy = server.proxy.as_ref();
        let Some(authorization) = proxy.and_then(|proxy| proxy.authorization.as_ref()) else {
            let now = self.core.now();
            return self.send_once(work, request, now, notes).await;
        };
        if !self.is_known_to_proxy(request.server) {
            let now = self.core.now();
            let outcome = self.send_once(work, request, now, notes).await;
            let wants = matches!(&outcome, Ok(head) if head.status.number == PROXY_WANTS_PASSWORD);
            if !wants || !forwarded {
                return outcome;
            }
            self.known_to_proxies.push(request.server);
            if let Some(kept) = notes.take_kept() {
                self.give_back(kept);
            }
            notes.first_body = None;
        }
        let with_password;
        let request = if forwarded {
            with_password = tunnel::authorized(request.bytes, authorization);
            Request {
                bytes: &with_password,
                ..*request
            }
        } else {
            *request
        };
        let now = self.core.now();
        self.send_once(work, &request, now, notes).await
    }

    /// Whether the proxy of a server is told name and password unasked.
    pub(crate) fn is_known_to_proxy(&self, server: usize) -> bool {
        self.known_to_proxies.contains(&server)
    }

    /// The proxy of a server has asked for name and password.
    pub(crate) fn is_asked_by_proxy(&mut self, server: usize) {
        self.known_to_proxies.push(server);
    }

    /// Opens a connection that is ready for a request.
    async fn open(
        &mut self,
        work: &Work,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Opened, Failure> {
        let server = &work.servers[request.server];
        let socket = self.connect(server, request.connect_timeout).await;
        notes.connected = Some(self.core.now());
        let socket = socket?;
        if server.scheme == Scheme::Http && work.plan.http_version == HttpVersion::One {
            return Ok(Opened::Connection(Connection::Http1(socket)));
        }
        // Boxed, as all that few requests need: when many users begin at once, this future is what
        // takes most of the memory.
        Box::pin(self.agree(socket, work, request, notes)).await
    }

    /// Agrees with the proxy and the server on how to go on.
    async fn agree(
        &mut self,
        mut socket: Socket,
        work: &Work,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Opened, Failure> {
        let server = &work.servers[request.server];
        let mut is_http2 = work.plan.http_version == HttpVersion::Two;
        if server.scheme == Scheme::Https {
            if server.proxy.is_some() {
                socket = match self.tunnel(socket, server, request, notes).await? {
                    Tunnel::Open(socket) => socket,
                    Tunnel::Refused(head) => return Ok(Opened::Refused(head)),
                };
            }
            let secured = self.secure(socket, work, request).await;
            if server.proxy.is_none() {
                // JMeter counts TLS as a part of connecting, but not in a tunnel.
                notes.connected = Some(self.core.now());
            }
            socket = secured?;
            is_http2 = socket.stream.is_http2();
        } else if server.proxy.is_some() {
            // A proxy forwards what it can read, and that is HTTP/1.1.
            is_http2 = false;
        }
        Ok(Opened::Connection(if is_http2 {
            Connection::Http2(Box::new(Http2::begin(socket).await?))
        } else {
            Connection::Http1(socket)
        }))
    }

    /// Makes a connection a secure one. The time for connecting limits how long the server may be
    /// silent, as in JMeter.
    async fn secure(
        &mut self,
        socket: Socket,
        work: &Work,
        request: &Request<'_>,
    ) -> Result<Socket, Failure> {
        let server = &work.servers[request.server];
        let config = self.tls.get_or_insert_with(|| tls::of_user(&work.tls));
        let config = Arc::clone(config);
        let shaken = socket.secured(|stream| tls::handshake(config, &server.host, stream));
        let until = request.connect_timeout;
        let until = until.map(|timeout| self.core.now().after(timeout));
        let shaken = self.timer.within(until, shaken).await;
        shaken.unwrap_or(Err(Failure::Connect(ConnectFailure::SilentHandshake)))
    }

    /// Tries the server's addresses in their order.
    pub(crate) async fn connect(
        &mut self,
        server: &Server,
        timeout: Option<Duration>,
    ) -> Result<Socket, Failure> {
        let port = server.peer().1;
        let mut failure = Failure::UnknownHost;
        for ip in &server.addresses {
            let until = timeout.map(|timeout| self.core.now().after(timeout));
            let connecting = Socket::connect(&self.core, (*ip, port));
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
        connection: &mut Connection,
        work: &Work,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Answered, Failure> {
        match connection {
            Connection::Http1(socket) => self.ask(socket, Asked::of(request), request, notes).await,
            Connection::Http2(connection) => {
                Box::pin(self.attempt_http2(connection, work, request, notes)).await
            }
        }
    }

    /// Sends a request and reads the response.
    pub(crate) async fn ask(
        &mut self,
        socket: &mut Socket,
        asked: Asked,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Answered, Failure> {
        notes.sent = request.length();
        self.send(socket, request.bytes, request).await?;
        if !request.uploads.is_empty() {
            Box::pin(self.send_files(socket, request)).await?;
        }
        let kept = request
            .keep_body
            .map(|max| self.core.kept.borrow_mut().take(max));
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

    async fn attempt_http2(
        &mut self,
        connection: &mut Http2,
        work: &Work,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Answered, Failure> {
        notes.sent = request.length();
        let is_tls = work.servers[request.server].scheme == Scheme::Https;
        let before = connection.received();
        let read = self.read_http2(connection, is_tls, request, notes).await;
        notes.received = connection.received() - before;
        let (head, kept) = read?;
        if let Some(kept) = kept {
            notes.kept = Some(self.decoded(kept, head.codings)?);
        }
        Ok(Answered {
            head,
            is_free: true,
        })
    }

    async fn read_http2(
        &mut self,
        connection: &mut Http2,
        is_tls: bool,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<(Head, Option<Box<Kept>>), Failure> {
        let core = Rc::clone(&self.core);
        let until = || request.response_timeout.map(|t| core.now().after(t));
        let whole = whole(request)?;
        let sending = connection.send(&whole, is_tls);
        let sent = self.timer.within(until(), sending).await;
        let mut answer = sent.unwrap_or(Err(Failure::ReadTimeOut))?;
        let mut head = None;
        let mut kept = request
            .keep_body
            .map(|max| core.kept.borrow_mut().take(max));
        loop {
            let piece = self.timer.within(until(), answer.next()).await;
            notes.last_byte = Some(core.now());
            match piece.unwrap_or(Err(Failure::ReadTimeOut)) {
                Ok(Piece::Head(response)) => {
                    head = Some(Head::of_http2(&response, &mut core.texts.borrow_mut()));
                    if let Some(kept) = &mut kept {
                        kept.took_head(&http2::head_text(&response));
                    }
                }
                Ok(Piece::Data(data)) => {
                    if !data.is_empty() && notes.first_body.is_none() {
                        notes.first_body = notes.last_byte;
                    }
                    if let Some(kept) = &mut kept {
                        kept.took_body(&data);
                    }
                }
                Ok(Piece::End) => return Ok((head.ok_or(Failure::NoResponse)?, kept)),
                Err(Failure::NoResponse) if head.is_some() => {
                    let says = "the connection ended inside the response";
                    return Err(Failure::Http2(says.to_owned()));
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// What was kept, as it was before it was coded for the way.
    pub(crate) fn decoded(
        &self,
        mut kept: Box<Kept>,
        codings: Codings,
    ) -> Result<Box<Kept>, Failure> {
        let store = &self.core.kept;
        let mut scratch = store.borrow_mut().take(0);
        let decoded = codings.undo(&mut kept, &mut scratch);
        store.borrow_mut().put(scratch);
        decoded.map(|()| kept)
    }

    /// Sends files piece by piece, whatever their size.
    async fn send_files(
        &mut self,
        socket: &mut Socket,
        request: &Request<'_>,
    ) -> Result<(), Failure> {
        let mut buffer = vec![0; UPLOAD_PIECE_BYTES];
        for upload in request.uploads {
            let mut pieces = Pieces::open(upload)?;
            while let Some(piece) = pieces.next(&mut buffer)? {
                self.send(socket, piece, request).await?;
            }
            self.send(socket, &upload.after, request).await?;
        }
        Ok(())
    }

    async fn send(
        &mut self,
        socket: &mut Socket,
        bytes: &[u8],
        request: &Request<'_>,
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
            let until = request.response_timeout.map(|t| self.core.now().after(t));
            let written = self.timer.within(until, write).await;
            if blocked {
                self.core.tally(|tally| tally.blocked_sends += 1);
            }
            match written {
                Some(Ok(length)) => {
                    is_flushed |= rest.is_empty();
                    rest = &rest[length..];
                }
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
            let until = request.response_timeout.map(|t| self.core.now().after(t));
            let core = &self.core;
            let piece = poll_fn(|context| socket.poll_feed(context, core, reader));
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
