//! A server behind the gateway: how many requests it has, whether it answers, and the connections
//! to it.

mod connection;
mod kept;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use weir_limit::Kind;

use self::kept::Kept;
use crate::client::ClientAddress;
use crate::dial::{dial, is_http2, peer};
use crate::ejection::Ejection;
use crate::live::Live;
use crate::outliers::Tally;
use crate::settings::{BackendAddress, BackendSettings, Health, ProxyVersion, Settings};

pub(crate) use self::connection::{BackendConnection, Sender};

/// What of its weight a backend has that is just back.
const SLOWEST: f64 = 0.1;

/// A server behind the gateway.
#[derive(Debug)]
pub(crate) struct Backend {
    pub(crate) address: BackendAddress,
    /// How it is told for whom a connection is; then each is one client's.
    pub(crate) proxy_protocol: Option<ProxyVersion>,
    /// Whether it is spoken to in HTTP/2, if it agrees to that.
    pub(crate) is_http2: bool,
    resolved: RwLock<Arc<[SocketAddr]>>,
    /// Whether it is known by a name, of which the addresses may change.
    has_name: bool,
    /// Why there was no connection the last time that one was wanted.
    unreachable: Mutex<Option<String>>,
    /// Connections that are kept, by thread.
    kept: Vec<Mutex<Kept>>,
    /// Of each thread: one connects at a time, where a connection is for all.
    turns: Vec<tokio::sync::Mutex<()>>,
    in_flight: AtomicU32,
    is_down: AtomicBool,
    /// When it was up again, in the milliseconds of the ejection; 0: it was never down.
    back_ms: AtomicU64,
    /// Whether it is looked at just now.
    is_looked_at: AtomicBool,
    /// Looks in a row that say something else than `is_down`.
    contrary: AtomicU32,
    pub(crate) ejection: Ejection,
    pub(crate) tally: Tally,
    pub(crate) counts: BackendCounts,
}

