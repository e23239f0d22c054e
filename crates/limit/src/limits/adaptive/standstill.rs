//! A server that stands still for a moment, as one does that collects garbage or is not scheduled.
//!
//! Nothing ends meanwhile, so that the limit is full however large it is, and whoever waits in
//! front of it would be sent away for a reason that has nothing to do with load. So when nothing
//! has ended for as long as eight requests usually need (were ends Poisson, a chance of e⁻⁸, 0.03
//! %), twice as many as are in flight (equal ones that share the CPUs end together, when all of
//! them are through), and at least 100 ms, the limit counts twice, and those who wait go in: at
//! most as many as the limit, to take their turns when the server goes on. The next request that
//! ends, ends that; a server that never goes on holds no more than twice the limit.

use std::time::Duration;

use super::{Occupancy, Seen};
use crate::moment::Moment;

/// Usual ends that have to be missing, and for each request in flight.
const MISSING: f64 = 8.0;
const MISSING_EACH: f64 = 2.0;
/// Shorter than this, nothing stands still.
const LEAST: Duration = Duration::from_millis(100);
/// By what the limit is multiplied meanwhile.
const LIFT: f64 = 2.0;
/// Weight of a window in the usual number of ends.
const WEIGHT: f64 = 0.1;

#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Standstill {
    /// Requests that usually end in a second.
    usual_per_s: Option<f64>,
    /// Since when requests are in flight of which none has ended.
    since: Option<Moment>,
    is_on: bool,
}

impl Standstill {
    /// By what the limit is multiplied now.
    pub(super) fn lift(&self) -> f64 {
        if self.is_on { LIFT } else { 1.0 }
    }

    /// How things stand from now on.
    pub(super) fn stands(&mut self, occupancy: Occupancy, now: Moment) {
        if occupancy.in_flight == 0 {
            (self.since, self.is_on) = (None, false);
            return;
        }
        let since = *self.since.get_or_insert(now);
        self.is_on |= occupancy.pressed
            && self
                .patience(occupancy.in_flight)
                .is_some_and(|patience| now.since(since) >= patience);
    }

    /// A request has ended with a response.
    pub(super) fn ended(&mut self, now: Moment) {
        (self.since, self.is_on) = (Some(now), false);
    }

    /// A window is over.
    pub(super) fn learn(&mut self, seen: &Seen) {
        if seen.completed > 0 {
            let per_s = seen.per_s();
            let usual = self.usual_per_s.get_or_insert(per_s);
            *usual += WEIGHT * (per_s - *usual);
        }
    }

    /// How long nothing ends in a server that stands still; not known before anything has ended.
    fn patience(&self, in_flight: u32) -> Option<Duration> {
        let usual = self.usual_per_s?;
        let missing = MISSING.max(MISSING_EACH * f64::from(in_flight));
        // A server of which one request ends in a year is as good as one of which none does.
        Some(LEAST.max(Duration::from_secs_f64((missing / usual).min(3e7))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Occupancy = Occupancy {
        in_flight: 4,
        pressed: true,
    };

    fn at(ms: u64) -> Moment {
        Moment(ms * 1_000_000)
    }

    /// One that usually ends so many a second, and of which one has ended now.
    fn usual(per_s: u32) -> Standstill {
        let mut standstill = Standstill::default();
        standstill.learn(&Seen {
            seconds: 1.0,
            in_flight: 8.0,
            pressed: 1.0,
            completed: per_s,
            response_s: 0.01,
        });
        standstill.ended(at(0));
        standstill
    }

    #[test]
    fn the_limit_counts_twice_when_eight_ends_are_missing_until_one_comes() {
        let mut standstill = usual(40);
        standstill.stands(FULL, at(199));
        assert!(!standstill.is_on);
        standstill.stands(FULL, at(200));
        assert!(standstill.is_on);
        standstill.ended(at(250));
        assert!(!standstill.is_on);
    }

    #[test]
    fn equal_requests_that_share_the_cpus_may_end_together() {
        let mut standstill = usual(40);
        let full = Occupancy {
            in_flight: 10,
            pressed: true,
        };
        standstill.stands(full, at(499));
        assert!(!standstill.is_on);
        standstill.stands(full, at(500));
        assert!(standstill.is_on);
    }

    #[test]
    fn a_tenth_of_a_second_is_the_least() {
        let mut standstill = usual(10_000);
        standstill.stands(FULL, at(99));
        assert!(!standstill.is_on);
        standstill.stands(FULL, at(100));
        assert!(standstill.is_on);
    }

    #[test]
    fn a_server_with_nothing_to_do_does_not_stand_still() {
        let mut standstill = usual(1000);
        let empty = Occupancy {
            in_flight: 0,
            pressed: false,
        };
        standstill.stands(empty, at(10));
        standstill.stands(FULL, at(500));
        assert!(!standstill.is_on);
        standstill.stands(FULL, at(600));
        assert!(standstill.is_on);
    }

    #[test]
    fn nobody_waits_for_one_that_is_not_full() {
        let mut standstill = usual(1000);
        let calm = Occupancy {
            in_flight: 3,
            pressed: false,
        };
        standstill.stands(calm, at(5000));
        assert!(!standstill.is_on);
    }
}
