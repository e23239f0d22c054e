//! The limit of TCP Vegas.
//!
//! With L in flight, of which each takes R where it took R0 without a queue, q = ⌈L (1 − R0/R)⌉ of
//! them wait at the server (Brakmo and Peterson 1995). With d = max(1, ⌊log10 L⌋): q up to d adds 6
//! d, below 3 d adds d, above 6 d takes d, as a failed request does. Nothing changes while less
//! than half of the limit is in use. R0 is the least response time seen. So that it can rise too,
//! it is set to the present one after every 30 L responses times a number between 0.5 and 1 (the
//! rules and the defaults are those of Netflix' concurrency-limits, `VegasLimit`).
//!
//! One request that was quick by luck becomes R0, and one that was slow, if it comes when R0 is set
//! anew.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Sample;
use crate::decision::Kind;

/// After how many responses per slot R0 is set anew.
const PROBE_MULTIPLIER: f64 = 30.0;
/// The increment of a Weyl sequence, 2^64 divided by the golden ratio: spreads the times of the
/// probes without a random source.
const WEYL: u64 = 0x9e37_79b9_7f4a_7c15;

/// The limit of TCP Vegas; the defaults are those of concurrency-limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Vegas {
    /// The limit at first.
    pub start: f64,
    /// The largest; the least is 1.
    pub max: f64,
}

impl Default for Vegas {
    fn default() -> Self {
        Self {
            start: 20.0,
            max: 1000.0,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct VegasLimit {
    rules: Vegas,
    limit: f64,
    least: Option<Duration>,
    since_probe: f64,
    spread: u64,
}

impl VegasLimit {
    pub(crate) fn new(rules: Vegas) -> Self {
        Self {
            rules,
            limit: rules.start,
            least: None,
            since_probe: 0.0,
            spread: WEYL,
        }
    }

    pub(crate) fn limit(&self) -> f64 {
        self.limit
    }

    pub(crate) fn finished(&mut self, sample: &Sample) {
        let response_time = sample.response_time;
        if response_time.is_zero() {
            return;
        }
        self.since_probe += 1.0;
        if self.since_probe >= self.jitter() * PROBE_MULTIPLIER * self.limit {
            self.spread = self.spread.wrapping_add(WEYL);
            self.since_probe = 0.0;
            self.least = Some(response_time);
            return;
        }
        let least = self
            .least
            .map_or(response_time, |least| least.min(response_time));
        if self.least != Some(least) {
            self.least = Some(least);
            return;
        }
        let queued =
            (self.limit * (1.0 - least.as_secs_f64() / response_time.as_secs_f64())).ceil();
        self.limit = self.next(queued, sample).min(self.rules.max).max(1.0);
    }

    fn next(&self, queued: f64, sample: &Sample) -> f64 {
        let digits = digits(self.limit);
        if sample.kind == Kind::Failed {
            self.limit - digits
        } else if f64::from(sample.in_flight) * 2.0 < self.limit {
            self.limit
        } else if queued <= digits {
            self.limit + 6.0 * digits
        } else if queued < 3.0 * digits {
            self.limit + digits
        } else if queued > 6.0 * digits {
            self.limit - digits
        } else {
            self.limit
        }
    }

    /// From 0.5 up to 1.
    fn jitter(&self) -> f64 {
        0.5 + 0.5 * (self.spread >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// max(1, ⌊log10 limit⌋), without a logarithm, which other languages round otherwise.
fn digits(limit: f64) -> f64 {
    let (mut digits, mut power) = (0.0, 10.0);
    while power <= limit {
        digits += 1.0;
        power *= 10.0;
    }
    f64::max(1.0, digits)
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

    /// The steps by hand from the formula: L = 10 and R0 = 10 ms.
    #[test]
    fn it_follows_the_formula() {
        let rules = Vegas {
            start: 10.0,
            max: 20.0,
        };
        for (response_ms, in_flight, expected) in [
            // q = 0: adds 6.
            (10, 10, 16.0),
            // q = ceil(10 (1 - 10/11)) = 1: adds 6.
            (11, 10, 16.0),
            // q = ceil(10 (1 - 10/12)) = 2: adds 1.
            (12, 10, 11.0),
            // q = 5: holds.
            (20, 10, 10.0),
            // q = ceil(10 (1 - 10/30)) = 7: takes 1.
            (30, 10, 9.0),
            // Less than half in use.
            (30, 4, 10.0),
        ] {
            let mut limit = VegasLimit::new(rules);
            limit.finished(&sample(10, 10));
            limit.finished(&sample(response_ms, in_flight));
            assert!(
                (limit.limit() - expected).abs() < 1e-12,
                "{response_ms}: {}",
                limit.limit()
            );
        }
    }

    #[test]
    fn digits_are_those_of_the_decimal_logarithm() {
        for (limit, expected) in [
            (1.0, 1.0),
            (9.9, 1.0),
            (10.0, 1.0),
            (99.0, 1.0),
            (100.0, 2.0),
            (1000.0, 3.0),
        ] {
            assert!((digits(limit) - expected).abs() < 1e-12, "{limit}");
        }
    }

    #[test]
    fn the_base_is_set_anew_after_at_most_thirty_responses_a_slot() {
        let mut limit = VegasLimit::new(Vegas {
            start: 10.0,
            max: 10.0,
        });
        limit.finished(&sample(10, 1));
        for _ in 0..300 {
            limit.finished(&sample(40, 1));
        }
        assert_eq!(limit.least, Some(Duration::from_millis(40)));
    }
}
