//! A user's connections: opened when needed, kept when both sides agree.

use std::time::Duration;

use crate::clock::Moment;
use crate::http::http2::Http2;
use crate::http::socket::Socket;

/// How long a connection is used at most, counted from its opening: JMeter's default
/// (`httpclient4.time_to_live`).
const LIFE_MAX: Duration = Duration::from_secs(60);

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

    /// As `take`, to a server that speaks HTTP/1.
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
