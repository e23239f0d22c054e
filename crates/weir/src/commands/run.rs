//! `weir run`: one load test.

pub(crate) mod grammar;
mod with_jmeter;

use std::ffi::OsString;
use std::net::ToSocketAddrs as _;
use std::path::Path;
use std::time::Duration;

use weir_plan::{Argument, HttpRequest, LoadPlan, Sampler, Schedule, Template, ThreadGroup};
use weir_probe::WatchPlan;
use weir_record::{
    Context, Levels, RUN_SCHEMA, Role, RunDirectory, RunResult, Status, Treatment, TrialRecord,
    Window, evaluate, failed_to,
};
use weir_rig::{Engine, Length, Measured, Measurement, measure};
use weir_script::{Properties, ResolvedPlan};

use crate::commands::run::grammar::{
    EngineName, PlanArguments, RunArguments, SharedArguments, UrlArguments,
};
use crate::error::ExpectedError;
use crate::hosts;
use crate::plans;
use crate::progress::LiveView;
use crate::{interrupt, output};

pub(crate) fn run(words: &[OsString]) -> Result<u8, ExpectedError> {
    match grammar::parse(words)? {
        RunArguments::Plan(arguments) => run_plan(&arguments),
        RunArguments::Url(arguments) => run_url(&arguments),
    }
}

fn run_plan(arguments: &PlanArguments) -> Result<u8, ExpectedError> {
    let path = arguments
        .path()
        .ok_or_else(|| ExpectedError::Input("name a plan: weir run PLAN.jmx".to_owned()))?;
    let properties = properties(arguments)?;
    if arguments.engine == EngineName::Jmeter {
        return with_jmeter::run(path, &properties, arguments);
    }
    let plan = plans::read(path)?;
    let resolved = plans::resolve(&plan, &properties, arguments.shared.seed)?;
    one_load(resolved, &arguments.shared, arguments.log_file.as_deref())
}

fn properties(arguments: &PlanArguments) -> Result<Properties, ExpectedError> {
    let mut properties = Properties::new();
    for file in &arguments.property_file {
        let text = std::fs::read_to_string(file)
            .map_err(|error| ExpectedError::Input(format!("{}: {error}", file.display())))?;
        properties.load(&text);
    }
    for (name, value) in properties_typed(arguments) {
        properties.set(name, value);
    }
    Ok(properties)
}

/// What `-J` gives, in the order in which it was typed.
fn properties_typed(arguments: &PlanArguments) -> impl Iterator<Item = (&str, &str)> {
    let typed = arguments.property.iter();
    typed.map(|given| given.split_once('=').unwrap_or((given, "")))
}

fn run_url(arguments: &UrlArguments) -> Result<u8, ExpectedError> {
    let plan = plan_of_url(arguments)?;
    let resolved = plans::resolve(&plan, &Properties::new(), arguments.shared.seed)?;
    one_load(resolved, &arguments.shared, None)
}

/// A closed workload of users that ask for one URL again and again, without think time.
fn plan_of_url(arguments: &UrlArguments) -> Result<LoadPlan, ExpectedError> {
    let literal = |text: &str| Template::literal(text);
    let headers = arguments
        .header
        .iter()
        .map(|header| match header.split_once(':') {
            Some((name, value)) => Ok((literal(name.trim()), literal(value.trim()))),
            None => Err(ExpectedError::Input(format!(
                "-H `{header}`: a header is written `Name: value`"
            ))),
        })
        .collect::<Result<_, _>>()?;
    let body = arguments.body.as_ref().map(|body| Argument {
        name: literal(""),
        value: literal(body),
        always_encode: false,
        use_equals: false,
        content_type: Template::default(),
    });
    let request = HttpRequest {
        path: literal(arguments.url.as_str()),
        method: literal(&arguments.method),
        raw_body: body.is_some(),
        arguments: body.into_iter().collect(),
        headers,
        keep_alive: !arguments.no_keepalive,
        ..HttpRequest::default()
    };
    let sampler = Sampler::http(literal(arguments.url.path()), request);
    let group = ThreadGroup {
        name: literal("users"),
        users: literal(&arguments.connections.to_string()),
        ramp_up_s: literal("0"),
        schedule: Some(Schedule {
            duration_s: literal(&arguments.duration.as_secs_f64().to_string()),
            delay_s: literal("0"),
        }),
        nodes: vec![sampler.into()],
        ..ThreadGroup::default()
    };
    Ok(LoadPlan {
        name: arguments.url.to_string(),
        groups: vec![group],
        ..LoadPlan::default()
    })
}

fn one_load(
    plan: ResolvedPlan,
    shared: &SharedArguments,
    samples: Option<&Path>,
) -> Result<u8, ExpectedError> {
    let target = shared.target.as_deref().map(plans::target).transpose()?;
    let named = plans::hosts(&plan, target.as_ref())?;
    hosts::check(&named, &shared.allow_host)?;
    let interrupted = interrupt::flag()?;
    let population = plan.groups.iter().map(|group| group.users).sum();
    let measurement = Measurement {
        engine: Engine::Native(Box::new(plan)),
        target,
        load_cpus: shared.load_cpus.clone(),
        seed: shared.seed,
        watch: watch_plan(shared, &named),
        samples: samples.map(Path::to_owned),
        length: Length::AsPlanned,
        interrupted: &interrupted,
    };
    let measured = measured(measurement)?;
    let record = record(&measured, population, shared)?;
    conclude(&measured, record, None, shared)
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

/// Tells the record, and stores it where a directory or a file for it is given.
fn conclude(
    measured: &Measured,
    record: TrialRecord,
    stored: Option<&RunDirectory>,
    shared: &SharedArguments,
) -> Result<u8, ExpectedError> {
    output::talk(&weir_report::text::run_table(&record));
    let status = if measured.interrupted {
        Status::Interrupted
    } else if record.valid {
        Status::Answered
    } else {
        Status::Invalid
    };
    let exit_code = weir_study::exit_code(status);
    for why in &record.invalid_because {
        output::talk(&format!("not valid: {why}"));
    }
    let result = RunResult {
        schema: RUN_SCHEMA.to_owned(),
        weir: env!("CARGO_PKG_VERSION").to_owned(),
        run: stored.map(RunDirectory::id),
        exit_code,
        status,
        trial: record,
    };
    if let Some(stored) = stored {
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
    evaluate(&measured.recording, measured.window.clone(), &context).map_err(|error| {
        if measured.interrupted {
            ExpectedError::Interrupted
        } else {
            ExpectedError::Invalid(failed_to(&error))
        }
    })
}

/// CPUs that this process may use; they are the default for everybody.
fn all_cpus() -> u32 {
    std::thread::available_parallelism().map_or(1, |count| count.get() as u32)
}
