//! The runner of real trials.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use weir_load::SampleSink;
use weir_metric::CpuSet;
use weir_probe::{Source, WatchPlan, WatchedMachine};
use weir_record::{
    Context, Invalid, InvalidReason, Levels, LoadCpus, RunDirectory, START, TargetFacts, Treatment,
    TrialError, TrialObserver, TrialRecord, TrialRunner, Window, disturbance, evaluate, failed_to,
    steady_rate,
};
use weir_script::{Properties, Target};
use weir_server::{ChangedSetting, ConfigurationChange, Server, TargetError, Watched};

use crate::cpus::CpuPlan;
use crate::levels;
use crate::measure::{Length, Measured, Measurement, measure};
use crate::trial_load::{TrialLoad, TrialSetup};
use crate::unseen::unseen;

/// How often a trial is thrown away because others used the target's CPUs.
const REPEATS_WHEN_DISTURBED: u32 = 2;

/// What a rig works with.
#[derive(Debug)]
pub struct RigOptions {
    /// The server, running.
    pub target: Box<dyn Server>,
    /// The load.
    pub load: TrialLoad,
    /// Properties of the plan that no factor sets.
    pub properties: Properties,
    /// The properties of the plan that factors set, by factor: `users`, `rate`.
    pub of_factors: BTreeMap<String, String>,
    /// Hosts that responses may lead to although their addresses are public.
    pub allowed_hosts: Vec<String>,
    /// Time without load before every trial but the first.
    pub pause: Duration,
    /// Warm-up of a trial before which the server was started: a virtual machine compiles what it
    /// runs often, and until then a trial is not to be compared with later ones. Never shorter
    /// than the treatment's own.
    pub first_warm_up: Duration,
    /// Units of the application's own figures.
    pub own_units: BTreeMap<String, String>,
    /// Who gets which CPUs.
    pub cpus: CpuPlan,
    /// Where trials are stored.
    pub directory: RunDirectory,
    /// Set from outside to stop.
    pub interrupted: Arc<AtomicBool>,
}

/// Runs trials on a real server.
#[derive(Debug)]
pub struct Rig {
    options: RigOptions,
    facts: TargetFacts,
    last: Option<LastLoad>,
}

/// The last load.
#[derive(Debug)]
struct LastLoad {
    ended: Instant,
    /// The processes that it went to.
    pids: Vec<u32>,
}

impl Rig {
    /// A rig around a running server.
    pub fn new(options: RigOptions) -> Self {
        let cpus = &options.cpus;
        let facts = options
            .target
            .facts(cpus.target.count() as u32, cpus.scope());
        Self {
            options,
            facts,
            last: None,
        }
    }

    /// What limits change in the server's own configuration files.
    pub fn configuration(
        &self,
        limits: &BTreeMap<String, f64>,
    ) -> Result<Vec<ConfigurationChange>, TargetError> {
        self.options.target.configuration(limits)
    }

    /// Puts the server back to what was found and stops it, if Weir started it.
    pub fn stop(self) -> Result<(), TargetError> {
        self.options.target.stop()
    }

