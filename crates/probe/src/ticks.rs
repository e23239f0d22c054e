//! Which second a moment belongs to, and which seconds were missed.
//!
//! Second *k* ends at the origin + *k* s, and its reading is due then. Every wait ends at a moment
//! computed from the origin, so being late once does not make later seconds late.
//!
//! A reading's rates are over the time since the reading before it. If that is less than half a
//! second or more than one and a half, the figures are not those of their second: the second
//! counts as missed, and the reading only serves as the start of the next.

use std::ops::{Range, RangeInclusive};
use std::time::Duration;
use std::time::Instant;

const SECOND: Duration = Duration::from_secs(1);
/// How long a reading's rates may be over, to be those of a second.
pub(crate) const COVERS_A_SECOND: RangeInclusive<Duration> =
    Duration::from_millis(500)..=Duration::from_millis(1500);

/// The seconds since an origin, as they are watched.
#[derive(Debug)]
pub(crate) struct Ticks {
    origin: Instant,
    /// The second whose end is waited for.
    next: u64,
    read_last: Option<Instant>,
}

/// What a moment of waking means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tick {
    /// Seconds that ended unwatched before this one did.
    pub(crate) missed: Range<u64>,
    /// The second that has just ended.
    pub(crate) second: u64,
    /// How long ago it ended.
    pub(crate) late_by: Duration,
    pub(crate) role: Role,
}

/// What a reading that is taken now is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is where the first second starts.
    Baseline,
    /// It is the reading of its second.
    Counts,
    /// Its second is missed; the next starts from it.
    Missed,
}

impl Ticks {
    /// Starts at the first end of a second that is not before `now`.
    pub(crate) fn new(origin: Instant, now: Instant) -> Self {
        let since = now.saturating_duration_since(origin);
        Self {
            origin,
            next: since.as_secs() + u64::from(since.subsec_nanos() > 0),
            read_last: None,
        }
    }

    /// When the next reading is due.
    pub(crate) fn due(&self) -> Instant {
        self.origin + Duration::from_secs(self.next)
    }

    /// Takes the moment of a reading, which must not be before it is due.
    pub(crate) fn take(&mut self, now: Instant) -> Tick {
        let since = now.saturating_duration_since(self.origin);
        let second = since.as_secs().max(self.next);
        let role = match self.read_last {
            None => Role::Baseline,
            Some(then) => {
                let covered = now.saturating_duration_since(then);
                if COVERS_A_SECOND.contains(&covered) {
                    Role::Counts
                } else {
                    Role::Missed
                }
            }
        };
        // Before the baseline there was nothing to watch, hence nothing to miss.
        let missed_from = if role == Role::Baseline {
            second
        } else {
            self.next
        };
        self.next = second + 1;
        self.read_last = Some(now);
        Tick {
            missed: missed_from..second,
            second,
            late_by: since.saturating_sub(SECOND * u32::try_from(second).unwrap_or(u32::MAX)),
            role,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Wakes at these milliseconds after the origin; gives (second, late ms, role, missed).
    fn wake(start_ms: u64, woken_ms: &[u64]) -> Vec<(u64, u128, Role, Vec<u64>)> {
        let origin = Instant::now();
        let at = |ms| origin + Duration::from_millis(ms);
        let mut ticks = Ticks::new(origin, at(start_ms));
        woken_ms
            .iter()
            .map(|&ms| {
                assert!(at(ms) >= ticks.due());
                let tick = ticks.take(at(ms));
                (
                    tick.second,
                    tick.late_by.as_millis(),
                    tick.role,
                    tick.missed.collect(),
                )
            })
            .collect()
    }

    #[test]
    fn on_time() {
        use Role::{Baseline, Counts};
        let expected = [
            (0, 0, Baseline, vec![]),
            (1, 1, Counts, vec![]),
            (2, 0, Counts, vec![]),
        ];
        assert_eq!(wake(0, &[0, 1001, 2000]), expected);
    }

    #[test]
    fn a_watch_that_starts_later_begins_at_the_next_full_second() {
        use Role::{Baseline, Counts};
        let expected = [(8, 5, Baseline, vec![]), (9, 0, Counts, vec![])];
        assert_eq!(wake(7300, &[8005, 9000]), expected);
        assert_eq!(wake(7300, &[11_005])[0], (11, 5, Baseline, vec![]));
    }

    #[test]
    fn a_little_late_is_said_and_counts() {
        use Role::{Baseline, Counts};
        let expected = [
            (0, 0, Baseline, vec![]),
            (1, 400, Counts, vec![]),
            (2, 0, Counts, vec![]),
        ];
        assert_eq!(wake(0, &[0, 1400, 2000]), expected);
    }

    #[test]
    fn too_late_is_missed_and_so_is_the_rest_that_is_too_short() {
        use Role::{Baseline, Counts, Missed};
        let expected = [
            (0, 0, Baseline, vec![]),
            (1, 600, Missed, vec![]),
            (2, 0, Missed, vec![]),
            (3, 0, Counts, vec![]),
        ];
        assert_eq!(wake(0, &[0, 1600, 2000, 3000]), expected);
    }

    #[test]
    fn seconds_slept_through_are_missed_one_by_one() {
        use Role::{Baseline, Counts, Missed};
        let expected = [
            (0, 0, Baseline, vec![]),
            (4, 100, Missed, vec![1, 2, 3]),
            (5, 0, Counts, vec![]),
        ];
        assert_eq!(wake(0, &[0, 4100, 5000]), expected);
    }

    proptest! {
        #[test]
        fn every_second_is_told_once_whatever_the_delays(delays in prop::collection::vec(0_u64..5000, 1..50)) {
            let origin = Instant::now();
            let mut ticks = Ticks::new(origin, origin);
            let mut told = Vec::new();
            for delay in delays {
                let now = ticks.due() + Duration::from_millis(delay);
                let tick = ticks.take(now);
                prop_assert!(tick.late_by < SECOND);
                told.extend(tick.missed);
                if tick.role != Role::Baseline {
                    told.push(tick.second);
                }
            }
            let first = told.first().copied().unwrap_or(0);
            prop_assert_eq!(&told, &(first..first + told.len() as u64).collect::<Vec<_>>());
        }
    }
}
