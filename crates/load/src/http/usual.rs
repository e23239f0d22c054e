//! What nearly every exchange is: a request in one piece on a connection of its own, in the open,
//! and a response that is read as it comes.
//!
//! A user who is woken by its response is there at once, instead of through a dozen futures of
//! which each asks where it was. Everything else is in a box of its own ([`Client::exchange`]),
//! which also spares the task of each user the room for it.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite as _;
use weir_script::{HttpVersion, Scheme};

use crate::clock::Moment;
use crate::http::client::Client;
use crate::http::connection::Connection;
use crate::http::io_context::IoContext;
use crate::http::outcome::Failure;
use crate::http::request::{Exchange, Request};
use crate::http::response::ResponseReader;
use crate::http::servers::Servers;
use crate::http::socket::Socket;

/// Whether a request goes in one piece to a server that speaks HTTP/1 in the open.
pub(super) fn is_usual(servers: &Servers, request: &Request<'_>) -> bool {
    let server = &servers[request.server];
    request.uploads.is_empty()
        && server.proxy.is_none()
        && server.scheme == Scheme::Http
        && servers.http_version() == HttpVersion::One
}

/// An exchange on an open connection.
#[derive(Debug)]
pub(super) struct Usual {
    socket: Socket,
    /// Bytes of the request that were written.
    written: usize,
    /// The socket had no room for all of the request at once.
    is_blocked: bool,
    reader: Box<ResponseReader>,
    first_body: Option<Moment>,
    last_byte: Option<Moment>,
}

impl Client {
    /// Begins an exchange.
    pub(super) fn begin_usual(&mut self, socket: Socket, request: &Request<'_>) -> Usual {
        let kept = request.keep_body;
        let kept = kept.map(|max| self.io.kept.borrow_mut().take(max));
        Usual {
            socket,
            written: 0,
            is_blocked: false,
            reader: self.io.take_reader(request.asked(), kept),
            first_body: None,
            last_byte: None,
        }
    }

    /// Waits for the response to its end, or for a failure.
    pub(super) async fn read_usual(
        &mut self,
        usual: &mut Usual,
        request: &Request<'_>,
    ) -> Result<(), Failure> {
        loop {
            let io = &self.io;
            let step = poll_fn(|context| usual.poll_step(context, io, request.bytes));
            let is_done = match request.response_timeout {
                None => step.await?,
                Some(timeout) => {
                    let until = io.now().after(timeout);
                    let step = self.timer.within(Some(until), step).await;
                    step.unwrap_or(Err(Failure::ReadTimeOut))?
                }
            };
            if is_done {
                return Ok(());
            }
        }
    }

    /// What became of a request that was started, and its connection opened, at these moments;
    /// nothing if a connection that was kept took no byte of it: then it is sent on another.
    pub(super) fn end_usual(
        &mut self,
        usual: Usual,
        read: Result<(), Failure>,
        request: &Request<'_>,
        (started, connected): (Moment, Option<Moment>),
    ) -> Option<Exchange> {
        let Usual {
            socket, mut reader, ..
        } = usual;
        let received = reader.received();
        let is_closed = matches!(&read, Err(failure) if failure.is_closed_connection());
        if connected.is_none() && is_closed && usual.written == 0 {
            self.io.counts.resent.update(|count| count + 1);
            self.io.put_reader(reader);
            return None;
        }
        let mut exchange = Exchange {
            connected,
            first_body: usual.first_body,
            received,
            ..Exchange::unsent(started, Failure::NotHttp)
        };
        let is_free = reader.leaves_connection_usable() && request.keep_alive;
        let (head, kept) = reader.take_parts();
        self.io.put_reader(reader);
        let answered = read.and_then(|()| {
            let head = head.ok_or(Failure::NotHttp)?;
            let kept = kept.map(|kept| self.decoded(kept, head.codings));
            Ok((head, kept.transpose()?))
        });
        match answered {
            Ok((head, kept)) => {
                exchange.ended = usual.last_byte.unwrap_or(started);
                exchange.sent = request.bytes.len() as u64;
                exchange.kept = kept;
                if is_free {
                    let (connection, idle_s) = (Connection::Http1(socket), head.keep_alive_s);
                    let server = request.server;
                    self.connections
                        .keep(server, connection, exchange.ended, idle_s);
                }
                exchange.outcome = Ok(head);
            }
            Err(failure) => {
                exchange.ended = self.io.now();
                exchange.outcome = Err(failure);
            }
        }
        Some(exchange)
    }
}

impl Usual {
    /// Writes what is left of the request, then reads once; true at the end of the response.
    fn poll_step(
        &mut self,
        context: &mut Context<'_>,
        io: &IoContext,
        bytes: &[u8],
    ) -> Poll<Result<bool, Failure>> {
        while let rest = &bytes[self.written..]
            && !rest.is_empty()
        {
            let written = Pin::new(&mut self.socket.stream).poll_write(context, rest);
            if written.is_pending() && !self.is_blocked {
                self.is_blocked = true;
                io.counts.blocked_sends.update(|count| count + 1);
            }
            match ready!(written) {
                Ok(length) => self.written += length,
                Err(error) => return Poll::Ready(Err(Failure::of_io(&error))),
            }
        }
        let fed = ready!(self.socket.poll_feed(context, io, &mut self.reader));
        Poll::Ready(fed.map(|at| {
            self.last_byte = Some(at);
            if self.first_body.is_none() && self.reader.has_body() {
                self.first_body = Some(at);
            }
            self.reader.is_done()
        }))
    }
}
