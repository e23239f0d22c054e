//! Whether more slots still bring more, where it is not the CPU that says so.
//!
//! A limit that follows response times alone drifts, because the response time without a queue is never seen under load. What
//! cannot drift is this: if more slots bring no more throughput, they are too many (the throughput/concurrency correlation of
//! Uber's Cinnamon and of failsafe-go). So each rise is judged. Before and after it, the mean number in flight n and the pace p
//! are measured, p being the busy share of the CPUs where it is read (the less noisy of the two) and the throughput otherwise.
//! If p has not grown by 0.3 of what n has grown by, the rise is taken back, and none is tried for 5 s; for twice as long each
//! time, up to a minute.
//!
//! The limit is lowered only on evidence that requests wait inside the server: the mean response time is above 1.5 times the
//! least that has been seen. Then by a fifth, and that is judged too: if p falls by half of what n has fallen by, the slots were
//! needed after all; they are given back, and the present response time becomes the new least.

use std::time::Duration;

use super::super::window::Seen;
use crate::moment::Moment;

/// Part of the rise in flight that the pace has to rise by.
const WORTH: f64 = 0.3;
/// Part of the fall in flight that the pace may fall by.
const HARM: f64 = 0.5;
/// The least change in flight that can be judged.
const CHANGE_MIN: f64 = 0.05;
/// By how much the limit is lowered.
const CUT: f64 = 0.8;
/// Response times above this multiple of the least are evidence of a queue inside the server.
const QUEUED: f64 = 1.5;
/// Readings of the CPU over which a level is measured.
const READINGS: u32 = 2;
/// Responses over which it is measured otherwise, for a change by 1: the deviation of the difference of two counts is then a
/// third of what is looked for; for a change by x, 1/x² times as many.
const RESPONSES: f64 = 16.0;
/// The least of them.
const RESPONSES_MIN: f64 = 20.0;
/// How long no rise is tried after one that brought nothing: at first, and at most.
const WAIT_MIN: Duration = Duration::from_secs(5);
const WAIT_MAX: Duration = Duration::from_secs(60);

/// What is measured at one limit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    limit: f64,
    in_flight: f64,
    pace: f64,
    response_s: f64,
}

/// The measurement of the present limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Measured {
    windows: u32,
    seconds: f64,
    completed: f64,
    in_flight_s: f64,
    busy_s: f64,
    response_s: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Knee {
    /// The level before the last change.
    before: Option<Level>,
    here: Measured,
    /// Whether the next window is still about the limit before.
    settles: bool,
    closed_until: Moment,
    wait: Duration,
    /// The least mean response time of a window.
    least_s: Option<f64>,
}

impl Default for Knee {
    fn default() -> Self {
        Self {
            before: None,
            here: Measured::default(),
            settles: false,
            closed_until: Moment(0),
            wait: WAIT_MIN,
            least_s: None,
        }
    }
}

impl Knee {
    /// Nobody waits for the limit: there is nothing to judge, but perhaps a response time to remember.
    pub(crate) fn rest(&mut self, seen: &Seen) {
        self.forget();
        self.remember(seen);
    }

    /// What limits is something else: what was measured is about the past.
    pub(crate) fn forget(&mut self) {
        self.before = None;
        self.restart(false);
    }

    /// Takes a window in which the limit held the flow, and says what the limit is to be, if another.
    pub(crate) fn next(
        &mut self,
        limit: f64,
        ratio: f64,
        busy: Option<f64>,
        seen: &Seen,
        now: Moment,
    ) -> Option<f64> {
        self.remember(seen);
        if std::mem::take(&mut self.settles) {
            return None;
        }
        self.here.add(seen, busy);
        let change = self
            .before
            .map_or(1.0, |before| (limit / before.limit - 1.0).abs());
        if !self.here.is_enough(change, busy.is_some()) {
            return None;
        }
        let here = self.here.level(limit, busy.is_some());
        if let Some(before) = self.before.take()
            && let Some(back) = self.judge(before, here, now)
        {
            self.restart(true);
            return Some(back);
        }
        let next = if now >= self.closed_until {
            limit * ratio
        } else if self.is_queued(here) {
            limit * CUT
        } else {
            self.restart(false);
            return None;
        };
        self.before = Some(here);
        self.restart(true);
        Some(next)
    }

    /// The limit before, if the change was not worth it.
    fn judge(&mut self, before: Level, here: Level, now: Moment) -> Option<f64> {
        let change = here.in_flight / before.in_flight - 1.0;
        let gain = here.pace / before.pace - 1.0;
        if change > CHANGE_MIN {
            if gain < WORTH * change {
                self.closed_until = now + self.wait;
                self.wait = (self.wait * 2).min(WAIT_MAX);
                return Some(before.limit);
            }
            self.wait = WAIT_MIN;
        } else if change < -CHANGE_MIN && gain < HARM * change {
            self.least_s = Some(here.response_s);
            return Some(before.limit);
        }
        None
    }

    fn is_queued(&self, here: Level) -> bool {
        self.least_s
            .is_some_and(|least| here.response_s > QUEUED * least)
    }

    fn remember(&mut self, seen: &Seen) {
        if f64::from(seen.completed) >= RESPONSES_MIN {
            let least = self
                .least_s
                .map_or(seen.response_s, |least| least.min(seen.response_s));
            self.least_s = Some(least);
        }
    }

    fn restart(&mut self, settles: bool) {
        self.here = Measured::default();
        self.settles = settles;
    }
}

impl Measured {
    fn add(&mut self, seen: &Seen, busy: Option<f64>) {
        let completed = f64::from(seen.completed);
        self.windows += 1;
        self.seconds += seen.seconds;
        self.completed += completed;
        self.in_flight_s += seen.in_flight * seen.seconds;
        self.busy_s += busy.unwrap_or(0.0) * seen.seconds;
        self.response_s += seen.response_s * completed;
    }

    /// Whether a change by this part can be judged.
    fn is_enough(&self, change: f64, is_read: bool) -> bool {
        if is_read {
            return self.windows >= READINGS;
        }
        let needed = RESPONSES / (change * change).max(1e-4);
        self.completed >= needed.max(RESPONSES_MIN)
    }

    fn level(&self, limit: f64, is_read: bool) -> Level {
        let seconds = self.seconds.max(1e-9);
        let pace = if is_read { self.busy_s } else { self.completed };
        Level {
            limit,
            in_flight: self.in_flight_s / seconds,
            // Not 0, by which it will be divided.
            pace: (pace / seconds).max(1e-6),
            response_s: self.response_s / self.completed.max(1.0),
        }
    }
}
