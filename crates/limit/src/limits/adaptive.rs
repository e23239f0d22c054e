//! The limit that Weir finds by itself: as few slots as the goal allows.
//!
//! What is wanted is the least limit at which the server is as busy as it can be: more only lets
//! requests wait inside the server instead of in front of it. Where the busy share U of the
//! server's CPUs is read, it says directly whether more slots would bring more throughput, without
//! any base that could drift: while somebody waits for the limit,
//!
//! * U below 97 %: more slots, as many as would fill the CPUs if U grew in proportion, at most
//!   twice as many;
//! * U at 99 % or more in three readings in a row: fewer, by 3 % at first and up to 20 % at a time.
//!   Three, because a server that has stood still for a moment is saturated until it has caught up,
//!   and has not too many slots for that;
//! * with a goal for U: the limit follows (goal/U − 1) with gain 0.3 ([`cpu goal`](Goal::cpu)).
//!
//! Where U says that there is room and more slots bring nothing, something else is the limit, and
//! where U is not read, there is only throughput: see [`knee`]. While nobody waits for the limit,
//! nothing changes but for the way back from a bad time: see [`proven`]. So it is never lowered for
//! a reason that a quiet time gives, and never to see what happens.
//!
//! While the server stands still, the limit counts twice: see [`standstill`].
//!
//! With a largest change at a time the limit follows what all this asks for in steps of that size:
//! see [`walk`].
//!
//! A goal for U whose reading is lost is kept to as far as it is known: the limit that the last
//! reading has led to is the most until there is another, and evidence of a queue inside the server
//! still lowers it.

mod bound;
mod knee;
mod learnt;
mod proven;
mod standstill;
mod walk;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::window::{Seen, Window};
use super::{Occupancy, Sample};
use crate::decision::Kind;
use crate::moment::Moment;
use crate::rules::{RulesError, as_optional_nanos};
use bound::ResponseBound;
use knee::Knee;
pub use learnt::Learnt;
use learnt::Lesson;
use proven::Proven;
use standstill::Standstill;
use walk::Walk;

/// The limit at first where nothing else is said.
const START: f64 = 8.0;
/// The least limit without a goal for the CPU.
const MIN: f64 = 2.0;
/// The least limit with a goal for the CPU, which one slot may already exceed, as a part of the
/// goal (one request at a time that only computes, on one CPU, needs all of it), and the least of
/// that.
const MIN_OF_CPU_GOAL: f64 = 0.25;
const MIN_WITH_CPU_GOAL: f64 = 0.05;
/// The largest limit where nothing else is said.
const MAX: f64 = 1000.0;
/// Share of the time in which somebody has to wait for the limit, for the limit to be what holds
/// the flow.
const PRESSED: f64 = 0.5;
/// From this busy share on more slots bring no more throughput.
const SATURATED: f64 = 0.99;
/// Below this one they do.
const SPARE: f64 = 0.97;
/// Below this one, something else than the CPU can be what limits.
const DOUBTFUL: f64 = 0.9;
/// Below this part of what the CPUs are to be, a limit below this part of what has held goes back.
const FAR: f64 = 0.5;
/// Up to this multiple of a goal it counts as kept.
const KEPT: f64 = 1.1;
/// Saturated readings in a row before the limit is lowered.
const PATIENCE: u32 = 3;
/// The first step down, the largest, and how they grow.
const STEP_MIN: f64 = 0.03;
const STEP_MAX: f64 = 0.2;
const STEP_GROWTH: f64 = 1.5;
/// By how much the limit grows at a time where no CPU is read.
const BLIND_GROWTH: f64 = 1.5;
/// Share of the way to a goal for the CPU that is gone at once.
const GAIN: f64 = 0.3;
/// The step down where a goal for the CPU is exceeded by so much that U no longer says by how much.
const SATURATED_STEP: f64 = 0.7;
/// After so long without a reading, there is none.
const READING_LIFE: Duration = Duration::from_secs(3);
/// Readings that come faster are taken together: the steps of the kernel's clock are a good part of
/// a shorter time.
const READING_MIN: Duration = Duration::from_millis(190);
/// Without readings, a window has at least this length and so many responses.
const WINDOW: Duration = Duration::from_millis(250);
const WINDOW_RESPONSES: u32 = 10;
/// A window with less than this part of the usual throughput is one in which the server stood
/// still.
const STALL: f64 = 0.5;
/// Windows in a row that are passed over for that.
const STALLS: u32 = 2;
/// Weight of a window in the usual throughput.
const USUAL_WEIGHT: f64 = 0.2;

