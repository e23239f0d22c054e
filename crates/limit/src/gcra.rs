//! An exact cap on the rate of admitted requests.
//!
//! The generic cell rate algorithm (ITU-T I.371, virtual scheduling form, tolerance 0), of which
//! the state is one moment: when the next slot opens. Slots are one interval T = 1/rate apart. Only
//! admitted requests take one, so that those who are refused cost nobody anything.
//!
//! Whoever calls is sometimes late: a timer fires after the slot has opened. Somebody who waited
//! for that slot takes it as if in time as long as it is at most T late, so that a backlog is
//! served at exactly the rate. A slot that opened while nobody waited is not kept: after a pause
//! the next request is admitted at once, and the one after it T later. Hence at most N + 1 requests
//! within any second at N per second: their slots are at least T apart, and each is used at most T
//! late.

use std::time::Duration;

use crate::moment::Moment;
use crate::rules::Rate;

/// The cap while it runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gcra {
    interval: Duration,
    /// When the next slot opens.
    due: Moment,
}

impl Gcra {
    /// A cap of which the first slot is open.
    pub(crate) fn new(rate: Rate, now: Moment) -> Self {
        Self {
            interval: rate.interval(),
            due: now,
        }
    }

    /// The cap for another rate, from the next slot on.
    pub(crate) fn replaced(current: Option<Self>, rate: Option<Rate>, now: Moment) -> Option<Self> {
        let new = Self::new(rate?, now);
        Some(match current {
            Some(old) => Self {
                due: old.due.min(now + new.interval),
                ..new
            },
            None => new,
        })
    }

    /// Whether a slot is open.
    pub(crate) fn is_open(&self, now: Moment) -> bool {
        self.due <= now
    }

    /// When the next slot opens.
    pub(crate) fn due(&self) -> Moment {
        self.due
    }

    /// How long it takes until the slot opens that is left by `ahead` others.
    pub(crate) fn wait_behind(&self, ahead: usize, now: Moment) -> Duration {
        let ahead = u32::try_from(ahead).unwrap_or(u32::MAX);
        self.due.since(now) + self.interval.saturating_mul(ahead)
    }

    /// Takes the slot that is open, for a request that came at `arrived`.
    pub(crate) fn take(&mut self, arrived: Moment, now: Moment) {
        debug_assert!(self.is_open(now), "a slot is taken when it is open");
        let slot = self.due.max(arrived).max(now.before(self.interval));
        self.due = slot + self.interval;
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    const T: u64 = 20_000_000;

    fn fifty_per_s() -> Gcra {
        Gcra::new(Rate::per_second(50.0).unwrap(), Moment(0))
    }

    #[test]
    fn a_late_slot_is_made_up_when_somebody_waited_for_it() {
        let mut gcra = fifty_per_s();
        gcra.take(Moment(0), Moment(0));
        assert_eq!(gcra.due(), Moment(T));
        gcra.take(Moment(0), Moment(T + 3_000_000));
        assert_eq!(gcra.due(), Moment(2 * T));
    }

    #[test]
    fn no_more_than_one_slot_is_made_up() {
        let mut gcra = fifty_per_s();
        gcra.take(Moment(0), Moment(0));
        gcra.take(Moment(0), Moment(10 * T));
        assert_eq!(gcra.due(), Moment(10 * T));
        gcra.take(Moment(0), Moment(10 * T));
        assert_eq!(gcra.due(), Moment(11 * T));
    }

    #[test]
    fn a_slot_that_nobody_waited_for_is_not_kept() {
        let mut gcra = fifty_per_s();
        gcra.take(Moment(0), Moment(0));
        let late = Moment(T + 7_000_000);
        gcra.take(late, late);
        assert_eq!(gcra.due(), Moment(2 * T + 7_000_000));
    }
}
