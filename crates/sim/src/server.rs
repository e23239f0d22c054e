//! Trials on a simulated server: what searches and models are tried on, because what they should
//! find is known.
//!
//! A trial goes the way of a real one: second by second into a recording, until the window is long
//! enough, then evaluated by the same code. The network is the funnel of one server, its limits
//! named as stages are (see [`crate::trial()`]).

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::StandardNormal;
use weir_record::{
    Context, Decision, InvalidReason, Level, Levels, Reading, Recording, SecondView, Stage,
    TargetFacts, Treatment, TrialError, TrialObserver, TrialRecord, TrialRunner, WhenFull, decide,
    evaluate, names,
};

use crate::distribution::Random;
use crate::engine::{Second, Simulation};
use crate::network::{CenterKind, Happening, Network, Planned, Source};
use crate::replicate::seed_of;
use crate::totals::Totals;
use crate::trial::{self, cpu_of, stage_of};

/// Users of every class, as the one property of a load plan would set them.
const USERS: &str = "users";
const CONNECTIONS: &str = "connections";
const THREADS: &str = "threads";
const DATABASE: &str = "database";
/// Seconds of a run whose figures count as the truth, and those dropped before.
const TRUTH_S: f64 = 4000.0;
const TRUTH_DROPPED_S: f64 = 200.0;
/// Seed of such a run; any will do, and always the same one makes neighbouring levels comparable.
const TRUTH_SEED: u64 = 0;
/// A CPU demand below a fifth of the mean would be no noise but another server.
const DEMAND_FACTOR_MIN: f64 = 0.2;

/// What departs from the network in trials; the default is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Disturbances {
    /// Relative standard deviation of the CPU demand between trials: one factor for a whole trial.
    pub between_trials: f64,
    /// Share of the CPU time that others take, from 0 to below 1.
    pub steal: f64,
}

/// Runs trials on a network.
///
/// Factors: `users` (the number of users of *each* class), and the limits by their stages:
/// `connections`, `threads` and `pool.NAME`; what a treatment does not name is as in the network.
/// The treatment's seed decides everything random, the factor on the CPU demand between trials
/// included.
#[derive(Debug, Clone)]
pub struct SimulatedServer {
    network: Network,
    disturbances: Disturbances,
    facts: TargetFacts,
}

impl SimulatedServer {
    /// A runner for this server and load.
    pub fn new(network: Network, disturbances: Disturbances) -> Self {
        assert!(
            (0.0..1.0).contains(&disturbances.steal),
            "steal is a share below 1"
        );
        let facts = facts(&network);
        Self {
            network,
            disturbances,
            facts,
        }
    }

    /// The network with these levels, or which level is wrong.
    pub fn network_at(&self, levels: &Levels) -> Result<Network, TrialError> {
        let mut network = self.network.clone();
        for (factor, level) in levels {
            set(&mut network, factor, whole_number(factor, level)?)?;
        }
        Ok(network)
    }

    /// The true figures at these levels: of a long run without noise between trials and warm-up.
    /// Stolen time stays, being part of the machine.
    pub fn truth_at(&self, levels: &Levels) -> Result<Totals, TrialError> {
        let mut network = self.network_at(levels)?;
        self.slow_down(&mut network, 1.0);
        let mut simulation = Simulation::new(&network, TRUTH_SEED);
        simulation.run_until(TRUTH_DROPPED_S);
        simulation.forget();
        simulation.run_until(TRUTH_DROPPED_S + TRUTH_S);
        Ok(simulation.totals())
    }

    /// The factor on every CPU demand of a trial.
    fn demand_factor(&self, seed: u64) -> f64 {
        let mut random = Random::seed_from_u64(seed_of(seed, 1));
        let spread = self.disturbances.between_trials * random.sample::<f64, _>(StandardNormal);
        (1.0 + spread).max(DEMAND_FACTOR_MIN)
    }

    /// Makes the CPU as slow as it is with other demands and for what others leave of it.
    fn slow_down(&self, network: &mut Network, demand_factor: f64) {
        let speed = (1.0 - self.disturbances.steal) / demand_factor;
        let cpu = cpu_of(network).filter(|_| (speed - 1.0).abs() > f64::EPSILON);
        if let Some(center) = cpu {
            network.planned.push(Planned {
                at_s: 0.0,
                what: Happening::Speed {
                    center,
                    speed,
                    for_s: None,
                },
            });
        }
    }

    /// What a watch would have read in a second.
    fn signals(&self, network: &Network, second: &Second) -> Reading {
        let steal = self.disturbances.steal;
        let mut reading = trial::signals(network, second);
        // Shares of all time, what others took included; `cpu` is the busy share of what they left.
        if let Some(busy) = reading.get(names::CPU).copied() {
            reading.insert("cpu.user".to_owned(), busy * (1.0 - steal));
            reading.insert("cpu.steal".to_owned(), steal);
        }
        // Connections that wait to be let in wait in the kernel.
        if let Some(waiting) = reading.get("connections.waiting").copied() {
            reading.insert("backlog.occupancy".to_owned(), waiting);
        }
        reading
    }
}