/// The limit that Weir finds by itself.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Adaptive {
    /// What is to be reached.
    pub goal: Goal,
    /// The least limit; `None`: 2, and with a goal for the CPU a quarter of it, at least 0.05.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// The largest limit; `None`: 1,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// The limit at first; `None`: 8, within the bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<f64>,
    /// The largest change at a time, as a share of the limit, above 0 and below 1; `None`: as
    /// large as what is read asks for. Limits change at most five times a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
}

/// What an adaptive limit is to reach; all of it together, and the best throughput where nothing is
/// said.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Goal {
    /// Largest busy share of the server's CPUs, above 0 and below 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<f64>,
    /// Time within which 99 % of the requests are answered, the wait for admission included.
    #[serde(
        rename = "p99_ns",
        with = "as_optional_nanos",
        skip_serializing_if = "Option::is_none"
    )]
    pub p99: Option<Duration>,
}

impl Adaptive {
    pub(crate) fn check(&self) -> Result<(), RulesError> {
        for limit in [self.min, self.max, self.start].into_iter().flatten() {
            if !(limit > 0.0 && limit.is_finite()) {
                return Err(RulesError::Limit(limit));
            }
        }
        let (min, max) = self.bounds();
        if min > max {
            return Err(RulesError::Bounds { min, max });
        }
        if let Some(step) = self.step.filter(|step| !(*step > 0.0 && *step < 1.0)) {
            return Err(RulesError::Share(step));
        }
        match self.goal.cpu {
            Some(cpu) if !(cpu > 0.0 && cpu < 1.0) => Err(RulesError::Share(cpu)),
            _ => Ok(()),
        }
    }

