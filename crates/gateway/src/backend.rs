//! A server behind the gateway: how many requests it has, whether it answers, and the connections
//! kept to it.
//!
//! hyper-util's client would do this too; it costs a tenth more CPU a request, because it takes a
//! lock, a map and a channel for what is a list here.

use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::time::Instant;
use weir_limit::Kind;

use crate::body::RequestBody;
use crate::client::ClientAddress;
use crate::dial::dial;
use crate::ejection::Ejection;
use crate::live::Live;
use crate::patience::Patience;
use crate::settings::{BackendAddress, BackendSettings, Health, ProxyVersion, Settings};

/// Connections without a request that are kept to one backend by one thread.
const KEPT_MAX: usize = 4096;
/// What of its weight a backend has that is just back.
const SLOWEST: f64 = 0.1;
/// How many kept connections are looked at for one that is ready.
const LOOKED_AT_MAX: usize = 4;
/// Room for a head and a frame of a response.
const BUFFER: usize = 64 * 1024;

/// A server behind the gateway.
#[derive(Debug)]
pub(crate) struct Backend {
    pub(crate) address: BackendAddress,
    /// How it is told for whom a connection is; then each is one client's.
    pub(crate) proxy_protocol: Option<ProxyVersion>,
    resolved: RwLock<Arc<[SocketAddr]>>,
    /// Why there was no connection the last time that one was wanted.
    unreachable: Mutex<Option<String>>,
    /// Connections without a request, by thread; the last one is taken first.
    kept: Vec<Mutex<Vec<Kept>>>,
    in_flight: AtomicU32,
    is_down: AtomicBool,
    /// When it was up again, in the milliseconds of the ejection; 0: it was never down.
    back_ms: AtomicU64,
    /// Whether it is looked at just now.
    is_looked_at: AtomicBool,
    /// Looks in a row that say something else than `is_down`.
    contrary: AtomicU32,
    pub(crate) ejection: Ejection,
    pub(crate) counts: BackendCounts,
}

/// What a backend did, counted since the gateway began.
#[derive(Debug, Default)]
pub(crate) struct BackendCounts {
    pub(crate) requests: AtomicU64,
    pub(crate) failed: AtomicU64,
    pub(crate) connections: AtomicU64,
}

#[derive(Debug)]
struct Kept {
    connection: BackendConnection,
    since: Instant,
}

impl Kept {
    fn is_good(&self, settings: &Settings) -> bool {
        let is_new = self.since.elapsed() < settings.timeouts.backend_idle;
        is_new && self.connection.sender.is_ready()
    }
}

/// A connection to a backend.
#[derive(Debug)]
pub(crate) struct BackendConnection {
    sender: SendRequest<RequestBody>,
    thread: usize,
    /// Where it goes to; a path has no address.
    peer: Option<SocketAddr>,
    /// For whom it is, if the backend was told.
    for_whom: Option<ClientAddress>,
    patience: Patience,
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
    #[error("speak HTTP/1.1")]
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
            unreachable: Mutex::default(),
            kept: (0..threads).map(|_| Mutex::default()).collect(),
            in_flight: AtomicU32::new(0),
            is_down: AtomicBool::new(false),
            back_ms: AtomicU64::new(0),
            is_looked_at: AtomicBool::new(false),
            contrary: AtomicU32::new(0),
            ejection: Ejection::new(),
            counts: BackendCounts::default(),
        }
    }

    /// Whether it is the one that is wanted.
    pub(crate) fn is(&self, wanted: &BackendSettings) -> bool {
        self.address == wanted.address && self.proxy_protocol == wanted.proxy_protocol
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

    /// A kept connection that can take a request of a client's, if there is one.
    pub(crate) fn kept(
        &self,
        thread: usize,
        settings: &Settings,
        client: ClientAddress,
    ) -> Option<BackendConnection> {
        let mut kept = self.kept_by(thread);
        if self.proxy_protocol.is_some() {
            let is_its =
                |one: &Kept| one.connection.for_whom == Some(client) && one.is_good(settings);
            let at = kept.iter().rposition(is_its)?;
            return Some(kept.remove(at).connection);
        }
        for at in (0..kept.len()).rev().take(LOOKED_AT_MAX) {
            let one = &kept[at];
            let is_old = one.since.elapsed() >= settings.timeouts.backend_idle;
            if is_old || one.connection.sender.is_closed() {
                kept.remove(at);
            } else if one.connection.sender.is_ready() {
                return Some(kept.remove(at).connection);
            }
        }
        None
    }

    /// Keeps a connection for the next request.
    pub(crate) fn keep(&self, connection: BackendConnection) {
        if connection.sender.is_closed() || !self.is_still_at(connection.peer) {
            return;
        }
        let mut kept = self.kept_by(connection.thread);
        if kept.len() < KEPT_MAX {
            kept.push(Kept {
                connection,
                since: Instant::now(),
            });
        }
    }

    /// Lets go of the connections of a thread that were without a request for too long.
    pub(crate) fn let_go(&self, thread: usize, idle_max: Duration) {
        let mut kept = self.kept_by(thread);
        kept.retain(|one| {
            let is_good = one.since.elapsed() < idle_max && !one.connection.sender.is_closed();
            is_good && self.is_still_at(one.connection.peer)
        });
    }

    /// A new connection for a client, which lives in the runtime that this runs in.
    pub(crate) async fn connect(
        &self,
        thread: usize,
        live: &Live,
        client: ClientAddress,
    ) -> Result<BackendConnection, ConnectError> {
        let connected = self.try_connect(thread, live, client).await;
        let why = connected.as_ref().err().map(ToString::to_string);
        *self
            .unreachable
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = why;
        connected
    }

    async fn try_connect(
        &self,
        thread: usize,
        live: &Live,
        client: ClientAddress,
    ) -> Result<BackendConnection, ConnectError> {
        let within = live.settings.timeouts.connect;
        let connecting = dial(self, live.tls.as_deref(), Some(client));
        let connected = tokio::time::timeout(within, connecting).await;
        let stream = connected.map_err(|_| ConnectError::TooSlow(within))??;
        let peer = stream.peer();
        self.counts.connections.fetch_add(1, Ordering::Relaxed);
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(BUFFER)
            .handshake(TokioIo::new(stream))
            .await?;
        tokio::spawn(async move {
            // What went wrong is told to whoever waits for a response.
            let _ = connection.with_upgrades().await;
        });
        Ok(BackendConnection {
            sender,
            thread,
            peer,
            for_whom: self.proxy_protocol.map(|_| client),
            patience: Patience::new(live.settings.timeouts.response),
        })
    }

    /// Whether it takes connections.
    pub(crate) async fn takes_connections(&self, live: &Live) -> bool {
        let connecting = dial(self, live.tls.as_deref(), None);
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
        let (host, port) = self.address.host_and_port()?;
        host.parse::<IpAddr>().is_err().then_some((host, port))
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
        peer.is_none_or(|peer| self.name().is_none() || self.addresses().contains(&peer))
    }

    fn kept_by(&self, thread: usize) -> MutexGuard<'_, Vec<Kept>> {
        self.kept[thread]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl BackendConnection {
    /// How long its one request is waited for.
    pub(crate) fn patience(&mut self) -> &mut Patience {
        &mut self.patience
    }

    /// The side that sends.
    pub(crate) fn sender(&mut self) -> &mut SendRequest<RequestBody> {
        &mut self.sender
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
