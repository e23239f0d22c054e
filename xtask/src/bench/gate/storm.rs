//! Clients that send again what was refused, after a burst: does the server come back to its load
//! by itself?

use std::time::Duration;

use crate::bench::gate::backend::WORK;
use crate::bench::gate::clients::{Arrival, Phase, poisson};
use crate::bench::gate::peers::Hold;
use crate::bench::gate::scenario::{Capacity, ONE_FIXED, Scenario, Turn, no_trouble};

const BEFORE: Duration = Duration::from_secs(4);
const BURST: Duration = Duration::from_secs(10);
const AFTER: Duration = Duration::from_secs(12);
/// After the burst, this is let pass.
const SETTLES: Duration = Duration::from_secs(5);

/// The row.
pub(crate) const STORM: Scenario = Scenario {
    title: "75 % of the capacity, 10 s at twice of it, 3 retries",
    hold: Hold::Adaptive,
    fixed: ONE_FIXED,
    retries: 3,
    arrivals,
    trouble: no_trouble,
    figures: &["answered from 5 s after, % of offered"],
    seen,
};

fn arrivals(capacity: Capacity, seed: u64) -> Vec<Arrival> {
    let phases = [(0.75, BEFORE), (2.0, BURST), (0.75, AFTER)].map(|(share, length)| Phase {
        per_s: share * capacity.work,
        length,
    });
    poisson(WORK, &phases, seed)
}

fn seen(turn: &Turn) -> Vec<f64> {
    let after = turn.between(BEFORE + BURST + SETTLES, BEFORE + BURST + AFTER);
    vec![after.goodput() * 100.0 / after.offered()]
}
