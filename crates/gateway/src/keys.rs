//! What each client may have, so that one does not take the place of the others: `[[key]]`.
//!
//! What is held stands in `weir-limit`; here a request gets its key, and a clock and a lock.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::{BuildHasher as _, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use http::header::COOKIE;
use http::request::Parts;
use weir_limit::{KeyCounts, KeyRefusal, KeyWhy, Keys, Moment};

use crate::client::ClientAddress;
use crate::error::GatewayError;
use crate::live::Live;
use crate::matching::{cookie, plain_path};
use crate::refuse::Reason;
use crate::settings::{KeySettings, KeyedBy};

/// The part of an address of IPv6 that is a client's network.
const NETWORK_V6: u32 = 64;

/// One `[[key]]` and what is held by it.
#[derive(Debug)]
pub(crate) struct KeyTable {
    pub(crate) settings: KeySettings,
    keys: Mutex<Keys>,
    connections: Mutex<HashMap<Option<IpAddr>, u32>>,
    connections_refused: AtomicU64,
    hashing: RandomState,
    origin: Instant,
}

/// Why a request is refused, and by which key.
#[derive(Debug)]
pub(crate) struct Over {
    pub(crate) table: Arc<KeyTable>,
    pub(crate) refusal: KeyRefusal,
}

impl Over {
    /// For logs and problems.
    pub(crate) fn reason(&self) -> Reason {
        Reason::Other(match self.refusal.why {
            KeyWhy::Rate => "key_rate",
            KeyWhy::Concurrency => "key_concurrency",
            KeyWhy::Queue => "key_queue",
        })
    }
}

impl KeyTable {
    pub(crate) fn new(settings: KeySettings) -> Result<Self, GatewayError> {
        Ok(Self {
            keys: Mutex::new(Keys::new(settings.rules()?)),
            settings,
            connections: Mutex::default(),
            connections_refused: AtomicU64::new(0),
            hashing: RandomState::new(),
            origin: Instant::now(),
        })
    }

    /// Lets go of what is not needed any more.
    pub(crate) fn tidy(&self) {
        let now = self.now();
        self.lock().tidy(now);
    }

    /// How many keys are kept, and what happened since the start.
    pub(crate) fn seen(&self) -> (usize, KeyCounts) {
        let keys = self.lock();
        (keys.len(), keys.counts())
    }

    /// Connections that were closed at once.
    pub(crate) fn connections_refused(&self) -> u64 {
        self.connections_refused.load(Ordering::Relaxed)
    }

    /// The key of a request; `None`: it has none, and nothing is held.
    fn key(&self, client: ClientAddress, request: &Parts) -> Option<u64> {
        let mut hasher = self.hashing.build_hasher();
        match &self.settings.by {
            KeyedBy::Address => network(client).hash(&mut hasher),
            KeyedBy::Header(name) => request.headers.get(name)?.as_bytes().hash(&mut hasher),
            KeyedBy::Cookie(name) => {
                let mut fields = request.headers.get_all(COOKIE).iter();
                let value = fields.find_map(|field| cookie(field.as_bytes(), name.as_bytes()))?;
                value.hash(&mut hasher);
            }
            KeyedBy::Path(segments) => {
                let path = plain_path(request.uri.path());
                for segment in path.split('/').skip(1).take(*segments) {
                    segment.hash(&mut hasher);
                }
            }
        }
        Some(hasher.finish())
    }

    fn arrive(self: &Arc<Self>, key: u64) -> Result<Option<Held>, Over> {
        let now = self.now();
        let arrived = self.lock().arrive(key, now);
        match arrived {
            Ok(true) => Ok(Some(Held {
                table: Arc::clone(self),
                key,
            })),
            Ok(false) => Ok(None),
            Err(refusal) => Err(self.over(refusal)),
        }
    }

    fn over(self: &Arc<Self>, refusal: KeyRefusal) -> Over {
        Over {
            table: Arc::clone(self),
            refusal,
        }
    }

    fn now(&self) -> Moment {
        // 584 years fit.
        Moment(self.origin.elapsed().as_nanos() as u64)
    }

    fn lock(&self) -> MutexGuard<'_, Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request counts for each of its keys; or the key that has too much.
pub(crate) fn arrive(
    tables: &[Arc<KeyTable>],
    class: &str,
    client: ClientAddress,
    request: &Parts,
) -> Result<Vec<Held>, Over> {
    let mut held = Vec::new();
    for table in tables {
        let is_for = &table.settings.class;
        if is_for.as_ref().is_some_and(|only| only != class) || !table.settings.holds_requests() {
            continue;
        }
        if let Some(key) = table.key(client, request) {
            held.extend(table.arrive(key)?);
        }
    }
    Ok(held)
}

/// The requests of a key are one more, until this is dropped.
#[derive(Debug)]
pub(crate) struct Held {
    table: Arc<KeyTable>,
    key: u64,
}

impl Drop for Held {
    fn drop(&mut self) {
        let now = self.table.now();
        self.table.lock().leave(self.key, now);
    }
}

/// One more waits, until this is dropped.
#[derive(Debug)]
pub(crate) struct Waiting<'a>(&'a Held);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.table.lock().waits_no_more(self.0.key);
    }
}

