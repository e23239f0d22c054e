//! One class of requests: its own caps, its line, and what it has counted.

use std::time::Duration;

use crate::cap::Cap;
use crate::gcra::Gcra;
use crate::limits::{Adaptive, Goal};
use crate::moment::Moment;
use crate::promise::Kept;
use crate::rules::{ClassRules, Concurrency, Rules};
use crate::seen::{Counts, Spent};
use crate::standing::Standing;
use crate::waiting::Line;

/// Weight of one response in the mean response time that `Retry-After` is expected from.
const RESPONSE_WEIGHT: f64 = 0.1;

/// The cap on what promises leave over. It begins with one slot, so that those who were promised
/// something do not pay for the search, and never closes: who is let in hardly ever still learns
/// that the server lives.
const REST: Adaptive = Adaptive {
    goal: Goal {
        cpu: None,
        p99: None,
    },
    min: Some(0.25),
    max: None,
    start: Some(1.0),
    step: None,
};

#[derive(Debug, Clone)]
pub(crate) struct Class {
    pub(crate) name: String,
    /// Lower ones go first.
    pub(crate) rank: u8,
    pub(crate) rate: Option<Gcra>,
    pub(crate) cap: Cap,
    pub(crate) line: Line,
    pub(crate) standing: Standing,
    pub(crate) promise: Option<Kept>,
    /// Whether its cap is what the promises of others leave over.
    pub(crate) is_rest: bool,
    /// How long one of this class waits at most.
    pub(crate) max_wait: Duration,
    pub(crate) max_queue: usize,
    pub(crate) counts: Counts,
    /// Up to the time of the last call.
    pub(crate) spent: Spent,
    pub(crate) response: MeanResponse,
}

impl Class {
    pub(crate) fn new(of: &ClassRules, rules: &Rules, now: Moment) -> Self {
        let mut class = Self {
            name: of.name.clone(),
            rank: 0,
            rate: None,
            cap: Cap::new(None, now),
            line: Line::EMPTY,
            standing: Standing::default(),
            promise: None,
            is_rest: false,
            max_wait: Duration::ZERO,
            max_queue: 0,
            counts: Counts::default(),
            spent: Spent::default(),
            response: MeanResponse::default(),
        };
        class.set_rules(of, rules, now);
        class
    }

    /// Other rules for those who come; those who wait go on waiting under them.
    pub(crate) fn set_rules(&mut self, of: &ClassRules, rules: &Rules, now: Moment) {
        self.rank = u8::from(of.promise.is_none());
        self.rate = Gcra::replaced(self.rate.take(), of.rate, now);
        let kept = self.promise.filter(|kept| Some(kept.promise) == of.promise);
        self.promise = kept.or(of.promise.map(Kept::new));
        let others_promise = rules.classes.iter().any(|class| class.promise.is_some());
        self.is_rest = of.promise.is_none() && of.concurrency.is_none() && others_promise;
        let rest = || Concurrency::Adaptive(REST);
        let concurrency = of.concurrency.clone().or(self.is_rest.then(rest));
        self.cap.set_rules(concurrency, now);
        self.max_wait = longest_wait(of, rules);
        self.max_queue = of.max_queue.unwrap_or(usize::MAX);
    }

    /// Time that its requests have spent here, so long after the last call.
    pub(crate) fn spent_after(&self, time: Duration) -> Spent {
        let mut spent = self.spent;
        spent.add(self.cap.in_flight(), self.line.len(), time);
        spent
    }

    /// Whether the class's own caps let one more through.
    pub(crate) fn is_open(&self, now: Moment) -> bool {
        self.is_on_time(now) && self.cap.has_room(now)
    }

    /// Whether the class's own rate lets one more through.
    pub(crate) fn is_on_time(&self, now: Moment) -> bool {
        self.rate.as_ref().is_none_or(|rate| rate.is_open(now))
    }

    /// How long the oldest in the line may have waited.
    pub(crate) fn patience(&self) -> Duration {
        self.standing.patience(self.max_wait)
    }
}

/// The wait that is allowed: no longer than half of the time in which a request has to be answered.
fn longest_wait(of: &ClassRules, rules: &Rules) -> Duration {
    let goal = |concurrency: &Option<Concurrency>| match concurrency {
        Some(Concurrency::Adaptive(adaptive)) => adaptive.goal.p99,
        _ => None,
    };
    let promised = of.promise.map(|promise| promise.within);
    let within = [promised, goal(&of.concurrency), goal(&rules.concurrency)];
    let half = within.into_iter().flatten().min().map(|within| within / 2);
    let wait = of.max_wait.unwrap_or(rules.max_wait);
    half.map_or(wait, |half| wait.min(half))
}

/// The mean of the last response times, exponentially weighted; unknown before the first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct MeanResponse(Option<f64>);

impl MeanResponse {
    pub(crate) fn add(&mut self, response_time: Duration) {
        let seconds = response_time.as_secs_f64();
        self.0 = Some(
            self.0
                .map_or(seconds, |mean| mean + RESPONSE_WEIGHT * (seconds - mean)),
        );
    }

    /// How long it takes until the slot is free that so many others leave, with so many slots.
    pub(crate) fn wait_behind(self, ahead: usize, slots: f64) -> Option<Duration> {
        let seconds = self.0? * (ahead + 1) as f64 / slots;
        Duration::try_from_secs_f64(seconds).ok()
    }
}
