//! What one request needs: from each trial, and from all of them.

use serde::Serialize;
use weir_queueing::{Pool, ThreadLimited, laws};

use crate::measured::{Limits, Measured};

/// Trials of one treatment differ by about this much on a quiet machine, whatever their windows
/// say.
pub(crate) const SPREAD: f64 = 0.02;
/// A thinking time of nothing: the model divides by it.
const THINK_MIN_S: f64 = 1e-6;
/// A delay that the response time hardly tells (a saturated CPU hides it) counts for almost
/// nothing.
const SLOPE_MIN: f64 = 0.02;
/// Halvings that bring any interval of times below a nanosecond.
const HALVINGS: u32 = 45;

/// What one request needs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Parameters {
    /// CPU time.
    pub cpu_s: f64,
    /// Time in its thread that is neither CPU nor a connection nor waiting for one of them.
    pub delay_s: f64,
    /// Time that it holds a connection, over all its holds.
    pub hold_s: f64,
    /// Time on the way: part of the response time, in no thread.
    pub outside_s: f64,
    /// Time that its user thinks.
    pub think_s: f64,
}

/// What one trial says about each parameter: value and standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Told {
    pub(crate) values: Parameters,
    deviations: Parameters,
    /// Busy share of the CPU, which decides whether the CPU time may be used.
    utilization: f64,
}

impl Parameters {
    /// The server with these parameters.
    pub(crate) fn server(&self, servers: u32, population: u32, limits: Limits) -> ThreadLimited {
        ThreadLimited {
            users: population,
            think_s: (self.think_s + self.outside_s).max(THINK_MIN_S),
            threads: limits.threads.unwrap_or(population).min(population),
            cpu_demand_s: self.cpu_s,
            servers,
            delay_in_thread_s: self.delay_s,
            pool: (self.hold_s > 0.0).then_some(Pool {
                limit: limits.pool.unwrap_or(population).min(population),
                hold_s: self.hold_s,
            }),
            room: None,
        }
    }

    /// On the line through both, so many times as far away as the other; no time is ever negative.
    pub(crate) fn moved_towards(&self, other: &Self, times: f64) -> Self {
        self.map(other, |own, other| (own + times * (other - own)).max(0.0))
    }

    fn map(&self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            cpu_s: of(self.cpu_s, other.cpu_s),
            delay_s: of(self.delay_s, other.delay_s),
            hold_s: of(self.hold_s, other.hold_s),
            outside_s: of(self.outside_s, other.outside_s),
            think_s: of(self.think_s, other.think_s),
        }
    }
}

impl Told {
    /// What a trial says.
    pub(crate) fn by(trial: &Measured, servers: u32) -> Self {
        let throughput = trial.throughput_per_s;
        let [of_throughput, of_cpu, of_time] = trial.noise.map(|noise| noise.hypot(SPREAD));
        let in_server_s = trial.in_server_s();
        let population = f64::from(trial.population);
        let think_s = laws::think_time_s(population, throughput, trial.response_time_s).max(0.0);
        let mut values = Parameters {
            cpu_s: laws::demand_s(trial.utilization, throughput, servers),
            delay_s: 0.0,
            hold_s: trial.pool.map_or(0.0, |pool| pool.busy / throughput),
            outside_s: trial.response_time_s - in_server_s,
            think_s,
        };
        let (delay_s, slope) = delay(values, trial, servers, in_server_s);
        values.delay_s = delay_s;
        let response_s = trial.response_time_s;
        let deviations = Parameters {
            cpu_s: values.cpu_s * of_cpu.hypot(of_throughput),
            delay_s: response_s * of_time / slope,
            hold_s: values.hold_s * of_throughput.hypot(SPREAD),
            outside_s: response_s * of_time,
            // What throughput does not tell of think time, response time tells: the two errors go
            // with N/X and R.
            think_s: (population / throughput * of_throughput)
                .hypot(response_s * of_time)
                .max(SPREAD * think_s),
        };
        Self {
            values,
            deviations,
            utilization: trial.utilization,
        }
    }
}

/// The delay with which the model has this time in the server, and how much of a longer delay the
/// time in the server shows.
fn delay(values: Parameters, trial: &Measured, servers: u32, in_server_s: f64) -> (f64, f64) {
    let time = |delay_s: f64| {
        Parameters { delay_s, ..values }
            .server(servers, trial.population, trial.limits)
            .solve()
            .response_time_s
    };
    let (mut low, mut high) = (0.0, in_server_s);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if time(middle) < in_server_s {
            low = middle;
        } else {
            high = middle;
        }
    }
    let found = f64::midpoint(low, high);
    let step = (found * 0.01).max(in_server_s * 1e-3);
    let slope = (time(found + step) - time(found)) / step;
    (found, slope.max(SLOPE_MIN))
}

/// Weighted means of what trials say. CPU time comes from the busy ones only: on a CPU with little
/// to do a request costs more, because caches are cold, clocks slow, and wake-ups not shared.
pub(crate) fn weighted(told: &[&Told]) -> Parameters {
    let busiest = told.iter().map(|told| told.utilization).fold(0.0, f64::max);
    let busy: Vec<&Told> = told
        .iter()
        .copied()
        .filter(|told| told.utilization >= BUSY_SHARE * busiest)
        .collect();
    let of_busy = mean(&busy);
    Parameters {
        cpu_s: of_busy.cpu_s,
        ..mean(told)
    }
}

/// The CPU time of trials with less than this share of the largest utilisation is not used.
pub(crate) const BUSY_SHARE: f64 = 0.5;

/// Means weighted by one over the variance within a trial.
fn mean(told: &[&Told]) -> Parameters {
    let weight = |deviation: f64| 1.0 / deviation.max(1e-12).powi(2);
    let mut sums = Parameters::default();
    let mut weights = Parameters::default();
    for told in told {
        let own = told.deviations.map(&told.deviations, |own, _| weight(own));
        let weighted = told.values.map(&own, |value, weight| value * weight);
        sums = sums.map(&weighted, |sum, more| sum + more);
        weights = weights.map(&own, |sum, more| sum + more);
    }
    sums.map(&weights, |sum, weight| sum / weight)
}
