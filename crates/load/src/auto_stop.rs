//! Stopping the test when a mean stays above its bound: jp@gc `AutoStop`.
//!
//! The plugin looks at each sample. With the first one of a new second it compares the means of the
//! second before with their bounds; a mean that has been above its bound for so many seconds stops
//! the test at once, which without windows is what the plugin does (read from its source,
//! `AutoStop`).

use std::sync::{Mutex, PoisonError};

use weir_plan::{AutoStop, AutoStopLimit};
use weir_script::{Scope, Text};

/// A watcher that the samples of all users report to.
#[derive(Debug)]
pub(crate) struct Watcher {
    plan: AutoStop<Text>,
    state: Mutex<State>,
}

/// A sample, as far as a watcher cares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watched {
    /// The second of the wall clock in which it ended.
    pub(crate) second: u64,
    pub(crate) elapsed_ms: u64,
    pub(crate) latency_ms: u64,
    pub(crate) success: bool,
}

#[derive(Debug, Default)]
struct State {
    bounds: Option<[Bound; 3]>,
    second: u64,
    samples: u64,
    /// Sums of response times, latencies, and 100 for each failure.
    sums: [f64; 3],
    /// The last second in which each mean was not above its bound.
    good: [u64; 3],
}

#[derive(Debug, Clone, Copy)]
struct Bound {
    above: f64,
    seconds: u64,
}

impl Watcher {
    /// A watcher that has seen nothing.
    pub(crate) fn new(plan: AutoStop<Text>) -> Self {
        Self {
            plan,
            state: Mutex::default(),
        }
    }

    /// Takes a sample; true when the test has to stop.
    pub(crate) fn stops(&self, sample: Watched, scope: &mut Scope) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let plan = &self.plan;
        let bounds = *state.bounds.get_or_insert_with(|| {
            [
                &plan.response_time_ms,
                &plan.latency_ms,
                &plan.errors_percent,
            ]
            .map(|limit| bound(limit, scope))
        });
        state.take(sample, bounds)
    }
}

/// What is no number is no bound, and no length is one second, as in the plugin.
fn bound(limit: &AutoStopLimit<Text>, scope: &mut Scope) -> Bound {
    Bound {
        above: limit.above.rendered(scope).trim().parse().unwrap_or(0.0),
        seconds: limit
            .seconds
            .rendered(scope)
            .trim()
            .parse()
            .unwrap_or(1)
            .max(1),
    }
}

impl State {
    fn take(&mut self, sample: Watched, bounds: [Bound; 3]) -> bool {
        let mut stops = false;
        if sample.second != self.second {
            for (at, bound) in bounds.into_iter().enumerate() {
                if bound.above <= 0.0 {
                    continue;
                }
                // Nothing before the first sample is above nothing.
                let mean = if self.samples > 0 {
                    self.sums[at] / self.samples as f64
                } else {
                    0.0
                };
                if mean > bound.above {
                    stops |= sample.second.saturating_sub(self.good[at]) >= bound.seconds;
                } else {
                    self.good[at] = sample.second;
                }
            }
            self.second = sample.second;
            self.samples = 0;
            self.sums = [0.0; 3];
        }
        self.samples += 1;
        self.sums[0] += sample.elapsed_ms as f64;
        self.sums[1] += sample.latency_ms as f64;
        self.sums[2] += if sample.success { 0.0 } else { 100.0 };
        stops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Bound = Bound {
        above: 0.0,
        seconds: 0,
    };

    fn first_stop(bounds: [Bound; 3], samples: impl Iterator<Item = Watched>) -> Option<u64> {
        let mut state = State::default();
        let mut stop = samples.filter(|sample| state.take(*sample, bounds));
        stop.next().map(|sample| sample.second)
    }

    fn sample(second: u64, elapsed_ms: u64, success: bool) -> Watched {
        Watched {
            second,
            elapsed_ms,
            latency_ms: 1,
            success,
        }
    }

    /// By hand from the plugin's rule: from second 103 on half of the samples fail; the first
    /// sample of 104 sees it first, and 3 seconds after 103, the last one that was good, it is
    /// 106.
    #[test]
    fn errors_above_their_bound_for_seconds_stop() {
        let errors = Bound {
            above: 45.9,
            seconds: 3,
        };
        let samples = (100..120).flat_map(|second| {
            (0..4).map(move |at| sample(second, 10, second < 103 || at % 2 == 0))
        });
        assert_eq!(first_stop([NONE, NONE, errors], samples), Some(106));
    }

    #[test]
    fn slowness_that_passes_does_not_stop() {
        let slow = Bound {
            above: 100.0,
            seconds: 3,
        };
        let pattern = |slow_seconds: u64| {
            (100..140).map(move |second| {
                let is_slow = second % 8 < slow_seconds;
                sample(second, if is_slow { 200 } else { 50 }, true)
            })
        };
        assert_eq!(first_stop([slow, NONE, NONE], pattern(2)), None);
        assert!(first_stop([slow, NONE, NONE], pattern(4)).is_some());
        assert_eq!(first_stop([NONE, NONE, NONE], pattern(8)), None);
    }
}
