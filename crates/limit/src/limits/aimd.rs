//! Additive increase, multiplicative decrease.
//!
//! Each response under the time-out that was sent while at least half of the limit was in use adds
//! 1; each one that failed or took longer multiplies by the back-off ratio (Chiu and Jain 1989 show
//! why the two converge to a fair share; the rule for half of the limit and the defaults are those
//! of Netflix' concurrency-limits, `AIMDLimit`).
//!
//! It only learns from responses that are too slow already, and a time-out of seconds says nothing
//! about a server that answers in milliseconds.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Sample;
use crate::decision::Kind;
use crate::rules::as_nanos;

/// Additive increase, multiplicative decrease; the defaults are those of concurrency-limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Aimd {
    /// The limit at first.
    pub start: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// By which the limit is multiplied; from 0.5 up to 1.
    pub back_off: f64,
    /// Responses that take longer count as failed.
    #[serde(rename = "timeout_ns", with = "as_nanos")]
    pub timeout: Duration,
}

impl Default for Aimd {
    fn default() -> Self {
        Self {
            start: 20.0,
            min: 20.0,
            max: 200.0,
            back_off: 0.9,
            timeout: Duration::from_secs(5),
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AimdLimit {
    rules: Aimd,
    limit: f64,
}

impl AimdLimit {
    pub(crate) fn new(rules: Aimd) -> Self {
        Self {
            rules,
            limit: rules.start,
        }
    }

    pub(crate) fn limit(&self) -> f64 {
        self.limit
    }

    pub(crate) fn finished(&mut self, sample: &Sample) {
        let Aimd {
            min,
            max,
            back_off,
            timeout,
            ..
        } = self.rules;
        if sample.kind == Kind::Failed || sample.response_time > timeout {
            self.limit = (self.limit * back_off).floor();
        } else if f64::from(sample.in_flight) * 2.0 >= self.limit {
            self.limit += 1.0;
        }
        self.limit = self.limit.min(max).max(min);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(response_ms: u64, in_flight: u32) -> Sample {
        Sample {
            response_time: Duration::from_millis(response_ms),
            waited: Duration::ZERO,
            in_flight,
            kind: Kind::Completed,
        }
    }

    #[test]
    fn it_adds_one_when_half_used_and_takes_a_tenth_when_late() {
        let mut limit = AimdLimit::new(Aimd {
            start: 30.0,
            ..Aimd::default()
        });
        for (of, expected) in [
            (sample(10, 14), 30.0),
            (sample(10, 15), 31.0),
            (sample(5001, 31), 27.0),
            (sample(5001, 1), 24.0),
            (sample(5001, 1), 21.0),
            (sample(5001, 1), 20.0),
        ] {
            limit.finished(&of);
            assert!(
                (limit.limit() - expected).abs() < 1e-12,
                "{of:?}: {}",
                limit.limit()
            );
        }
    }
}
