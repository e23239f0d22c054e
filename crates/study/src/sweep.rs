//! `weir sweep`: every case of a design, replicated in randomised blocks, in one table.

mod comparison;
mod design;
mod table;

use std::collections::BTreeMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use weir_record::{Role, Status, TargetFacts, TrialRecord, TrialRunner};

use crate::findings;
use crate::observer::StudyObserver;
use crate::outcome::Outcome;
use crate::spec::SweepSpec;
use crate::trials::{Stop, Trials, Wanted};

pub(crate) use comparison::{percent, rounded};
pub(crate) use design::{Case, cases, shuffled};
pub(crate) use table::table;

/// Runs every case of the design and puts the figures in a table.
///
/// Each replicate is one block with all cases in a random order of its own, so that what changes
/// while the study runs does not pass for a difference between cases. A case whose trials are not
/// valid leaves its cells empty and the others go on.
pub fn sweep(
    spec: &SweepSpec,
    runner: &mut dyn TrialRunner,
    observer: &mut dyn StudyObserver,
) -> Outcome {
    let facts = runner.facts().clone();
    let cases = cases(&spec.design);
    let mut trials = Trials::new(runner, observer, spec.seed, None);
    let mut order = Xoshiro256PlusPlus::seed_from_u64(spec.seed);
    let mut stop = None;
    'blocks: for block in 1..=spec.replicates {
        for at in design::shuffled(cases.len(), &mut order) {
            let case = &cases[at];
            let run = trials.run(&Wanted {
                role: Role::Case,
                case: Some(&case.name),
                levels: case.levels.clone(),
                window: case.window(spec.window),
                why: &format!("{}, block {block} of {}", case.name, spec.replicates),
            });
            if let Err(Stop::Error(error)) = run {
                stop = Some(Stop::Error(error));
                break 'blocks;
            }
        }
    }
    outcome(spec, facts, &cases, trials.into_records(), stop)
}

fn outcome(
    spec: &SweepSpec,
    facts: TargetFacts,
    cases: &[Case],
    trials: Vec<TrialRecord>,
    stop: Option<Stop>,
) -> Outcome {
    let table = table(&spec.columns, cases, &trials);
    let empty: Vec<&str> = table
        .rows
        .iter()
        .filter(|row| row.trials.is_empty())
        .map(|row| row.case.as_str())
        .collect();
    let status = match (&stop, empty.is_empty()) {
        (Some(_), _) => Status::Interrupted,
        (None, false) => Status::Invalid,
        (None, true) => Status::Answered,
    };
    let valid = trials.iter().filter(|trial| trial.valid).count();
    let mut summary = vec![format!("{} cases, {valid} valid trials.", cases.len())];
    if let Some(compare) = &spec.compare {
        summary.extend(comparison::sentences(compare, cases, &trials));
    }
    if !empty.is_empty() {
        summary.push(format!("No valid trial of: {}.", empty.join(", ")));
    }
    let stopped_by = match stop {
        Some(Stop::Error(error)) => {
            summary.push(format!("The study was cut short: failed to {error}."));
            Some(error)
        }
        _ => None,
    };
    Outcome {
        status,
        question: spec.question.clone(),
        summary: summary.join(" "),
        answer: None,
        settings: BTreeMap::new(),
        settings_detail: Vec::new(),
        held: None,
        findings: findings::of_sweep(&trials, &facts),
        table: Some(table),
        comparison: None,
        joint: None,
        difference: None,
        target: facts,
        trials,
        stopped_by,
    }
}
