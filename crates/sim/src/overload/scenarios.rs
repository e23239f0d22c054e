//! What is played, and what is asked of whoever limits.

use std::time::Duration;

use super::CAPACITY_PER_S;
use weir_limit::Goal;

use super::contestant::Contestant;
use super::played::{CPU, add_arrivals, server, server_of, steps, window, work};
use crate::distribution::Distribution;
use crate::engine::Simulation;
use crate::network::{
    AbandonedWork, Center, CenterKind, Happening, Jitter, Network, Planned, Retry, Step, Timeout,
};

/// A situation, and what is asked in it.
pub struct Scenario {
    /// One word, by which it is chosen.
    pub name: &'static str,
    /// What happens.
    pub about: &'static str,
    /// The figures, in the order in which [`Self::play`] gives them.
    pub asked: &'static [Asked],
    play: fn(Contestant, u64) -> Vec<f64>,
}

/// A figure and its bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// What it is.
    pub what: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// What it has to keep.
    pub bound: Bound,
}

/// What a figure has to keep.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bound {
    /// At least this.
    AtLeast(f64),
    /// At most this.
    AtMost(f64),
    /// Between these two.
    Between(f64, f64),
}

impl Bound {
    /// Whether a figure keeps it.
    pub fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtLeast(least) => figure >= least,
            Self::AtMost(most) => figure <= most,
            Self::Between(least, most) => (least..=most).contains(&figure),
        }
    }
}

impl Scenario {
    /// Plays it once.
    pub fn play(&self, contestant: Contestant, seed: u64) -> Vec<f64> {
        (self.play)(contestant, seed)
    }
}

const fn at_least(what: &'static str, unit: &'static str, bound: f64) -> Asked {
    Asked {
        what,
        unit,
        bound: Bound::AtLeast(bound),
    }
}

const fn at_most(what: &'static str, unit: &'static str, bound: f64) -> Asked {
    Asked {
        what,
        unit,
        bound: Bound::AtMost(bound),
    }
}

const GOODPUT: Asked = at_least("goodput of capacity", "%", 97.0);

/// All of them.
pub const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "step-2x",
        about: "from half of the capacity to twice of it, 40 s",
        asked: &[GOODPUT, at_most("p99", "ms", 250.0)],
        play: |contestant, seed| step(contestant, seed, 2.0),
    },
    Scenario {
        name: "step-5x",
        about: "from half of the capacity to five times of it, 40 s",
        asked: &[GOODPUT, at_most("p99", "ms", 250.0)],
        play: |contestant, seed| step(contestant, seed, 5.0),
    },
    Scenario {
        name: "mix",
        about: "step to twice the capacity, nine requests of 4 ms to one of 64 ms",
        asked: &[GOODPUT, at_most("p99", "ms", 450.0)],
        play: mix,
    },
    Scenario {
        name: "half",
        about: "90 % of the capacity, of which half is gone for 30 s",
        asked: &[
            at_least("goodput of what is left", "%", 98.0),
            at_most("p99", "ms", 350.0),
            at_least("goodput of offered from 2 s after its return", "%", 97.0),
        ],
        play: half,
    },
    Scenario {
        name: "pauses",
        about: "60 % of the capacity, every 5 s nothing works for 200 ms",
        asked: &[at_most("refused", "%", 0.3)],
        play: pauses,
    },
    Scenario {
        name: "slices",
        about: "90 % of the capacity of one CPU with equal requests, which is stopped for half of each 20 ms for 30 s",
        asked: &[
            at_least("goodput of what is left", "%", 98.0),
            at_most("p99", "ms", 350.0),
            at_least("goodput of offered from 2 s after its return", "%", 97.0),
        ],
        play: slices,
    },
    Scenario {
        name: "stops",
        about: "60 % of the capacity of one CPU with equal requests, every 5 s nothing works for 200 ms",
        asked: &[at_most("refused", "%", 0.3)],
        play: stops,
    },
    Scenario {
        name: "spells",
        about: "CPUs at 10 %, every 5 s a wait of 20 ms takes 200 ms for 1 s",
        asked: &[at_most("refused", "%", 0.3)],
        play: spells,
    },
    Scenario {
        name: "classes",
        about: "100/s of 4 ms with a promise, 60/s of 100 ms for what is left",
        asked: &[
            at_most("light refused", "%", 0.0),
            at_most("light p99", "ms", 40.0),
            at_least("heavy of what is left", "%", 94.0),
        ],
        play: classes,
    },
    Scenario {
        name: "cpu",
        about: "twice the capacity, CPUs to be held at 80 %, 30 s after the first 10 s",
        asked: &[
            Asked {
                what: "mean",
                unit: "%",
                bound: Bound::Between(78.0, 82.0),
            },
            at_least("least 5 s", "%", 75.0),
            at_most("most 5 s", "%", 85.0),
            at_least("goodput of 80 % of capacity", "%", 98.0),
        ],
        play: cpu,
    },
    Scenario {
        name: "p99",
        about: "step to twice the capacity, p99 to be held at 100 ms",
        asked: &[
            at_least("goodput of capacity", "%", 90.0),
            at_most("p99", "ms", 110.0),
        ],
        play: p99,
    },
    Scenario {
        name: "storm",
        about: "75 % of the capacity, 10 s at twice of it, 3 retries on refusal or after 1 s; from 5 s after",
        asked: &[at_least("answered of offered", "%", 99.0)],
        play: storm,
    },
    Scenario {
        name: "cold",
        about: "twice the capacity from the first moment, first 10 s",
        asked: &[
            at_least("goodput of capacity", "%", 95.0),
            at_most("p99", "ms", 300.0),
            at_least("goodput of capacity in the 3rd second", "%", 90.0),
        ],
        play: cold,
    },
    Scenario {
        name: "blind",
        about: "step to twice the capacity, and nobody can read the CPU time",
        asked: &[GOODPUT, at_most("p99", "ms", 300.0)],
        play: blind,
    },
    Scenario {
        name: "late",
        about: "step to twice the capacity, CPU time read once a second, half a second late",
        asked: &[GOODPUT, at_most("p99", "ms", 300.0)],
        play: late,
    },
    Scenario {
        name: "pool",
        about: "step to twice the capacity of a pool of 4 connections of 20 ms each, the CPUs at 20 %",
        asked: &[GOODPUT, at_most("p99", "ms", 300.0)],
        play: pool,
    },
    Scenario {
        name: "sixteen",
        about: "16 CPUs at twice their capacity from the first moment, first 10 s",
        asked: &[
            at_least("goodput of capacity", "%", 95.0),
            at_most("p99", "ms", 300.0),
        ],
        play: sixteen,
    },
    Scenario {
        name: "single",
        about: "one request of 10 ms a second, and once a minute one of 5 s",
        asked: &[at_most("refused", "%", 0.0)],
        play: single,
    },
    Scenario {
        name: "drift",
        about: "an hour at 120 %: the five minutes from the 5th on beside the last five",
        asked: &[
            Asked {
                what: "limit, last to first",
                unit: "%",
                bound: Bound::Between(90.0, 110.0),
            },
            Asked {
                what: "p99, last to first",
                unit: "%",
                bound: Bound::Between(90.0, 110.0),
            },
        ],
        play: drift,
    },
];

