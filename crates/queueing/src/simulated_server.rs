//! The runner of simulated trials: a server whose true answer is known.
//!
//! It goes the way of a real trial: second by second into a recording, until the window is long enough, then evaluated by
//! the same code. So a search can be run over thousands of seeds in minutes, and its answer compared with the truth.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use weir_record::{
    ClassSecond, Context, CpuScope, Decision, Level, Levels, LoadSecond, Reading, Recording,
    SecondView, Stage, TargetFacts, Treatment, TrialError, TrialObserver, TrialRecord, TrialRunner,
    WhenFull, decide, evaluate, names, response_histogram,
};

use crate::ClosedCpu;
use crate::sim::{
    Averages, Discipline, Disturbances, Duration, Phase, Response, Scenario, Second, Simulation,
    StageSecond, WhenConnectionsFull, simulate,
};

/// Users of every class, as the one property of a load plan would set them.
const USERS: &str = "users";
const CONNECTIONS: &str = "connections";
const THREADS: &str = "threads";
const POOL_PREFIX: &str = "pool.";
/// Seconds of a run whose averages count as the truth, and those dropped before.
const TRUTH_S: u32 = 4000;
const TRUTH_DROPPED_S: u32 = 200;
/// Seed of such a run; any will do, and always the same one makes neighbouring levels comparable.
const TRUTH_SEED: u64 = 0;
/// What a load tool calls a connection that was closed before an answer.
const CLOSED: &str = "Non HTTP response code: java.net.SocketException";

/// Runs trials on a [`Scenario`].
///
/// Factors: `users` (the number of users of *each* class), `connections`, `threads` and `pool.NAME`; what a treatment
/// does not name is as in the scenario. The treatment's seed decides everything random, the factor on the CPU demand
/// between trials included.
#[derive(Debug, Clone)]
pub struct SimulatedServer {
    scenario: Scenario,
    facts: TargetFacts,
}

impl SimulatedServer {
    /// A runner for this server and load.
    pub fn new(scenario: Scenario) -> Self {
        let facts = facts(&scenario);
        Self { scenario, facts }
    }

    /// The scenario with these levels, or which level is wrong.
    pub fn scenario_at(&self, levels: &Levels) -> Result<Scenario, TrialError> {
        let mut scenario = self.scenario.clone();
        for (factor, level) in levels {
            let limit = whole_number(factor, level)?;
            set(&mut scenario, factor, limit)?;
        }
        Ok(scenario)
    }

    /// The true averages at these levels: a long run without noise between trials, warm-up and drift. Steal, pauses
    /// and hidden locks stay, being part of the server.
    pub fn truth_at(&self, levels: &Levels) -> Result<Averages, TrialError> {
        let mut scenario = self.scenario_at(levels)?;
        let Disturbances { steal, pauses, .. } = scenario.disturbances;
        scenario.disturbances = Disturbances {
            steal,
            pauses,
            ..Disturbances::default()
        };
        let seconds = simulate(&scenario, TRUTH_DROPPED_S + TRUTH_S, TRUTH_SEED);
        Ok(Averages::of(&seconds[TRUTH_DROPPED_S as usize..]))
    }

