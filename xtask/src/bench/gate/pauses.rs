//! A server that stops now and then, as one that collects garbage: nothing should be refused for
//! that.

use std::thread;
use std::time::Duration;

use crate::bench::gate::backend::{Backend, WORK};
use crate::bench::gate::clients::{Arrival, Phase, poisson};
use crate::bench::gate::peers::Hold;
use crate::bench::gate::scenario::{Capacity, Elapsed, ONE_FIXED, Scenario, Turn};

const LENGTH: Duration = Duration::from_secs(20);
const EVERY: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(200);
/// What of the capacity is asked for.
const LOAD: f64 = 0.6;

/// The row.
pub(crate) const PAUSES: Scenario = Scenario {
    title: "60 % of the capacity, every 5 s nothing works for 200 ms",
    hold: Hold::Adaptive,
    fixed: ONE_FIXED,
    retries: 0,
    arrivals,
    trouble,
    figures: &["refused %", "p99 ms"],
    seen,
};

fn arrivals(capacity: Capacity, seed: u64) -> Vec<Arrival> {
    let phase = Phase {
        per_s: LOAD * capacity.work,
        length: LENGTH,
    };
    poisson(WORK, &[phase], seed)
}

fn trouble(backend: &Backend, elapsed: &Elapsed) -> Duration {
    let mut stopped = Duration::ZERO;
    while !elapsed.has_ended() {
        thread::sleep(EVERY.saturating_sub(PAUSE));
        stopped += backend.pause(PAUSE);
    }
    stopped
}

fn seen(turn: &Turn) -> Vec<f64> {
    let all = turn.between(Duration::ZERO, LENGTH);
    vec![all.refused_percent(), all.p99_ms()]
}