fn step(contestant: Contestant, seed: u64, times: f64) -> Vec<f64> {
    step_at(server(contestant.rules()), seed, times, work(0.01))
}

/// From half of the capacity to so many times of it.
fn step_at(mut network: Network, seed: u64, times: f64, way: Vec<Step>) -> Vec<f64> {
    let rates = steps(&[(0.0, 0.5 * CAPACITY_PER_S), (10.0, times * CAPACITY_PER_S)]);
    add_arrivals(&mut network, 0, rates, way);
    overload(&network, seed, 10.0, 50.0)
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

fn mix(contestant: Contestant, seed: u64) -> Vec<f64> {
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

fn half(contestant: Contestant, seed: u64) -> Vec<f64> {
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

fn slices(contestant: Contestant, seed: u64) -> Vec<f64> {
    let offered = 0.9 * CAPACITY_PER_S;
    let mut network = equal_requests(contestant, offered);
    let at = (0..1500).map(|slice| 20.0 + 0.02 * f64::from(slice));
    stand_still(&mut network, at, 0.01);
    without_half(&network, seed, offered)
}

fn stops(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = equal_requests(contestant, 0.6 * CAPACITY_PER_S);
    every_five_seconds(&mut network, CPU, 0.0, 0.2);
    let mut simulation = Simulation::new(&network, seed);
    vec![100.0 * window(&mut simulation, 0.0, 120.0).refused_share()]
}

/// The CPU stops at each of these moments for so long.
fn stand_still(network: &mut Network, at: impl Iterator<Item = f64>, for_s: f64) {
    network.planned = at.map(|at_s| slow(at_s, CPU, 0.0, for_s)).collect();
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

/// At this station, this speed every five seconds for so long.
fn every_five_seconds(network: &mut Network, center: usize, speed: f64, for_s: f64) {
    let at = (1..24).map(|time| f64::from(time) * 5.0);
    network.planned = at.map(|at_s| slow(at_s, center, speed, for_s)).collect();
}

fn pauses(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    add_arrivals(
        &mut network,
        0,
        vec![(0.0, 0.6 * CAPACITY_PER_S)],
        work(0.01),
    );
    every_five_seconds(&mut network, CPU, 0.0, 0.2);
    let mut simulation = Simulation::new(&network, seed);
    vec![100.0 * window(&mut simulation, 0.0, 120.0).refused_share()]
}

fn spells(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    network
        .centers
        .push(Center::new("elsewhere", CenterKind::Delay));
    let mut way = work(0.002);
    way.push(Step::Use(1, Distribution::exponential(0.02)));
    add_arrivals(&mut network, 0, vec![(0.0, 100.0)], way);
    every_five_seconds(&mut network, 1, 0.1, 1.0);
    let mut simulation = Simulation::new(&network, seed);
    vec![100.0 * window(&mut simulation, 0.0, 120.0).refused_share()]
}

fn classes(contestant: Contestant, seed: u64) -> Vec<f64> {
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

fn cpu(contestant: Contestant, seed: u64) -> Vec<f64> {
    const GOAL: f64 = 0.8;
    let mut network = server(contestant.rules_for(Goal {
        cpu: Some(GOAL),
        p99: None,
    }));
    add_arrivals(
        &mut network,
        0,
        vec![(0.0, 2.0 * CAPACITY_PER_S)],
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

fn p99(contestant: Contestant, seed: u64) -> Vec<f64> {
    let network = server(contestant.rules_for(Goal {
        cpu: None,
        p99: Some(Duration::from_millis(100)),
    }));
    step_at(network, seed, 2.0, work(0.01))
}

fn storm(contestant: Contestant, seed: u64) -> Vec<f64> {
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

fn cold(contestant: Contestant, seed: u64) -> Vec<f64> {
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

fn blind(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    for gateway in &mut network.gateways {
        gateway.cpu = None;
    }
    step_at(network, seed, 2.0, work(0.01))
}

fn late(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    for reader in network.gateways.iter_mut().filter_map(|of| of.cpu.as_mut()) {
        (reader.every_s, reader.delay_s) = (1.0, 0.5);
    }
    step_at(network, seed, 2.0, work(0.01))
}

fn pool(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    network
        .centers
        .push(Center::new("pool", CenterKind::Queue { servers: 4 }));
    let mut way = work(0.002);
    way.push(Step::Use(1, Distribution::exponential(0.02)));
    step_at(network, seed, 2.0, way)
}

fn sixteen(contestant: Contestant, seed: u64) -> Vec<f64> {
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

fn single(contestant: Contestant, seed: u64) -> Vec<f64> {
    let mut network = server(contestant.rules());
    add_arrivals(&mut network, 0, vec![(0.0, 1.0)], work(0.01));
    add_arrivals(&mut network, 0, vec![(0.0, 1.0 / 60.0)], work(5.0));
    let mut simulation = Simulation::new(&network, seed);
    vec![100.0 * window(&mut simulation, 0.0, 600.0).refused_share()]
}

fn drift(contestant: Contestant, seed: u64) -> Vec<f64> {
    drift_until(contestant, seed, 3600.0)
}

fn drift_until(contestant: Contestant, seed: u64, end_s: f64) -> Vec<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The median of three seeds.
    fn median_of_three(figures: impl Fn(u64) -> Vec<f64>) -> Vec<f64> {
        let played = [figures(1), figures(2), figures(3)];
        let middle = |index: usize| {
            let mut three = [0, 1, 2].map(|seed| played[seed][index]);
            three.sort_by(f64::total_cmp);
            three[1]
        };
        (0..played[0].len()).map(middle).collect()
    }

    #[test]
    fn weir_does_what_is_asked() {
        let mut missed = Vec::new();
        for scenario in SCENARIOS.iter().filter(|scenario| scenario.name != "drift") {
            let figures = median_of_three(|seed| scenario.play(Contestant::Weir, seed));
            for (asked, figure) in scenario.asked.iter().zip(figures) {
                if !asked.bound.holds(figure) {
                    missed.push(format!("{}: {} is {figure:.1}", scenario.name, asked.what));
                }
            }
        }
        assert!(missed.is_empty(), "{missed:#?}");
    }

    /// A quarter of an hour rather than a whole, with room for the noise of one run.
    #[test]
    fn weir_does_not_drift() {
        let figures = drift_until(Contestant::Weir, 1, 900.0);
        assert!(
            figures.iter().all(|figure| (60.0..170.0).contains(figure)),
            "{figures:?}"
        );
    }

    /// The scenarios tell good from bad: without a limit, and with one that only counts time-outs, the server drowns.
    #[test]
    fn others_do_not() {
        for contestant in [Contestant::Nothing, Contestant::Aimd] {
            let figures = SCENARIOS[0].play(contestant, 1);
            assert!(
                figures[0] < 60.0 && figures[1] > 2000.0,
                "{contestant:?}: {figures:?}"
            );
        }
    }
}
