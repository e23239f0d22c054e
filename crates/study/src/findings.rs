//! What the trials show beside the answer: a list of small rules, each with figures and trials.
//!
//! A rule reads trials and states what it saw, or nothing. It never guesses at causes that no
//! figure supports; where several explanations fit, it says what was compared.

pub(crate) mod cannot_bind;
pub(crate) mod ceiling;
mod drift;
mod gate;
mod grown;
mod idle_threads;
mod instruments;
mod load_tool;
#[cfg(test)]
pub(crate) mod made;
mod mix;
mod redirected;
mod refused;
mod saturated;
mod spawn_rate;
mod stages;
mod starved;
mod throttled;
mod unexplained;

use weir_record::{CPU_FULL, Finding, TargetFacts, TrialRecord};

use crate::search::cpu::CpuFit;

/// What a rule may look at.
pub(crate) struct Evidence<'a> {
    /// All valid trials, in their order.
    pub(crate) trials: Vec<&'a TrialRecord>,
    pub(crate) facts: &'a TargetFacts,
    /// The fitted CPU of a search.
    pub(crate) fit: Option<&'a CpuFit>,
}

/// A rule: some findings, mostly none.
type Rule = fn(&Evidence<'_>) -> Vec<Finding>;

const RULES: [Rule; 24] = [
    gate::holds,
    gate::turns_away,
    stages::pool_waits,
    stages::threads_never_full,
    saturated::threads_full,
    idle_threads::wake,
    throttled::by_quota,
    saturated::cpu,
    saturated::garbage,
    saturated::database,
    cannot_bind::varied,
    grown::beyond_limit,
    refused::by_connections,
    refused::by_backlog,
    redirected::responses,
    starved::users,
    spawn_rate::plateau,
    unexplained::plateau,
    instruments::littles_law,
    mix::shifted_by_limit,
    ceiling::of_rate,
    load_tool::near_its_limit,
    load_tool::disturbed,
    drift::of_cpu,
];

/// All findings of a search.
pub(crate) fn of_find(
    trials: &[TrialRecord],
    facts: &TargetFacts,
    fit: Option<&CpuFit>,
) -> Vec<Finding> {
    all(trials, facts, fit)
}

/// All findings of a sweep, whose warm-ups are no case's and count for nothing.
pub(crate) fn of_sweep(trials: &[TrialRecord], facts: &TargetFacts) -> Vec<Finding> {
    all(of_cases(trials), facts, None)
}

/// The trials of a sweep that stand in its table, valid or not.
pub(crate) fn of_cases(trials: &[TrialRecord]) -> impl Iterator<Item = &TrialRecord> {
    trials.iter().filter(|trial| trial.case.is_some())
}

fn all<'t>(
    trials: impl IntoIterator<Item = &'t TrialRecord>,
    facts: &TargetFacts,
    fit: Option<&CpuFit>,
) -> Vec<Finding> {
    let evidence = Evidence {
        trials: trials.into_iter().filter(|trial| trial.valid).collect(),
        facts,
        fit,
    };
    RULES.iter().flat_map(|rule| rule(&evidence)).collect()
}

/// The trial in which a figure is largest, the figure, and all trials that have it.
fn most<'a>(
    evidence: &Evidence<'a>,
    figure: impl Fn(&TrialRecord) -> Option<f64>,
) -> Option<(&'a TrialRecord, f64, Vec<u32>)> {
    let with: Vec<(&TrialRecord, f64)> = evidence
        .trials
        .iter()
        .filter_map(|trial| Some((*trial, figure(trial)?)))
        .collect();
    let (trial, value) = *with.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let ids = with.iter().map(|(trial, _)| trial.id).collect();
    Some((trial, value, ids))
}

/// Signals of which each tells a full CPU while the mean of all is lower: one of the target's CPUs,
/// and one of its threads, which needs a CPU of its own.
const ONE_CPU: [&str; 2] = ["cpu.fullest", "target.busiest-thread"];

/// Says that it was not the CPU, where it was not: none of those that the target may use was full.
fn not_the_cpu(found: Finding, trial: &TrialRecord) -> Finding {
    if one_cpu_is_full(trial) {
        return found;
    }
    let busy = trial.cpu.map(|cpu| cpu.total);
    match busy.filter(|busy| *busy < CPU_FULL) {
        Some(busy) => found.was_not(format!("the CPU ({:.0} % utilized)", busy * 100.0)),
        None => found,
    }
}

fn one_cpu_is_full(trial: &TrialRecord) -> bool {
    let is_full = |name: &&str| {
        trial
            .signals
            .get(*name)
            .is_some_and(|busy| *busy >= CPU_FULL)
    };
    ONE_CPU.iter().any(is_full)
}

/// Whether the CPU that the server may use is full, or one of its CPUs.
fn cpu_is_full(trial: &TrialRecord) -> bool {
    one_cpu_is_full(trial) || trial.cpu.is_some_and(|cpu| cpu.total >= CPU_FULL)
}

/// How a trial is called in a sentence: its case, or its levels.
fn name(trial: &TrialRecord) -> String {
    trial.case.clone().unwrap_or_else(|| {
        let levels = trial
            .levels
            .iter()
            .map(|(name, level)| format!("{name} {level}"));
        levels.collect::<Vec<_>>().join(", ")
    })
}
