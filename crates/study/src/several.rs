//! `weir tune` with a list in `vary`: the best levels of several settings together, or the smallest
//! that are not worse.
//!
//! One after the other, down the funnel:
//!
//! 1. *open*: a trial with every limit at the upper end of its range shows how full each stage
//!    wants to be;
//! 2. *what can limit*: settings that cannot act as a limit at this load stay as found
//!    ([`limits`]);
//! 3. *searches*: each of the others, from the outermost inwards, with the rest at what was
//!    proposed so far ([`search`], [`walk`]), beginning where a model says ([`model`]); once more
//!    for those in front of a stage that was made so small that requests wait for it;
//! 4. *blocks*: the proposal, its neighbours and all limits open run side by side, and these trials
//!    alone decide ([`joint`]).
//!
//! [`told`] puts into words what came of it.

mod found;
mod joint;
mod limits;
mod model;
mod search;
mod study;
mod told;
mod walk;
mod words;

use std::collections::BTreeMap;

use weir_record::{Status, TargetFacts, TrialError, TrialRunner};

use crate::best::ladder;
use crate::contest::{BLOCKS_MAX, LOOKS};
use crate::file::{BestGoal, SeveralSpec, is_spare};
use crate::findings;
use crate::observer::StudyObserver;
use crate::outcome::Outcome;
use crate::trials::{Stop, Trials};
use study::Study;
use walk::FINER_MAX;

/// Levels of the settings that are searched, in the order of the funnel.
type Point = Vec<u32>;

/// Trials of a setting's second search at most.
pub(crate) const AGAIN_MAX: usize = 8;

/// Why a study goes no further.
enum End {
    /// The budget does not reach for another trial.
    Budget,
    Stop(Stop),
}

/// A point that is not compared, and why.
struct Out {
    point: String,
    because: String,
}

/// Finds the best levels of several settings, or the smallest that are not worse.
pub fn several(
    spec: &SeveralSpec,
    runner: &mut dyn TrialRunner,
    observer: &mut dyn StudyObserver,
) -> Outcome {
    let facts = runner.facts().clone();
    let population = runner.population(&spec.set);
    let limits = match limits::limits(spec, &facts, population) {
        Ok(limits) => limits,
        Err(says) => return refused(spec, facts, says),
    };
    let trials = Trials::new(runner, observer, spec.seed, spec.budget);
    let mut study = Study::new(spec, &facts, limits, population, trials);
    let end = study.run().err();
    let (found, trials) = study.into_found();
    told::outcome(spec, facts, &found, trials, end)
}

/// A study that names what the target does not have.
fn refused(spec: &SeveralSpec, facts: TargetFacts, says: String) -> Outcome {
    Outcome {
        status: Status::Interrupted,
        question: spec.question.clone(),
        summary: format!("Nothing was tried: {says}."),
        answer: None,
        raised: Vec::new(),
        settings: BTreeMap::new(),
        settings_detail: Vec::new(),
        held: None,
        findings: findings::of_sweep(&[], &facts),
        table: None,
        comparison: None,
        joint: None,
        difference: None,
        target: facts,
        trials: Vec::new(),
        stopped_by: Some(TrialError::Input(says)),
    }
}

/// How many contend in the blocks at most, if so many settings are searched: the proposal, all
/// limits open, each setting one step down; and one step up, together for the smallest, each for
/// the best.
fn contenders_max(goal: BestGoal, searched: usize) -> usize {
    match goal {
        BestGoal::Best => 2 + 2 * searched,
        BestGoal::SmallestNearBest => 3 + searched,
    }
}

/// Trials of a study by what they are for: the most that there can be, and how many are expected.
pub(crate) struct Planned {
    pub(crate) what: String,
    pub(crate) expected: usize,
    pub(crate) at_most: usize,
    /// Whether they decide.
    pub(crate) decides: bool,
}

/// Trials of one search that are expected.
const WALK_EXPECTED: usize = 8;

/// What a study can take at most, with the ranges that it and the target give. Which settings can
/// bind is known after the first trial: expected are threads and pools.
pub(crate) fn planned(spec: &SeveralSpec, facts: Option<&TargetFacts>) -> Vec<Planned> {
    let population = spec.set.get("users").and_then(weir_record::Level::number);
    let unknown = TargetFacts {
        name: String::new(),
        kind: String::new(),
        recognised: None,
        cpus: 1,
        cpu_scope: weir_record::CpuScope::Unknown,
        stages: Vec::new(),
    };
    let facts = facts.unwrap_or(&unknown);
    let searchable: Vec<&String> = spec.vary.iter().filter(|name| !is_spare(name)).collect();
    let inside = |name: &&&String| name.as_str() == "threads" || name.starts_with("pool.");
    let expected = searchable.iter().filter(inside).count();
    let ladder_of = |name: &String| {
        let found = facts.stage(name).and_then(|stage| stage.limit);
        let population = population.unwrap_or(0.0) as u32;
        let by_default = limits::default_range(name, found, facts, population);
        ladder(spec.within.get(name).copied().unwrap_or(by_default)).len()
    };
    let mut planned = vec![Planned {
        what: "all limits open: how full each stage is, and which settings can limit".to_owned(),
        expected: 1,
        at_most: 1,
        decides: false,
    }];
    for name in &searchable {
        planned.push(Planned {
            what: format!("`{name}`, if it can limit: around what a model proposes"),
            expected: if inside(&name) { WALK_EXPECTED } else { 0 },
            at_most: ladder_of(name) + FINER_MAX,
            decides: false,
        });
    }
    planned.push(Planned {
        what: "once more those in front of a stage that was made small".to_owned(),
        expected: expected.saturating_sub(1) * AGAIN_MAX / 2,
        at_most: searchable.len().saturating_sub(1) * AGAIN_MAX,
        decides: false,
    });
    let most = contenders_max(spec.goal, searchable.len());
    planned.push(Planned {
        what: "blocks: the proposal, its neighbours and all limits open, until they are told apart"
            .to_owned(),
        expected: LOOKS[0] * contenders_max(spec.goal, expected),
        // Each that drops out takes one block that was begun with it.
        at_most: (BLOCKS_MAX + most) * most,
        decides: true,
    });
    planned
}
