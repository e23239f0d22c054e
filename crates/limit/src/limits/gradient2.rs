//! The limit of the gradient of response times.
//!
//! Once a second, with at least ten responses, of which the mean is S, and the long-term mean B
//! (exponential, over 600 such windows): g = min(1, max(0.5, 1.5 B/S)), L ← 0.8 L + 0.2 (g L + 4),
//! between 20 and 200. B is lowered by 5 % while it is more than twice S. Nothing changes while
//! less than half of the limit was in use. Rules and defaults are those of Netflix'
//! concurrency-limits, `Gradient2Limit` behind `WindowedLimit`.
//!
//! B follows S, so under an overload that lasts the gradient goes back to 1 and the four that are
//! added each time make L creep upwards; and 20 at least is more than many a server of two cores
//! can use.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Sample;
use crate::moment::Moment;

/// Length of a window.
const WINDOW: Duration = Duration::from_secs(1);
/// Responses that a window needs.
const WINDOW_SAMPLES: u32 = 10;
/// Shorter response times are not looked at.
const LEAST: Duration = Duration::from_micros(100);
/// Windows over which the long-term mean is taken.
const LONG: f64 = 600.0;
/// Windows at the begin, of which it is the plain mean.
const WARM_UP: f64 = 10.0;
/// Share of the new limit in the next one.
const SMOOTHING: f64 = 0.2;
/// By which the response time may rise above the long-term mean.
const TOLERANCE: f64 = 1.5;
/// What is added for a queue.
const QUEUE: f64 = 4.0;

/// The limit of the gradient of response times; the defaults are those of concurrency-limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Gradient2 {
    /// The limit at first.
    pub start: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Default for Gradient2 {
    fn default() -> Self {
        Self {
            start: 20.0,
            min: 20.0,
            max: 200.0,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gradient2Limit {
    rules: Gradient2,
    limit: f64,
    /// Long-term mean, and of how many windows.
    long_s: f64,
    windows: f64,
    /// The window that runs.
    ends: Option<Moment>,
    samples: u32,
    sum_s: f64,
    in_flight_max: u32,
}

impl Gradient2Limit {
    pub(crate) fn new(rules: Gradient2) -> Self {
        Self {
            rules,
            limit: rules.start,
            long_s: 0.0,
            windows: 0.0,
            ends: None,
            samples: 0,
            sum_s: 0.0,
            in_flight_max: 0,
        }
    }

    pub(crate) fn limit(&self) -> f64 {
        self.limit
    }

    pub(crate) fn finished(&mut self, sample: &Sample, now: Moment) {
        if sample.response_time < LEAST {
            return;
        }
        self.samples += 1;
        self.sum_s += sample.response_time.as_secs_f64();
        self.in_flight_max = self.in_flight_max.max(sample.in_flight);
        let ends = *self.ends.get_or_insert(now + WINDOW);
        if now >= ends && self.samples >= WINDOW_SAMPLES {
            let short_s = self.sum_s / f64::from(self.samples);
            self.update(short_s);
            (self.samples, self.sum_s, self.in_flight_max) = (0, 0.0, 0);
            self.ends = Some(now + WINDOW);
        }
    }

    fn update(&mut self, short_s: f64) {
        self.lengthen(short_s);
        if self.long_s / short_s > 2.0 {
            self.long_s *= 0.95;
        }
        if f64::from(self.in_flight_max) < self.limit / 2.0 {
            return;
        }
        let gradient = (TOLERANCE * self.long_s / short_s).clamp(0.5, 1.0);
        let next = self.limit * (1.0 - SMOOTHING) + SMOOTHING * (gradient * self.limit + QUEUE);
        self.limit = next.min(self.rules.max).max(self.rules.min);
    }

    /// Takes a window into the long-term mean.
    fn lengthen(&mut self, short_s: f64) {
        if self.windows < WARM_UP {
            self.windows += 1.0;
            self.long_s += (short_s - self.long_s) / self.windows;
        } else {
            self.long_s += (short_s - self.long_s) * 2.0 / (LONG + 1.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Kind;

    /// Ten responses of this length, the last at the end of the second.
    fn second(limit: &mut Gradient2Limit, index: u64, response_ms: u64, in_flight: u32) {
        for tenth in 1..=10 {
            let sample = Sample {
                response_time: Duration::from_millis(response_ms),
                waited: Duration::ZERO,
                in_flight,
                kind: Kind::Completed,
            };
            limit.finished(&sample, Moment(index * 2_000_000_000 + tenth * 120_000_000));
        }
    }

    /// Two windows by hand: B = 10, S = 10: g = 1; then B = (10 + 40)/2, S = 40: g = 0.9375.
    #[test]
    fn it_follows_the_formula() {
        let mut limit = Gradient2Limit::new(Gradient2 {
            start: 100.0,
            ..Gradient2::default()
        });
        second(&mut limit, 0, 10, 100);
        assert!((limit.limit() - 100.8).abs() < 1e-9, "{}", limit.limit());
        second(&mut limit, 1, 40, 100);
        let expected = 100.8 * 0.8 + 0.2 * (0.9375 * 100.8 + 4.0);
        assert!((limit.limit() - expected).abs() < 1e-9, "{}", limit.limit());
        second(&mut limit, 2, 40, 10);
        assert!((limit.limit() - expected).abs() < 1e-9, "{}", limit.limit());
    }
}