impl TrialRunner for SimulatedServer {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, levels: &Levels) -> u32 {
        self.network_at(levels)
            .map_or(0, |network| population(&network))
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let mut network = self.network_at(&treatment.levels)?;
        self.slow_down(&mut network, self.demand_factor(treatment.seed));
        let mut simulation = Simulation::new(&network, treatment.seed);
        simulation.watch_seconds();
        let mut seen = Seen::default();
        let (window, against) = loop {
            simulation.run_until(seen.recording.seconds() as f64 + 1.0);
            let second = simulation.take_second().expect("seconds are watched");
            seen.add(&network, &second, self.signals(&network, &second))?;
            let decision = decide(&seen.recording, &treatment.window, seen.cycle_s())
                .map_err(|error| TrialError::Input(format!("failed to {error}")))?;
            let remaining_s = match &decision {
                Decision::Continue(progress) => progress.remaining_s,
                Decision::Done(_) | Decision::NotSteady { .. } => 0,
            };
            observer.second(&seen.view(&second, remaining_s));
            match decision {
                Decision::Continue(_) => {}
                Decision::Done(window) => break (window, Vec::new()),
                Decision::NotSteady { window, why } => {
                    break (window, vec![InvalidReason::NotSteady { why }]);
                }
            }
        };
        let context = Context {
            treatment,
            population: population(&network),
            target_cpus: self.facts.cpus,
            load: None,
            repeats: 0,
            ended_after: None,
            against,
        };
        evaluate(&seen.recording, window, &context).map_err(storage)
    }
}

/// What a load generator and a watch have seen of a trial so far.
#[derive(Default)]
struct Seen {
    recording: Recording,
    answered: f64,
    user_seconds: f64,
    failed: u64,
}

impl Seen {
    fn add(
        &mut self,
        network: &Network,
        second: &Second,
        signals: Reading,
    ) -> Result<(), TrialError> {
        let at = self.recording.seconds() as u64;
        let load = trial::load(network, at, second);
        self.recording.add_load(&load).map_err(storage)?;
        self.recording.add_signals(at, signals);
        self.answered += load.completed() as f64;
        self.user_seconds += f64::from(load.users);
        self.failed += load.failed();
        Ok(())
    }

    /// Mean time from one request of a user to its next, by Little's law over all seconds so far.
    fn cycle_s(&self) -> f64 {
        if self.answered > 0.0 {
            self.user_seconds / self.answered
        } else {
            0.0
        }
    }

    fn view(&self, second: &Second, remaining_s: u64) -> SecondView {
        SecondView {
            remaining_s: Some(remaining_s),
            users: second.classes.iter().map(|class| class.users).sum(),
            failed: self.failed,
            ..SecondView::of(&self.recording)
        }
    }
}

fn storage(error: impl std::fmt::Display) -> TrialError {
    TrialError::Storage(format!("failed to {error}"))
}

fn population(network: &Network) -> u32 {
    u32::try_from(network.population()).unwrap_or(u32::MAX)
}

fn whole_number(factor: &str, level: &Level) -> Result<u32, TrialError> {
    match level.number() {
        Some(number) if number >= 1.0 && number.fract() == 0.0 && number <= f64::from(u32::MAX) => {
            Ok(number as u32)
        }
        _ => Err(TrialError::Input(format!(
            "`{factor}` is `{level}`, not a whole number from 1"
        ))),
    }
}

fn set(network: &mut Network, factor: &str, level: u32) -> Result<(), TrialError> {
    if factor == USERS {
        for class in &mut network.classes {
            if let Source::Users { users, .. } = &mut class.source {
                *users = level;
            }
        }
        return Ok(());
    }
    let mut centers = network.centers.iter_mut();
    let limit =
        centers.find(|center| center.is_limit() && stage_of(center).as_deref() == Some(factor));
    let limit = limit.ok_or_else(|| {
        TrialError::Input(format!("the simulated server has no limit `{factor}`"))
    })?;
    limit.kind = CenterKind::Limit { capacity: level };
    Ok(())
}

/// The funnel, outermost stage first, with every limit settable.
fn facts(network: &Network) -> TargetFacts {
    let waiting = |name: &str| Stage {
        name: name.to_owned(),
        native: None,
        limit: None,
        settable: false,
        when_full: WhenFull::Wait,
    };
    let facts = trial::facts("simulated server", network);
    let mut stages = vec![waiting("backlog")];
    for mut stage in facts.stages {
        stage.settable = stage.name != DATABASE;
        if stage.name == THREADS {
            stages.push(waiting("request-queue"));
        } else if stage.name != CONNECTIONS {
            stage.when_full = WhenFull::Block;
        }
        stages.push(stage);
    }
    TargetFacts { stages, ..facts }
}