    /// The largest level of `factor` at which the true CPU share is at most `target`, the other levels being `base`;
    /// `None` if even the smallest of `within` exceeds it, and the largest of `within` if none does.
    ///
    /// From the exact model where it holds (see [`Self::exact_model`]), else by halving over long runs, whose own error is
    /// about 0.2 points of CPU.
    pub fn largest_level(
        &self,
        factor: &str,
        base: &Levels,
        target: f64,
        within: RangeInclusive<u32>,
    ) -> Result<Option<u32>, TrialError> {
        let exact = (factor == USERS).then(|| self.exact_model()).flatten();
        let fits = |level: u32| {
            if let Some(model) = exact {
                return Ok(model.solve(level).utilization <= target);
            }
            let mut levels = base.clone();
            levels.insert(factor.to_owned(), Level::Number(f64::from(level)));
            Ok::<bool, TrialError>(self.truth_at(&levels)?.cpu <= target)
        };
        let (mut low, mut high) = within.into_inner();
        if !fits(low)? {
            return Ok(None);
        }
        if fits(high)? {
            return Ok(Some(high));
        }
        while high - low > 1 {
            let middle = u32::midpoint(low, high);
            if fits(middle)? {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(Some(low))
    }

    /// Think time and CPU as the exact model of one class of users, if nothing else can hold a request: no limit of
    /// threads, connections or pools, and no pauses.
    ///
    /// Exact for any think time and, under processor sharing, any CPU demand; in order of arrival for one exponential
    /// demand.
    pub fn exact_model(&self) -> Option<ClosedCpu> {
        let [class] = self.scenario.classes.as_slice() else {
            return None;
        };
        let server = &self.scenario.server;
        let unlimited =
            server.threads.is_none() && server.connections.is_none() && server.pools.is_empty();
        if !unlimited || self.scenario.disturbances.pauses.is_some() {
            return None;
        }
        let mut model = ClosedCpu {
            think_s: class.think.mean_s(),
            demand_s: 0.0,
            servers: server.cores,
        };
        let cpu_phases = class
            .request
            .iter()
            .filter(|phase| matches!(phase, Phase::Cpu(_)));
        let exponential = |phase: &&Phase| matches!(phase, Phase::Cpu(Duration::Exponential(_)));
        let in_order = server.discipline == Discipline::FirstComeFirstServed;
        if in_order
            && (cpu_phases.clone().count() != 1
                || !cpu_phases.clone().all(|phase| exponential(&phase)))
        {
            return None;
        }
        for phase in &class.request {
            match phase {
                Phase::Cpu(demand) => {
                    model.demand_s += demand.mean_s() / (1.0 - self.scenario.disturbances.steal);
                }
                Phase::Sleep(time) => model.think_s += time.mean_s(),
                Phase::Acquire(_) | Phase::Release(_) => return None,
            }
        }
        Some(model)
    }
}

impl TrialRunner for SimulatedServer {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, levels: &Levels) -> u32 {
        self.scenario_at(levels)
            .map_or(0, |scenario| scenario.population())
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let scenario = self.scenario_at(&treatment.levels)?;
        let mut simulation = Simulation::new(&scenario, treatment.seed);
        let mut seen = Seen::default();
        let (window, against) = loop {
            let second = simulation.next_second();
            seen.add(&scenario, &second, simulation.responses())?;
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
                    break (window, vec![format!("not steady: {why}")]);
                }
            }
        };
        let context = Context {
            treatment,
            population: scenario.population(),
            target_cpus: self.facts.cpus,
            load_cpus: None,
            repeats: 0,
            ended_after: None,
            against,
        };
        evaluate(&seen.recording, window, &context)
            .map_err(|error| TrialError::Storage(format!("failed to {error}")))
    }
}

/// What a watch has seen of a trial so far.
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
        scenario: &Scenario,
        second: &Second,
        responses: &[Response],
    ) -> Result<(), TrialError> {
        let at = self.recording.seconds() as u64;
        let load = load_second(scenario, at, second, responses);
        self.recording
            .add_load(&load)
            .map_err(|error| TrialError::Storage(format!("failed to {error}")))?;
        self.recording.add_signals(at, signals(scenario, second));
        self.answered += load.completed() as f64;
        self.user_seconds += f64::from(second.users);
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
        let at = self.recording.seconds();
        let row = self.recording.timeline.second(at - 1);
        let in_ms = |name: &str| {
            row.and_then(|row| row.get(name))
                .map(|seconds| seconds * 1e3)
        };
        SecondView {
            elapsed_s: at as u64,
            remaining_s: Some(remaining_s),
            users: second.users,
            throughput_per_s: f64::from(second.answered + second.refused),
            p50_ms: in_ms(names::RESPONSE_P50),
            p99_ms: in_ms(names::RESPONSE_P99),
            failed: self.failed,
            cpu: Some(second.cpu),
        }
    }
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

fn set(scenario: &mut Scenario, factor: &str, limit: u32) -> Result<(), TrialError> {
    let server = &mut scenario.server;
    let named_pool = factor.strip_prefix(POOL_PREFIX);
    match factor {
        USERS => scenario
            .classes
            .iter_mut()
            .for_each(|class| class.users = limit),
        THREADS => server.threads = Some(limit),
        CONNECTIONS => match &mut server.connections {
            Some(connections) => connections.limit = limit,
            None => return Err(unknown(factor)),
        },
        _ => {
            let pool = server
                .pools
                .iter_mut()
                .find(|pool| named_pool.is_some() && pool.name.as_deref() == named_pool);
            pool.ok_or_else(|| unknown(factor))?.limit = limit;
        }
    }
    Ok(())
}

fn unknown(factor: &str) -> TrialError {
    TrialError::Input(format!("the simulated server has no `{factor}`"))
}

