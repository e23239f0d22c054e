//! The runner of real trials.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weir_plan::LoadPlan;
use weir_probe::{MetricsUrl, WatchPlan};
use weir_record::{
    Context, Levels, RunDirectory, TargetFacts, Treatment, TrialError, TrialFiles, TrialObserver,
    TrialRecord, TrialRunner, disturbance, evaluate, failed_to,
};
use weir_script::{Origin, Properties, ResolvedPlan, Target, resolve};
use weir_target::{Builtin, TargetError};

use crate::cpus::CpuPlan;
use crate::levels;
use crate::measure::{Length, Measured, Measurement, measure};

/// How often a trial is thrown away because others used the target's CPUs.
const REPEATS_WHEN_DISTURBED: u32 = 2;

/// What a rig works with.
#[derive(Debug)]
pub struct RigOptions {
    /// The server, running.
    pub target: Builtin,
    /// The plan of the load.
    pub plan: LoadPlan,
    /// Properties of the plan that no factor sets.
    pub properties: Properties,
    /// The property that the factor `users` sets.
    pub users_property: Option<String>,
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
}

impl Rig {
    /// A rig around a running server.
    pub fn new(options: RigOptions) -> Self {
        let cpus = &options.cpus;
        let facts = options
            .target
            .facts(cpus.target.count() as u32, cpus.scope());
        Self { options, facts }
    }

    /// Stops the server.
    pub fn stop(self) {
        self.options.target.stop();
    }

    fn resolved(&self, levels: &Levels, seed: u64) -> Result<ResolvedPlan, TrialError> {
        let plan = levels::with_parameters(&self.options.plan, levels);
        let properties = levels::properties(
            levels,
            &self.options.properties,
            self.options.users_property.as_deref(),
        );
        resolve(&plan, &properties, Origin { seed, epoch_ms: 0 })
            .map_err(|error| TrialError::Input(failed_to(&error)))
    }

    fn attempt(
        &mut self,
        treatment: &Treatment,
        plan: ResolvedPlan,
        repeats: u32,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let options = &mut self.options;
        let files = options
            .directory
            .start_trial(treatment.id)
            .map_err(|error| TrialError::Storage(failed_to(&error)))?;
        let limits = levels::limits(&treatment.levels).map_err(TrialError::Input)?;
        options
            .target
            .apply(&limits)
            .map_err(|error| target_failed(&error))?;
        let log_from = options.target.log_length();
        let population = population(&plan);
        let address = options.target.address();
        let measurement = Measurement {
            plan,
            target: Some(Target::from(address)),
            load_cpus: Some(options.cpus.load.clone()),
            seed: treatment.seed,
            watch: watch_plan(&options.target, &options.cpus, address),
            samples: Some(files.samples()),
            length: Length::Window(treatment.window),
            interrupted: &options.interrupted,
        };
        let target = &mut options.target;
        let measured = measure(measurement, observer, || {
            target.check_alive().map_err(|error| target_failed(&error))
        })?;
        // A trial that was cut short counts for nothing, and its files tell why.
        let stored = store_seconds(&measured, &files);
        let log = target
            .copy_log(log_from, &files.target_log())
            .map_err(|error| target_failed(&error));
        if let Some(error) = measured.failed {
            return Err(error);
        }
        stored.and(log)?;
        if let Some(problem) = &measured.load.problem {
            return Err(TrialError::Storage(problem.clone()));
        }
        if measured.interrupted {
            return Err(TrialError::Interrupted);
        }
        target
            .check_alive()
            .map_err(|error| target_failed(&error))?;
        let context = Context {
            treatment,
            population,
            target_cpus: options.cpus.target.count() as u32,
            load_cpus: Some(options.cpus.load.count() as u32),
            repeats,
            ended_after: None,
            against: measured.against(),
        };
        evaluate(&measured.recording, measured.window, &context)
            .map_err(|error| TrialError::Storage(failed_to(&error)))
    }
}

impl TrialRunner for Rig {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, levels: &Levels) -> u32 {
        self.resolved(levels, 0).map_or(0, |plan| population(&plan))
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let plan = self.resolved(&treatment.levels, treatment.seed)?;
        let mut repeats = 0;
        let record = loop {
            let record = self.attempt(treatment, plan.clone(), repeats, observer)?;
            let Some(why) = disturbance(&record, self.facts.cpus) else {
                break record;
            };
            if repeats == REPEATS_WHEN_DISTURBED {
                break record;
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

fn population(plan: &ResolvedPlan) -> u32 {
    plan.groups.iter().map(|group| group.users).sum()
}

fn watch_plan(target: &Builtin, cpus: &CpuPlan, address: SocketAddr) -> WatchPlan {
    WatchPlan {
        target_pids: vec![target.pid()],
        target_cpus: Some(cpus.target.clone()),
        ports: vec![address.port()],
        metrics_url: target.metrics_url().parse::<MetricsUrl>().ok(),
        own_process: true,
    }
}

fn target_failed(error: &TargetError) -> TrialError {
    TrialError::Environment(failed_to(error))
}

fn store_seconds(measured: &Measured, files: &TrialFiles) -> Result<(), TrialError> {
    let recording = &measured.recording;
    let path = files.timeline();
    recording
        .timeline
        .write_csv(create(&path)?)
        .map_err(|error| not_written(&path, &error))?;
    let path = files.responses();
    let mut out = create(&path)?;
    recording
        .histograms
        .write_hlog(&mut out, measured.started)
        .map_err(|error| not_written(&path, &error))?;
    out.flush().map_err(|error| not_written(&path, &error))
}

fn create(path: &Path) -> Result<BufWriter<File>, TrialError> {
    File::create(path)
        .map(BufWriter::new)
        .map_err(|error| not_written(path, &error))
}

/// The file, and the operating system's own words, which lie at the end of the causes.
fn not_written(path: &Path, error: &dyn Error) -> TrialError {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    TrialError::Storage(format!("failed to write `{}`: {cause}", path.display()))
}
