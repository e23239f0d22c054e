//! How many are in flight, and whether there is room for one more.

use std::time::Duration;

use crate::moment::Moment;

/// Deepest debt in slots times seconds: how long a fraction of a slot can stay closed after one
/// long request.
const DEBT_MAX: f64 = 1.0;

/// Requests in flight under a limit that need not be a whole number.
///
/// A limit of 1.6 means one slot that is always there, and a second one that is held 60 % of the
/// time: it may be taken while the time integral of (limit − in flight) is not negative. That
/// integral never exceeds 0, so that idle time is not saved up, and is never below −[`DEBT_MAX`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Slots {
    limit: f64,
    in_flight: u32,
    /// The integral at `at`.
    credit: f64,
    at: Moment,
}

impl Slots {
    /// With nobody in flight; an infinite limit holds nobody back.
    pub(crate) fn new(limit: f64, now: Moment) -> Self {
        Self {
            limit,
            in_flight: 0,
            credit: 0.0,
            at: now,
        }
    }

    pub(crate) fn limit(&self) -> f64 {
        self.limit
    }

    pub(crate) fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Another limit from now on.
    pub(crate) fn set_limit(&mut self, limit: f64, now: Moment) {
        if limit.to_bits() != self.limit.to_bits() {
            self.advance(now);
            self.limit = limit;
        }
    }

    /// Whether one more may go on.
    pub(crate) fn has_room(&self, now: Moment) -> bool {
        let in_flight = f64::from(self.in_flight);
        in_flight + 1.0 <= self.limit || (in_flight < self.limit && self.credit_at(now) >= 0.0)
    }

    /// When the slot that is only there for some of the time opens by itself; `None`: not before a
    /// request has ended, or there is room already.
    pub(crate) fn opens(&self, now: Moment) -> Option<Moment> {
        let spare = self.limit - f64::from(self.in_flight);
        if spare <= 0.0 || self.has_room(now) {
            return None;
        }
        let seconds = -self.credit_at(now) / spare;
        // One nanosecond more than it takes, so that rounding never wakes anybody too early, again
        // and again. The slot of a limit that is a rounding error above a whole number may
        // open after more nanoseconds than there are.
        let nanos = ((seconds * 1e9).ceil() as u64).saturating_add(1);
        Some(now + Duration::from_nanos(nanos))
    }

    pub(crate) fn take(&mut self, now: Moment) {
        self.advance(now);
        self.in_flight += 1;
    }

    pub(crate) fn give_back(&mut self, now: Moment) {
        assert!(self.in_flight > 0, "a slot is given back once");
        self.advance(now);
        self.in_flight -= 1;
    }

    fn advance(&mut self, now: Moment) {
        if self.limit.is_finite() {
            self.credit = self.credit_at(now);
        }
        self.at = now;
    }

    fn credit_at(&self, now: Moment) -> f64 {
        let elapsed = now.since(self.at).as_secs_f64();
        let spare = self.limit - f64::from(self.in_flight);
        (self.credit + spare * elapsed).clamp(-DEBT_MAX, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Services of 10 ms with somebody always waiting: the mean number in flight over 10 s is the
    /// limit.
    fn mean_in_flight(limit: f64) -> f64 {
        let mut slots = Slots::new(limit, Moment(0));
        let mut ends: Vec<Moment> = Vec::new();
        let (mut now, end) = (Moment(0), Moment(10_000 * MS));
        let mut integral = 0.0;
        while now < end {
            while slots.has_room(now) {
                slots.take(now);
                ends.push(now + Duration::from_millis(10));
            }
            let next = ends.iter().copied().chain(slots.opens(now)).min();
            let next = next
                .expect("somebody is in flight or a slot opens")
                .min(end);
            integral += f64::from(slots.in_flight()) * next.since(now).as_secs_f64();
            now = next;
            ends.retain(|ends| {
                let over = *ends <= now;
                if over {
                    slots.give_back(now);
                }
                !over
            });
        }
        integral / 10.0
    }

    #[test]
    fn a_fraction_of_a_slot_is_held_for_that_fraction_of_the_time() {
        for limit in [0.05, 0.5, 0.8, 1.0, 1.6, 2.0, 7.25] {
            let mean = mean_in_flight(limit);
            assert!((mean - limit).abs() < 0.01 * limit, "{limit}: {mean}");
        }
    }

    #[test]
    fn a_slot_that_never_opens_wakes_nobody() {
        let limit = 2.0_f64.next_up();
        let mut slots = Slots::new(limit, Moment(0));
        (0..3).for_each(|_| slots.take(Moment(0)));
        slots.give_back(Moment(MS));
        let opens = slots
            .opens(Moment(MS))
            .expect("a fraction of a slot is left");
        assert!(opens > Moment(u64::MAX / 2), "{opens:?}");
    }

    #[test]
    fn without_a_limit_there_is_always_room() {
        let mut slots = Slots::new(f64::INFINITY, Moment(0));
        for _ in 0..1000 {
            assert!(slots.has_room(Moment(1)));
            slots.take(Moment(1));
        }
        slots.set_limit(2.0, Moment(5));
        assert!(!slots.has_room(Moment(6)));
        assert_eq!(slots.opens(Moment(6)), None);
    }
}