    fn attempt(
        &mut self,
        treatment: &Treatment,
        repeats: u32,
        observer: &mut dyn TrialObserver,
    ) -> Result<Attempt, TrialError> {
        let options = &mut self.options;
        let files = options
            .directory
            .start_trial(treatment.id)
            .map_err(|error| TrialError::Storage(failed_to(&error)))?;
        set(options.target.as_mut(), &treatment.levels)?;
        if let Some(last) = &self.last {
            wait_until(last.ended + options.pause, &options.interrupted)?;
        }
        let watched = options.target.watched();
        let target_cpus = watched.cpus.clone();
        let shared = shared(&watched, &options.cpus);
        let note = shared
            .as_ref()
            .filter(|_| has_cpus_here(&watched))
            .map(shares);
        let pids = watched.pids.clone();
        let fresh = self.last.as_ref().is_none_or(|last| last.pids != pids);
        let log_from = options.target.log_length();
        let (load, of_factors) = (&options.load, &options.of_factors);
        let population = load.population(&treatment.levels, &options.properties, of_factors)?;
        let server = Target::from(options.target.address());
        let engine = options.load.engine(&TrialSetup {
            treatment,
            properties: &options.properties,
            of_factors,
            target: &server,
            files: &files,
            cpus: &options.cpus.load,
        })?;
        let measurement = Measurement {
            engine,
            target: Some(server),
            allowed_hosts: options.allowed_hosts.clone(),
            load_cpus: Some(options.cpus.load.clone()),
            seed: treatment.seed,
            watch: watch_plan(watched, &options.cpus),
            samples_max: treatment.window.requests,
            backs_off: true,
            samples: Some(SampleSink::new(files.samples())),
            length: length(treatment.window, fresh.then_some(options.first_warm_up)),
            interrupted: &options.interrupted,
        };
        let target = &mut options.target;
        let mut measured = measure(measurement, observer, || {
            target.check_alive().map_err(|error| target_failed(&error))
        })?;
        self.last = Some(LastLoad {
            ended: Instant::now(),
            pids,
        });
        // A trial that was cut short counts for nothing, and its files tell why.
        let stored = files.write_seconds(&measured.recording, measured.started);
        let log = target
            .copy_log(log_from, &files.target_log())
            .map_err(|error| target_failed(&error));
        is_whole(&mut measured, stored.and(log))?;
        target
            .check_alive()
            .map_err(|error| target_failed(&error))?;
        let changed = target
            .changed_by_others()
            .map_err(|error| target_failed(&error))?;
        let machine = target.watched().machine;
        let unseen = unseen(&measured.recording, &measured.window, &machine);
        let context = Context {
            treatment,
            population: population.or(measured.load.users_most()).unwrap_or(0),
            target_cpus: target_cpus.map_or(self.facts.cpus, |cpus| cpus.count() as u32),
            load: Some(load_cpus(&options.cpus.load, shared.as_ref())),
            repeats,
            ended_after: treatment.window.requests.map(|_| measured.elapsed),
            against: measured
                .against()
                .into_iter()
                .chain(unseen.against)
                .chain(changed.into_iter().map(by_somebody_else))
                .collect(),
        };
        let due = measured.load.due(measured.window.clone());
        let record = evaluate(&measured.recording, measured.window, &context);
        let mut record = record.map_err(|error| TrialError::Storage(failed_to(&error)))?;
        record.signal_origins = measured.origins;
        record.own_units.clone_from(&options.own_units);
        record.notes.extend(unseen.note.into_iter().chain(note));
        if treatment.window.requests.is_some()
            && let Some(rate) = steady_rate(&measured.recording, measured.elapsed.as_secs_f64())
        {
            record.note_steady_rate(rate);
        }
        if let Some(arrivals) = measured.load.arrivals() {
            record.note_arrivals(arrivals.not_started, arrivals.skipped);
            record.note_due(due.unwrap_or_default());
        }
        record.adjust(measured.load.adjustments());
        record.take_full_stages(&self.facts);
        Ok(Attempt {
            record,
            target_cpus: context.target_cpus,
        })
    }
}

fn by_somebody_else(changed: ChangedSetting) -> InvalidReason {
    let ChangedSetting { setting, set, now } = changed;
    InvalidReason::SettingChanged { setting, set, now }
}

/// Whether a load ran to its end and its files were written; what went wrong first is the error.
fn is_whole(measured: &mut Measured, written: Result<(), TrialError>) -> Result<(), TrialError> {
    if let Some(error) = measured.failed.take() {
        return Err(error);
    }
    written?;
    if let Some(problem) = measured.load.problem() {
        return Err(TrialError::Storage(problem.to_owned()));
    }
    if measured.interrupted {
        return Err(TrialError::Interrupted);
    }
    Ok(())
}

/// A trial that was run, which may have to be run again.
struct Attempt {
    record: TrialRecord,
    target_cpus: u32,
}

impl Attempt {
    fn disturbance(&self) -> Option<String> {
        // Of a setting that somebody else has changed the user is told, whatever else there was.
        let is_changed =
            |invalid: &Invalid| matches!(invalid.reason, InvalidReason::SettingChanged { .. });
        let changed = self.record.invalid.iter().any(is_changed);
        (!changed).then(|| disturbance(&self.record, self.target_cpus))?
    }
}

impl TrialRunner for Rig {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, levels: &Levels) -> u32 {
        let options = &self.options;
        let known = options
            .load
            .population(levels, &options.properties, &options.of_factors);
        known.ok().flatten().unwrap_or(0)
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let mut repeats = 0;
        let record = loop {
            let attempt = self.attempt(treatment, repeats, observer)?;
            let Some(why) = attempt.disturbance() else {
                break attempt.record;
            };
            if repeats == REPEATS_WHEN_DISTURBED {
                break attempt.record;
            }
            repeats += 1;
            observer.note(&format!(
                "trial {} is run again ({repeats} of at most {REPEATS_WHEN_DISTURBED}): {why}",
                treatment.id
            ));
        };
        self.options
            .directory
            .write_record(&record)
            .map_err(|error| TrialError::Storage(failed_to(&error)))?;
        Ok(record)
    }
}