fn facts(scenario: &Scenario) -> TargetFacts {
    let server = &scenario.server;
    let stage = |name: &str, limit: Option<u32>, settable: bool, when_full: WhenFull| Stage {
        name: name.to_owned(),
        native: None,
        limit: limit.map(f64::from),
        settable,
        when_full,
    };
    let connections = server.connections.map(|connections| {
        let when_full = match connections.when_full {
            WhenConnectionsFull::Close => WhenFull::Refuse,
            WhenConnectionsFull::Wait => WhenFull::Wait,
        };
        stage(CONNECTIONS, Some(connections.limit), true, when_full)
    });
    let inner = [
        stage("request-queue", None, false, WhenFull::Wait),
        stage(THREADS, server.threads, true, WhenFull::Wait),
    ];
    let pools = server.pools.iter().filter_map(|pool| {
        let name = format!("{POOL_PREFIX}{}", pool.name.as_ref()?);
        Some(stage(&name, Some(pool.limit), true, WhenFull::Block))
    });
    TargetFacts {
        name: "simulated server".to_owned(),
        kind: "simulated".to_owned(),
        cpus: server.cores,
        cpu_scope: CpuScope::OwnCpus,
        stages: std::iter::once(stage("backlog", None, false, WhenFull::Wait))
            .chain(connections)
            .chain(inner)
            .chain(pools)
            .collect(),
    }
}

fn load_second(
    scenario: &Scenario,
    at: u64,
    second: &Second,
    responses: &[Response],
) -> LoadSecond {
    let mut classes: Vec<ClassSecond> = scenario
        .classes
        .iter()
        .map(|class| ClassSecond {
            label: class.label.clone(),
            succeeded: 0,
            failed: 0,
            failed_by_code: BTreeMap::new(),
            response_us: response_histogram(),
        })
        .collect();
    for response in responses {
        let class = &mut classes[response.class];
        if response.refused {
            class.failed += 1;
            *class.failed_by_code.entry(CLOSED.to_owned()).or_default() += 1;
        } else {
            class.succeeded += 1;
        }
        class
            .response_us
            .record((response.response_s * 1e6).round() as u64)
            .expect("the histogram resizes by itself");
    }
    let in_flight = (f64::from(second.users) - second.thinking).max(0.0).round() as u32;
    LoadSecond {
        second: at,
        classes,
        users: second.users,
        in_flight: Some(in_flight),
        sockets: Some(in_flight),
        lateness_us: response_histogram(),
        redirected: None,
        open: None,
    }
}

/// The signals that a probe would have read in this second.
fn signals(scenario: &Scenario, second: &Second) -> Reading {
    let steal = scenario.disturbances.steal;
    let mut reading = Reading::new();
    let mut put = |name: String, value: f64| reading.insert(name, value);
    put(names::CPU.to_owned(), second.cpu);
    // Shares of all time, what others took included; the simulated kernel works for nothing.
    put("cpu.user".to_owned(), second.cpu * (1.0 - steal));
    put("cpu.system".to_owned(), 0.0);
    put("cpu.steal".to_owned(), steal);
    let server = &scenario.server;
    put("backlog.occupancy".to_owned(), second.connections.waiting);
    put(
        "connections.occupancy".to_owned(),
        second.connections.occupancy,
    );
    put("connections.refused".to_owned(), f64::from(second.refused));
    let connections = server.connections.map(|connections| connections.limit);
    put_limit(&mut put, CONNECTIONS, connections);
    put("request-queue.occupancy".to_owned(), second.threads.waiting);
    put_waits(&mut put, "request-queue", &second.threads);
    put("threads.occupancy".to_owned(), second.threads.occupancy);
    put_limit(&mut put, THREADS, server.threads);
    for (pool, seen) in server.pools.iter().zip(&second.pools) {
        let Some(name) = &pool.name else {
            continue;
        };
        let stage = format!("{POOL_PREFIX}{name}");
        put(format!("{stage}.occupancy"), seen.occupancy);
        put_limit(&mut put, &stage, Some(pool.limit));
        put_waits(&mut put, &stage, seen);
    }
    reading
}

fn put_limit(put: &mut impl FnMut(String, f64) -> Option<f64>, stage: &str, limit: Option<u32>) {
    if let Some(limit) = limit {
        put(format!("{stage}.limit"), f64::from(limit));
    }
}

/// Waiting, and the wait as a mean over all that got in, so that Little's law holds between the two.
fn put_waits(put: &mut impl FnMut(String, f64) -> Option<f64>, stage: &str, seen: &StageSecond) {
    put(format!("{stage}.waiting"), seen.waiting);
    put(format!("{stage}.entries"), f64::from(seen.entries));
    if seen.entries > 0 {
        put(
            format!("{stage}.wait"),
            seen.wait_sum_s / f64::from(seen.entries),
        );
    }
}
