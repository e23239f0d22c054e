//! From half of the capacity to twice or five times of it.

use std::time::Duration;

use crate::bench::gate::backend::WORK;
use crate::bench::gate::clients::{Arrival, Phase, poisson};
use crate::bench::gate::peers::Hold;
use crate::bench::gate::scenario::{ANY_FIXED, Capacity, Scenario, Turn, no_trouble};

pub(crate) const CALM: Duration = Duration::from_secs(4);
pub(crate) const OVERLOAD: Duration = Duration::from_secs(16);

/// The step to twice the capacity.
pub(crate) const TWICE: Scenario = Scenario {
    title: "Step from half to twice the capacity, 16 s",
    hold: Hold::Adaptive,
    fixed: ANY_FIXED,
    retries: 0,
    arrivals: |capacity, seed| step(capacity, 2.0, seed),
    trouble: no_trouble,
    figures: FIGURES,
    seen,
};

/// The step to five times the capacity.
pub(crate) const FIVE_TIMES: Scenario = Scenario {
    title: "Step from half to five times the capacity, 16 s",
    arrivals: |capacity, seed| step(capacity, 5.0, seed),
    ..TWICE
};

const FIGURES: &[&str] = &["goodput, % of capacity", "p99 ms", "refused %"];

fn step(capacity: Capacity, times: f64, seed: u64) -> Vec<Arrival> {
    let phases = [(0.5, CALM), (times, OVERLOAD)].map(|(share, length)| Phase {
        per_s: share * capacity.work,
        length,
    });
    poisson(WORK, &phases, seed)
}

fn seen(turn: &Turn) -> Vec<f64> {
    let overload = turn.between(CALM, CALM + OVERLOAD);
    vec![
        overload.goodput() * 100.0 / turn.capacity.work,
        overload.p99_ms(),
        overload.refused_percent(),
    ]
}
