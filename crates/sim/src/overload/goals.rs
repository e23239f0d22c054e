//! What the user asks for besides throughput.

use std::time::Duration;

use weir_limit::Goal;

use super::CAPACITY_PER_S;
use super::contestant::Contestant;
use super::played::{add_arrivals, server, steps, window, work};
use super::steps::step_at;
use crate::engine::Simulation;

pub(super) fn classes(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules_for_promise(Duration::from_millis(40)));
    add_arrivals(&mut network, 0, vec![(0.0, 100.0)], work(0.004));
    add_arrivals(&mut network, 1, vec![(0.0, 60.0)], work(0.1));
    let mut simulation = Simulation::new(&network, seed);
    let totals = window(&mut simulation, 10.0, 130.0);
    let [light, heavy] = totals.classes.as_slice() else {
        unreachable!("two classes were added");
    };
    let refused = (light.refused + light.abandoned) as f64 / light.fresh.max(1) as f64;
    let left_per_s = (2.0 - 100.0 * 0.004) / 0.1;
    vec![
        100.0 * refused,
        light.responses_us.value_at_quantile(0.99) as f64 / 1000.0,
        100.0 * heavy.answered as f64 / totals.seconds / left_per_s,
    ]
}

/// Requests that users wait for, with a promise, beside as many that fetch ahead, of which twelve
/// times as many come: what Netflix did to its playback service (its technology blog, 2024).
pub(super) fn ahead(contestant: Contestant, seed: u64) -> Vec<f64> {
    const EACH_PER_S: f64 = 50.0;
    let mut network = server(contestant.rules_for_promise(Duration::from_millis(250)));
    add_arrivals(&mut network, 0, vec![(0.0, EACH_PER_S)], work(0.01));
    let ahead = steps(&[(0.0, EACH_PER_S), (10.0, 12.0 * EACH_PER_S)]);
    add_arrivals(&mut network, 1, ahead, work(0.01));
    let mut simulation = Simulation::new(&network, seed);
    let totals = window(&mut simulation, 10.0, 70.0);
    let users = &totals.classes[0];
    let good = users.responses_us.count_between(0, 1_000_000);
    vec![
        100.0 * good as f64 / users.fresh.max(1) as f64,
        100.0 * totals.good_per_s() / CAPACITY_PER_S,
    ]
}

/// A goal for the CPUs, at so many times the capacity.
pub(super) fn cpu(contestant: Contestant, seed: u64, times: f64) -> Vec<f64> {
    const GOAL: f64 = 0.8;
    let mut network = server(contestant.rules_for(Goal {
        cpu: Some(GOAL),
        p99: None,
    }));
    add_arrivals(
        &mut network,
        0,
        vec![(0.0, times * CAPACITY_PER_S)],
        work(0.01),
    );
    let mut simulation = Simulation::new(&network, seed);
    let windows: Vec<(f64, f64)> = (0..6)
        .map(|index| {
            let from_s = 10.0 + 5.0 * f64::from(index);
            let totals = window(&mut simulation, from_s, from_s + 5.0);
            (100.0 * totals.busy(), totals.good_per_s())
        })
        .collect();
    let count = windows.len() as f64;
    let busy = windows.iter().map(|(busy, _)| *busy);
    let good_per_s: f64 = windows.iter().map(|(_, good)| good).sum::<f64>() / count;
    vec![
        busy.clone().sum::<f64>() / count,
        busy.clone().fold(f64::INFINITY, f64::min),
        busy.fold(0.0, f64::max),
        100.0 * good_per_s / (GOAL * CAPACITY_PER_S),
    ]
}

pub(super) fn p99(contestant: Contestant, seed: u64) -> Vec<f64> {
    let network = server(contestant.rules_for(Goal {
        cpu: None,
        p99: Some(Duration::from_millis(100)),
    }));
    step_at(network, seed, 2.0, work(0.01))
}
