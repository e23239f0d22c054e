//! Light requests with a promise, beside heavy ones that ask for three times the server.

use std::time::Duration;

use crate::bench::gate::backend::{HEAVY, LIGHT};
use crate::bench::gate::clients::{Arrival, Phase, poisson};
use crate::bench::gate::peers::Hold;
use crate::bench::gate::scenario::{Capacity, ONE_FIXED, Scenario, Turn, no_trouble};

/// Alone, light requests come; their p99 of this time is what the other is compared with.
const ALONE: Duration = Duration::from_secs(6);
const BOTH: Duration = Duration::from_secs(20);
/// Shares of the capacity that are asked for.
const LIGHT_LOAD: f64 = 0.2;
const HEAVY_LOAD: f64 = 3.0;

/// The row.
pub(crate) const CLASSES: Scenario = Scenario {
    title: "Light requests for 20 % of the capacity, beside heavy ones for 300 %",
    hold: Hold::Classes,
    fixed: ONE_FIXED,
    retries: 0,
    arrivals,
    trouble: no_trouble,
    figures: &[
        "light refused %",
        "light p99 ms",
        "light p99, times that alone",
        "heavy, % of what is left",
    ],
    seen,
};

fn arrivals(capacity: Capacity, seed: u64) -> Vec<Arrival> {
    let phase = |per_s, length| Phase { per_s, length };
    let light = phase(LIGHT_LOAD * capacity.light, ALONE + BOTH);
    // So few that none comes.
    let none = phase(1e-9, ALONE);
    let heavy = phase(HEAVY_LOAD * capacity.heavy, BOTH);
    let mut arrivals = poisson(LIGHT, &[light], seed);
    arrivals.extend(poisson(HEAVY, &[none, heavy], seed + 1));
    arrivals.sort_by_key(|arrival| arrival.at);
    arrivals
}

fn seen(turn: &Turn) -> Vec<f64> {
    let alone = turn.between(Duration::ZERO, ALONE).of(LIGHT).p99_ms();
    let both = || turn.between(ALONE, ALONE + BOTH);
    let (light, heavy) = (both().of(LIGHT), both().of(HEAVY));
    let left = turn.capacity.heavy * (1.0 - LIGHT_LOAD);
    vec![
        light.refused_percent(),
        light.p99_ms(),
        light.p99_ms() / alone.max(1e-3),
        heavy.goodput() * 100.0 / left,
    ]
}