/// What a backend did, counted since the gateway began.
#[derive(Debug, Default)]
pub(crate) struct BackendCounts {
    pub(crate) requests: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) connections: AtomicU64,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The backend or the way to it says no.
    #[error("connect: {0}")]
    Refused(#[from] std::io::Error),
    /// Nobody answers.
    #[error("connect within {0:?}")]
    TooSlow(Duration),
    /// The connection is not one for HTTP.
    #[error("speak HTTP: {0}")]
    Http(#[from] hyper::Error),
}

impl Backend {
    /// A backend with these addresses, for so many threads.
    pub(crate) fn new(
        settings: &BackendSettings,
        resolved: Vec<SocketAddr>,
        threads: usize,
    ) -> Self {
        Self {
            address: settings.address.clone(),
            proxy_protocol: settings.proxy_protocol,
            resolved: RwLock::new(resolved.into()),
            has_name: settings.address.has_name(),
            unreachable: Mutex::default(),
            kept: (0..threads).map(|_| Mutex::default()).collect(),
            turns: (0..threads)
                .map(|_| tokio::sync::Mutex::default())
                .collect(),
            is_http2: settings.is_http2,
            in_flight: AtomicU32::new(0),
            is_down: AtomicBool::new(false),
            back_ms: AtomicU64::new(0),
            is_looked_at: AtomicBool::new(false),
            contrary: AtomicU32::new(0),
            ejection: Ejection::new(),
            tally: Tally::default(),
            counts: BackendCounts::default(),
        }
    }

    /// Whether it is the one that is wanted.
    pub(crate) fn is(&self, wanted: &BackendSettings) -> bool {
        self.address == wanted.address
            && self.proxy_protocol == wanted.proxy_protocol
            && self.is_http2 == wanted.is_http2
    }

    /// Requests that it has now.
    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// How much it has to do for its weight, with one more request. While one that is back begins
    /// slowly, it weighs less: a tenth at first.
    pub(crate) fn load(&self, weight: u32, slow_start: Duration) -> u64 {
        let grown = self.grown(slow_start);
        let load = f64::from(self.in_flight() + 1) / (f64::from(weight) * grown);
        // Whole numbers have an order; a thousandth of a request is as good as none.
        (load * 1000.0) as u64
    }

    /// How much of its weight it has by now.
    fn grown(&self, slow_start: Duration) -> f64 {
        if slow_start.is_zero() {
            return 1.0;
        }
        let back_ms = self.back_ms.load(Ordering::Relaxed);
        let back_ms = back_ms.max(self.ejection.until_ms());
        if back_ms == 0 {
            return 1.0;
        }
        let since = self.ejection.now_ms().saturating_sub(back_ms);
        (since as f64 / slow_start.as_millis() as f64).clamp(SLOWEST, 1.0)
    }

    /// Whether it gets no requests because it did not answer.
    pub(crate) fn is_down(&self) -> bool {
        self.is_down.load(Ordering::Relaxed)
    }

    pub(crate) fn begins(&self) {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.counts.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn leaves(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self, kind: Kind) {
        if kind == Kind::Failed {
            self.counts.failed.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Somebody is about to look at it; false: somebody else does.
    pub(crate) fn begin_look(&self) -> bool {
        !self.is_looked_at.swap(true, Ordering::Relaxed)
    }

    /// The look is over.
    pub(crate) fn end_look(&self) {
        self.is_looked_at.store(false, Ordering::Relaxed);
    }

    /// A look at it, or a connection to it, went well or not.
    pub(crate) fn looked(&self, well: bool, health: &Health) {
        if well != self.is_down() {
            self.contrary.store(0, Ordering::Relaxed);
            return;
        }
        let needed = if well {
            health.up_after
        } else {
            health.down_after
        };
        if self.contrary.fetch_add(1, Ordering::Relaxed) + 1 >= needed {
            self.contrary.store(0, Ordering::Relaxed);
            if well {
                self.back_ms
                    .store(self.ejection.now_ms().max(1), Ordering::Relaxed);
            }
            self.is_down.store(!well, Ordering::Relaxed);
        }
    }

    /// A connection that is kept and can take a request of a client's, if there is one.
    pub(crate) fn kept(
        &self,
        thread: usize,
        settings: &Settings,
        client: ClientAddress,
        switches: bool,
    ) -> Option<BackendConnection> {
        let mut kept = self.kept_by(thread);
        if self.is_http2
            && !switches
            && let Some((sender, peer)) = kept.share()
        {
            let within = settings.timeouts.response;
            return Some(BackendConnection::new(sender, thread, peer, None, within));
        }
        let of = self.proxy_protocol.map(|_| client);
        kept.take(of, settings.timeouts.backend_idle)
    }

    /// Keeps a connection for the next request.
    pub(crate) fn keep(&self, connection: BackendConnection) {
        // Those of HTTP/2 are kept from their beginning on.
        let is_good = !connection.is_http2() && !connection.sender.is_closed();
        if is_good && self.is_still_at(connection.peer) {
            self.kept_by(connection.thread).put(connection);
        }
    }

    /// Lets go of the connections of a thread that were without a request for too long.
    pub(crate) fn let_go(&self, thread: usize, idle_max: Duration) {
        let mut kept = self.kept_by(thread);
        kept.let_go(idle_max, |peer| self.is_still_at(peer));
    }

    /// A connection for a client, which lives in the runtime that this runs in: a new one, or one
    /// that somebody else has made meanwhile and that is for all.
    pub(crate) async fn connect(
        &self,
        thread: usize,
        live: &Live,
        client: ClientAddress,
        switches: bool,
    ) -> Result<BackendConnection, ConnectError> {
        let within = live.settings.timeouts.connect;
        let is_for_all = self.is_http2 && !switches;
        let connecting = async {
            // One at a time, so that those who wait can have it, too.
            let turn = is_for_all.then(|| self.turns[thread].lock());
            let _turn = match turn {
                Some(turn) => Some(turn.await),
                None => None,
            };
            let made = is_for_all.then(|| self.kept(thread, &live.settings, client, switches));
            match made.flatten() {
                Some(made) => Ok(made),
                None => self.connect_anew(thread, live, client, is_for_all).await,
            }
        };
        let connected = tokio::time::timeout(within, connecting).await;
        let connected = connected.unwrap_or(Err(ConnectError::TooSlow(within)));
        let why = connected.as_ref().err().map(ToString::to_string);
        *self
            .unreachable
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = why;
        connected
    }

    async fn connect_anew(
        &self,
        thread: usize,
        live: &Live,
        client: ClientAddress,
        offers_http2: bool,
    ) -> Result<BackendConnection, ConnectError> {
        let stream = dial(self, live.tls.as_deref(), Some(client), offers_http2).await?;
        let peer = peer(&stream);
        self.counts.connections.fetch_add(1, Ordering::Relaxed);
        let is_http2 = is_http2(&stream, offers_http2);
        let sender = Sender::speak(stream, is_http2).await?;
        if let Sender::Http2(shared) = &sender {
            self.kept_by(thread).offer(shared, peer);
        }
        let for_whom = self.proxy_protocol.map(|_| client);
        let within = live.settings.timeouts.response;
        Ok(BackendConnection::new(
            sender, thread, peer, for_whom, within,
        ))
    }

    /// Whether it takes connections.
    pub(crate) async fn takes_connections(&self, live: &Live) -> bool {
        let connecting = dial(self, live.tls.as_deref(), None, self.is_http2);
        let within = live.settings.health.timeout;
        matches!(tokio::time::timeout(within, connecting).await, Ok(Ok(_)))
    }

    /// Why there was no connection the last time that one was wanted.
    pub(crate) fn unreachable(&self) -> Option<String> {
        let why = self
            .unreachable
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        why.clone()
    }

    /// Where it is.
    pub(crate) fn addresses(&self) -> Arc<[SocketAddr]> {
        let resolved = self.resolved.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&resolved)
    }

    /// Its name and port, if what that means can change.
    pub(crate) fn name(&self) -> Option<(&str, u16)> {
        self.address.host_and_port().filter(|_| self.has_name)
    }

    /// Its name means these addresses now. Connections to others go on until their request has
    /// ended.
    pub(crate) fn is_at(&self, found: Vec<SocketAddr>) {
        if !found.is_empty() && *self.addresses() != *found {
            *self
                .resolved
                .write()
                .unwrap_or_else(PoisonError::into_inner) = found.into();
        }
    }

    fn is_still_at(&self, peer: Option<SocketAddr>) -> bool {
        !self.has_name || peer.is_none_or(|peer| self.addresses().contains(&peer))
    }

    fn kept_by(&self, thread: usize) -> MutexGuard<'_, Kept> {
        self.kept[thread]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn backend(host: &str) -> Backend {
        let address = BackendAddress::Tcp {
            host: host.to_owned(),
            port: 1,
            is_secure: false,
        };
        Backend::new(&BackendSettings::new(address), Vec::new(), 1)
    }

    #[test]
    fn a_name_may_come_to_mean_something_else() {
        let at = |text: &str| -> SocketAddr { text.parse().unwrap() };
        let named = backend("backend.example");
        assert_eq!(named.name(), Some(("backend.example", 1)));
        named.is_at(vec![at("10.0.0.1:1"), at("10.0.0.2:1")]);
        assert!(named.is_still_at(Some(at("10.0.0.2:1"))));
        named.is_at(vec![at("10.0.0.3:1")]);
        assert!(!named.is_still_at(Some(at("10.0.0.2:1"))));
        named.is_at(Vec::new());
        assert_eq!(
            *named.addresses(),
            [at("10.0.0.3:1")],
            "nobody knows it: it stays"
        );
        assert_eq!(backend("10.0.0.1").name(), None);
    }

    #[test]
    fn is_down_and_up_after_so_many_looks() {
        let backend = backend("127.0.0.1");
        let health = Health {
            down_after: 2,
            up_after: 3,
            ..Health::default()
        };
        let mut down = Vec::new();
        for well in [
            false, true, false, false, true, true, false, true, true, true,
        ] {
            backend.looked(well, &health);
            down.push(u8::from(backend.is_down()));
        }
        assert_eq!(down, [0, 0, 0, 1, 1, 1, 1, 1, 1, 0]);
    }
}
