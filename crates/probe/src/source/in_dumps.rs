//! What thread dumps tell of the stages of a server that does not tell it.
//!
//! A thread is taken while it serves a request: those that read one, or wait for the next on a
//! connection, are not seen. Whoever waits for a connection of a pool finds none that is free, so
//! that all are taken; how many are while nobody waits is not seen.

use weir_metric::is_pool;

use super::Origins;
use super::request_threads::{HIKARI_POOL, LIBERTY_POOL};
use crate::reading::{self, Reading};

/// A pool whose waiters a thread dump shows, by its name as a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DumpedPool {
    /// The one of `HikariCP`.
    Hikari(String),
    /// One of Liberty's own.
    Liberty(String),
}

impl DumpedPool {
    /// Its name, and the signal of those that wait for one of its kind.
    fn parts(&self) -> (&str, &'static str) {
        match self {
            Self::Hikari(name) => (name, HIKARI_POOL),
            Self::Liberty(name) => (name, LIBERTY_POOL),
        }
    }
}

const SERVING: &str = "request-threads.seen";
const TAKEN: &str = "threads.occupancy";

/// Puts what the server has not told itself.
pub(super) fn put(pool: Option<&DumpedPool>, reading: &mut Reading) {
    let serving = reading.get(SERVING).copied();
    if !reading.contains_key(TAKEN) {
        reading::put(reading, TAKEN, serving);
    }
    // The pool may go by another name there.
    let is_told = reading.keys().any(|name| {
        let stage = name.as_str().strip_suffix(".occupancy");
        stage.is_some_and(is_pool)
    });
    if let Some((pool, waiting)) = pool.filter(|_| !is_told).map(DumpedPool::parts) {
        let waiting = reading.get(waiting).copied();
        reading::put(reading, format!("{pool}.waiting"), waiting);
    }
}

pub(super) fn add_origins(pool: Option<&DumpedPool>, origins: &mut Origins) {
    let of_pool = pool
        .map(DumpedPool::parts)
        .map(|(pool, waiting)| (format!("{pool}.waiting"), waiting));
    for (name, from) in of_pool.into_iter().chain([(TAKEN.to_owned(), SERVING)]) {
        origins
            .entry(name)
            .or_insert_with(|| format!("derived: {from}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool() -> DumpedPool {
        DumpedPool::Hikari("pool.db".to_owned())
    }

    /// What is put of a dump in which so many wait for a connection, beside what the server told.
    fn put_of(waiting: f64, told: &[(&'static str, f64)]) -> Reading {
        let dump = [(SERVING, 9.0), (HIKARI_POOL, waiting)];
        let all = dump.iter().chain(told);
        let mut reading: Reading = all.map(|&(name, figure)| (name.into(), figure)).collect();
        put(Some(&pool()), &mut reading);
        reading
    }

    #[test]
    fn those_that_wait_for_a_pool_are_seen() {
        for waiting in [4.0, 0.0] {
            let reading = put_of(waiting, &[]);
            let read = |name: &str| reading.get(name).copied();
            assert_eq!(read(TAKEN), Some(9.0));
            assert_eq!(read("pool.db.waiting"), Some(waiting));
        }
    }

    #[test]
    fn what_the_server_tells_is_better() {
        let reading = put_of(4.0, &[(TAKEN, 11.0), ("pool.db.occupancy", 2.0)]);
        assert_eq!(reading.get(TAKEN).copied(), Some(11.0));
        assert!(!reading.contains_key("pool.db.waiting"));
        // Nothing was dumped.
        let mut nothing = Reading::new();
        put(Some(&pool()), &mut nothing);
        assert!(nothing.is_empty());
    }
}
