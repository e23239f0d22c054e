//! `weir model`: a model fitted to a stored run, tested on its trials, asked about others.

mod page;
mod table;

use std::path::PathBuf;

use clap::Args;
use weir_model::{FittedModel, Limits, ModelReport, Predicted, Question, TrialSet};
use weir_record::{StudyResult, failed_to};

use crate::error::ExpectedError;
use crate::{output, stored};

/// Fit a model to the trials of a run, show how well it predicts, and predict what was not
/// measured.
///
/// The model has one CPU station, one pool of connections and a thread limit around both. Its
/// numbers come from the trials, each weighted by its noise. Each treatment is left out once and
/// predicted from the others; when these predictions are too far off, the model is refused (exit
/// code 4) and the figure that disagrees is named.
#[derive(Debug, Args)]
pub(crate) struct ModelArguments {
    /// The run: a path, a name below the runs' directory, or `last`.
    #[arg(default_value = "last")]
    run: String,
    /// Predict this level of users; may be given several times.
    #[arg(long, value_name = "N")]
    users: Vec<u32>,
    /// Predict with this limit, such as `threads=40` or `pool.db=20`; others stay as in the
    /// trials.
    #[arg(long, value_name = "STAGE=LIMIT")]
    set: Vec<String>,
    /// Write the model, its test and its predictions to this file; `-`: standard output.
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Write what it predicts beside what was measured as a page to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the model with the last prediction's users and limits, or the most users measured, as
    /// a network file.
    #[arg(long, value_name = "NET.toml")]
    write: Option<PathBuf>,
    /// Where runs lie.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    runs: PathBuf,
}

pub(crate) fn run(arguments: &ModelArguments) -> Result<u8, ExpectedError> {
    let directory = stored::find(&arguments.runs, &arguments.run)?;
    let path = directory.path().display().to_string();
    if directory.single_path().is_file() || directory.watch_path().is_file() {
        return Err(ExpectedError::Input(format!(
            "{path}: this run has one level of users, and a model takes three; `weir sweep` and `weir tune` make them"
        )));
    }
    let result: StudyResult = directory.result().map_err(stored::failed)?;
    let model = FittedModel::fit(TrialSet::of(&result.trials, &result.target))
        .map_err(|error| ExpectedError::Invalid(format!("{path}: {}", failed_to(&error))))?;
    let questions = questions(arguments, &model)?;
    let (predictions, refused) = answers(&model, &questions);
    if arguments.json.as_deref() != Some(std::path::Path::new("-")) {
        output::data_lines(&table::text(
            &path,
            result.trials.len(),
            &model,
            &predictions,
        ));
    }
    let version = env!("CARGO_PKG_VERSION");
    let report = ModelReport::of(
        &directory.id(),
        version,
        &model,
        predictions,
        refused.clone(),
    );
    if let Some(json) = &arguments.json {
        output::json_to(json, &report)?;
    }
    if let Some(html) = &arguments.html {
        stored::write_sheet(html, &page::sheet(&report))?;
    }
    if !refused.is_empty() {
        return Err(ExpectedError::Invalid(format!(
            "{path}: {}",
            refused.join("; ")
        )));
    }
    if let Some(file) = &arguments.write {
        let question = questions.last().copied().unwrap_or(Question {
            population: model.most_users(),
            limits: limits(arguments, &model)?,
        });
        weir_record::write_whole(file, model.network_file(question).as_bytes())
            .map_err(stored::failed)?;
    }
    Ok(0)
}

/// What the model says, and what it refuses to say.
fn answers(model: &FittedModel, questions: &[Question]) -> (Vec<Predicted>, Vec<String>) {
    let disagreements = model.validation.disagreements.iter();
    let mut refused: Vec<String> = disagreements
        .map(|disagreement| format!("the model is refused, because {}", disagreement.says))
        .collect();
    let mut predictions = Vec::new();
    if refused.is_empty() {
        for question in questions {
            match model.predict(*question) {
                Ok(predicted) => predictions.push(predicted),
                Err(error) => refused.push(failed_to(&error)),
            }
        }
    }
    (predictions, refused)
}

/// What is asked: the levels typed, or, with other limits only, the most users that were measured.
fn questions(
    arguments: &ModelArguments,
    model: &FittedModel,
) -> Result<Vec<Question>, ExpectedError> {
    let limits = limits(arguments, model)?;
    if arguments.users.contains(&0) {
        return Err(ExpectedError::Input(
            "--users 0: a prediction needs at least one user".to_owned(),
        ));
    }
    let mut populations: Vec<f64> = arguments
        .users
        .iter()
        .map(|&users| model.set.population(f64::from(users)))
        .collect();
    if populations.is_empty() && !arguments.set.is_empty() {
        populations.push(f64::from(model.most_users()));
    }
    let question = |population: f64| Question {
        population: population.round() as u32,
        limits,
    };
    Ok(populations.into_iter().map(question).collect())
}

/// The limits of most trials, changed by what was typed.
fn limits(arguments: &ModelArguments, model: &FittedModel) -> Result<Limits, ExpectedError> {
    let mut limits = model.set.usual_limits();
    for typed in &arguments.set {
        let wrong = || {
            let pool = model.set.pool.as_deref();
            let pool = pool.map_or(String::new(), |pool| format!(" or `{pool}=20`"));
            ExpectedError::Input(format!(
                "--set {typed}: the model has limits that are set like `threads=40`{pool}"
            ))
        };
        let (stage, limit) = typed.split_once('=').ok_or_else(wrong)?;
        let limit: u32 = limit.parse().map_err(|_| wrong())?;
        if limit == 0 {
            return Err(wrong());
        }
        if stage == "threads" {
            limits.threads = Some(limit);
        } else if Some(stage) == model.set.pool.as_deref() {
            limits.pool = Some(limit);
        } else {
            return Err(wrong());
        }
    }
    Ok(limits)
}