/// Makes the server what the levels say.
fn set(target: &mut dyn Server, levels: &Levels) -> Result<(), TrialError> {
    let limits = levels::limits(levels).map_err(TrialError::Input)?;
    let start = levels::in_words(levels, START);
    let regulator = levels::in_words(levels, levels::REGULATOR);
    target
        .start_as(&start)
        .and_then(|()| target.apply(&limits))
        .and_then(|()| target.regulate(&regulator))
        .map_err(|error| target_failed(&error))
}

/// The load generator's CPUs on which the server may run, too.
fn shared(watched: &Watched, cpus: &CpuPlan) -> Option<CpuSet> {
    let is_here = match &watched.machine {
        WatchedMachine::This => true,
        WatchedMachine::Far(far) => far.is_this_one(),
        WatchedMachine::Unseen => false,
    };
    let target = watched.cpus.as_ref().unwrap_or(&cpus.target);
    target.in_common(&cpus.load).filter(|_| is_here)
}

fn load_cpus(load: &CpuSet, shared: Option<&CpuSet>) -> LoadCpus {
    LoadCpus {
        cpus: load.count() as u32,
        of_target: shared.map_or(0, CpuSet::count) as u32,
    }
}

/// Whether a study gives the server CPUs of this machine that are not those of the others.
fn has_cpus_here(watched: &Watched) -> bool {
    watched.cpus.is_some() && matches!(watched.machine, WatchedMachine::This)
}

fn shares(cpus: &CpuSet) -> String {
    format!(
        "the server shares CPU {cpus} with the load generator: its figures compare with those of trials that do so too"
    )
}

/// How long a trial lasts, after a start of the server with this warm-up at least.
fn length(window: Window, first_warm_up: Option<Duration>) -> Length {
    match (window.requests, first_warm_up) {
        (Some(_), _) => Length::AsPlanned,
        (None, Some(warm_up)) => Length::Window(window.warmed_up_for(warm_up)),
        (None, None) => Length::Window(window),
    }
}

/// How often an interrupt is looked for in a pause.
const LOOK: Duration = Duration::from_millis(100);

fn wait_until(until: Instant, interrupted: &AtomicBool) -> Result<(), TrialError> {
    while Instant::now() < until {
        if interrupted.load(Ordering::Relaxed) {
            return Err(TrialError::Interrupted);
        }
        std::thread::sleep(LOOK.min(until.saturating_duration_since(Instant::now())));
    }
    Ok(())
}

fn watch_plan(watched: Watched, cpus: &CpuPlan) -> WatchPlan {
    let mut sources = watched.sources;
    let is_here = matches!(watched.machine, WatchedMachine::This);
    if is_here && !sources.iter().any(Source::is_of_processes) {
        sources.extend(Source::of_processes(&watched.pids));
    }
    WatchPlan {
        target_pids: watched.pids,
        target_cpus: Some(watched.cpus.unwrap_or_else(|| cpus.target.clone())),
        ports: watched.ports,
        sources,
        machine: watched.machine,
        own_process: true,
        load_threads: Some(weir_load::THREADS),
        load_pids: Vec::new(),
        gate: watched.gate,
        arrivals: true,
    }
}

fn target_failed(error: &TargetError) -> TrialError {
    match error {
        TargetError::Interrupted => TrialError::Interrupted,
        other => TrialError::Environment(failed_to(other)),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// The numbers of another machine's CPUs are not those of this one's.
    #[test]
    fn only_cpus_of_this_machine_are_shared_with_the_load() {
        let cpus = |text: &str| text.parse::<CpuSet>().unwrap();
        let plan = CpuPlan {
            target: cpus("0"),
            load: cpus("1"),
        };
        let mut watched = Watched::default();
        assert_eq!(shared(&watched, &plan), None, "each has its own");
        watched.cpus = Some(cpus("0-1"));
        assert_eq!(shared(&watched, &plan), Some(cpus("1")));
        assert!(has_cpus_here(&watched));
        watched.machine = WatchedMachine::Unseen;
        assert_eq!(shared(&watched, &plan), None, "of another machine");
        assert!(!has_cpus_here(&watched));
    }
}
