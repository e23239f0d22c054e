//! `weir run`: one load test.
//!
//! Two grammars ([`grammar`]) lead to the same load: JMeter's command line ([`plan`]) and the short
//! form ([`url`]).

mod before;
mod console;
mod engine;
mod files;
pub(crate) mod grammar;
mod kept;
mod log;
mod metrics;
mod plan;
mod properties;
mod proxy;
mod report_folder;
mod shutdown;
pub(crate) mod spellings;
mod stop_when;
mod summariser;
mod url;
mod values;
pub(crate) mod verdict;
mod with_jmeter;

use std::ffi::OsString;
use std::net::ToSocketAddrs as _;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weir_load::SampleSink;
use weir_metric::CpuSet;
use weir_probe::{Source, WatchPlan};
use weir_record::{
    Context, Levels, LoadCpus, LoadSecond, RUN_SCHEMA, Role, RunDirectory, RunResult, SecondView,
    Status, Treatment, TrialObserver, TrialRecord, Window, evaluate, failed_to,
};
use weir_report::text::Codes;
use weir_rig::{Engine, Length, Measured, Measurement, measure};
use weir_script::{HttpVersion, ResolvedPlan};

use crate::commands::run::grammar::{RunArguments, SharedArguments};
use crate::commands::run::metrics::Metrics;
use crate::commands::run::stop_when::StopWhen;
use crate::error::ExpectedError;
use crate::output;
use crate::plans;
use crate::progress::LiveView;
use crate::{answering, hosts, stored};

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
    metrics: Option<Metrics>,
    samples_max: Option<u64>,
    /// Users that are refused again and again wait before they try once more.
    backs_off: bool,
    /// Nothing is sent where nobody takes a first connection.
    asks_first: bool,
    interrupted: &'a AtomicBool,
}

/// Runs a load and watches it; what was measured, and how many users there were to be.
fn measure_load(load: Load<'_>) -> Result<(Ran, u32), ExpectedError> {
    let Load {
        mut plan, shared, ..
    } = load;
    if shared.http2 {
        plan.http_version = HttpVersion::Two;
    }
    let target = shared.target.as_deref().map(plans::target).transpose()?;
    let named = plans::hosts(&plan, target.as_ref())?;
    hosts::check(&named, &shared.allow_host)?;
    if load.asks_first {
        answering::ask_all(&named)?;
    }
    let population = plan.groups.iter().map(|group| group.users).sum();
    let measurement = Measurement {
        engine: Engine::Native(Box::new(plan)),
        target,
        allowed_hosts: hosts::allowed(&shared.allow_host)?,
        load_cpus: shared.load_cpus.clone(),
        seed: shared.seed,
        watch: watch_plan(shared, &named),
        samples_max: load.samples_max,
        backs_off: load.backs_off,
        samples: load.samples,
        length: Length::AsPlanned,
        interrupted: load.interrupted,
    };
    let stop = StopWhen::new(&shared.stop_when, load.interrupted);
    Ok((measured(measurement, load.metrics, stop)?, population))
}

/// A run that has ended.
struct Ran {
    measured: Measured,
    /// What of `--stop-when` ended it.
    stopped: Option<String>,
}

/// Whoever follows a run while it lasts.
struct Audience<'a> {
    view: LiveView,
    metrics: Option<Metrics>,
    stop: StopWhen<'a>,
}

impl TrialObserver for Audience<'_> {
    fn second(&mut self, view: &SecondView) {
        self.view.second(view);
    }

    fn load(&mut self, second: &LoadSecond) {
        if let Some(metrics) = &self.metrics {
            metrics.second(second);
        }
        self.stop.second(second);
    }

    fn note(&mut self, text: &str) {
        self.view.note(text);
    }
}

/// Measures, with a live view.
fn measured(
    measurement: Measurement<'_>,
    metrics: Option<Metrics>,
    stop: StopWhen<'_>,
) -> Result<Ran, ExpectedError> {
    let view = LiveView::new("");
    let mut audience = Audience {
        view,
        metrics,
        stop,
    };
    let measured = measure(measurement, &mut audience, || Ok(()));
    audience.view.finish();
    let mut measured = measured.map_err(super::studies::trial_failed)?;
    for refused in measured.load.refused() {
        output::talk(&format!("the plan may not {refused}"));
    }
    for unread in measured.load.unread() {
        output::talk(&format!("a data file could not be read: {unread}"));
    }
    if let Some(error) = measured.failed.take() {
        return Err(super::studies::trial_failed(error));
    }
    let stopped = audience.stop.why;
    // Nobody has interrupted it who wants the program to end.
    measured.interrupted &= stopped.is_none();
    Ok(Ran { measured, stopped })
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
    let target_pids: Vec<u32> = shared.target_pid.into_iter().collect();
    WatchPlan {
        sources: Source::of_processes(&target_pids),
        target_pids,
        target_cpus: shared.target_cpus.clone(),
        ports,
        own_process: true,
        load_threads: Some(weir_load::THREADS),
        arrivals: true,
        ..WatchPlan::default()
    }
}