    /// The least and the largest limit.
    fn bounds(&self) -> (f64, f64) {
        let max = self.max.unwrap_or(MAX);
        let least = match self.goal.cpu {
            Some(goal) => MIN_WITH_CPU_GOAL.max(MIN_OF_CPU_GOAL * goal),
            None => MIN,
        };
        (self.min.unwrap_or(least.min(max)), max)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AdaptiveLimit {
    goal: Goal,
    min: f64,
    max: f64,
    /// As throughput and CPU say.
    flow: f64,
    /// As response times say.
    bound: ResponseBound,
    /// The limit in force, which follows what is wanted in steps that are as small as the user
    /// says.
    stepped: f64,
    walk: Walk,
    lesson: Lesson,
    window: Window,
    read_at: Option<Moment>,
    /// The limit that the last reading has led to.
    read_limit: Option<f64>,
    /// Busy seconds and seconds of the readings in this window.
    busy_s: f64,
    read_s: f64,
    /// Saturated readings in a row.
    saturated: u32,
    step: f64,
    knee: Knee,
    proven: Proven,
    standstill: Standstill,
    /// Usual throughput while the limit holds the flow.
    usual_per_s: Option<f64>,
    stalls: u32,
}

impl AdaptiveLimit {
    pub(crate) fn new(rules: &Adaptive, now: Moment) -> Self {
        let (min, max) = rules.bounds();
        let start = rules.start.unwrap_or(START).min(max).max(min);
        Self {
            goal: rules.goal,
            min,
            max,
            flow: start,
            stepped: start,
            walk: Walk::new(rules.step),
            lesson: Lesson::default(),
            bound: ResponseBound::default(),
            window: Window::new(now),
            read_at: None,
            read_limit: None,
            busy_s: 0.0,
            read_s: 0.0,
            saturated: 0,
            step: STEP_MIN,
            knee: Knee::default(),
            proven: Proven::new(start),
            standstill: Standstill::default(),
            usual_per_s: None,
            stalls: 0,
        }
    }

    /// The limit in force.
    pub(crate) fn limit(&self) -> f64 {
        let limit = self.found();
        if self.walk.is_bounded() {
            limit
        } else {
            limit.max(self.max.min(limit * self.standstill.lift()))
        }
    }

    /// The limit that has been found, however the server stands at this moment.
    fn found(&self) -> f64 {
        if self.walk.is_bounded() {
            self.stepped
        } else {
            self.wanted()
        }
    }

    /// The limit that the goals ask for, however far away it is.
    fn wanted(&self) -> f64 {
        self.bound.within(self.flow).max(self.min)
    }

    /// What it has learnt of the traffic; nothing before anybody has waited.
    pub(crate) fn learnt(&self) -> Option<Learnt> {
        self.lesson.learnt(self.max)
    }

    /// Whether it cannot be lower.
    pub(crate) fn is_least(&self) -> bool {
        self.found() <= self.min
    }

    pub(crate) fn stands(&mut self, occupancy: Occupancy, now: Moment) {
        self.window.stands(occupancy, now);
        self.standstill.stands(occupancy, now);
    }

    pub(crate) fn finished(&mut self, sample: &Sample, now: Moment) {
        self.window.finished(sample);
        if sample.kind == Kind::Completed {
            self.standstill.ended(now);
        }
        if let Some(within) = self.goal.p99
            && sample.kind == Kind::Completed
        {
            self.answered(sample.waited + sample.response_time <= within, 0.99);
        }
        let is_read = self.read_at.is_some_and(|at| now.since(at) < READING_LIFE);
        if !is_read
            && self.window.completed() >= WINDOW_RESPONSES
            && self.window.seconds(now) >= WINDOW.as_secs_f64()
        {
            self.decide(None, now);
        }
    }

    /// A request for whose response time this limit answers was in time or not, which this share of
    /// them is to be.
    pub(crate) fn answered(&mut self, in_time: bool, share: f64) {
        let limit = self.found();
        self.bound
            .answered(in_time, share, limit, self.window.is_pressed());
        // What is late while the limit is on its way down, or as low as it may be, would otherwise
        // be charged to it again and again.
        let least = self.walk.least(limit).unwrap_or(0.0);
        self.bound.keep_above(least.max(self.min));
    }

    pub(crate) fn read_cpu(&mut self, busy: f64, now: Moment) {
        let seconds = self.read_at.map_or(1.0, |at| now.since(at).as_secs_f64());
        self.read_at = Some(now);
        self.busy_s += busy * seconds;
        self.read_s += seconds;
        if self.window.seconds(now) >= READING_MIN.as_secs_f64() && self.read_s > 0.0 {
            let busy = self.busy_s / self.read_s;
            (self.busy_s, self.read_s) = (0.0, 0.0);
            self.decide(Some(busy), now);
            self.read_limit = Some(self.flow);
        }
    }

    fn decide(&mut self, busy: Option<f64>, now: Moment) {
        self.judge(busy, now);
        self.stepped = self.walk.step(self.stepped, self.wanted());
    }

    fn judge(&mut self, busy: Option<f64>, now: Moment) {
        let seen = self.window.close(now);
        self.standstill.learn(&seen);
        let presses = seen.pressed >= PRESSED;
        if presses {
            self.lesson.held(self.found(), seen.seconds, busy);
        }
        // Above the goal the limit is lowered whoever waits: the work is there already.
        let exceeds = matches!((busy, self.goal.cpu), (Some(busy), Some(goal)) if busy > goal);
        if let Some(busy) = busy.filter(|busy| self.has_fallen(*busy)) {
            return self.go_back(busy);
        }
        if !presses {
            self.knee.rest(&seen, now);
            self.walk.end();
            self.saturated = 0;
            if !exceeds {
                return;
            }
        } else if self.stalls(&seen) {
            return;
        } else if let Some(busy) = busy {
            self.remember(busy);
        }
        match (busy, self.goal.cpu) {
            (Some(busy), Some(goal)) => self.aim_at(goal, busy, &seen, now),
            (Some(busy), None) => self.saturate(busy, &seen, now),
            (None, goal) => {
                let most = goal.and(self.read_limit).unwrap_or(self.max);
                self.grow(BLIND_GROWTH.min(most / self.flow), None, &seen, now);
            }
        }
    }

    /// Whether the server stood still in this window, which says nothing about how many slots it
    /// needs.
    fn stalls(&mut self, seen: &Seen) -> bool {
        let per_s = seen.per_s();
        let usual = *self.usual_per_s.get_or_insert(per_s);
        if per_s < STALL * usual && self.stalls < STALLS {
            self.stalls += 1;
            return true;
        }
        self.stalls = 0;
        self.usual_per_s = Some(usual + USUAL_WEIGHT * (per_s - usual));
        false
    }

    /// Whether the limit is far below what has held, for no reason that the CPUs give by now.
    fn has_fallen(&self, busy: f64) -> bool {
        busy < FAR * self.busy_wanted() && self.flow < FAR * self.proven.limit()
    }

    /// One step towards the limit that has held.
    fn go_back(&mut self, busy: f64) {
        self.forget();
        (self.saturated, self.step) = (0, STEP_MIN);
        let next = self.flow * growth(self.busy_wanted(), busy);
        self.set(next.min(self.proven.limit()));
    }

    /// Remembers a limit that holds the flow, unless it is too much.
    fn remember(&mut self, busy: f64) {
        let is_kept = match self.goal.cpu {
            Some(goal) => busy <= KEPT * goal,
            None => busy < SATURATED || self.saturated < PATIENCE,
        };
        if is_kept {
            self.proven.held(self.flow);
        }
    }

    /// How busy the CPUs are to be.
    fn busy_wanted(&self) -> f64 {
        self.goal.cpu.unwrap_or(SATURATED)
    }

    /// Holds the busy share at a goal.
    fn aim_at(&mut self, goal: f64, busy: f64, seen: &Seen, now: Moment) {
        if busy >= SATURATED {
            self.set(self.flow * SATURATED_STEP);
        } else if busy < DOUBTFUL * goal {
            self.grow(growth(goal, busy), Some(busy), seen, now);
        } else {
            self.forget();
            self.set(self.flow * (1.0 + GAIN * (goal / busy - 1.0)));
        }
    }

    /// Finds the fewest slots that keep the CPUs busy.
    fn saturate(&mut self, busy: f64, seen: &Seen, now: Moment) {
        if busy >= SATURATED {
            self.forget();
            self.saturated += 1;
            if self.saturated >= PATIENCE {
                self.set(self.flow * (1.0 - self.step));
                self.step = (self.step * STEP_GROWTH).min(STEP_MAX);
            }
        } else if busy < SPARE {
            self.saturated = 0;
            self.step = STEP_MIN;
            let ratio = growth(SATURATED, busy);
            if busy < DOUBTFUL {
                self.grow(ratio, Some(busy), seen, now);
            } else {
                self.forget();
                self.set(self.flow * ratio);
            }
        } else {
            self.forget();
        }
    }

    /// More slots, as long as more bring more.
    fn grow(&mut self, ratio: f64, busy: Option<f64>, seen: &Seen, now: Moment) {
        let most = self.max.min(self.flow * ratio);
        let aim = match self.walk.aim() {
            // It is judged as a whole, and goes no further than the CPU says by now.
            Some(aim) => Some(aim.min(most)),
            None => self.knee.next(self.flow, most / self.flow, busy, seen, now),
        };
        if let Some(aim) = aim {
            let aim = aim.min(self.max).max(self.min);
            self.flow = self.walk.set_out(self.flow, aim);
        }
    }

    /// No change is on its way to be judged.
    fn forget(&mut self) {
        self.knee.forget();
        self.walk.end();
    }

    fn set(&mut self, limit: f64) {
        self.walk.end();
        let limit = limit.min(self.max).max(self.min);
        self.flow = self.walk.step(self.flow, limit);
    }
}

/// By how much the limit grows at a time where the CPUs are this busy and are to be that busy, if
/// they get busier in proportion.
fn growth(wanted: f64, busy: f64) -> f64 {
    (wanted / busy.max(0.01)).min(2.0)
}
