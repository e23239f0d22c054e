//! Two runs held against each other: what differs, by how much, how sure that is.
//!
//! "No difference" has to be shown as a difference has: *same* when the whole interval of the
//! change lies within the margin, *different* when the interval excludes no change and the change
//! is larger than the margin, *undecided* in between. What the intervals rest on ([`Basis`])
//! decides what may be claimed: pairs of trials of the same treatments, or repeated trials, see the
//! spread between trials; one trial each does not, and that is said.

mod differs;
mod measure;
mod pairs;
mod requirements;
mod told;
mod within;

use std::collections::{BTreeMap, BTreeSet};

use weir_metric::{RelativeRequirement, Requirement};
use weir_record::{
    COMPARE_SCHEMA, ComparedSide, FigureComparison, IntervalHistograms, RequirementCheck,
    RunComparison, RunManifest, Status, TargetFacts, Timeline, TrialRecord,
};
use weir_stats::{Margin, Verdict};

use crate::outcome::exit_code;
use measure::Measure;
use pairs::Cell;

/// Confidence of each interval, or of all of a table together.
const CONFIDENCE: f64 = 0.95;

/// One of the two runs.
#[derive(Debug)]
pub struct RunSide {
    /// As it was named.
    pub name: String,
    /// Its trials.
    pub trials: Vec<RunTrial>,
    /// The target, where the run says.
    pub target: Option<TargetFacts>,
    /// What the run was, where it says.
    pub manifest: Option<RunManifest>,
    /// The plan that was sent, where it is kept.
    pub plan: Option<String>,
}

/// One trial with its seconds, as far as they are kept.
#[derive(Debug)]
pub struct RunTrial {
    /// Its record.
    pub record: TrialRecord,
    /// Its seconds.
    pub timeline: Option<Timeline>,
    /// Its response times by second.
    pub histograms: Option<IntervalHistograms>,
}

/// What is asked.
#[derive(Debug, Clone)]
pub struct CompareAsk {
    /// The smallest relative difference that matters.
    pub margin: Margin,
    /// The smallest difference between shares of errors that matters.
    pub errors_margin: f64,
    /// What B has to keep.
    pub requirements: Vec<Requirement>,
    /// What B has to keep of A.
    pub relative: Vec<RelativeRequirement>,
}

/// Why two runs cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// A run has nothing that can be used.
    #[error("compare {name}: {says}")]
    NoTrial {
        /// The run.
        name: String,
        /// Why its trials cannot be used.
        says: String,
    },
    /// No treatment was run in both.
    #[error(
        "match the trials of {a} with those of {b}: no treatment is in both; the first has {of_a}, the second {of_b}"
    )]
    NothingInCommon {
        /// The first run.
        a: String,
        /// The second.
        b: String,
        /// The treatments of the first.
        of_a: String,
        /// And of the second.
        of_b: String,
    },
}

/// Compares B with A.
pub fn compare(a: &RunSide, b: &RunSide, ask: &CompareAsk) -> Result<RunComparison, CompareError> {
    for side in [a, b] {
        if !side.trials.iter().any(|trial| trial.record.valid) {
            return Err(no_trial(side));
        }
    }
    let cells = pairs::cells(a, b)?;
    let basis = pairs::basis(&cells);
    // Intervals of several figures that hold together are wider, each by its share of the doubt
    // (Bonferroni).
    let table = |measures: &[Measure], together: usize| -> Vec<FigureComparison> {
        let each = 1.0 - (1.0 - CONFIDENCE) / together.max(1) as f64;
        measures
            .iter()
            .filter_map(|measure| pairs::figure(measure, &cells, basis, each, ask))
            .collect()
    };
    let figures = table(&Measure::of_all(None), 1);
    let labels = labels(&cells, &table);
    let signals = Measure::of_signals(&cells);
    let signals = table(&signals, signals.len());
    let outcome = told::outcome(&figures);
    let requirements = requirements::check(&cells, ask, &figures);
    let status = status(&requirements, outcome);
    Ok(RunComparison {
        schema: COMPARE_SCHEMA.to_owned(),
        weir: env!("CARGO_PKG_VERSION").to_owned(),
        exit_code: exit_code(status),
        status,
        outcome,
        summary: told::summary(a, b, outcome, &figures, ask.margin),
        a: side(a),
        b: side(b),
        margin: ask.margin.relative(),
        errors_margin: ask.errors_margin,
        basis,
        differs: differs::between(a, b, &cells),
        notes: told::notes(basis, &cells),
        matched: cells.iter().map(Cell::told).collect(),
        figures,
        labels,
        signals,
        requirements,
    })
}

/// How it ended: what was required goes before what was found.
fn status(requirements: &[RequirementCheck], outcome: Verdict) -> Status {
    if requirements.iter().any(|check| !check.met) {
        return Status::NotMet;
    }
    match outcome {
        _ if !requirements.is_empty() => Status::Answered,
        Verdict::Different => Status::Answered,
        Verdict::Same => Status::Same,
        Verdict::Undecided => Status::Undecided,
    }
}

/// The tables of the labels that both have, unless there is only one: then it is the run.
fn labels(
    cells: &[Cell<'_>],
    table: &dyn Fn(&[Measure], usize) -> Vec<FigureComparison>,
) -> BTreeMap<String, Vec<FigureComparison>> {
    let named = |trial: &&RunTrial| trial.record.classes.keys().cloned().collect::<Vec<_>>();
    let of_a: BTreeSet<String> = cells
        .iter()
        .flat_map(|cell| &cell.a)
        .flat_map(named)
        .collect();
    let of_b: BTreeSet<String> = cells
        .iter()
        .flat_map(|cell| &cell.b)
        .flat_map(named)
        .collect();
    let both: Vec<&String> = of_a.intersection(&of_b).collect();
    if both.len() < 2 {
        return BTreeMap::new();
    }
    let together = both.len() * Measure::of_all(Some("")).len();
    both.into_iter()
        .map(|label| {
            (
                label.clone(),
                table(&Measure::of_all(Some(label)), together),
            )
        })
        .collect()
}

fn side(side: &RunSide) -> ComparedSide {
    let ids = |valid: bool| {
        let trials = side
            .trials
            .iter()
            .filter(|trial| trial.record.valid == valid);
        trials.map(|trial| trial.record.id).collect()
    };
    let mut notes: Vec<String> = Vec::new();
    for trial in &side.trials {
        let many = side.trials.len() > 1;
        for note in trial
            .record
            .invalid_because
            .iter()
            .chain(&trial.record.notes)
        {
            let note = if many {
                format!("trial {}: {note}", trial.record.id)
            } else {
                note.clone()
            };
            notes.push(note);
        }
    }
    ComparedSide {
        name: side.name.clone(),
        trials: ids(true),
        invalid: ids(false),
        notes,
    }
}

fn no_trial(side: &RunSide) -> CompareError {
    let why = side
        .trials
        .iter()
        .flat_map(|trial| trial.record.invalid_because.iter().cloned());
    let why: Vec<String> = why.collect();
    CompareError::NoTrial {
        name: side.name.clone(),
        says: if why.is_empty() {
            "it has no finished trial".to_owned()
        } else {
            format!("no trial of it is valid: {}", why.join("; "))
        },
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests;
