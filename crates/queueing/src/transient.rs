//! What a queue does before it has settled: M/M/1 at a given time after its start.
//!
//! By uniformisation (Jensen 1953; Gross and Miller 1984): the process is looked at where a Poisson
//! stream of rate lambda + mu ticks; at each tick the number goes up, down or, when empty, stays.
//! All terms are positive, so no digit is lost, and an overloaded queue has an answer too.

use crate::ModelError;
use crate::birth_death::average;
use crate::error::Check;

/// An M/M/1 queue some time after it was started.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TransientQueue {
    /// Arrivals per second.
    pub arrivals_per_s: f64,
    /// Requests that the server finishes per second.
    pub services_per_s: f64,
    /// Requests present at the start.
    pub present_at_start: u32,
}

/// The state of a queue at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueueAt {
    /// Mean number present.
    pub present: f64,
    /// Probability that nobody is there.
    pub empty_probability: f64,
}

/// Probabilities below this are left out.
const NEGLIGIBLE: f64 = 1e-17;
/// Most steps of states that are computed: some seconds.
const WORK_MAX: u64 = 2_000_000_000;

impl TransientQueue {
    /// The state `time_s` after the start.
    pub fn at(&self, time_s: f64) -> Result<QueueAt, ModelError> {
        let check = Check("M/M/1 at a time");
        check.not_negative("the arrival rate", self.arrivals_per_s)?;
        check.positive("the service rate", self.services_per_s)?;
        check.not_negative("the time", time_s)?;
        check.population("requests at the start", self.present_at_start)?;
        let ticks = (self.arrivals_per_s + self.services_per_s) * time_s;
        let last_tick = most(ticks);
        let last = f64::from(self.present_at_start) + most(self.arrivals_per_s * time_s);
        check.fits("steps of states", last_tick * (last + 1.0), WORK_MAX)?;
        let states = self.states(ticks, last_tick as usize, last as usize);
        Ok(QueueAt {
            present: average(&states, |n| n as f64),
            empty_probability: states[0],
        })
    }

    /// The distribution after a Poisson number of ticks with this mean.
    fn states(&self, ticks: f64, last_tick: usize, last: usize) -> Vec<f64> {
        let up = self.arrivals_per_s / (self.arrivals_per_s + self.services_per_s);
        let down = 1.0 - up;
        let start = self.present_at_start as usize;
        let mut now = vec![0.0; last + 1];
        now[start] = 1.0;
        let mut sum = vec![0.0; last + 1];
        let mut next = vec![0.0; last + 1];
        let mut log_weight = -ticks;
        for tick in 0..=last_tick {
            if tick > 0 {
                // Without any tick there is no weight for one.
                log_weight += (ticks / tick as f64).ln();
                let highest = (start + tick).min(last);
                for (n, share) in next.iter_mut().enumerate().take(highest + 1) {
                    let from_below = if n == 0 {
                        down * now[0]
                    } else {
                        up * now[n - 1]
                    };
                    let from_above = now.get(n + 1).map_or(0.0, |above| down * above);
                    *share = from_below + from_above;
                }
                std::mem::swap(&mut now, &mut next);
            }
            let weight = log_weight.exp();
            if weight >= NEGLIGIBLE {
                for (total, share) in sum.iter_mut().zip(&now) {
                    *total += weight * share;
                }
            }
        }
        let total: f64 = sum.iter().sum();
        for share in &mut sum {
            *share /= total;
        }
        sum
    }
}

/// A number that a Poisson variable with this mean all but never exceeds: ten standard deviations
/// and some more, which leaves less than 1e-18 behind for any mean.
fn most(mean: f64) -> f64 {
    (mean + 10.0 * mean.sqrt() + 50.0).ceil()
}

/// Relaxation time of M/M/1: after a few of these, the start is forgotten; `1 / (mu (1 -
/// sqrt(rho))^2)`.
///
/// Source: Cohen (1982), "The Single Server Queue"; Morse (1955). A trial close to saturation has
/// to last for many of them.
pub fn relaxation_time_s(arrivals_per_s: f64, services_per_s: f64) -> Result<f64, ModelError> {
    let check = Check("M/M/1");
    check.not_negative("the arrival rate", arrivals_per_s)?;
    check.positive("the service rate", services_per_s)?;
    check.stable(arrivals_per_s, services_per_s)?;
    let rest = 1.0 - (arrivals_per_s / services_per_s).sqrt();
    Ok(1.0 / (services_per_s * rest * rest))
}
