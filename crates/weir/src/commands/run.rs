//! `weir run`: one load test.
//!
//! Two grammars ([`grammar`]) lead to the same load: JMeter's command line ([`plan`]) and the short
//! form ([`url`]).

mod console;
pub(crate) mod grammar;
mod metrics;
mod plan;
mod properties;
mod proxy;
mod report_folder;
mod shutdown;
mod summariser;
mod url;
mod verdict;
mod with_jmeter;

use std::ffi::OsString;
use std::net::ToSocketAddrs as _;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_load::SampleSink;
use weir_probe::WatchPlan;
use weir_record::{
    Context, Levels, RUN_SCHEMA, Role, RunDirectory, RunResult, Status, Treatment, TrialRecord,
    Window, evaluate, failed_to,
};
use weir_rig::{Engine, Length, Measured, Measurement, measure};
use weir_script::{HttpVersion, ResolvedPlan};

use crate::commands::run::grammar::{RunArguments, SharedArguments};
use crate::error::ExpectedError;
use crate::hosts;
use crate::output;
use crate::plans;
use crate::progress::LiveView;

pub(crate) fn run(words: &[OsString]) -> Result<u8, ExpectedError> {
    match grammar::parse(words)? {
        RunArguments::Plan(arguments) => plan::run(&arguments),
        RunArguments::Url(arguments) => url::run(&arguments),
    }
}

/// One load that is going to run.
struct Load<'a> {
    plan: ResolvedPlan,
    shared: &'a SharedArguments,
    samples: Option<SampleSink>,
    samples_max: Option<u64>,
    interrupted: &'a AtomicBool,
}

/// Runs a load and watches it; what was measured, and how many users there were to be.
fn measure_load(load: Load<'_>) -> Result<(Measured, u32), ExpectedError> {
    let Load {
        mut plan, shared, ..
    } = load;
    if shared.http2 {
        plan.http_version = HttpVersion::Two;
    }
    let target = shared.target.as_deref().map(plans::target).transpose()?;
    let named = plans::hosts(&plan, target.as_ref())?;
    hosts::check(&named, &shared.allow_host)?;
    let population = plan.groups.iter().map(|group| group.users).sum();
    let measurement = Measurement {
        engine: Engine::Native(Box::new(plan)),
        target,
        allowed_hosts: hosts::allowed(&shared.allow_host)?,
        load_cpus: shared.load_cpus.clone(),
        seed: shared.seed,
        watch: watch_plan(shared, &named),
        samples_max: load.samples_max,
        samples: load.samples,
        length: Length::AsPlanned,
        interrupted: load.interrupted,
    };
    Ok((measured(measurement)?, population))
}

/// Measures, with a live view.
fn measured(measurement: Measurement<'_>) -> Result<Measured, ExpectedError> {
    let mut view = LiveView::new("");
    let measured = measure(measurement, &mut view, || Ok(()));
    view.finish();
    let mut measured = measured.map_err(super::studies::trial_failed)?;
    if let Some(error) = measured.failed.take() {
        return Err(super::studies::trial_failed(error));
    }
    Ok(measured)
}

/// Whether the load stays on this machine, so that its CPUs tell about the target.
fn watch_plan(shared: &SharedArguments, named: &[hosts::NamedHost]) -> WatchPlan {
    let ports = named
        .iter()
        .filter(|named| {
            (named.host.as_str(), named.port)
                .to_socket_addrs()
                .is_ok_and(|mut found| found.all(|address| address.ip().is_loopback()))
        })
        .map(|named| named.port)
        .collect();
    WatchPlan {
        target_pids: shared.target_pid.into_iter().collect(),
        target_cpus: shared.target_cpus.clone(),
        ports,
        metrics_url: None,
        own_process: true,
        load_pids: Vec::new(),
    }
}

/// What is told of a run beside its record.
struct Conclusion<'a> {
    shared: &'a SharedArguments,
    /// What was run.
    name: &'a str,
    /// Where the result is stored too.
    stored: Option<&'a RunDirectory>,
}

/// Tells what was measured and whether it is what was required, and stores it where a directory or a
/// file for it is given.
fn conclude(
    measured: &Measured,
    record: TrialRecord,
    conclusion: &Conclusion<'_>,
) -> Result<u8, ExpectedError> {
    let shared = conclusion.shared;
    output::talk(&weir_report::text::run_table(&record));
    for why in &record.invalid_because {
        output::talk(&format!("not valid: {why}"));
    }
    let verdicts = verdict::judge(&shared.require, &record);
    let status = if measured.interrupted {
        Status::Interrupted
    } else if !record.valid {
        Status::Invalid
    } else if verdicts.iter().all(verdict::Verdict::is_met) {
        Status::Answered
    } else {
        Status::NotMet
    };
    let exit_code = weir_study::exit_code(status);
    if let Some(file) = &shared.junit {
        verdict::write_junit(file, conclusion.name, &record, &verdicts)?;
    }
    let result = RunResult {
        schema: RUN_SCHEMA.to_owned(),
        weir: env!("CARGO_PKG_VERSION").to_owned(),
        run: conclusion.stored.map(RunDirectory::id),
        exit_code,
        status,
        requirements: verdicts
            .into_iter()
            .filter_map(|verdict| verdict.check)
            .collect(),
        trial: record,
    };
    if let Some(stored) = conclusion.stored {
        output::json_to(&stored.single_path(), &result)?;
    }
    if let Some(json) = &shared.json {
        output::json_to(json, &result)?;
    }
    if let Some(problem) = measured.load.problem() {
        return Err(ExpectedError::Environment(problem.to_owned()));
    }
    Ok(exit_code)
}

fn record(
    measured: &Measured,
    population: u32,
    shared: &SharedArguments,
) -> Result<TrialRecord, ExpectedError> {
    let treatment = Treatment {
        id: 1,
        role: Role::Case,
        case: None,
        levels: Levels::new(),
        window: Window::fixed(Duration::ZERO, measured.elapsed),
        seed: shared.seed,
    };
    let context = Context {
        treatment: &treatment,
        population,
        target_cpus: shared
            .target_cpus
            .as_ref()
            .map_or_else(all_cpus, |cpus| cpus.count() as u32),
        load_cpus: Some(
            shared
                .load_cpus
                .as_ref()
                .map_or_else(all_cpus, |cpus| cpus.count() as u32),
        ),
        repeats: 0,
        ended_after: Some(measured.elapsed),
        against: measured.against(),
    };
    let record = evaluate(&measured.recording, measured.window.clone(), &context);
    let mut record = record.map_err(|error| {
        if measured.interrupted {
            ExpectedError::Interrupted
        } else {
            ExpectedError::Invalid(failed_to(&error))
        }
    })?;
    if let Some(arrivals) = measured.load.arrivals() {
        record.note_arrivals(arrivals.not_started, arrivals.skipped);
    }
    Ok(record)
}

/// CPUs that this process may use; they are the default for everybody.
fn all_cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}
