//! What shows only after a long time.

use super::CAPACITY_PER_S;
use super::contestant::Contestant;
use super::played::{add_arrivals, server, window, work};
use crate::engine::Simulation;

pub(super) fn single(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    add_arrivals(&mut network, 0, vec![(0.0, 1.0)], work(0.01));
    add_arrivals(&mut network, 0, vec![(0.0, 1.0 / 60.0)], work(5.0));
    let mut simulation = Simulation::new(&network, seed);
    vec![100.0 * window(&mut simulation, 0.0, 600.0).refused_share()]
}

pub(super) fn drift(contestant: Contestant, seed: u64) -> Vec<f64> {
    drift_until(contestant, seed, 3600.0)
}

pub(super) fn drift_until(contestant: Contestant, seed: u64, end_s: f64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    add_arrivals(
        &mut network,
        0,
        vec![(0.0, 1.2 * CAPACITY_PER_S)],
        work(0.01),
    );
    let mut simulation = Simulation::new(&network, seed);
    let (first_limit, first_p99) = five_minutes(&mut simulation, 300.0);
    let (last_limit, last_p99) = five_minutes(&mut simulation, end_s - 300.0);
    vec![
        100.0 * last_limit / first_limit,
        100.0 * last_p99 / first_p99,
    ]
}

/// The mean limit and the p99 of the five minutes that begin then.
fn five_minutes(simulation: &mut Simulation<'_>, from_s: f64) -> (f64, f64) {
    simulation.run_until(from_s);
    simulation.forget();
    let mut limits = 0.0;
    for second in 1..=300 {
        simulation.run_until(from_s + f64::from(second));
        limits += simulation.limit(0).unwrap_or(1.0);
    }
    (limits / 300.0, simulation.totals().p99_ms())
}
