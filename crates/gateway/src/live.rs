//! The settings in force, with what was made of them.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::again::Budget;
use crate::backend::Backend;
use crate::backend_tls::BackendTlsInForce;
use crate::error::GatewayError;
use crate::figures::Figures;
use crate::keys::KeyTable;
use crate::routes::Routes;
use crate::settings::{BackendAddress, BackendSettings, KeySettings, Settings};

/// The settings in force. Those of a request stay the same until it ends.
#[derive(Debug)]
pub(crate) struct Live {
    pub(crate) settings: Settings,
    pub(crate) backends: Vec<Arc<Backend>>,
    /// How those are spoken to that ask for TLS; `None` if none does.
    pub(crate) tls: Option<Arc<BackendTlsInForce>>,
    /// Names of the classes, the last one for what matches none.
    pub(crate) classes: Vec<Arc<str>>,
    /// What became of the requests of each.
    pub(crate) figures: Vec<Arc<Figures>>,
    /// What each client has.
    pub(crate) keys: Vec<Arc<KeyTable>>,
    /// What routes cost, if a class asks for it.
    pub(crate) routes: Option<Arc<Routes>>,
    /// For requests that are sent once more.
    pub(crate) again: Budget,
    /// Counts the settings since the gateway began.
    pub(crate) generation: u64,
}

impl Live {
    /// Settings for so many threads; backends that stay are taken over from `before`.
    pub(crate) fn new(
        settings: Settings,
        before: Option<&Self>,
        threads: usize,
    ) -> Result<Self, GatewayError> {
        let known = before.map_or(&[][..], |before| &before.backends);
        let backend = |wanted: &BackendSettings| {
            let same = known.iter().find(|backend| backend.is(wanted));
            if let Some(backend) = same {
                Ok(Arc::clone(backend))
            } else {
                let resolved = resolve(&wanted.address)?;
                Ok(Arc::new(Backend::new(wanted, resolved, threads)))
            }
        };
        let backends: Result<_, GatewayError> = settings.backends.iter().map(backend).collect();
        let has_secure = settings.backends.iter().any(|one| one.address.is_secure());
        let read = has_secure.then(|| BackendTlsInForce::read(&settings.backend_tls));
        let tls = read.transpose()?.map(Arc::new);
        let classes: Vec<Arc<str>> = settings.class_names().into_iter().map(Arc::from).collect();
        Ok(Self {
            backends: backends?,
            tls,
            figures: figures(&classes, before),
            keys: keys(&settings.keys, before)?,
            classes,
            routes: Routes::new(&settings, before.and_then(|before| before.routes.as_ref())),
            again: Budget::default(),
            generation: before.map_or(0, |before| before.generation + 1),
            settings,
        })
    }

    /// The backend with the fewest requests in flight for its weight, among those that answer, do
    /// not fail, are not kept back, and that is not `failed`; among equals they take turns.
    pub(crate) fn backend(&self, turn: usize, failed: Option<&Arc<Backend>>) -> &Arc<Backend> {
        if let [only] = self.backends.as_slice() {
            return only;
        }
        let count = self.backends.len();
        let in_turn = (0..count).map(|at| (turn + at) % count);
        let burden = |at: &usize| {
            let (backend, settings) = (&self.backends[*at], &self.settings.backends[*at]);
            let has_failed = failed.is_some_and(|failed| Arc::ptr_eq(failed, backend));
            // When none answers, one of them may have come back since.
            (
                has_failed,
                backend.is_down(),
                backend.ejection.is_ejected(),
                settings.is_backup,
                backend.load(settings.weight, self.settings.health.slow_start),
            )
        };
        let least = in_turn.min_by_key(burden);
        &self.backends[least.expect("a file without backends is refused")]
    }

    /// What became of the requests of a class.
    pub(crate) fn figures_of(&self, class: &str) -> Option<&Figures> {
        let at = self.classes.iter().position(|known| **known == *class)?;
        self.figures.get(at).map(AsRef::as_ref)
    }

    /// Whether there is nobody to ask. The only one that there is is always asked, unless somebody
    /// looks at it: it may have come back in this moment.
    pub(crate) fn has_nobody(&self) -> bool {
        let is_looked_at = match self.settings.backends.as_slice() {
            [only] => only.health_path.is_some() || self.settings.health.path.is_some(),
            _ => true,
        };
        is_looked_at && !self.any_is_up()
    }

    /// Whether a backend takes requests.
    pub(crate) fn any_is_up(&self) -> bool {
        self.backends.iter().any(|backend| !backend.is_down())
    }
}

/// Those of classes that stay are counted on.
fn figures(classes: &[Arc<str>], before: Option<&Live>) -> Vec<Arc<Figures>> {
    let kept = |name: &Arc<str>| {
        let before = before?;
        let at = before.classes.iter().position(|known| known == name)?;
        Some(Arc::clone(&before.figures[at]))
    };
    classes
        .iter()
        .map(|name| kept(name).unwrap_or_default())
        .collect()
}

/// A key of which nothing has changed goes on with what it has.
fn keys(wanted: &[KeySettings], before: Option<&Live>) -> Result<Vec<Arc<KeyTable>>, GatewayError> {
    let known = before.map_or(&[][..], |before| &before.keys);
    let table = |settings: &KeySettings| {
        let same = known.iter().find(|table| table.settings == *settings);
        match same {
            Some(table) => Ok(Arc::clone(table)),
            None => KeyTable::new(settings.clone()).map(Arc::new),
        }
    };
    wanted.iter().map(table).collect()
}

fn resolve(address: &BackendAddress) -> Result<Vec<SocketAddr>, GatewayError> {
    let unknown = |source| GatewayError::UnknownHost {
        address: address.to_string(),
        source,
    };
    let Some(name) = address.host_and_port() else {
        return Ok(Vec::new());
    };
    Ok(name.to_socket_addrs().map_err(unknown)?.collect())
}

/// Where the settings in force are found, at the cost of a counter's reading.
#[derive(Debug)]
pub(crate) struct Current {
    live: RwLock<Arc<Live>>,
    generation: AtomicU64,
}

impl Current {
    pub(crate) fn new(live: Live) -> Self {
        Self {
            generation: AtomicU64::new(live.generation),
            live: RwLock::new(Arc::new(live)),
        }
    }

    /// The settings in force.
    pub(crate) fn get(&self) -> Arc<Live> {
        Arc::clone(&self.live.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes sure that `known` are the settings in force.
    pub(crate) fn renew(&self, known: &mut Arc<Live>) {
        if known.generation != self.generation.load(Ordering::Acquire) {
            *known = self.get();
        }
    }

    /// Puts others in force.
    pub(crate) fn put(&self, live: Live) {
        let generation = live.generation;
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(live);
        self.generation.store(generation, Ordering::Release);
    }
}
