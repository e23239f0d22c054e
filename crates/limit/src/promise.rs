//! Whether a promise is kept.

use std::time::Duration;

use crate::rules::Promise;

/// Requests over which the share in time is taken, exponentially weighted.
const MEMORY: f64 = 1000.0;

/// A promise while it runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Kept {
    pub(crate) promise: Promise,
    in_time: f64,
    count: f64,
}

/// How a promise stands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PromiseSeen {
    /// Share of the last requests of the class, about a thousand, that were answered in time; 1
    /// before the first.
    pub in_time: f64,
    /// Whether it is kept.
    pub state: PromiseState,
}

/// Whether a promise is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromiseState {
    /// As many are in time as were promised.
    Kept,
    /// They are not, and the other classes still have slots that can be taken from them.
    Regained,
    /// They are not, and the other classes have no more than the least: the class, or the server,
    /// is too slow by itself.
    Impossible,
}

impl Kept {
    pub(crate) fn new(promise: Promise) -> Self {
        Self {
            promise,
            in_time: 1.0,
            count: 0.0,
        }
    }

    /// One was answered after so long; says whether in time.
    pub(crate) fn answered(&mut self, after: Duration) -> bool {
        let in_time = after <= self.promise.within;
        self.count(in_time);
        in_time
    }

    /// One was in time or not; one that was refused was not.
    pub(crate) fn count(&mut self, in_time: bool) {
        self.count = (self.count + 1.0).min(MEMORY);
        let target = f64::from(u8::from(in_time));
        self.in_time += (target - self.in_time) / self.count;
    }

    pub(crate) fn seen(&self, others_at_least: bool) -> PromiseSeen {
        let state = if self.in_time >= self.promise.share {
            PromiseState::Kept
        } else if others_at_least {
            PromiseState::Impossible
        } else {
            PromiseState::Regained
        };
        PromiseSeen {
            in_time: self.in_time,
            state,
        }
    }
}
