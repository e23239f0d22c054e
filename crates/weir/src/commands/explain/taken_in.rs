//! `weir explain --jtl`: what a load test that was run without Weir says, from the files that it
//! left.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use weir_intake::{Part, TakenIn};
use weir_metric::{is_stage, stage_place};
use weir_record::{CpuScope, RunDirectory, Stage, StudyResult, TargetFacts, WhenFull};
use weir_report::text::Codes;
use weir_study::Outcome;

use super::ExplainArguments;
use crate::commands::studies;
use crate::error::ExpectedError;
use crate::intake::{Files, Loads};
use crate::output;
use crate::stored::{self, StoredRun};

/// Takes the files in, as a run of their own.
pub(super) fn run(arguments: &ExplainArguments) -> Result<u8, ExpectedError> {
    let monitors: Vec<PathBuf> = arguments
        .sar
        .iter()
        .chain(&arguments.csv)
        .cloned()
        .collect();
    let watches: Vec<RunDirectory> = arguments
        .watch
        .iter()
        .map(|run| stored::find(&arguments.runs, run))
        .collect::<Result<_, _>>()?;
    let files = Files {
        results: &arguments.jtl,
        monitors: &monitors,
        watches: &watches,
        zone: arguments.time_zone.as_deref(),
        dropped_s: arguments.warm_up,
        cpus: arguments.cpus,
        part: arguments.part.unwrap_or(Part::Largest),
    };
    let loads = files.take_in()?;
    let name = arguments.jtl[0].file_stem().map_or_else(
        || "load".to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    );
    let directory = studies::create_run(&arguments.runs, &name)?;
    let outcome = weir_study::of_files(
        loads
            .trials
            .iter()
            .map(|trial| trial.record.clone())
            .collect(),
        target(&loads),
    );
    let result = store(&directory, &loads, outcome, &monitors, arguments)?;
    let mut text = String::new();
    for trial in &loads.trials {
        let name = trial.record.case.as_deref().unwrap_or_default();
        let table = weir_report::text::run_table(&trial.record, Codes::OfJmeter);
        let users = match trial.record.population {
            0 => "it is not known how many users there were".to_owned(),
            users => format!("{users} users"),
        };
        let _ = writeln!(text, "{name}: {users}\n{table}");
    }
    text.push_str(&weir_report::text::summary(&result, output::width()));
    output::answer_lines(text.trim_end(), arguments.json.as_deref());
    let report = StoredRun::read(&directory)?.write_report(&directory)?;
    output::talk(&format!("report: {}", report.display()));
    match &arguments.json {
        Some(json) => output::json_to(json, &result)?,
        None => output::data(&directory.path().display().to_string()),
    }
    Ok(result.exit_code)
}

/// The server, as far as the files tell of it.
fn target(loads: &Loads) -> TargetFacts {
    TargetFacts {
        name: loads.host.clone().unwrap_or_else(|| "not named".to_owned()),
        kind: "taken in".to_owned(),
        recognised: None,
        cpus: loads.cpus.unwrap_or(0),
        cpu_scope: if loads.trials.iter().any(|trial| trial.record.cpu.is_some()) {
            CpuScope::OwnCpus
        } else {
            CpuScope::Unknown
        },
        stages: stages(loads),
    }
}

/// The stages whose limits a watch has read, outermost first.
fn stages(loads: &Loads) -> Vec<Stage> {
    let signals = loads.trials.iter().flat_map(|trial| &trial.record.signals);
    let limits: BTreeMap<&str, f64> = signals
        .filter_map(|(name, limit)| Some((name.strip_suffix(".limit")?, *limit)))
        .filter(|(stage, _)| is_stage(stage))
        .collect();
    let mut stages: Vec<Stage> = limits
        .into_iter()
        .map(|(name, limit)| Stage {
            name: name.to_owned(),
            native: None,
            limit: Some(limit),
            settable: false,
            when_full: WhenFull::Wait,
        })
        .collect();
    stages.sort_by_key(|stage| stage_place(&stage.name));
    stages
}

fn store(
    directory: &RunDirectory,
    loads: &Loads,
    outcome: Outcome,
    monitors: &[PathBuf],
    arguments: &ExplainArguments,
) -> Result<StudyResult, ExpectedError> {
    let mut manifest = studies::manifest(0, ".".into(), String::new());
    // The facts are those of the machine that was watched, not of this one.
    manifest.machine.clear();
    let files = arguments
        .jtl
        .iter()
        .chain(monitors)
        .map(|path| path.display().to_string());
    let files = files.collect::<Vec<_>>().join(", ");
    manifest.machine.insert("taken-in-from".to_owned(), files);
    let host = loads.host.clone().map(|host| ("host".to_owned(), host));
    let cpus = loads.cpus.map(|cpus| ("cpus".to_owned(), cpus.to_string()));
    manifest.machine.extend(host.into_iter().chain(cpus));
    directory
        .write_manifest(&manifest)
        .map_err(stored::failed)?;
    for trial in &loads.trials {
        store_trial(directory, trial)?;
    }
    let (result, _) =
        outcome.into_result(directory.id(), manifest.weir, Vec::new(), Duration::ZERO);
    directory.write_result(&result).map_err(stored::failed)?;
    Ok(result)
}

fn store_trial(directory: &RunDirectory, trial: &TakenIn) -> Result<(), ExpectedError> {
    let files = directory
        .start_trial(trial.record.id)
        .map_err(stored::failed)?;
    files
        .write_seconds(&trial.recording, trial.started)
        .map_err(studies::trial_failed)?;
    directory
        .write_record(&trial.record)
        .map_err(stored::failed)
}
