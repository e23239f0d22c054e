//! Connections that one thread keeps to a backend.
//!
//! hyper-util's client would do this too; it costs a tenth more CPU a request, because it takes a
//! lock, a map and a channel for what is a list here.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::time::Instant;

use super::connection::{BackendConnection, STREAMS_MAX, Sender, Shared};
use crate::client::ClientAddress;

/// Connections without a request that are kept.
const KEPT_MAX: usize = 4096;
/// How many of them are looked at for one that is ready.
const LOOKED_AT_MAX: usize = 4;

/// Connections that are kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// Without a request; the last one is taken first.
    at_rest: Vec<AtRest>,
    /// Those of HTTP/2, with requests or without.
    shared: Vec<SharedBy>,
}

#[derive(Debug)]
struct AtRest {
    connection: BackendConnection,
    since: Instant,
}

#[derive(Debug)]
struct SharedBy {
    connection: Shared,
    peer: Option<SocketAddr>,
    since: Instant,
}

impl Kept {
    /// One that can take a request; of those that are a client's, this one's.
    pub(super) fn take(
        &mut self,
        of: Option<ClientAddress>,
        idle_max: Duration,
    ) -> Option<BackendConnection> {
        if of.is_some() {
            let is_its = |one: &AtRest| {
                let is_good = one.since.elapsed() < idle_max && one.connection.sender.is_ready();
                one.connection.for_whom == of && is_good
            };
            let at = self.at_rest.iter().rposition(is_its)?;
            return Some(self.at_rest.remove(at).connection);
        }
        for at in (0..self.at_rest.len()).rev().take(LOOKED_AT_MAX) {
            let one = &self.at_rest[at];
            if one.since.elapsed() >= idle_max || one.connection.sender.is_closed() {
                self.at_rest.remove(at);
            } else if one.connection.sender.is_ready() {
                return Some(self.at_rest.remove(at).connection);
            }
        }
        None
    }

    /// A handle of one of HTTP/2 that has room for a request, and where it goes to.
    pub(super) fn share(&mut self) -> Option<(Sender, Option<SocketAddr>)> {
        let has_room = |one: &SharedBy| {
            one.connection.used_by() < STREAMS_MAX && one.connection.sender.is_ready()
        };
        let one = self.shared.iter().rfind(|one| has_room(one))?;
        Some((Sender::Http2(one.connection.clone()), one.peer))
    }

    /// Others may use it, too.
    pub(super) fn offer(&mut self, connection: &Shared, peer: Option<SocketAddr>) {
        self.shared.push(SharedBy {
            connection: connection.clone(),
            peer,
            since: Instant::now(),
        });
    }

    /// It has no request any more.
    pub(super) fn put(&mut self, connection: BackendConnection) {
        if self.at_rest.len() < KEPT_MAX {
            let since = Instant::now();
            self.at_rest.push(AtRest { connection, since });
        }
    }

    /// Lets go of those that were without a request for too long, and of those that lead where the
    /// backend is no longer.
    pub(super) fn let_go(
        &mut self,
        idle_max: Duration,
        is_still_at: impl Fn(Option<SocketAddr>) -> bool,
    ) {
        self.at_rest.retain(|one| {
            let is_good = one.since.elapsed() < idle_max && !one.connection.sender.is_closed();
            is_good && is_still_at(one.connection.peer)
        });
        self.shared.retain_mut(|one| {
            if one.connection.used_by() > 0 {
                one.since = Instant::now();
            }
            let is_good = one.since.elapsed() < idle_max && !one.connection.sender.is_closed();
            is_good && is_still_at(one.peer)
        });
    }
}
