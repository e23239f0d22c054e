//! Whether a pool is full: who waits for a connection finds all of them taken.
//!
//! The mean of this over a trial is the share of the time in which somebody waited. It tells a pool
//! that is full in bursts from one that is slow to fill: both have few places taken on average.

use weir_metric::is_pool;

use super::Origins;
use crate::reading::{Reading, SignalName, put};

const WAITING: &str = ".waiting";
const FULL: &str = ".full";

/// Puts it for each pool of which those that wait are known. Less than one on average over the
/// second were there for that share of it at most.
pub(crate) fn put_full(reading: &mut Reading) {
    let waited_for: Vec<(SignalName, f64)> = reading
        .iter()
        .filter_map(|(name, waiting)| Some((full(name.as_str())?.into(), waiting.min(1.0))))
        .collect();
    for (name, share) in waited_for {
        put(reading, name, Some(share));
    }
}

/// Adds where they came from.
pub(crate) fn add_origins(origins: &mut Origins) {
    let derived: Vec<(String, String)> = origins
        .keys()
        .filter_map(|waiting| Some((full(waiting)?, format!("derived: {waiting}"))))
        .collect();
    origins.extend(derived);
}

/// The signal that follows from this one, where it is that of those waiting for a pool.
fn full(waiting: &str) -> Option<String> {
    let pool = waiting.strip_suffix(WAITING)?;
    is_pool(pool).then(|| format!("{pool}{FULL}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_is_full_while_somebody_waits_for_it() {
        for (waiting, share) in [(4.0, 1.0), (1.0, 1.0), (0.3, 0.3), (0.0, 0.0)] {
            let told = [("pool.db.waiting", waiting), ("request-queue.waiting", 2.0)];
            let mut reading: Reading = told
                .into_iter()
                .map(|(name, figure)| (name.into(), figure))
                .collect();
            put_full(&mut reading);
            assert_eq!(reading.get("pool.db.full").copied(), Some(share));
            assert_eq!(reading.len(), 3, "a queue has no places: {reading:?}");
        }
    }

    #[test]
    fn it_comes_from_those_that_wait() {
        let told = ["pool.db.waiting", "pool.db.occupancy", "threads.waiting"];
        let mut origins: Origins = told
            .into_iter()
            .map(|name| (name.to_owned(), "read".to_owned()))
            .collect();
        add_origins(&mut origins);
        assert_eq!(origins.len(), 4, "{origins:?}");
        assert_eq!(origins["pool.db.full"], "derived: pool.db.waiting");
    }
}
