//! What the threads that serve requests were seen doing, as requests on average.

use crate::evidence::Evidence;

/// Where fewer of the busy threads than this share are seen in thread dumps, others serve requests
/// that are not in them (virtual threads, event loops).
const MOST: f64 = 0.5;
/// Fewer threads than this on average say nothing.
const FEWEST: f64 = 0.3;

/// What a thread that serves a request can be seen doing, beside running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doing {
    /// It waits for a monitor, or a lock of java.util.concurrent.
    WaitsForLock,
    /// It sleeps.
    Sleeps,
    /// It waits for bytes of a socket, or for a client's answer.
    WaitsForAnswer,
    /// It waits for a connection of a pool.
    WaitsForPool,
    /// It waits for something else: a queue, a semaphore, another thread.
    WaitsForOthers,
}

impl Doing {
    /// The signals that count it.
    pub(crate) fn signals(self) -> &'static [&'static str] {
        match self {
            Self::WaitsForLock => &["request-threads.monitor", "request-threads.lock"],
            Self::Sleeps => &["request-threads.asleep"],
            Self::WaitsForAnswer => &["request-threads.answer"],
            Self::WaitsForPool => &["request-threads.pool"],
            Self::WaitsForOthers => &["request-threads.parked"],
        }
    }
}

/// Requests whose thread did this, on average: its share of the threads that were seen, of those
/// that were busy. `None` where thread dumps do not tell.
pub(crate) fn requests(evidence: &Evidence, doing: Doing) -> Option<f64> {
    let seen = evidence.signal("request-threads.seen")?;
    let busy = evidence.signal("threads.occupancy").unwrap_or(seen);
    if seen < FEWEST || seen < MOST * busy {
        return None;
    }
    let signals = doing.signals().iter();
    let stand: f64 = signals
        .map(|name| evidence.signal(name))
        .sum::<Option<f64>>()?;
    Some((stand / seen).min(1.0) * busy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::made::evidence;

    #[test]
    fn a_share_of_the_threads_seen_is_one_of_those_that_were_busy() {
        let told = [
            ("request-threads.seen", 8.0),
            ("request-threads.asleep", 6.0),
            ("request-threads.monitor", 1.0),
            ("request-threads.lock", 0.6),
            ("threads.occupancy", 10.0),
        ];
        let made = evidence(&told);
        let close = |doing, want: f64| {
            let found = requests(&made, doing).unwrap_or(f64::NAN);
            assert!((found - want).abs() < 1e-9, "{doing:?}: {found}");
        };
        close(Doing::Sleeps, 7.5);
        close(Doing::WaitsForLock, 2.0);
        assert_eq!(requests(&made, Doing::WaitsForAnswer), None, "not told");
        let virtual_threads = [&told[..4], &[("threads.occupancy", 100.0)]].concat();
        assert_eq!(requests(&evidence(&virtual_threads), Doing::Sleeps), None);
    }
}
