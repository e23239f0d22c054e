//! How a request is sent: on which connection, by which way, how often.

use std::sync::Arc;

use weir_script::{HttpVersion, Scheme};

use crate::clock::Moment;
use crate::http::client::{Answered, Client, Notes};
use crate::http::connection::Connection;
use crate::http::http2::Http2;
use crate::http::outcome::{ConnectFailure, Failure};
use crate::http::request::{Exchange, Request};
use crate::http::response::Head;
use crate::http::servers::Servers;
use crate::http::socket::Socket;
use crate::http::tls;
use crate::http::tunnel::{self, PROXY_WANTS_PASSWORD, Tunnel};
use crate::http::usual;

/// What came of opening a connection.
enum Opened {
    Connection(Connection),
    /// The proxy does not let us through: its answer is the response.
    Refused(Box<Head>),
}

impl Client {
    /// Sends a request and reads the response to its end.
    ///
    /// A request goes out a second time, on a fresh connection, only if the first connection was
    /// kept from an earlier exchange and took no byte of it; and when a proxy asks for a name and a
    /// password. What was written may have been done: without an answer it has failed, as in
    /// JMeter.
    pub(crate) async fn exchange(&mut self, servers: &Servers, request: &Request<'_>) -> Exchange {
        let exchange = self.exchange_somehow(servers, request).await;
        self.note(&exchange);
        exchange
    }

    async fn exchange_somehow(&mut self, servers: &Servers, request: &Request<'_>) -> Exchange {
        let started = self.io.now();
        if !usual::is_usual(servers, request) {
            return Box::pin(self.exchange_otherwise(servers, request, started)).await;
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
            let server = &servers[request.server];
            // Boxed: most users connect once, and the tasks of all would have room for it.
            let began = self.io.latest();
            let opened = Box::pin(self.connect(server, request.connect_timeout)).await;
            connected = Some(self.io.note_connecting(began, opened.is_ok()));
            match opened {
                Ok(opened) => socket = Some(opened),
                Err(failure) => {
                    return Exchange {
                        started,
                        connected,
                        ..Exchange::unsent(self.io.latest(), failure)
                    };
                }
            }
        }
    }

    /// An exchange through proxies, with TLS, over HTTP/2, with files.
    async fn exchange_otherwise(
        &mut self,
        servers: &Servers,
        request: &Request<'_>,
        started: Moment,
    ) -> Exchange {
        let server = &servers[request.server];
        let mut notes = Notes::default();
        let outcome = if server.proxy.is_none() {
            self.send_once(servers, request, started, &mut notes).await
        } else {
            Box::pin(self.send_by_proxy(servers, request, &mut notes)).await
        };
        let ended = notes.last_byte.filter(|_| outcome.is_ok());
        Exchange {
            started,
            connected: notes.connected,
            first_body: notes.first_body,
            ended: ended.unwrap_or_else(|| self.io.now()),
            received: notes.received,
            sent: if outcome.is_ok() { notes.sent } else { 0 },
            redirected: false,
            kept: notes.kept.filter(|_| outcome.is_ok()),
            outcome,
        }
    }

    /// Sends a request on the connection that was kept, if there is one, else on a fresh one.
    async fn send_once(
        &mut self,
        servers: &Servers,
        request: &Request<'_>,
        now: Moment,
        notes: &mut Notes,
    ) -> Result<Head, Failure> {
        let mut kept = self.connections.take(request.server, now);
        loop {
            let is_kept = kept.is_some();
            let mut connection = match kept.take() {
                Some(connection) => connection,
                None => match self.open(servers, request, notes).await? {
                    Opened::Connection(connection) => connection,
                    Opened::Refused(head) => return Ok(*head),
                },
            };
            let answered = self.attempt(&mut connection, servers, request, notes).await;
            match answered {
                Err(failure)
                    if is_kept
                        && (failure.is_unprocessed()
                            || failure.is_closed_connection() && !notes.is_written) =>
                {
                    notes.is_written = false;
                    self.io.counts.resent.update(|count| count + 1);
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
        servers: &Servers,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Head, Failure> {
        let server = &servers[request.server];
        let forwarded = server.scheme == Scheme::Http;
        let proxy = server.proxy.as_ref();
        let Some(authorization) = proxy.and_then(|proxy| proxy.authorization.as_ref()) else {
            let now = self.io.now();
            return self.send_once(servers, request, now, notes).await;
        };
        if !self.is_known_to_proxy(request.server) {
            let now = self.io.now();
            let outcome = self.send_once(servers, request, now, notes).await;
            let wants = matches!(&outcome, Ok(head) if head.status.number == PROXY_WANTS_PASSWORD);
            if !wants || !forwarded {
                return outcome;
            }
            self.is_asked_by_proxy(request.server);
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
        let now = self.io.now();
        self.send_once(servers, &request, now, notes).await
    }

    /// Opens a connection that is ready for a request.
    async fn open(
        &mut self,
        servers: &Servers,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Opened, Failure> {
        let server = &servers[request.server];
        let began = self.io.latest();
        let socket = self.connect(server, request.connect_timeout).await;
        notes.connected = Some(self.io.note_connecting(began, socket.is_ok()));
        let socket = socket?;
        if server.scheme == Scheme::Http && servers.http_version() == HttpVersion::One {
            return Ok(Opened::Connection(Connection::Http1(socket)));
        }
        // Boxed, as all that few requests need: when many users begin at once, this future is what
        // takes most of the memory.
        Box::pin(self.agree(socket, servers, request, notes)).await
    }

    /// Agrees with the proxy and the server on how to go on.
    async fn agree(
        &mut self,
        mut socket: Socket,
        servers: &Servers,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Opened, Failure> {
        let server = &servers[request.server];
        let mut is_http2 = servers.http_version() == HttpVersion::Two;
        if server.scheme == Scheme::Https {
            if server.proxy.is_some() {
                socket = match self.tunnel(socket, server, request, notes).await? {
                    Tunnel::Open(socket) => socket,
                    Tunnel::Refused(head) => return Ok(Opened::Refused(head)),
                };
            }
            let began = self.io.latest();
            let secured = self.secure(socket, servers, request).await;
            let agreed = self.io.note_connecting(began, false);
            if server.proxy.is_none() {
                // JMeter counts TLS as a part of connecting, but not in a tunnel.
                notes.connected = Some(agreed);
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
        servers: &Servers,
        request: &Request<'_>,
    ) -> Result<Socket, Failure> {
        let server = &servers[request.server];
        let config = self.tls.get_or_insert_with(|| tls::of_user(servers.tls()));
        let config = Arc::clone(config);
        let shaken = socket.secured(|stream| tls::handshake(config, &server.host, stream));
        let until = request.connect_timeout;
        let until = until.map(|timeout| self.io.now().after(timeout));
        let shaken = self.timer.within(until, shaken).await;
        shaken.unwrap_or(Err(Failure::Connect(ConnectFailure::SilentHandshake)))
    }

    async fn attempt(
        &mut self,
        connection: &mut Connection,
        servers: &Servers,
        request: &Request<'_>,
        notes: &mut Notes,
    ) -> Result<Answered, Failure> {
        match connection {
            Connection::Http1(socket) => self.ask(socket, request.asked(), request, notes).await,
            Connection::Http2(connection) => {
                Box::pin(self.attempt_http2(connection, servers, request, notes)).await
            }
        }
    }
}
