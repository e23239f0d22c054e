//! Algorithms that compute a limit from what they are told; none of them decides on a request.

mod adaptive;
mod aimd;
mod gradient2;
mod vegas;
mod window;

use std::time::Duration;

pub use adaptive::{Adaptive, Goal, Learnt};
pub use aimd::Aimd;
pub use gradient2::Gradient2;
pub use vegas::Vegas;

use crate::decision::Kind;
use crate::moment::Moment;
use crate::rules::Concurrency;
use adaptive::AdaptiveLimit;
use aimd::AimdLimit;
use gradient2::Gradient2Limit;
use vegas::VegasLimit;

/// What a request that is over tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    /// From admission to the end.
    pub(crate) response_time: Duration,
    /// From arrival to admission.
    pub(crate) waited: Duration,
    /// Requests in flight when it was admitted, itself included.
    pub(crate) in_flight: u32,
    pub(crate) kind: Kind,
}

/// How a limit stands at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Occupancy {
    pub(crate) in_flight: u32,
    /// Whether somebody waits whom nothing but this limit holds back.
    pub(crate) pressed: bool,
}

/// One of the algorithms while it runs.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Algorithm {
    Fixed(f64),
    Adaptive(Box<AdaptiveLimit>),
    Aimd(AimdLimit),
    Vegas(VegasLimit),
    Gradient2(Gradient2Limit),
}

impl Algorithm {
    /// As the rules say; no rule is no limit.
    pub(crate) fn new(rules: Option<&Concurrency>, now: Moment) -> Self {
        match rules {
            None => Self::Fixed(f64::INFINITY),
            Some(Concurrency::Fixed(limit)) => Self::Fixed(*limit),
            Some(Concurrency::Adaptive(rules)) => {
                Self::Adaptive(Box::new(AdaptiveLimit::new(rules, now)))
            }
            Some(Concurrency::Aimd(rules)) => Self::Aimd(AimdLimit::new(*rules)),
            Some(Concurrency::Vegas(rules)) => Self::Vegas(VegasLimit::new(*rules)),
            Some(Concurrency::Gradient2(rules)) => Self::Gradient2(Gradient2Limit::new(*rules)),
        }
    }

    pub(crate) fn limit(&self) -> f64 {
        match self {
            Self::Fixed(limit) => *limit,
            Self::Adaptive(limit) => limit.limit(),
            Self::Aimd(limit) => limit.limit(),
            Self::Vegas(limit) => limit.limit(),
            Self::Gradient2(limit) => limit.limit(),
        }
    }

    /// A request is over.
    pub(crate) fn finished(&mut self, sample: &Sample, now: Moment) {
        match self {
            Self::Fixed(_) => {}
            Self::Adaptive(limit) => limit.finished(sample, now),
            Self::Aimd(limit) => limit.finished(sample),
            Self::Vegas(limit) => limit.finished(sample),
            Self::Gradient2(limit) => limit.finished(sample, now),
        }
    }

    /// How things stand from now on; told at each change.
    pub(crate) fn stands(&mut self, occupancy: Occupancy, now: Moment) {
        if let Self::Adaptive(limit) = self {
            limit.stands(occupancy, now);
        }
    }

    /// A request of a class with a promise was in time or not, which this share of them is to be.
    pub(crate) fn promised(&mut self, in_time: bool, share: f64) {
        if let Self::Adaptive(limit) = self {
            limit.answered(in_time, share);
        }
    }

    /// Whether the limit cannot be lower.
    pub(crate) fn is_least(&self) -> bool {
        match self {
            Self::Adaptive(limit) => limit.is_least(),
            _ => true,
        }
    }

    /// What it has learnt, if it learns.
    pub(crate) fn learnt(&self) -> Option<Learnt> {
        match self {
            Self::Adaptive(limit) => limit.learnt(),
            _ => None,
        }
    }

    /// The busy share of the server's CPUs, up to now.
    pub(crate) fn read_cpu(&mut self, busy: f64, now: Moment) {
        if let Self::Adaptive(limit) = self {
            limit.read_cpu(busy, now);
        }
    }
}
