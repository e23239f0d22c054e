//! Names of backends, looked up again: what a name means may change while the gateway runs.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::lookup_host;
use tokio::time::sleep;

use crate::backend::Backend;
use crate::gatehouse::Shared;

/// How often it is seen whether names are to be looked up.
const SECOND: Duration = Duration::from_secs(1);

/// Looks the names of backends up again and again.
pub(crate) async fn follow_names(shared: Arc<Shared>) {
    let mut since = Duration::ZERO;
    loop {
        sleep(SECOND).await;
        since += SECOND;
        let live = shared.current.get();
        let every = live.settings.health.resolve_every;
        if every.is_zero() || since < every {
            continue;
        }
        since = Duration::ZERO;
        // Side by side: a server of names that does not answer is waited for a long time.
        for backend in &live.backends {
            tokio::spawn(look_up(Arc::clone(backend)));
        }
    }
}

/// A name that nobody knows any more means what it meant.
async fn look_up(backend: Arc<Backend>) {
    let Some((host, port)) = backend.name() else {
        return;
    };
    if let Ok(found) = lookup_host((host, port)).await {
        backend.is_at(found.collect());
    }
}
