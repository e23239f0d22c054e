//! Half of the capacity is gone for a while, and comes back.
//!
//! The server's process is stopped for half of each 20 ms: that takes no rights, and no other
//! process runs in the gaps. How long it was stopped is measured, since signals on a busy CPU come
//! late; what is left of the capacity is the rest.

use std::thread;
use std::time::{Duration, Instant};

use crate::bench::gate::backend::{Backend, WORK};
use crate::bench::gate::clients::{Arrival, Phase, poisson};
use crate::bench::gate::peers::Hold;
use crate::bench::gate::scenario::{Capacity, Elapsed, ONE_FIXED, Scenario, Turn};

const BEFORE: Duration = Duration::from_secs(4);
const HALF: Duration = Duration::from_secs(12);
const AFTER: Duration = Duration::from_secs(8);
/// After the return, this is let pass.
const SETTLES: Duration = Duration::from_secs(2);
const SLICE: Duration = Duration::from_millis(10);
/// What of the capacity is asked for.
const LOAD: f64 = 0.9;

/// The row.
pub(crate) const HALVES: Scenario = Scenario {
    title: "90 % of the capacity, of which half is gone for 12 s",
    hold: Hold::Adaptive,
    fixed: ONE_FIXED,
    retries: 0,
    arrivals,
    trouble,
    figures: &[
        "goodput meanwhile, % of what is left",
        "p99 meanwhile ms",
        "goodput from 2 s after its return, % of offered",
    ],
    seen,
};

fn arrivals(capacity: Capacity, seed: u64) -> Vec<Arrival> {
    let phase = Phase {
        per_s: LOAD * capacity.work,
        length: BEFORE + HALF + AFTER,
    };
    poisson(WORK, &[phase], seed)
}

fn trouble(backend: &Backend, elapsed: &Elapsed) -> Duration {
    thread::sleep(BEFORE);
    let begun = Instant::now();
    let mut stopped = Duration::ZERO;
    while begun.elapsed() < HALF && !elapsed.has_ended() {
        stopped += backend.pause(SLICE);
        thread::sleep(SLICE);
    }
    stopped
}

fn seen(turn: &Turn) -> Vec<f64> {
    let meanwhile = turn.between(BEFORE, BEFORE + HALF);
    let after = turn.between(BEFORE + HALF + SETTLES, BEFORE + HALF + AFTER);
    let left = 1.0 - turn.stopped.as_secs_f64() / HALF.as_secs_f64();
    vec![
        meanwhile.goodput() * 100.0 / (turn.capacity.work * left),
        meanwhile.p99_ms(),
        after.goodput() * 100.0 / after.offered(),
    ]
}
