//! `weir tune` with `goal = "matters"`: whether one setting makes a difference that matters at all.
//!
//! The setting runs at two levels, as pairs of trials in a random order, until the two are shown to
//! be the same, shown to differ, or the last pair is over ([`pairs`]). That nothing differs says
//! little if the setting was never reached: a backlog of ten is as good as one of a thousand while
//! nobody waits in it. So it is also looked whether it acted as a limit, and if not, a trial is
//! made in which it should ([`binding`]). [`told`] puts the two together.

mod binding;
mod pairs;
mod told;

use std::collections::BTreeMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use weir_record::{Level, Levels, Role, Status, TargetFacts, TrialRecord, TrialRunner};
use weir_stats::Verdict;

use crate::file::{AS_FOUND, Across, MattersSpec};
use crate::findings;
use crate::observer::StudyObserver;
use crate::outcome::Outcome;
use crate::sweep::{Case, table};
use crate::trials::{Effort, Stop, Trials, Wanted, least_cost_s};
use binding::Mechanism;
use pairs::{Compared, Pairs};

pub(crate) use pairs::{DROPPED_MAX, PAIRS_MAX};

/// Trials in which the setting is made to act as a limit.
pub(crate) const BINDING_TRIALS: u32 = 2;

/// Why a study goes no further.
enum End {
    /// The budget does not reach for another pair.
    Budget,
    /// So many pairs had a trial that cannot be used.
    Dropped,
    Stop(Stop),
}

impl From<Stop> for End {
    fn from(stop: Stop) -> Self {
        Self::Stop(stop)
    }
}

/// What was learned, also when the study is cut short.
#[derive(Default)]
struct Learned {
    pairs: Pairs,
    compared: Option<Compared>,
    /// Whether the setting acted as a limit.
    mechanism: Mechanism,
}

/// Asks whether a setting matters.
pub fn matters(
    spec: &MattersSpec,
    runner: &mut dyn TrialRunner,
    observer: &mut dyn StudyObserver,
) -> Outcome {
    let facts = runner.facts().clone();
    let mut trials = Trials::new(runner, observer, spec.seed, spec.budget);
    let mut learned = Learned::default();
    let end = run(spec, &facts, &mut trials, &mut learned).err();
    let trials = trials.into_records();
    outcome(spec, facts, &learned, trials, end)
}

fn run(
    spec: &MattersSpec,
    facts: &TargetFacts,
    trials: &mut Trials<'_>,
    learned: &mut Learned,
) -> Result<(), End> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(spec.seed);
    let reserve_s = f64::from(BINDING_TRIALS) * least_cost_s(spec.window);
    loop {
        learned.pairs.next(spec, trials, &mut random, reserve_s)?;
        learned.compared = learned.pairs.compared(spec);
        if learned.pairs.is_over(learned.compared.as_ref()) {
            break;
        }
    }
    learned.mechanism = Mechanism::of(spec, facts, &learned.pairs);
    let same = learned
        .compared
        .as_ref()
        .is_some_and(|compared| compared.verdict == Verdict::Same);
    if same && let Some(levels) = learned.mechanism.to_try(spec) {
        make_it_bind(spec, facts, trials, &levels, &mut learned.mechanism)?;
    }
    Ok(())
}

/// One trial with levels that should make the setting act as a limit, and, if it does, one with the
/// other level, to show what it does then.
fn make_it_bind(
    spec: &MattersSpec,
    facts: &TargetFacts,
    trials: &mut Trials<'_>,
    with: &Levels,
    mechanism: &mut Mechanism,
) -> Result<(), End> {
    let smaller = binding::smaller(spec, facts);
    for slot in [smaller, 1 - smaller] {
        let window = trials
            .window(spec.window, Effort::Full, 0.0)
            .ok_or(End::Budget)?;
        let mut levels = levels_of(spec, slot);
        levels.extend(with.clone());
        let case = format!("{}, made to bind", case_name(spec, slot));
        let run = trials.run(&Wanted {
            role: Role::Check,
            case: Some(&case),
            levels,
            window,
            why: "does it act as a limit where more want to be in it?",
        });
        match run {
            Ok(record) if slot == smaller => {
                mechanism.made_to_bind(spec, facts, &record);
                if !mechanism.bound() {
                    return Ok(());
                }
            }
            Ok(_) => {}
            Err(Stop::Invalid { because, .. }) => {
                mechanism.failed(&because);
                return Ok(());
            }
            Err(stop @ Stop::Error(_)) => return Err(stop.into()),
        }
    }
    Ok(())
}

/// The levels of a trial of one of the two.
fn levels_of(spec: &MattersSpec, slot: usize) -> Levels {
    let mut levels = spec.set.clone();
    if let Some(level) = &spec.levels[slot] {
        levels.insert(spec.vary.clone(), level.clone());
    }
    levels
}

/// How one of the two is called.
fn level_name(spec: &MattersSpec, slot: usize) -> String {
    match &spec.levels[slot] {
        Some(level) => level.to_string(),
        None => AS_FOUND.to_owned(),
    }
}

fn case_name(spec: &MattersSpec, slot: usize) -> String {
    format!("{} {}", spec.vary, level_name(spec, slot))
}

fn outcome(
    spec: &MattersSpec,
    facts: TargetFacts,
    learned: &Learned,
    trials: Vec<TrialRecord>,
    end: Option<End>,
) -> Outcome {
    let table = table(
        &told::columns(spec, &facts),
        &cases(spec, &trials),
        &trials,
        &Across::default(),
    );
    Outcome {
        status: status(learned, &trials, end.as_ref()),
        question: spec.question.clone(),
        summary: told::summary(spec, learned, end.as_ref()),
        answer: None,
        raised: Vec::new(),
        settings: BTreeMap::new(),
        settings_detail: Vec::new(),
        held: None,
        findings: findings::of_sweep(&trials, &facts),
        table: Some(table),
        comparison: None,
        joint: None,
        difference: told::difference(spec, learned),
        target: facts,
        trials,
        stopped_by: match end {
            Some(End::Stop(Stop::Error(error))) => Some(error),
            _ => None,
        },
    }
}

fn status(learned: &Learned, trials: &[TrialRecord], end: Option<&End>) -> Status {
    if matches!(end, Some(End::Stop(Stop::Error(_)))) {
        return Status::Interrupted;
    }
    if !trials.iter().any(|trial| trial.valid) {
        return Status::Invalid;
    }
    match learned.compared.as_ref().map(|compared| compared.verdict) {
        Some(Verdict::Same) => Status::Same,
        Some(Verdict::Different) => Status::Answered,
        Some(Verdict::Undecided) | None => Status::Undecided,
    }
}

/// The two levels, and the same where it was made to bind.
fn cases(spec: &MattersSpec, trials: &[TrialRecord]) -> Vec<Case> {
    let mut cases: Vec<Case> = (0..2)
        .map(|slot| Case {
            name: case_name(spec, slot),
            levels: levels_of(spec, slot),
            ..Case::default()
        })
        .collect();
    for trial in trials.iter().filter(|trial| trial.role == Role::Check) {
        let name = trial.case.clone().unwrap_or_default();
        if !cases.iter().any(|case| case.name == name) {
            cases.push(Case {
                name,
                levels: trial.levels.clone(),
                ..Case::default()
            });
        }
    }
    cases
}

/// A level as it stands in the result.
fn level_in_result(level: Option<&Level>) -> Level {
    level
        .cloned()
        .unwrap_or_else(|| Level::Text(AS_FOUND.to_owned()))
}
