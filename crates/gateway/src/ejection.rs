//! Backends that answer, and answer wrongly.
//!
//! A backend that fails at once has the fewest requests in flight, and so would get nearly all of
//! them. One that has failed so many in a row gets none for a while; each time in a row for longer.
//! Afterwards a single failure is enough, until one request has gone well.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::settings::Health;

/// The longest that a backend gets no requests.
const LONGEST: Duration = Duration::from_secs(300);

/// How a backend's last requests ended, and whether it gets none for that.
#[derive(Debug)]
pub(crate) struct Ejection {
    origin: Instant,
    failed_in_row: AtomicU32,
    /// Milliseconds from `origin`; 0: it never was ejected.
    until_ms: AtomicU64,
    in_row: AtomicU32,
    count: AtomicU64,
    /// Why it was the last time, as a place in [`WHY`].
    why: AtomicU8,
}

/// Why a backend gets no requests for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WhyEjected {
    /// So many have failed one after the other.
    InRow,
    /// A larger share has failed than of the others.
    Share,
    /// It answers more slowly than the others.
    Slower,
}

const WHY: [WhyEjected; 3] = [WhyEjected::InRow, WhyEjected::Share, WhyEjected::Slower];

impl WhyEjected {
    /// In words that follow "ejected:".
    pub(crate) const fn says(self) -> &'static str {
        match self {
            Self::InRow => "requests failed one after the other",
            Self::Share => "more of its requests failed than of the others'",
            Self::Slower => "it answers more slowly than the others",
        }
    }
}

impl Ejection {
    pub(crate) fn new() -> Self {
        Self {
            origin: Instant::now(),
            failed_in_row: AtomicU32::new(0),
            until_ms: AtomicU64::new(0),
            in_row: AtomicU32::new(0),
            count: AtomicU64::new(0),
            why: AtomicU8::new(0),
        }
    }

    /// Whether it gets no requests now.
    pub(crate) fn is_ejected(&self) -> bool {
        let until_ms = self.until_ms.load(Ordering::Relaxed);
        until_ms != 0 && self.now_ms() < until_ms
    }

    /// Until when it gets none, or got none the last time; 0: it was never ejected.
    pub(crate) fn until_ms(&self) -> u64 {
        self.until_ms.load(Ordering::Relaxed)
    }

    /// How often it was.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Why it gets none now.
    pub(crate) fn why(&self) -> Option<WhyEjected> {
        let at = usize::from(self.why.load(Ordering::Relaxed));
        self.is_ejected().then(|| WHY[at])
    }

    /// A request that it had has gone well or not.
    pub(crate) fn ended(&self, well: bool, health: &Health) {
        let Some(most) = health.eject_after else {
            return;
        };
        if well {
            // Nearly always nothing is to be written.
            if self.failed_in_row.load(Ordering::Relaxed) != 0 {
                self.failed_in_row.store(0, Ordering::Relaxed);
                self.in_row.store(0, Ordering::Relaxed);
            }
            return;
        }
        let failed = self.failed_in_row.fetch_add(1, Ordering::Relaxed) + 1;
        // What was on its way when it was ejected says nothing new.
        if failed < most || self.is_ejected() {
            return;
        }
        self.eject(WhyEjected::InRow, health);
        self.failed_in_row.store(most - 1, Ordering::Relaxed);
    }

    /// It gets no requests for a while.
    pub(crate) fn eject(&self, why: WhyEjected, health: &Health) {
        let times = self.in_row.fetch_add(1, Ordering::Relaxed) + 1;
        let length = health.eject_for.saturating_mul(times).min(LONGEST);
        let until_ms = self.now_ms() + length.as_millis() as u64;
        self.why.store(why as u8, Ordering::Relaxed);
        self.until_ms.store(until_ms.max(1), Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// A whole window has gone well: the next time is the first one.
    pub(crate) fn did_well(&self) {
        if self.failed_in_row.load(Ordering::Relaxed) == 0 {
            self.in_row.store(0, Ordering::Relaxed);
        }
    }

    /// Milliseconds since this is there.
    pub(crate) fn now_ms(&self) -> u64 {
        self.origin.elapsed().as_millis() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_failures_in_a_row_eject_and_then_one() {
        let health = Health {
            eject_after: Some(3),
            eject_for: Duration::from_millis(60),
            ..Health::default()
        };
        let ejection = Ejection::new();
        for well in [false, false, true, false, false] {
            ejection.ended(well, &health);
            assert!(!ejection.is_ejected());
        }
        ejection.ended(false, &health);
        assert!(ejection.is_ejected());
        ejection.ended(false, &health);
        assert_eq!(ejection.count(), 1, "it was on its way");
        std::thread::sleep(Duration::from_millis(70));
        assert!(!ejection.is_ejected(), "it has its chance");
        ejection.ended(false, &health);
        assert!(ejection.is_ejected() && ejection.count() == 2);
        std::thread::sleep(Duration::from_millis(70));
        assert!(ejection.is_ejected(), "for twice as long");
        std::thread::sleep(Duration::from_millis(60));
        ejection.ended(true, &health);
        ejection.ended(false, &health);
        assert!(!ejection.is_ejected(), "one that went well makes it new");
    }

    #[test]
    fn none_is_ejected_where_that_is_said() {
        let health = Health {
            eject_after: None,
            ..Health::default()
        };
        let ejection = Ejection::new();
        (0..100).for_each(|_| ejection.ended(false, &health));
        assert!(!ejection.is_ejected());
    }
}
