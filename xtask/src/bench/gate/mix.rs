//! From half of the capacity to twice of it, with work of which a tenth of the requests makes most.

use crate::bench::gate::backend::LIGHT;
use crate::bench::gate::clients::{Arrival, Phase, poisson};
use crate::bench::gate::overload::{CALM, OVERLOAD, TWICE};
use crate::bench::gate::scenario::{Capacity, ONE_FIXED, Scenario, Turn};

/// Of the same kind as the other work, four steps on: about 64 ms.
const LONG: &str = "/light?n=35";
/// The additions of a Fibonacci number found by recursion grow by the golden ratio with each step.
const LONG_IN_WORK: f64 = 6.854_101_966_249_685;
const LONG_SHARE: f64 = 0.1;

/// The row.
pub(crate) const MIX: Scenario = Scenario {
    title: "Step from half to twice the capacity, nine requests of 4 ms to one of 64 ms, 16 s",
    fixed: ONE_FIXED,
    arrivals,
    seen,
    ..TWICE
};

/// Requests of the mix a second.
fn per_s(capacity: Capacity) -> f64 {
    let light = (1.0 - LONG_SHARE) / capacity.light;
    let long = LONG_SHARE * LONG_IN_WORK / capacity.work;
    (light + long).recip()
}

fn arrivals(capacity: Capacity, seed: u64) -> Vec<Arrival> {
    let of = |path, share: f64, seed| {
        let phases = [(0.5, CALM), (2.0, OVERLOAD)].map(|(times, length)| Phase {
            per_s: share * times * per_s(capacity),
            length,
        });
        poisson(path, &phases, seed)
    };
    let mut arrivals = of(LIGHT, 1.0 - LONG_SHARE, seed);
    arrivals.extend(of(LONG, LONG_SHARE, seed + 1));
    arrivals.sort_by_key(|arrival| arrival.at);
    arrivals
}

fn seen(turn: &Turn) -> Vec<f64> {
    let overload = turn.between(CALM, CALM + OVERLOAD);
    vec![
        overload.goodput() * 100.0 / per_s(turn.capacity),
        overload.p99_ms(),
        overload.refused_percent(),
    ]
}
