//! `weir sweep`: every case of a design, replicated in randomised blocks, in one table.

mod across;
mod comparison;
mod design;
mod follow;
mod overview;
mod table;

use std::collections::BTreeMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use weir_record::{Levels, Role, Status, TargetFacts, TrialRecord, TrialRunner};

use crate::file::SweepSpec;
use crate::findings;
use crate::observer::StudyObserver;
use crate::outcome::Outcome;
use crate::trials::{Stop, Trials, Wanted};

pub(crate) use comparison::{percent, rounded};
pub(crate) use design::{Case, cases, shuffled};
pub(crate) use table::table;

/// Runs every case of the design and puts the figures in a table.
///
/// Each replicate is one block with all cases in a random order of its own, so that what changes
/// while the study runs does not pass for a difference between cases. Where there are environments,
/// a block has all cases of one after those of another, because a new environment may be a new
/// start of the server. A case whose trials are not valid leaves its cells empty and the others go
/// on.
pub fn sweep(
    spec: &SweepSpec,
    runner: &mut dyn TrialRunner,
    observer: &mut dyn StudyObserver,
) -> Outcome {
    let facts = runner.facts().clone();
    let cases = cases(spec);
    let mut trials = Trials::new(runner, observer, spec.seed, None);
    let mut order = Xoshiro256PlusPlus::seed_from_u64(spec.seed);
    let blocks = (1..=spec.replicates).flat_map(|block| {
        let groups = design::order(&cases, block, &mut order);
        groups.into_iter().map(move |group| (block, group))
    });
    let mut left_out = LeftOut::new();
    let stop = blocks
        .collect::<Vec<_>>()
        .into_iter()
        .try_for_each(|(block, group)| {
            run_group(spec, &cases, &group, block, &mut trials, &mut left_out)
        })
        .err();
    let empty = without_trials(&cases, trials.records(), &left_out);
    outcome(spec, facts, &cases, trials.into_records(), &empty, stop)
}

/// Cases that were left out, by name, each with what was missing the last time.
type LeftOut = BTreeMap<String, String>;

/// The trials of one block in one environment.
fn run_group(
    spec: &SweepSpec,
    cases: &[Case],
    group: &[usize],
    block: u32,
    trials: &mut Trials<'_>,
    left_out: &mut LeftOut,
) -> Result<(), Stop> {
    trials.begin_block(block);
    if let Some(first) = group.first() {
        run_warm_up(spec, cases[*first].environment.as_deref(), trials)?;
    }
    for at in group {
        let case = &cases[*at];
        let statistic = spec.across.statistic;
        let levels = match follow::levels(case, cases, trials.records(), statistic) {
            Ok(levels) => levels,
            Err(missing) => {
                trials.note(&format!(
                    "{} is left out in block {block}: {missing}",
                    case.name
                ));
                left_out.insert(case.name.clone(), missing.to_string());
                continue;
            }
        };
        let run = trials.run(&Wanted {
            role: Role::Case,
            case: Some(&case.name),
            levels,
            window: case.window(spec.window),
            why: &format!("{}, block {block} of {}", case.name, spec.replicates),
        });
        match run {
            Ok(_) | Err(Stop::Invalid { .. }) => {}
            Err(stop) => return Err(stop),
        }
    }
    Ok(())
}

/// A load of which nothing is used, so that the first case does not measure a server that was just
/// started.
fn run_warm_up(
    spec: &SweepSpec,
    environment: Option<&str>,
    trials: &mut Trials<'_>,
) -> Result<(), Stop> {
    let mut environments = spec.across.environments.iter();
    let environment = environments.find(|known| Some(known.name.as_str()) == environment);
    let Some((levels, window)) = spec.across.warm_up_in(environment, spec.window) else {
        return Ok(());
    };
    let mut all = environment.map_or_else(Levels::new, |environment| environment.set.clone());
    all.extend(levels.clone());
    let name = environment.map_or("", |environment| environment.name.as_str());
    let ran = trials.run_once(&Wanted {
        role: Role::Case,
        case: None,
        levels: all,
        window,
        why: &format!("warm-up {name}"),
    });
    ran.map(|_| ())
}

/// The cases of which no trial is valid, each with what was missing where it could not be run.
fn without_trials(cases: &[Case], trials: &[TrialRecord], left_out: &LeftOut) -> Vec<String> {
    let empty = cases
        .iter()
        .filter(|case| table::of_case(case, trials).is_empty());
    let told = empty.map(|case| match left_out.get(&case.name) {
        Some(missing) => format!("{} ({missing})", case.name),
        None => case.name.clone(),
    });
    told.collect()
}

fn outcome(
    spec: &SweepSpec,
    facts: TargetFacts,
    cases: &[Case],
    trials: Vec<TrialRecord>,
    empty: &[String],
    stop: Option<Stop>,
) -> Outcome {
    let mut table = table(&spec.columns, cases, &trials, &spec.across);
    table.pictures = across::pictures(&spec.across, cases, &trials);
    table.overviews = overview::overviews(&spec.across, cases, &trials);
    let status = match (&stop, empty.is_empty()) {
        (Some(_), _) => Status::Interrupted,
        (None, false) => Status::Invalid,
        (None, true) => Status::Answered,
    };
    let valid = findings::of_cases(&trials)
        .filter(|trial| trial.valid)
        .count();
    let mut summary = vec![format!("{} cases, {valid} valid trials.", cases.len())];
    if let Some(compare) = &spec.compare {
        summary.extend(comparison::sentences(compare, cases, &trials));
    }
    summary.extend(across::sentences(&spec.across, cases, &trials));
    summary.extend(overview::sentences(&spec.across, cases, &trials));
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
        raised: Vec::new(),
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
