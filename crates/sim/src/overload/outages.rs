//! A server that loses some of what it can do, for a moment or for longer.

use super::CAPACITY_PER_S;
use super::contestant::Contestant;
use super::played::{CPU, add_arrivals, server, server_of, window, work};
use crate::distribution::Distribution;
use crate::engine::Simulation;
use crate::network::{Center, CenterKind, Happening, Network, Planned, Step};

pub(super) fn half(contestant: Contestant, seed: u64) -> Vec<f64> {
    let offered = 0.9 * CAPACITY_PER_S;
    let mut network = server(contestant.rules());
    add_arrivals(&mut network, 0, vec![(0.0, offered)], work(0.01));
    network.planned = [(20.0, 1), (50.0, 2)]
        .map(|(at_s, servers)| Planned {
            at_s,
            what: Happening::Servers {
                center: CPU,
                servers,
            },
        })
        .into();
    without_half(&network, seed, offered)
}

/// What is left from the 20th second to the 50th, and what is had again after.
fn without_half(network: &Network, seed: u64, offered: f64) -> Vec<f64> {
    let mut simulation = Simulation::new(network, seed);
    let without = window(&mut simulation, 20.0, 50.0);
    let after = window(&mut simulation, 52.0, 72.0);
    vec![
        100.0 * without.good_per_s() / (0.5 * CAPACITY_PER_S),
        without.p99_ms(),
        100.0 * after.good_per_s() / offered,
    ]
}

pub(super) fn slices(contestant: Contestant, seed: u64) -> Vec<f64> {
    let offered = 0.9 * CAPACITY_PER_S;
    let mut network = equal_requests(contestant, offered);
    let at = (0..1500).map(|slice| 20.0 + 0.02 * f64::from(slice));
    network.planned = at.map(|at_s| slow(at_s, CPU, 0.0, 0.01)).collect();
    without_half(&network, seed, offered)
}

pub(super) fn stops(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = equal_requests(contestant, 0.6 * CAPACITY_PER_S);
    every_five_seconds(&mut network, CPU, 0.0, 0.2);
    refused(&network, seed)
}

/// One CPU, requests that are all alike, and 0.3 ms from one that ends to the next that begins.
fn equal_requests(contestant: Contestant, rate: f64) -> Network {
    let mut network = server_of(contestant.rules(), 1);
    network
        .centers
        .push(Center::new("between", CenterKind::Delay));
    let way = vec![
        Step::Use(CPU, Distribution::constant(1.0 / CAPACITY_PER_S)),
        Step::Use(1, Distribution::exponential(0.0003)),
    ];
    add_arrivals(&mut network, 0, vec![(0.0, rate)], way);
    network
}

pub(super) fn pauses(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    add_arrivals(
        &mut network,
        0,
        vec![(0.0, 0.6 * CAPACITY_PER_S)],
        work(0.01),
    );
    every_five_seconds(&mut network, CPU, 0.0, 0.2);
    refused(&network, seed)
}

pub(super) fn spells(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    network
        .centers
        .push(Center::new("elsewhere", CenterKind::Delay));
    let mut way = work(0.002);
    way.push(Step::Use(1, Distribution::exponential(0.02)));
    add_arrivals(&mut network, 0, vec![(0.0, 100.0)], way);
    every_five_seconds(&mut network, 1, 0.1, 1.0);
    refused(&network, seed)
}

/// The percentage that is rejected in two minutes.
fn refused(network: &Network, seed: u64) -> Vec<f64> {
    let mut simulation = Simulation::new(network, seed);
    vec![100.0 * window(&mut simulation, 0.0, 120.0).refused_share()]
}

/// At this station, this speed every five seconds for so long.
fn every_five_seconds(network: &mut Network, center: usize, speed: f64, for_s: f64) {
    let at = (1..24).map(|time| f64::from(time) * 5.0);
    network.planned = at.map(|at_s| slow(at_s, center, speed, for_s)).collect();
}

fn slow(at_s: f64, center: usize, speed: f64, for_s: f64) -> Planned {
    Planned {
        at_s,
        what: Happening::Speed {
            center,
            speed,
            for_s: Some(for_s),
        },
    }
}
