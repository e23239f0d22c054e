//! `weir explain RUN --run`: the trial that decides on the first hypothesis, run with the study of the run.
//!
//! Two cases, as it was and with one level changed, in turns, three times each: what changes is the level and not the hour.

use std::path::Path;

use toml::{Table, Value};
use weir_explain::{Decision, Decisive, Diagnosis, Response};
use weir_record::{Level, RunDirectory, StudyResult, TrialRecord};

use crate::commands::studies::{self, StudyArguments};
use crate::error::ExpectedError;
use crate::job::Job;
use crate::{output, stored};

/// How often each case is run.
const REPLICATES: i64 = 3;
const AS_IT_WAS: &str = "as it was";
const CHANGED: &str = "changed";

/// Runs the trial and says what it decides; `None`, with the reason told, when there is none that can be run.
pub(super) fn run(
    runs: &Path,
    named: &str,
    diagnosis: &Diagnosis,
) -> Result<Option<Decision>, ExpectedError> {
    let Some(decisive) = Decisive::of(diagnosis) else {
        output::talk(
            "--run: the first hypothesis names no trial that a study can run (twice a limit, fewer users); what would \
             decide stands with it",
        );
        return Ok(None);
    };
    let directory = stored::find(runs, named)?;
    if directory.single_path().is_file() || directory.watch_path().is_file() {
        return Err(ExpectedError::Input(format!(
            "{}: --run repeats a trial of a study, and this run has none; it was one load or a watch",
            directory.path().display()
        )));
    }
    let result = directory.result().map_err(stored::failed)?;
    let trial = result
        .trials
        .iter()
        .find(|trial| Some(trial.id) == diagnosis.trial);
    let trial =
        trial.ok_or_else(|| ExpectedError::Input(format!("{named}: the trial is not stored")))?;
    let factor = &decisive.change.factor;
    let was = level(trial, &result, factor).ok_or_else(|| {
        ExpectedError::Input(format!(
            "{named}: the level of `{factor}` in trial {} is not known",
            trial.id
        ))
    })?;
    let levels = [was, decisive.level(was)];
    output::talk(&format!(
        "deciding on `{}`: {factor} {was} and {}",
        decisive.hypothesis.id, levels[1]
    ));
    let study = study_of(&directory, trial, factor, levels)?;
    let job = Job::again(&directory, &format!("explain-{}", decisive.idea.id), study)?;
    studies::run(&job, &StudyArguments::below(runs), false)?;
    let decided = stored::find(runs, "last")?;
    let trials = decided.result().map_err(stored::failed)?.trials;
    let responses = [AS_IT_WAS, CHANGED].map(|case| response(&trials, case));
    let [Some(before), Some(after)] = responses else {
        return Err(ExpectedError::Invalid(
            "--run: no trial of one of the two cases can be used".to_owned(),
        ));
    };
    let place = decided.path().display().to_string();
    Ok(Some(decisive.decide(levels, [before, after], &place)))
}

/// The level of a factor in a trial: as it was set, else as it was read, else as the server was found.
fn level(trial: &TrialRecord, result: &StudyResult, factor: &str) -> Option<f64> {
    let read = || trial.signals.get(&format!("{factor}.limit")).copied();
    let found = || result.target.stage(factor)?.limit;
    trial.level(factor).or_else(read).or_else(found)
}

/// The study of a run, with the trial's levels in two cases instead of its own question.
fn study_of(
    directory: &RunDirectory,
    trial: &TrialRecord,
    factor: &str,
    levels: [f64; 2],
) -> Result<String, ExpectedError> {
    let manifest = directory.manifest().map_err(stored::failed)?;
    let wrong = |why: &dyn std::fmt::Display| {
        ExpectedError::Input(format!(
            "{}: its study cannot be read again: {why}",
            directory.path().display()
        ))
    };
    let mut study: Table = manifest.study.parse().map_err(|error| wrong(&error))?;
    study.remove("find");
    study.remove("sweep");
    let case = |name: &str, to: f64| {
        let others = trial.levels.iter().filter(|(name, _)| *name != factor);
        let set = others.map(|(name, level)| (name.clone(), value(level)));
        let set: Table = set.chain([(factor.to_owned(), number(to))]).collect();
        Value::Table(Table::from_iter([
            ("name".to_owned(), Value::from(name)),
            ("set".to_owned(), Value::Table(set)),
        ]))
    };
    let sweep = Table::from_iter([
        ("design".to_owned(), Value::from("cases")),
        ("replicates".to_owned(), Value::from(REPLICATES)),
        (
            "case".to_owned(),
            Value::Array(vec![case(AS_IT_WAS, levels[0]), case(CHANGED, levels[1])]),
        ),
    ]);
    study.insert("sweep".to_owned(), Value::Table(sweep));
    toml::to_string(&study).map_err(|error| wrong(&error))
}

fn value(level: &Level) -> Value {
    match level {
        Level::Number(level) => number(*level),
        Level::Text(text) => Value::from(text.as_str()),
    }
}

/// Whole numbers as such: users are.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

/// The means over the valid trials of a case.
fn response(trials: &[TrialRecord], case: &str) -> Option<Response> {
    let of_case: Vec<&TrialRecord> = trials
        .iter()
        .filter(|trial| trial.valid && trial.case.as_deref() == Some(case))
        .collect();
    let count = of_case.len() as f64;
    let mean =
        |of: fn(&TrialRecord) -> f64| of_case.iter().map(|trial| of(trial)).sum::<f64>() / count;
    (count > 0.0).then(|| Response {
        throughput_per_s: mean(|trial| trial.throughput_per_s),
        mean_ms: mean(|trial| trial.response_time_ms.mean),
    })
}