/// What is told of a run beside its record.
struct Conclusion<'a> {
    shared: &'a SharedArguments,
    /// What was run.
    name: &'a str,
    /// A plan ran: standard output has what JMeter writes there.
    is_plan: bool,
    /// What of `--stop-when` ended the run.
    stopped: Option<&'a str>,
    /// Where the result is stored too.
    stored: Option<&'a RunDirectory>,
}

/// Tells what was measured and whether it is what was required, and stores it where a directory or
/// a file for it is given.
fn conclude(
    measured: &Measured,
    record: TrialRecord,
    conclusion: &Conclusion<'_>,
) -> Result<u8, ExpectedError> {
    let shared = conclusion.shared;
    if measured.interrupted {
        output::talk(&format!(
            "interrupted after {:.1} s; this is what was measured until then",
            measured.elapsed.as_secs_f64()
        ));
    }
    if conclusion.is_plan {
        output::talk_lines(&weir_report::text::run_table(&record, Codes::OfJmeter));
    } else {
        let table = weir_report::text::run_table(&record, Codes::InWords);
        output::answer_lines(&table, shared.json.as_deref());
    }
    if let Some(why) = conclusion.stopped {
        output::talk(why);
    }
    let verdicts = verdict::judge(&shared.require, &record);
    let status = if measured.interrupted {
        Status::Interrupted
    } else if !record.valid {
        Status::Invalid
    } else if conclusion.stopped.is_none() && verdicts.iter().all(verdict::Verdict::is_met) {
        Status::Answered
    } else {
        Status::NotMet
    };
    let exit_code = weir_study::exit_code(status);
    if let Some(file) = &shared.junit {
        let spoilt = match status {
            Status::Interrupted => Some("the run was interrupted".to_owned()),
            _ if conclusion.stopped.is_some() => conclusion.stopped.map(str::to_owned),
            _ => (!record.valid).then(|| record.invalid_because.join("; ")),
        };
        verdict::write_junit(file, conclusion.name, &record, spoilt, &verdicts)?;
    }
    if let Some(file) = &shared.hlog {
        write_hlog(file, measured)?;
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
        stored.write_single(&result).map_err(stored::failed)?;
    }
    if let Some(json) = &shared.json {
        output::json_to(json, &result)?;
    }
    if let Some(problem) = measured.load.problem() {
        return Err(ExpectedError::Environment(problem.to_owned()));
    }
    Ok(exit_code)
}

fn write_hlog(file: &Path, measured: &Measured) -> Result<(), ExpectedError> {
    let failed = |error: &dyn std::error::Error| {
        let says = failed_to(error);
        ExpectedError::Environment(format!("--hlog {}: {says}", file.display()))
    };
    let mut text = Vec::new();
    let histograms = &measured.recording.histograms;
    let written = histograms.write_hlog(&mut text, measured.started);
    written.map_err(|error| failed(&error))?;
    weir_record::write_whole(file, &text).map_err(|error| failed(&error))
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
        block: None,
        levels: Levels::new(),
        window: Window::fixed(Duration::ZERO, measured.elapsed),
        seed: shared.seed,
    };
    let context = Context {
        treatment: &treatment,
        population,
        target_cpus: shared.target_cpus.as_ref().map_or_else(all_cpus, count),
        load: Some(load_cpus(shared)),
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
    record.signal_origins.clone_from(&measured.origins);
    if let Some(arrivals) = measured.load.arrivals() {
        record.note_arrivals(arrivals.not_started, arrivals.skipped);
    }
    if let Some((received, sent)) = measured.load.bytes() {
        let seconds = measured.elapsed.as_secs_f64().max(1e-3);
        record.note_bytes(received as f64 / seconds, sent as f64 / seconds);
    }
    record.adjust(measured.load.adjustments());
    record.note_redirects(REDIRECTS_NOTED);
    Ok(record)
}

/// Redirects that are at least this share of a run's responses are more than an exception.
const REDIRECTS_NOTED: f64 = 0.01;

/// The load's CPUs, and those that the process that is watched may use, too.
fn load_cpus(shared: &SharedArguments) -> LoadCpus {
    let cpus = shared.load_cpus.as_ref().map_or_else(all_cpus, count);
    let of_target = match (&shared.target_cpus, &shared.load_cpus) {
        (Some(target), Some(load)) => target.in_common(load).as_ref().map_or(0, count),
        (Some(target), None) => count(target),
        (None, _) => cpus,
    };
    LoadCpus {
        cpus,
        of_target: shared.target_pid.map_or(0, |_| of_target),
    }
}

fn count(cpus: &CpuSet) -> u32 {
    cpus.count() as u32
}

/// CPUs that this process may use; they are the default for everybody.
fn all_cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}
