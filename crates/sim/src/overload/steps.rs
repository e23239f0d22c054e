//! More than the server can take, all at once.

use super::CAPACITY_PER_S;
use super::contestant::Contestant;
use super::played::{add_arrivals, server, server_of, steps, window, work};
use crate::distribution::Distribution;
use crate::engine::Simulation;
use crate::network::{AbandonedWork, Center, CenterKind, Jitter, Network, Retry, Step, Timeout};

pub(super) fn step(contestant: Contestant, seed: u64, times: f64) -> Vec<f64> {
    step_at(server(contestant.rules()), seed, times, work(0.01))
}

/// From half of the capacity to so many times of it.
pub(super) fn step_at(mut network: Network, seed: u64, times: f64, way: Vec<Step>) -> Vec<f64> {
    let rates = steps(&[(0.0, 0.5 * CAPACITY_PER_S), (10.0, times * CAPACITY_PER_S)]);
    add_arrivals(&mut network, 0, rates, way);
    overload(&network, seed, 10.0, 50.0)
}

/// The first moments of a step to 1.4 times the capacity.
pub(super) fn spike(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    let rates = steps(&[(0.0, 0.5 * CAPACITY_PER_S), (10.0, 1.4 * CAPACITY_PER_S)]);
    add_arrivals(&mut network, 0, rates, work(0.01));
    overload(&network, seed, 10.0, 12.0)
}

/// Goodput of the capacity in percent, and p99.
fn overload(network: &Network, seed: u64, from_s: f64, to_s: f64) -> Vec<f64> {
    let mut simulation = Simulation::new(network, seed);
    let totals = window(&mut simulation, from_s, to_s);
    vec![
        100.0 * totals.good_per_s() / CAPACITY_PER_S,
        totals.p99_ms(),
    ]
}

pub(super) fn mix(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    for (share, mean_s) in [(0.9, 0.004), (0.1, 0.064)] {
        let rate = share * CAPACITY_PER_S;
        add_arrivals(
            &mut network,
            0,
            steps(&[(0.0, 0.5 * rate), (10.0, 2.0 * rate)]),
            work(mean_s),
        );
    }
    overload(&network, seed, 10.0, 50.0)
}

pub(super) fn cold(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    add_arrivals(
        &mut network,
        0,
        vec![(0.0, 2.0 * CAPACITY_PER_S)],
        work(0.01),
    );
    let mut figures = overload(&network, seed, 0.0, 10.0);
    let mut simulation = Simulation::new(&network, seed);
    let third = window(&mut simulation, 2.0, 3.0);
    figures.push(100.0 * third.good_per_s() / CAPACITY_PER_S);
    figures
}

pub(super) fn blind(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    for gateway in &mut network.gateways {
        gateway.cpu = None;
    }
    step_at(network, seed, 2.0, work(0.01))
}

pub(super) fn late(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    for reader in network.gateways.iter_mut().filter_map(|of| of.cpu.as_mut()) {
        (reader.every_s, reader.delay_s) = (1.0, 0.5);
    }
    step_at(network, seed, 2.0, work(0.01))
}

pub(super) fn pool(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    network
        .centers
        .push(Center::new("pool", CenterKind::Queue { servers: 4 }));
    let mut way = work(0.002);
    way.push(Step::Use(1, Distribution::exponential(0.02)));
    step_at(network, seed, 2.0, way)
}

pub(super) fn sixteen(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server_of(contestant.rules(), 16);
    add_arrivals(
        &mut network,
        0,
        vec![(0.0, 16.0 * CAPACITY_PER_S)],
        work(0.01),
    );
    let mut figures = overload(&network, seed, 0.0, 10.0);
    // Eight times the CPUs have eight times the capacity.
    figures[0] /= 8.0;
    figures
}

pub(super) fn storm(contestant: Contestant, seed: u64) -> Vec<f64> {
    let offered = 0.75 * CAPACITY_PER_S;
    let mut network = server(contestant.rules());
    let rates = steps(&[
        (0.0, offered),
        (10.0, 2.0 * CAPACITY_PER_S),
        (20.0, offered),
    ]);
    let class = add_arrivals(&mut network, 0, rates, work(0.01));
    class.timeout = Some(Timeout {
        after: Distribution::constant(1.0),
        work: AbandonedWork::GoesOn,
    });
    class.retry = Some(Retry {
        attempts: 4,
        back_off_s: 0.1,
        factor: 2.0,
        back_off_max_s: 1.0,
        jitter: Jitter::Half,
        budget: None,
    });
    let mut simulation = Simulation::new(&network, seed);
    let totals = window(&mut simulation, 25.0, 55.0);
    let class = &totals.classes[0];
    vec![100.0 * class.answered as f64 / class.fresh.max(1) as f64]
}
