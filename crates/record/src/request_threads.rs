//! What the threads that serve requests were seen doing, as requests on average.

/// What so large a part of those waits for that have a thread, those without one wait for as well.
const MOST_OF_THEM: f64 = 0.5;
/// Where fewer of the busy threads than this share are seen in thread dumps, others serve requests
/// that are not in them (virtual threads, event loops).
const MOST: f64 = 0.5;
/// Where more than this multiple of the busy threads are seen, the application lets only so many
/// in.
const MORE: f64 = 1.5;
/// Fewer threads than this on average say nothing.
const FEWEST: f64 = 0.3;

/// What a thread that serves a request can be seen doing, beside running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It waits for a monitor, or a lock of java.util.concurrent.
    WaitsForLock,
    /// It sleeps.
    Sleeps,
    /// It waits for bytes of a socket, or for a client's answer.
    WaitsForAnswer,
    /// It waits for a host's name or address to be looked up.
    LooksUpHost,
    /// It waits for random numbers of the system.
    WaitsForRandom,
    /// It waits for a connection of a pool.
    WaitsForPool,
    /// It waits for something else: a queue, a semaphore, another thread.
    WaitsForOthers,
}

impl Doing {
    /// All that is told apart.
    const ALL: [Self; 7] = [
        Self::WaitsForLock,
        Self::Sleeps,
        Self::WaitsForAnswer,
        Self::LooksUpHost,
        Self::WaitsForRandom,
        Self::WaitsForPool,
        Self::WaitsForOthers,
    ];

    /// Whether a signal counts one of them.
    pub(crate) fn is_counted_by(signal: &str) -> bool {
        Self::ALL
            .iter()
            .any(|doing| doing.signals().contains(&signal))
    }

    /// The signals that count it.
    pub fn signals(self) -> &'static [&'static str] {
        match self {
            Self::WaitsForLock => &["request-threads.monitor", "request-threads.lock"],
            Self::Sleeps => &["request-threads.asleep"],
            Self::WaitsForAnswer => &["request-threads.answer"],
            Self::LooksUpHost => &["request-threads.lookup"],
            Self::WaitsForRandom => &["request-threads.random"],
            Self::WaitsForPool => &["request-threads.pool"],
            Self::WaitsForOthers => &["request-threads.parked"],
        }
    }
}

/// Whether so many of those that have a thread are most of them: what they wait for holds those
/// without one as well, and more threads would only move the queue.
pub fn are_most(standing: f64, taken: f64) -> bool {
    standing >= MOST_OF_THEM * taken
}

/// Requests whose thread did this, on average: its share of the threads that were seen, of those
/// that were busy. `None` where thread dumps do not tell.
pub fn requests_doing(signal: impl Fn(&str) -> Option<f64>, doing: Doing) -> Option<f64> {
    let seen = signal("request-threads.seen")?;
    let busy = signal("threads.occupancy").unwrap_or(seen);
    if seen < FEWEST || seen < MOST * busy {
        return None;
    }
    let signals = doing.signals().iter();
    let stand: f64 = signals.map(|name| signal(name)).sum::<Option<f64>>()?;
    // Who has a thread but no place among the busy ones waits for it, for another thread to leave.
    let lets_few_in = busy > 0.0 && seen > MORE * busy;
    let outside = if lets_few_in { seen - busy } else { 0.0 };
    let stand = match doing {
        Doing::WaitsForOthers => (stand - outside).max(0.0),
        _ => stand,
    };
    Some((stand / (seen - outside)).min(1.0) * busy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(told: &[(&str, f64)], doing: Doing) -> Option<f64> {
        let signal = |name: &str| Some(told.iter().rfind(|(told, _)| *told == name)?.1);
        requests_doing(signal, doing)
    }

    #[test]
    fn a_share_of_the_threads_seen_is_one_of_those_that_were_busy() {
        let told = [
            ("request-threads.seen", 8.0),
            ("request-threads.asleep", 6.0),
            ("request-threads.monitor", 1.0),
            ("request-threads.lock", 0.6),
            ("threads.occupancy", 10.0),
        ];
        let close = |doing, want: f64| {
            let found = requests(&told, doing).unwrap_or(f64::NAN);
            assert!((found - want).abs() < 1e-9, "{doing:?}: {found}");
        };
        close(Doing::Sleeps, 7.5);
        close(Doing::WaitsForLock, 2.0);
        assert_eq!(requests(&told, Doing::WaitsForAnswer), None, "not told");
        let virtual_threads = [&told[..4], &[("threads.occupancy", 100.0)]].concat();
        assert_eq!(requests(&virtual_threads, Doing::Sleeps), None);
    }

    /// Forty threads, eight of which have a place: the others are parked until they get one.
    #[test]
    fn who_waits_for_a_place_is_not_one_of_the_busy_threads() {
        let told = [
            ("request-threads.seen", 40.0),
            ("request-threads.monitor", 7.0),
            ("request-threads.lock", 0.0),
            ("request-threads.parked", 32.0),
            ("threads.occupancy", 8.0),
        ];
        assert_eq!(requests(&told, Doing::WaitsForLock), Some(7.0));
        assert_eq!(requests(&told, Doing::WaitsForOthers), Some(0.0));
    }
}
