//! A limit that ends the search before its goal, or makes requests wait that have to be fast, and
//! may be set: it is raised, and the search goes on from the trials in which the lower one did not
//! act.

use weir_record::{
    AnswerBefore, Level, Levels, RaisedLimit, Stage, TargetFacts, TrialRecord, WhenFull, is_full,
};

use crate::check::waiting_in_front;
use crate::file::{FindSpec, Varied};
use crate::search::plateau::full_stage;
use crate::search::root::Root;
use crate::search::{Found, Goals, is_open, level};
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

/// A CPU that is used to this share has nothing left for those who wait.
const SPENT: f64 = 0.9;
/// The trial that shows why a requirement is broken lies at the answer or above it; between two
/// trials the answer is off by about this.
const AT_ANSWER: f64 = 0.97;

/// What ended a search, and where that is seen.
struct Ended<'a> {
    stage: String,
    last: &'a TrialRecord,
    trials: Vec<u32>,
    answer: Option<AnswerBefore>,
}

/// The limit that ended the search, with what it is raised to; `None` when none may be.
pub(crate) fn next(
    spec: &FindSpec,
    goals: &Goals,
    found: &Found,
    trials: &Trials<'_>,
    raised: &[RaisedLimit],
) -> Option<RaisedLimit> {
    let may_be = matches!(spec.varied, Varied::Users | Varied::Rate);
    if !may_be || raised.len() >= RAISED_MAX {
        return None;
    }
    let facts = trials.facts();
    let ended = match found {
        Found::Never {
            stage: Some(stage),
            trials: ids,
        } => Ended {
            stage: stage.clone(),
            last: trials.records().iter().find(|trial| trial.id == ids[1])?,
            trials: ids.to_vec(),
            answer: None,
        },
        Found::Level {
            root,
            binding,
            at_range_end: false,
        } if !goals.is_cpu(*binding) => queued(spec, goals, root, *binding, trials)?,
        _ => return None,
    };
    let name = &ended.stage;
    let stage = facts.stage(name).filter(|stage| stage.settable)?;
    let from = ended.last.limit(name, facts)?;
    // A limit that is raised again goes as far as it might at first.
    let before = raised.iter().find(|raised| raised.stage == *name);
    let bound = spec
        .raise
        .bound(name, before.map_or(from, |before| before.from))?;
    let cpu = ended.last.cpu?.total;
    let goal = goals.cpu.map_or(1.0, |(_, goal)| goal);
    let wanted = (AMPLE * from * goal / cpu).max(AT_LEAST * from).ceil();
    let to = wanted.min(bound);
    (to > from).then(|| raised_limit(stage, from, to, ended))
}

/// The full stage that requests wait for, or are refused by, where a requirement other than the
/// CPU's is first broken, and the CPU could do more.
fn queued<'a>(
    spec: &FindSpec,
    goals: &Goals,
    root: &Root,
    binding: usize,
    trials: &'a Trials<'_>,
) -> Option<Ended<'a>> {
    let facts = trials.facts();
    let mut beyond: Vec<&TrialRecord> = trials.valid();
    beyond.retain(|trial| level(trial).is_some_and(|at| at >= AT_ANSWER * root.level));
    beyond.sort_by(|a, b| {
        level(a)
            .partial_cmp(&level(b))
            .unwrap_or(std::cmp::Ordering::Equal)
    });
    let most = goals.cpu.map_or(SPENT, |(_, goal)| goal.min(SPENT));
    let mut beyond = beyond.into_iter();
    let (last, stage) = beyond.find_map(|trial| Some((trial, full_stage(trial, facts)?)))?;
    let refuses = facts.stage(&stage)?.when_full == WhenFull::Refuse;
    let waits = waiting(last, &stage)
        .is_some_and(|waiting| waiting > NOBODY * last.limit(&stage, facts).unwrap_or(0.0));
    let is_it = last.cpu?.total < most && (waits || refuses);
    is_it.then(|| Ended {
        stage,
        last,
        trials: vec![last.id],
        answer: Some(AnswerBefore {
            value: root.level.floor(),
            low: root.low.floor(),
            high: root.high.floor(),
            binding: spec.requirements[binding].to_string(),
        }),
    })
}

fn raised_limit(stage: &Stage, from: f64, to: f64, ended: Ended<'_>) -> RaisedLimit {
    let last = ended.last;
    RaisedLimit {
        stage: stage.name.clone(),
        native: stage.native.clone(),
        from,
        to,
        users: last.population,
        rate: level(last).filter(|_| is_open(last)),
        cpu: last.cpu.map_or(0.0, |cpu| cpu.total),
        throughput_per_s: last.throughput_per_s,
        waiting: waiting(last, &stage.name),
        trials: ended.trials,
        answer: ended.answer,
    }
}

/// Whether the answer with a raised limit is clearly better than the one with the limit as it was.
pub(crate) fn gains(before: &Found, after: &Found) -> bool {
    let (Found::Level { root: before, .. }, Found::Level { root: after, .. }) = (before, after)
    else {
        return false;
    };
    let high = if before.high.is_finite() {
        before.high
    } else {
        before.level * (2.0 - AT_ANSWER)
    };
    after.level > high || after.low > before.level
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
        let because = because(first, to);
        settings.put(facts, &stage, to, because, &first.trials);
    }
    (!settings.limits.is_empty()).then_some(settings)
}

fn because(first: &RaisedLimit, to: f64) -> String {
    let load = match first.rate {
        Some(rate) => format!("{rate} arrivals/s"),
        None => format!("{} users", first.users),
    };
    let under = match (&first.answer, first.waiting) {
        (Some(_), Some(waiting)) => {
            format!(
                "under {} {waiting:.1} requests wait for it with {load}",
                first.from
            )
        }
        (Some(_), None) => format!("under {} it is full with {load}", first.from),
        (None, _) => format!(
            "under {} more load brings no more CPU ({:.1} % with {load})",
            first.from,
            first.cpu * 100.0
        ),
    };
    format!("{under}; under {to} it does not act. Less may be enough: that was not looked for")
}

/// Whether a trial says what it would have said with the raised limits.
pub(crate) fn still_counts(
    trial: &TrialRecord,
    raised: &[RaisedLimit],
    facts: &TargetFacts,
) -> bool {
    raised.iter().all(|raised| {
        let set = trial.level(&raised.stage);
        let now = trial.limit(&raised.stage, facts);
        set.is_some_and(|set| set >= raised.to) || !has_acted(trial, &raised.stage, now)
    })
}

fn has_acted(trial: &TrialRecord, stage: &str, limit: Option<f64>) -> bool {
    let Some(limit) = limit else {
        return true;
    };
    let used = trial.occupancy(stage).unwrap_or(limit);
    if is_full(Some(used), Some(limit)) {
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
