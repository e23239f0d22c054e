//! A limit that ends the search before its goal, and may be set: it is raised, and the search goes
//! on from the trials in which the lower one did not act.

use weir_record::{Level, Levels, RaisedLimit, Stage, TargetFacts, TrialRecord};

use crate::check::waiting_in_front;
use crate::file::{FindSpec, Varied};
use crate::search::Found;
use crate::search::plateau::{FULL, limit};
use crate::settings::{Settings, THREADS};
use crate::trials::Trials;

/// Limits that are raised one after the other at most: behind the threads a pool, behind the pool
/// the threads again.
const RAISED_MAX: usize = 5;
/// A limit is raised to so many times what the goal seems to need, so that it does not act near
/// the answer …
const AMPLE: f64 = 2.0;
/// … and so many times what it was at least.
const AT_LEAST: f64 = 2.0;
/// A limit has not acted where fewer than this share of those inside waited for it.
const NOBODY: f64 = 0.01;
/// Where nobody counts who waits, a stage that is used to this share has not acted.
const HALF: f64 = 0.5;

/// The limit that ended the search, with what it is raised to; `None` when none may be.
pub(crate) fn next(
    spec: &FindSpec,
    found: &Found,
    goal: Option<f64>,
    trials: &Trials<'_>,
    raised: &[RaisedLimit],
) -> Option<RaisedLimit> {
    let Found::Never {
        stage: Some(name),
        trials: ids,
    } = found
    else {
        return None;
    };
    if spec.varied != Varied::Users || raised.len() >= RAISED_MAX {
        return None;
    }
    let facts = trials.facts();
    let stage = facts.stage(name).filter(|stage| stage.settable)?;
    let last = trials.records().iter().find(|trial| trial.id == ids[1])?;
    let from = limit(last, facts, name)?;
    // A limit that is raised again goes as far as it might at first.
    let before = raised.iter().find(|raised| raised.stage == *name);
    let bound = spec
        .raise
        .bound(name, before.map_or(from, |before| before.from))?;
    let cpu = last.cpu?.total;
    let wanted = (AMPLE * from * goal? / cpu).max(AT_LEAST * from).ceil();
    let to = wanted.min(bound);
    (to > from).then(|| raised_limit(stage, from, to, last, *ids))
}

fn raised_limit(
    stage: &Stage,
    from: f64,
    to: f64,
    last: &TrialRecord,
    ids: [u32; 2],
) -> RaisedLimit {
    RaisedLimit {
        stage: stage.name.clone(),
        native: stage.native.clone(),
        from,
        to,
        users: last.population,
        cpu: last.cpu.map_or(0.0, |cpu| cpu.total),
        throughput_per_s: last.throughput_per_s,
        waiting: waiting(last, &stage.name),
        trials: ids.to_vec(),
    }
}

/// The levels of raised limits.
pub(crate) fn levels(raised: &[RaisedLimit]) -> Levels {
    let levels = raised
        .iter()
        .map(|raised| (raised.stage.clone(), Level::Number(raised.to)));
    levels.collect()
}

/// The raised limits as settings, where nothing better was derived: with them the requirement
/// binds, and not the limit.
pub(crate) fn settings(raised: &[RaisedLimit], facts: &TargetFacts) -> Option<Settings> {
    let mut settings = Settings::default();
    for (stage, level) in levels(raised) {
        let of_stage = |limit: &&RaisedLimit| limit.stage == stage;
        let (first, to) = (raised.iter().find(of_stage)?, level.number()?);
        let because = format!(
            "under {} more users bring no more CPU ({:.1} % with {}); under {to} it does not act. Less may be enough: \
             that was not looked for",
            first.from,
            first.cpu * 100.0,
            first.users
        );
        settings.put(facts, &stage, to, because, &first.trials);
    }
    (!settings.limits.is_empty()).then_some(settings)
}

/// Whether a trial says what it would have said with the raised limits.
pub(crate) fn still_counts(
    trial: &TrialRecord,
    raised: &[RaisedLimit],
    facts: &TargetFacts,
) -> bool {
    raised.iter().all(|raised| {
        let set = trial.level(&raised.stage);
        let now = limit(trial, facts, &raised.stage);
        set.is_some_and(|set| set >= raised.to) || !has_acted(trial, &raised.stage, now)
    })
}

fn has_acted(trial: &TrialRecord, stage: &str, limit: Option<f64>) -> bool {
    let Some(limit) = limit else {
        return true;
    };
    let used = trial.occupancy(stage).unwrap_or(limit);
    if used >= FULL * limit {
        return true;
    }
    // A user has one request at a time.
    if f64::from(trial.population) <= limit {
        return false;
    }
    match waiting(trial, stage) {
        Some(waiting) => waiting > NOBODY * used,
        None => used > HALF * limit,
    }
}

/// Who waits for a stage.
fn waiting(trial: &TrialRecord, stage: &str) -> Option<f64> {
    if stage == THREADS {
        waiting_in_front(trial)
    } else {
        trial.waiting(stage)
    }
}
