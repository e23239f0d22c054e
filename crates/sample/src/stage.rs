//! What a stage of the funnel counts: occupancy, waiting, and their exact integrals over time.
//!
//! An occupancy read once a second says little about a stage that fills and empties fifty times in
//! between. Each stage therefore keeps the integral of its occupancy over time. The difference of
//! two readings divided by the time between them is the exact mean occupancy of that interval,
//! whatever happened inside it; with the entries counted in the same interval it gives the mean
//! time in the stage by Little's law (J. D. C. Little, "A Proof for the Queuing Formula
//! L = λW", Operations Research 9(3), 1961).
//!
//! Nothing here reads a clock or takes a lock: the owner of a stage passes the instant, and keeps
//! its counters behind the lock that it holds anyway while it changes the stage, so that a reading
//! is consistent in itself.

use std::time::{Duration, Instant};

/// A count and its integral over time.
#[derive(Debug)]
pub(crate) struct Level {
    count: u64,
    integral_ns: u128,
    changed: Instant,
}

impl Level {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            count: 0,
            integral_ns: 0,
            changed: now,
        }
    }

    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    pub(crate) fn rise(&mut self, now: Instant) {
        self.settle(now);
        self.count += 1;
    }

    /// Like [`Self::rise`] for one who has been here since a moment ago.
    fn rise_since(&mut self, now: Instant, since: Instant) {
        self.rise(now);
        self.integral_ns += now.saturating_duration_since(since).as_nanos();
    }

    pub(crate) fn fall(&mut self, now: Instant) {
        self.settle(now);
        self.count = self
            .count
            .checked_sub(1)
            .expect("what leaves a stage has entered it");
    }

    /// The integral up to `now`, in seconds, with the part since the last change.
    pub(crate) fn seconds(&self, now: Instant) -> f64 {
        seconds(self.integral_ns + self.since_change(now))
    }

    fn settle(&mut self, now: Instant) {
        self.integral_ns += self.since_change(now);
        self.changed = self.changed.max(now);
    }

    fn since_change(&self, now: Instant) -> u128 {
        u128::from(self.count) * now.saturating_duration_since(self.changed).as_nanos()
    }
}

/// The line in front of a stage: who waits now, who got in, and how long they had waited.
#[derive(Debug)]
pub(crate) struct Line {
    waiting: Level,
    finished_waits_ns: u128,
    entries: u64,
    waits: u64,
}

impl Line {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            waiting: Level::new(now),
            finished_waits_ns: 0,
            entries: 0,
            waits: 0,
        }
    }

    /// Somebody got in without waiting.
    pub(crate) fn pass(&mut self) {
        self.entries += 1;
    }

    /// Somebody joins the line who has waited since `since`.
    pub(crate) fn join(&mut self, now: Instant, since: Instant) {
        self.waiting.rise_since(now, since);
    }

    /// The one who has waited since `since` gets in; `had_to` says that no place was free when they
    /// came.
    pub(crate) fn leave(&mut self, now: Instant, since: Instant, had_to: bool) {
        self.waiting.fall(now);
        self.finished_waits_ns += now.saturating_duration_since(since).as_nanos();
        self.entries += 1;
        self.waits += u64::from(had_to);
    }

    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    /// Writes the line's rows into a reading.
    pub(crate) fn read_into(&self, reading: &mut StageReading, now: Instant) {
        reading.waiting = Some(self.waiting.count());
        reading.waiting_seconds = Some(self.waiting.seconds(now));
        reading.wait_seconds = Some(seconds(self.finished_waits_ns));
        reading.entries = Some(self.entries);
        reading.waits = Some(self.waits);
    }
}

/// One stage at one instant; what the stage does not have is absent, never 0.
#[derive(Debug, Default)]
pub(crate) struct StageReading {
    pub(crate) stage: &'static str,
    pub(crate) limit: Option<u64>,
    pub(crate) occupancy: Option<u64>,
    pub(crate) occupancy_seconds: Option<f64>,
    pub(crate) waiting: Option<u64>,
    pub(crate) waiting_seconds: Option<f64>,
    pub(crate) wait_seconds: Option<f64>,
    pub(crate) entries: Option<u64>,
    pub(crate) waits: Option<u64>,
    pub(crate) refused: Option<u64>,
}

impl StageReading {
    pub(crate) fn of(stage: &'static str) -> Self {
        Self {
            stage,
            ..Self::default()
        }
    }

    pub(crate) fn occupied(mut self, level: &Level, now: Instant) -> Self {
        self.occupancy = Some(level.count());
        self.occupancy_seconds = Some(level.seconds(now));
        self
    }
}

/// Nanoseconds as seconds.
pub(crate) fn seconds(nanoseconds: u128) -> f64 {
    nanoseconds as f64 / Duration::from_secs(1).as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn integral_of_a_staircase() {
        let start = Instant::now();
        let at = |ms| start + Duration::from_millis(ms);
        let mut level = Level::new(start);
        level.rise(at(1_000));
        level.rise(at(2_000));
        level.fall(at(4_000));
        // One for 1 s, two for 2 s, one for half a second.
        assert!((level.seconds(at(4_500)) - 5.5).abs() < 1e-9);
        assert_eq!(level.count(), 1);
    }

    #[test]
    fn an_instant_from_before_the_last_change_adds_nothing() {
        let start = Instant::now();
        let mut level = Level::new(start);
        level.rise(start + Duration::from_secs(2));
        level.rise(start + Duration::from_secs(1));
        assert!(level.seconds(start + Duration::from_secs(2)).abs() < 1e-9);
    }

    proptest! {
        /// First come, first served: when the line is empty again, the integral of its length
        /// equals the sum of the waits.
        #[test]
        fn waits_add_up_to_the_integral(steps in prop::collection::vec((0_u64..50, 0_u64..50), 1..60)) {
            let start = Instant::now();
            let mut line = Line::new(start);
            let arrivals: Vec<u64> = steps.iter().scan(0, |at, step| { *at += step.0; Some(*at) }).collect();
            let mut departures = Vec::new();
            for (arrival, (_, service)) in arrivals.iter().zip(&steps) {
                departures.push((*arrival).max(departures.last().copied().unwrap_or(0)) + service);
            }
            let mut events: Vec<(u64, bool, usize)> = Vec::new();
            events.extend(arrivals.iter().enumerate().map(|(who, at)| (*at, false, who)));
            events.extend(departures.iter().enumerate().map(|(who, at)| (*at, true, who)));
            events.sort_unstable();
            for (at, leaves, who) in events {
                let now = start + Duration::from_millis(at);
                if leaves {
                    line.leave(now, start + Duration::from_millis(arrivals[who]), true);
                } else {
                    line.join(now, now);
                }
            }
            let mut reading = StageReading::of("line");
            line.read_into(&mut reading, start + Duration::from_secs(60));
            prop_assert_eq!(reading.waiting, Some(0));
            prop_assert_eq!(reading.entries, Some(steps.len() as u64));
            let expected: u64 = departures.iter().zip(&arrivals).map(|(out, into)| out - into).sum();
            let expected = expected as f64 / 1e3;
            prop_assert!((reading.wait_seconds.unwrap_or(-1.0) - expected).abs() < 1e-9);
            prop_assert!((reading.waiting_seconds.unwrap_or(-1.0) - expected).abs() < 1e-9);
        }
    }
}
