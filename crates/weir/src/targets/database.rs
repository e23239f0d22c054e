//! The PostgreSQL behind the server of a study, started.

use weir_server::{Filled, Postgresql, PostgresqlOptions, PostsTable};
use weir_study::DatabaseSpec;

use crate::error::ExpectedError;
use crate::progress::Counter;
use crate::{places, shelf};

use super::{Place, failed};

/// Where filled databases are kept in the cache.
const KEPT: &str = "databases";
/// The log in a run.
const LOG: &str = "database.log";

pub(super) fn start(spec: &DatabaseSpec, place: &Place<'_>) -> Result<Postgresql, ExpectedError> {
    let programs = shelf::postgresql(place.interrupted)?;
    let kept = shelf::open()?.cache().join(KEPT);
    if kept.exists() {
        places::check_cached(&kept)?;
    }
    let mut rows = Counter::new("posts written, once");
    let server = Postgresql::start(
        &PostgresqlOptions {
            programs: programs.bin,
            libraries: programs.libraries,
            connections: spec.connections,
            memory: spec.memory,
            table: spec.posts.map(|rows| PostsTable {
                rows,
                text: spec.post_text,
            }),
            delay: spec.delay,
            kept: kept.clone(),
            cpus: Some(place.cpus.clone()),
            log: place.directory.path().join(LOG),
            journal: place.journal.clone(),
        },
        place.interrupted,
        &mut |filled: Filled| rows.set(u64::from(filled.rows)),
    );
    rows.finish();
    if kept.exists() {
        places::close(&kept)?;
    }
    server.map_err(|error| failed(place, error))
}