/// A request waits for its turn, which it may for each of its keys.
pub(crate) fn wait(held: &[Held]) -> Result<Vec<Waiting<'_>>, Over> {
    let mut waiting = Vec::new();
    for one in held {
        let waits = one.table.lock().waits(one.key);
        waits.map_err(|refusal| one.table.over(refusal))?;
        waiting.push(Waiting(one));
    }
    Ok(waiting)
}

/// A connection of a client counts for its address, until this is dropped.
#[derive(Debug)]
pub(crate) struct Connected {
    table: Arc<KeyTable>,
    address: Option<IpAddr>,
}

impl Drop for Connected {
    fn drop(&mut self) {
        let connections = &self.table.connections;
        let mut connections = connections.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut open) = connections.entry(self.address) {
            *open.get_mut() -= 1;
            if *open.get() == 0 {
                open.remove();
            }
        }
    }
}

/// A client connects; `None`: it has as many connections as it may. A trusted proxy has those of
/// all its clients, and any number of them.
pub(crate) fn connect(live: &Live, client: ClientAddress) -> Option<Vec<Connected>> {
    let mut connected = Vec::new();
    if live.settings.proxies.trusts(client.ip()) {
        return Some(connected);
    }
    for table in &live.keys {
        let Some(most) = table.settings.connections else {
            continue;
        };
        let address = network(client);
        let connections = &table.connections;
        let mut connections = connections.lock().unwrap_or_else(PoisonError::into_inner);
        let open = connections.entry(address).or_default();
        if *open >= most {
            table.connections_refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        *open += 1;
        connected.push(Connected {
            table: Arc::clone(table),
            address,
        });
    }
    Some(connected)
}

/// Who a client is: its address, or what of one of IPv6 is its network's. Those of this machine
/// that came over a socket of the file system are one.
fn network(client: ClientAddress) -> Option<IpAddr> {
    match client.ip()? {
        IpAddr::V6(address) => {
            let mask = u128::MAX << (128 - NETWORK_V6);
            Some(IpAddr::V6((address.to_bits() & mask).into()))
        }
        v4 @ IpAddr::V4(_) => Some(v4),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn here(ip: &str) -> ClientAddress {
        ClientAddress::Socket((ip.parse::<IpAddr>().unwrap(), 1).into())
    }

    fn table(by: KeyedBy) -> KeyTable {
        KeyTable::new(KeySettings::new("k".to_owned(), by)).unwrap()
    }

    fn request(path: &str, fields: &[(&str, &str)]) -> Parts {
        let mut builder = http::Request::builder().uri(path);
        for (name, value) in fields {
            builder = builder.header(*name, *value);
        }
        builder.body(()).unwrap().into_parts().0
    }

    #[test]
    fn a_client_of_ipv6_has_a_network() {
        let client = |text: &str| network(here(text));
        assert_eq!(client("2001:db8:0:1::7"), client("2001:db8:0:1:ffff::8"));
        assert_ne!(client("2001:db8:0:1::7"), client("2001:db8:0:2::7"));
        assert_eq!(client("::ffff:10.0.0.1"), client("10.0.0.1"));
        assert_ne!(client("10.0.0.1"), client("10.0.0.2"));
    }

    #[test]
    fn each_kind_of_key_tells_apart_what_it_says() {
        let here = here("10.0.0.1");
        let header = table(KeyedBy::Header("x-api-key".parse().unwrap()));
        let key = |request: &Parts| header.key(here, request);
        let (one, other) = (
            request("/", &[("X-Api-Key", "1")]),
            request("/", &[("x-api-key", "2")]),
        );
        assert_ne!(key(&one), key(&other));
        assert_eq!(key(&one), key(&request("/else", &[("x-api-key", "1")])));
        assert_eq!(key(&request("/", &[])), None);
        let session = table(KeyedBy::Cookie("session".to_owned()));
        let key = |field| session.key(here, &request("/", &[("cookie", field)]));
        assert_eq!(key("a=1; session=x"), key("session=x; b=2"));
        assert_ne!(key("session=x"), key("session=y"));
        assert_eq!(key("a=1"), None);
        let path = table(KeyedBy::Path(2));
        let key = |target| path.key(here, &request(target, &[]));
        assert_eq!(key("/api/orders/7?x=1"), key("/api//orders/8"));
        assert_eq!(key("/api/orders"), key("/api/x/../%6frders/8"));
        assert_ne!(key("/api/orders"), key("/api/users"));
    }
}
