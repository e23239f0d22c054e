//! The evidence of a run, whichever command recorded it.

use std::fs;
use std::path::Path;

use weir_explain::{Evidence, MachineCpus, contradicted, diagnose, disagreement};
use weir_record::{Finding, Role, RunDirectory, RunResult, TargetFacts, TrialRecord};

use crate::error::ExpectedError;
use crate::job::RATE;
use crate::output;
use crate::stored;

/// Reads a run by path, name or `last`, or the file of `weir run --json`.
pub(super) fn read(
    runs: &Path,
    named: &str,
    trial: Option<u32>,
) -> Result<Evidence, ExpectedError> {
    let path = Path::new(named);
    if path.is_file() {
        return of_file(named, trial);
    }
    let directory = stored::find(runs, named)?;
    let name = directory.path().display().to_string();
    if directory.watch_path().is_file() {
        let watch = directory.watch().map_err(stored::failed)?;
        return match trial {
            Some(_) => Err(ExpectedError::Input(format!(
                "{name}: a watch has no trials; leave --trial out"
            ))),
            None => Ok(Evidence::of_watch(&name, &watch)),
        };
    }
    let run = Run {
        machine: machine_cpus(&directory),
        target: None,
        is_held: false,
        findings: Vec::new(),
        name,
    };
    if directory.single_path().is_file() {
        return run.evidence(&[stored::single(&directory)?.trial], trial);
    }
    if !directory.result_path().is_file() {
        // A study that was interrupted has its trials.
        return run.evidence(&directory.records().map_err(stored::failed)?, trial);
    }
    let result = directory.result().map_err(stored::failed)?;
    let held = result.held.as_ref();
    // No setting holds the check of a largest rate back: it is a trial like the others.
    let is_rate = result
        .answer
        .as_ref()
        .is_some_and(|answer| answer.factor == RATE);
    let is_held = held.is_some_and(|held| held.passed) && !is_rate;
    let target = Some(result.target);
    let run = Run {
        target,
        is_held,
        findings: result.findings,
        ..run
    };
    run.evidence(&result.trials, trial)
}

fn of_file(named: &str, trial: Option<u32>) -> Result<Evidence, ExpectedError> {
    let content =
        fs::read(named).map_err(|error| ExpectedError::Environment(format!("{named}: {error}")))?;
    if !content.trim_ascii_start().starts_with(b"{") {
        return Err(ExpectedError::Input(format!(
            "{named}: it is no run; a result file of JMeter is taken in first: weir explain --jtl {named}"
        )));
    }
    let result: RunResult = serde_json::from_slice(&content).map_err(|error| {
        ExpectedError::Input(format!(
            "{named}: it is not what `weir run --json` writes: {error}"
        ))
    })?;
    let run = Run {
        name: named.to_owned(),
        target: None,
        is_held: false,
        findings: Vec::new(),
        machine: None,
    };
    run.evidence(&[result.trial], trial)
}

/// What is known of a run beside its trials.
struct Run {
    name: String,
    target: Option<TargetFacts>,
    /// Whether settings were found that hold: in the trials of their check requests wait because
    /// they are to.
    is_held: bool,
    /// What the study found by itself.
    findings: Vec<Finding>,
    machine: MachineCpus,
}

impl Run {
    /// That of the trial asked for, or of the one with the most requests in flight: it shows most.
    /// Where settings hold, one of the trials that led to them.
    fn evidence(
        &self,
        trials: &[TrialRecord],
        asked: Option<u32>,
    ) -> Result<Evidence, ExpectedError> {
        let ids: Vec<u32> = trials.iter().map(|trial| trial.id).collect();
        let of = |trial: &TrialRecord| {
            Evidence::of_trial(&self.name, trial, self.target.as_ref(), self.machine)
        };
        let in_flight = |trial: &TrialRecord| of(trial).in_flight.unwrap_or(0.0);
        let is_check = |trial: &TrialRecord| self.is_held && trial.role == Role::Check;
        let chosen = match asked {
            Some(id) => trials.iter().find(|trial| trial.id == id),
            None => trials.iter().max_by(|a, b| {
                (a.valid, !is_check(a), in_flight(a))
                    .partial_cmp(&(b.valid, !is_check(b), in_flight(b)))
                    .unwrap_or(std::cmp::Ordering::Equal)
            }),
        };
        if let (None, Some(check)) = (asked, trials.iter().find(|trial| is_check(trial))) {
            output::talk(&format!(
                "the trials of the check are left out: there the settings hold the load back, as they are to; \
                 --trial {} explains one",
                check.id
            ));
        }
        let chosen = chosen.map(|trial| {
            let diagnosis = |trial: &TrialRecord| diagnose(&of(trial));
            let against = contradicted(&self.findings, trials, trial.id, diagnosis);
            let mut evidence = of(trial);
            evidence.notes.extend(disagreement(&against));
            evidence.contradicts = against.iter().map(|finding| finding.id.clone()).collect();
            evidence
        });
        chosen.ok_or_else(|| {
            let ids = ids
                .iter()
                .map(u32::to_string)
                .collect::<Vec<_>>()
                .join(", ");
            let there = if ids.is_empty() {
                "it has none".to_owned()
            } else {
                format!("there are {ids}")
            };
            let asked = asked.map_or_else(|| "a trial".to_owned(), |id| format!("trial {id}"));
            ExpectedError::Input(format!("{}: {asked} is not in the run; {there}", self.name))
        })
    }
}

/// CPUs of the machine on which the target ran: of another one, that one's.
fn machine_cpus(directory: &RunDirectory) -> MachineCpus {
    let machine = directory.manifest().ok()?.machine;
    let cpus = machine.get("target.cpus").or_else(|| machine.get("cpus"));
    cpus.and_then(|cpus| cpus.parse().ok())
}
