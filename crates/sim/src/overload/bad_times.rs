//! A bad time that passes: other work on the same CPUs, a restart, long quiet.
//!
//! What is asked is what comes after it: the limit has to be where it was, although hardly any
//! request was let through that could say so.

use std::time::Duration;

use weir_limit::Goal;

use super::CAPACITY_PER_S;
use super::contestant::Contestant;
use super::played::{CPU, add_arrivals, server, steps, window, work};
use crate::distribution::Distribution;
use crate::engine::Simulation;
use crate::network::{
    Balancer, Center, CenterKind, Class, Group, Happening, Network, Planned, Source, Spacing, Step,
};
use crate::profile::Profile;

/// CPUs to be held below half.
const HALF: Goal = Goal {
    cpu: Some(0.5),
    p99: None,
};
/// When the bad time begins, and how long it lasts.
const FROM_S: f64 = 20.0;
const FOR_S: f64 = 5.0;
/// How long after it everything is to be as if it had not been: where the CPU says so, and where
/// requests in time have to, of which few come.
const SOON_S: f64 = 2.0;
const LATER_S: f64 = 5.0;

pub(super) fn peak(contestant: Contestant, seed: u64) -> Vec<f64> {
    beside_other_work(contestant, Goal::default(), SOON_S, seed)
}

pub(super) fn peak_cpu(contestant: Contestant, seed: u64) -> Vec<f64> {
    beside_other_work(contestant, HALF, SOON_S, seed)
}

pub(super) fn peak_p99(contestant: Contestant, seed: u64) -> Vec<f64> {
    let goal = Goal {
        cpu: None,
        p99: Some(Duration::from_millis(150)),
    };
    beside_other_work(contestant, goal, LATER_S, seed)
}

/// 100 requests a second that wait for 50 ms elsewhere and need hardly any CPU.
fn beside_other_work(contestant: Contestant, goal: Goal, after_s: f64, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules_for(goal));
    network
        .centers
        .push(Center::new("elsewhere", CenterKind::Delay));
    let mut way = work(0.002);
    way.push(Step::Use(1, Distribution::constant(0.05)));
    add_arrivals(&mut network, 0, vec![(0.0, 100.0)], way);
    add_other_work(&mut network);
    refused_after(&network, after_s, seed)
}

/// Enough work to keep two CPUs busy for the bad time, all at once and past the gateway.
fn add_other_work(network: &mut Network) {
    let (jobs, within_s) = (100.0, 0.1);
    let burst = [
        (0.0, 0.0),
        (FROM_S, jobs / within_s),
        (FROM_S + within_s, 0.0),
    ];
    let source = Source::Arrivals {
        rate: Profile::new(steps(&burst)).expect("points in the order of time"),
        spacing: Spacing::Even,
    };
    let each = Distribution::constant(2.0 * FOR_S / jobs);
    let route = vec![Step::Use(CPU, each)];
    network
        .classes
        .push(Class::new("other work", source, route));
}

/// The percentage that is rejected in half a minute, from so long after the bad time on.
fn refused_after(network: &Network, after_s: f64, seed: u64) -> Vec<f64> {
    let mut simulation = Simulation::new(network, seed);
    let from_s = FROM_S + FOR_S + after_s;
    let after = window(&mut simulation, from_s, from_s + 30.0);
    vec![100.0 * after.refused_share()]
}

pub(super) fn restart(contestant: Contestant, seed: u64) -> Vec<f64> {
    let offered = 0.4 * CAPACITY_PER_S;
    let mut network = server(contestant.rules_for(HALF));
    network.centers[CPU].group = Some(0);
    network.groups.push(Group {
        name: "server".to_owned(),
        servers: 1,
        balancer: Balancer::RoundRobin,
        scaling: None,
    });
    let mut way = work(0.01);
    way.insert(0, Step::Enter(0));
    way.push(Step::Leave(0));
    add_arrivals(&mut network, 0, vec![(0.0, offered)], way);
    let gone_s = 2.0;
    network.planned = vec![
        Planned {
            at_s: FROM_S,
            what: Happening::Lose {
                group: 0,
                servers: 1,
                back_after_s: Some(gone_s),
            },
        },
        // It has everything to load and to compile.
        Planned {
            at_s: FROM_S + gone_s,
            what: Happening::Speed {
                center: CPU,
                speed: 0.2,
                for_s: Some(FOR_S - gone_s),
            },
        },
    ];
    refused_after(&network, SOON_S, seed)
}

pub(super) fn quiet(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules_for(HALF));
    let rates = steps(&[(0.0, 0.1 * CAPACITY_PER_S), (300.0, 0.4 * CAPACITY_PER_S)]);
    add_arrivals(&mut network, 0, rates, work(0.01));
    let mut simulation = Simulation::new(&network, seed);
    vec![100.0 * window(&mut simulation, 0.0, 360.0).refused_share()]
}

pub(super) fn seldom(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules_for(HALF));
    add_arrivals(&mut network, 0, vec![(0.0, 1.0)], work(0.05));
    add_other_work(&mut network);
    refused_after(&network, SOON_S, seed)
}
