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
use crate::connection::{Connection, Socket};
use crate::core::Core;
use crate::exchange::{Client, Exchange, Request};
use crate::outcome::Failure;
use crate::response::{Asked, ResponseReader};
use crate::work::Work;

/// Whether a request goes in one piece to a server that speaks HTTP/1 in the open.
pub(crate) fn is_usual(work: &Work, request: &Request<'_>) -> bool {
    let server = &work.servers[request.server];
    request.uploads.is_empty()
        && server.proxy.is_none()
        && server.scheme == Scheme::Http
        && work.plan.http_version == HttpVersion::One
}

/// An exchange on an open connection.
#[derive(Debug)]
pub(crate) struct Usual {
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
    pub(crate) fn begin_usual(&mut self, socket: Socket, request: &Request<'_>) -> Usual {
        let kept = request.keep_body;
        let kept = kept.map(|max| self.core.kept.borrow_mut().take(max));
        Usual {
            socket,
            written: 0,
            is_blocked: false,
            reader: self.core.take_reader(Asked::of(request), kept),
            first_body: None,
            last_byte: None,
        }
    }

    /// Waits for the response to its end, or for a failure.
    pub(crate) async fn read_usual(
        &mut self,
        usual: &mut Usual,
        request: &Request<'_>,
    ) -> Result<(), Failure> {
        loop {
            let core = &self.core;
            let step = poll_fn(|context| usual.poll_step(context, core, request.bytes));
            let is_done = match request.response_timeout {
                None => step.await?,
                Some(timeout) => {
                    let until = core.now().after(timeout);
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
    /// nothing if the server had closed a connection that was kept: then the request is sent again
    /// on another.
    pub(crate) fn end_usual(
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
        if connected.is_none() && is_closed && received == 0 {
            self.core.tally(|tally| tally.resent += 1);
            self.core.put_reader(reader);
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
        self.core.put_reader(reader);
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
                exchange.ended = self.core.now();
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
        core: &Core,
        bytes: &[u8],
    ) -> Poll<Result<bool, Failure>> {
        while let rest = &bytes[self.written..]
            && !rest.is_empty()
        {
            let written = Pin::new(&mut self.socket.stream).poll_write(context, rest);
            if written.is_pending() && !self.is_blocked {
                self.is_blocked = true;
                core.tally(|tally| tally.blocked_sends += 1);
            }
            match ready!(written) {
                Ok(length) => self.written += length,
                Err(error) => return Poll::Ready(Err(Failure::of_io(&error))),
            }
        }
        let fed = ready!(self.socket.poll_feed(context, core, &mut self.reader));
        Poll::Ready(fed.map(|at| {
            self.last_byte = Some(at);
            if self.first_body.is_none() && self.reader.has_body() {
                self.first_body = Some(at);
            }
            self.reader.is_done()
        }))
    }
}
