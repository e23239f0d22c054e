//! Whether more slots still bring more, where it is not the CPU that says so.
//!
//! A limit that follows response times alone drifts, because the response time without a queue is
//! never seen under load. What cannot drift is this: if more slots bring no more throughput, they
//! are too many (the throughput/concurrency correlation of Uber's Cinnamon and of failsafe-go). So
//! each rise is judged. Before and after it, the mean number in flight n and the pace p
//! are measured, p being the busy share of the CPUs where it is read and above a half, and thus the
//! less noisy of the two, and the throughput otherwise.
//! If p has not grown by 0.3 of what n has grown by, all of the rise but what p has grown by is
//! taken back, and none is tried for 5 s; for twice as long each time, up to a minute. Where the
//! CPU is read at all, its busy share has to have grown as much as well. A rise after which nobody
//! waits is judged when somebody does again.
//!
//! The limit is lowered only on evidence that requests wait inside the server: the mean response
//! time is above 1.5 times the least that has been seen over about 200 responses. Then by a fifth,
//! and that is judged too: if p falls by half of what n has fallen by, the slots were needed after
//! all; they are given back, and the present response time becomes the new least.

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
/// Readings of the CPU over which a level is measured, and the least responses in them: of a few
/// long requests, as many begin or end in a reading as chance has it, and the CPU is as busy as
/// that.
const READINGS: u32 = 2;
const READ_RESPONSES: f64 = 12.0;
/// Responses over which it is measured otherwise, for a change by 1: the deviation of the
/// difference of two such counts is a quarter of that change; for a change by x, 1/x² times as
/// many.
const RESPONSES: f64 = 32.0;
/// The least of them.
const RESPONSES_MIN: f64 = 20.0;
/// Responses over which a mean response time is taken before it can be the least: of fewer, the
/// least is luck.
const MEMORY: f64 = 200.0;
/// Below this busy share, throughput is the less noisy of the two.
const BUSY_MIN: f64 = 0.5;
/// For so long after a change that nobody waits, it can still be judged.
const REST_MAX: Duration = Duration::from_secs(5);
/// How long no rise is tried after one that brought nothing: at first, and at most.
const WAIT_MIN: Duration = Duration::from_secs(5);
const WAIT_MAX: Duration = Duration::from_secs(60);

/// What is measured at one limit.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Level {
    limit: f64,
    in_flight: f64,
    busy: f64,
    /// Whether the CPU was read all the time.
    is_read: bool,
    per_s: f64,
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
    /// Windows without a reading of the CPU.
    unread: u32,
    response_s: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Knee {
    /// The level before the last change.
    before: Option<Level>,
    /// When that was.
    changed: Moment,
    here: Measured,
    /// Whether the next window is still about the limit before.
    settles: bool,
    closed_until: Moment,
    wait: Duration,
    /// The mean response time of late, of how many responses, and the least that it has been.
    mean_s: f64,
    responses: f64,
    least_s: Option<f64>,
}

impl Default for Knee {
    fn default() -> Self {
        Self {
            before: None,
            changed: Moment(0),
            here: Measured::default(),
            settles: false,
            closed_until: Moment(0),
            wait: WAIT_MIN,
            mean_s: 0.0,
            responses: 0.0,
            least_s: None,
        }
    }
}

impl Knee {
    /// Nobody waits for the limit: there is nothing to judge, but perhaps a response time to
    /// remember. A rise lets go on who has waited, so that this comes right after it; it is
    /// judged when somebody waits again.
    pub(crate) fn rest(&mut self, seen: &Seen, now: Moment) {
        if now.since(self.changed) < REST_MAX {
            self.restart(false);
        } else {
            self.forget();
        }
        self.remember(seen);
    }

    /// What limits is something else: what was measured is about the past.
    pub(crate) fn forget(&mut self) {
        self.before = None;
        self.restart(false);
    }

    /// Takes a window in which the limit held the flow, and says what the limit is to be, if
    /// another.
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
        let here = self.here.level(limit);
        // What there is hardly room for is not tried: it could not be judged.
        let rises = now >= self.closed_until && ratio > 1.0 + CHANGE_MIN;
        let next = if rises { limit * ratio } else { limit * CUT };
        if !self.is_measured(here, (next / limit - 1.0).abs()) {
            return None;
        }
        if let Some(before) = self.before.take()
            && let Some(back) = self.judge(before, here, now)
        {
            self.restart(true);
            return Some(back);
        }
        if !rises && !self.is_queued(here) {
            self.restart(false);
            return None;
        }
        self.before = Some(here);
        self.changed = now;
        self.restart(true);
        Some(next)
    }

    /// Whether the present level is known well enough to judge the last change, and later the next
    /// one.
    fn is_measured(&self, here: Level, next_change: f64) -> bool {
        let changed = |before: Level| (here.limit / before.limit - 1.0).abs();
        let change = self
            .before
            .map_or(next_change, |before| changed(before).min(next_change));
        let is_read = here.is_busy() && self.before.is_none_or(|before| before.is_busy());
        self.here.is_enough(change, is_read)
    }

    /// The limit before, if the change was not worth it.
    fn judge(&mut self, before: Level, here: Level, now: Moment) -> Option<f64> {
        let change = here.in_flight / before.in_flight - 1.0;
        let gain = here.gain(before);
        if change > CHANGE_MIN {
            // Throughput alone is led astray by equal requests, which end together; the CPU has to
            // have more to do, too.
            let gain = gain.min(here.busy_gain(before));
            if gain < WORTH * change {
                self.closed_until = now + self.wait;
                self.wait = (self.wait * 2).min(WAIT_MAX);
                return Some(before.limit * (1.0 + gain.max(0.0)));
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
        let completed = f64::from(seen.completed);
        if seen.completed == 0 {
            return;
        }
        self.responses += completed;
        let weight = (completed / self.responses.min(MEMORY)).min(1.0);
        self.mean_s += weight * (seen.response_s - self.mean_s);
        if self.responses >= MEMORY {
            let least = self
                .least_s
                .map_or(self.mean_s, |least| least.min(self.mean_s));
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
        self.unread += u32::from(busy.is_none());
        self.response_s += seen.response_s * completed;
    }

    /// Whether a change by this part can be judged.
    fn is_enough(&self, change: f64, is_read: bool) -> bool {
        if is_read {
            return self.windows >= READINGS && self.completed >= READ_RESPONSES;
        }
        let needed = RESPONSES / (change * change).max(1e-4);
        self.completed >= needed.max(RESPONSES_MIN)
    }

    fn level(&self, limit: f64) -> Level {
        // Not 0, by which they will be divided.
        let per_s = |sum: f64| (sum / self.seconds.max(1e-9)).max(1e-6);
        Level {
            limit,
            in_flight: per_s(self.in_flight_s),
            busy: per_s(self.busy_s),
            is_read: self.unread == 0,
            per_s: per_s(self.completed),
            response_s: self.response_s / self.completed.max(1.0),
        }
    }
}

impl Level {
    fn is_busy(&self) -> bool {
        self.busy >= BUSY_MIN
    }

    /// By what part the pace has grown.
    fn gain(&self, before: Self) -> f64 {
        if self.is_busy() && before.is_busy() {
            self.busy_gain(before)
        } else {
            self.per_s / before.per_s - 1.0
        }
    }

    /// By what part the CPU has grown busier; without bound where it was not read.
    fn busy_gain(&self, before: Self) -> f64 {
        if self.is_read && before.is_read {
            self.busy / before.busy - 1.0
        } else {
            f64::INFINITY
        }
    }
}
