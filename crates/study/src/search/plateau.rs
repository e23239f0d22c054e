//! When more users bring no more CPU: a stage of the funnel that is full, or nothing that shows.
//!
//! A closed workload can only reach the goal if no limit stops it before. A limit shows in two
//! ways: a stage with a limit is full although the CPU is below its goal, or the CPU stays where it
//! is although the model foretells that it rises. Either is a suspicion; it counts when a trial
//! with about twice as many users shows the same.

use weir_queueing::laws;
use weir_record::{TargetFacts, TrialRecord, is_full};
use weir_stats::Estimate;

use super::cpu::{CpuFit, SPREAD, disturbed_by};

/// The CPU counts as flat when it rises by less than this share of what the model foretells …
const FLAT: f64 = 0.3;
/// … and the model foretells more than this many standard deviations of a trial.
const TELLING: f64 = 4.0;
/// Levels that are compared have at least this ratio …
const APART: f64 = 1.2;
/// … and a trial with this many times the users confirms a suspicion.
const CONFIRM: f64 = 1.7;

/// Trials with a full stage after which a ceiling near the goal is left to the search.
const FULL_TRIALS_MAX: usize = 5;

/// A limit that keeps the CPU below its goal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Plateau {
    /// A trial at this level would confirm it.
    Suspected { level: f64 },
    /// It is there.
    Confirmed {
        /// The innermost stage that is full; `None`: nothing that was watched explains it.
        stage: Option<String>,
        /// The trial that began it and the one that confirmed it.
        trials: [u32; 2],
    },
}

/// The innermost full stage in a trial.
pub(crate) fn full_stage(trial: &TrialRecord, facts: &TargetFacts) -> Option<String> {
    let full = facts.stages.iter().rev().find(|stage| {
        // A queue or a backlog that is full shows a limit further in.
        let holds = stage.name == "threads"
            || stage.name == "connections"
            || stage.name.starts_with("pool.");
        holds
            && is_full(
                trial.occupancy(&stage.name),
                trial.limit(&stage.name, facts),
            )
    });
    full.map(|stage| stage.name.clone())
}

/// Looks for a plateau below the goal; `high` is the largest level that may be tried.
pub(crate) fn look(
    trials: &[&TrialRecord],
    facts: &TargetFacts,
    target: f64,
    high: f64,
) -> Option<Plateau> {
    let view = View::new(trials, facts, target)?;
    let full: Vec<(&TrialRecord, String)> = view
        .trials
        .iter()
        .filter_map(|trial| Some((*trial, full_stage(trial, facts)?)))
        .collect();
    if full.is_empty() {
        return view.unexplained(high);
    }
    view.by_full_stage(&full, high)
}

/// What was seen, where a search ends before it is clear whether there is a plateau.
pub(crate) fn in_doubt(
    trials: &[&TrialRecord],
    facts: &TargetFacts,
    target: f64,
    high: f64,
) -> Option<String> {
    let Some(Plateau::Suspected { .. }) = look(trials, facts, target, high) else {
        return None;
    };
    let mut by_level = trials.to_vec();
    by_level.sort_by(|a, b| level(a).total_cmp(&level(b)));
    let [.., less, more] = by_level.as_slice() else {
        return None;
    };
    let seen = |trial: &TrialRecord| {
        let cpu = trial.cpu.map_or(0.0, |cpu| cpu.total) * 100.0;
        format!("{cpu:.1} % at {}", level(trial))
    };
    let full = full_stage(more, facts)
        .map_or_else(String::new, |stage| format!(", where `{stage}` was full"));
    Some(format!("it was {} and {}{full}", seen(less), seen(more)))
}

/// The trials by level, and what a plateau is judged by.
struct View<'a> {
    trials: Vec<&'a TrialRecord>,
    facts: &'a TargetFacts,
    target: f64,
    /// CPU time of a request.
    demand_s: f64,
}

impl<'a> View<'a> {
    fn new(trials: &[&'a TrialRecord], facts: &'a TargetFacts, target: f64) -> Option<Self> {
        let mut trials = trials.to_vec();
        trials.sort_by(|a, b| level(a).total_cmp(&level(b)));
        let demand_s = CpuFit::of(&trials, facts.cpus, target)?.demand_s();
        Some(Self {
            trials,
            facts,
            target,
            demand_s,
        })
    }

    /// The CPU of a trial, from its CPU figure and from its throughput: the two err on their own,
    /// or (when requests cost more for a while) in opposite directions.
    fn cpu(&self, trial: &TrialRecord) -> f64 {
        let measured = trial.cpu.map_or(0.0, |cpu| cpu.total);
        let servers = self.facts.cpus;
        let by_throughput = laws::utilization(trial.throughput_per_s, self.demand_s, servers);
        (measured * by_throughput).sqrt()
    }

    /// Relative standard deviation of it.
    fn doubt(&self, trial: &TrialRecord) -> f64 {
        let Some(cpu) = trial.cpu.filter(|cpu| cpu.total > 0.0) else {
            return SPREAD;
        };
        let own = trial.intervals.get("cpu").map_or(0.0, Estimate::half_width);
        let within = own / 2.0 / cpu.total;
        let disturbed = disturbed_by(trial, self.facts.cpus) / cpu.total;
        (SPREAD.hypot(within) / 2.0_f64.sqrt()).hypot(disturbed)
    }

    /// Whether the CPU of a trial is clearly below the goal.
    fn below(&self, trial: &TrialRecord) -> bool {
        self.cpu(trial) * (1.0 + 2.0 * self.doubt(trial)) < self.target
    }

    /// A stage is full: the mean CPU of all trials in which it is, is what it allows.
    fn by_full_stage(&self, full: &[(&TrialRecord, String)], high: f64) -> Option<Plateau> {
        let count = full.len() as f64;
        let ceiling = |(trial, stage): &(&TrialRecord, String)| {
            // With the last of the stage in use there is at most this much CPU more.
            let taken = trial.taken(stage, self.facts)?;
            Some(self.cpu(trial) / taken.min(1.0))
        };
        let mean = full.iter().filter_map(ceiling).sum::<f64>() / count;
        let doubts = full.iter().map(|(trial, _)| self.doubt(trial));
        let error = 2.0 * mean * doubts.sum::<f64>() / count / count.sqrt();
        let (first, last) = (&full[0], &full[full.len() - 1]);
        let (lowest, highest) = (level(first.0), level(last.0));
        let wide = highest >= CONFIRM * lowest || highest >= high;
        if wide && mean + error < self.target {
            return Some(Plateau::Confirmed {
                stage: Some(last.1.clone()),
                trials: [first.0.id, last.0.id],
            });
        }
        if mean - error > self.target || full.len() >= FULL_TRIALS_MAX {
            return None;
        }
        // In doubt so near to the goal, another trial decides: beyond those there are.
        let next = if wide { 1.1 * highest } else { 2.0 * lowest };
        Some(Plateau::Suspected {
            level: next.min(high),
        })
    }

    /// Nothing is full, and yet the CPU stays where it is.
    fn unexplained(&self, high: f64) -> Option<Plateau> {
        let (at, before, start) = self.trials.iter().enumerate().find_map(|(at, trial)| {
            let flat = |before: &&&TrialRecord| {
                level(trial) >= APART * level(before) && self.flat(before, trial)
            };
            let before = self.trials[..at].iter().find(flat)?;
            Some((at, *before, *trial))
        })?;
        let enough = |later: &&&TrialRecord| {
            level(later) >= CONFIRM * level(start) || (level(later) >= high && level(start) < high)
        };
        let later: Vec<&&TrialRecord> = self.trials[at + 1..].iter().filter(enough).collect();
        // Against the trial before the plateau: on it the model may already be near its own end.
        if let Some(confirmed) = later.iter().find(|later| self.flat(before, later)) {
            return Some(Plateau::Confirmed {
                stage: None,
                trials: [start.id, confirmed.id],
            });
        }
        // Refuted by a trial, or no room for one.
        let room = later.is_empty() && level(start) < high;
        room.then(|| Plateau::Suspected {
            level: (2.0 * level(start)).min(high),
        })
    }

    /// Whether the CPU hardly rises from one trial to a later one, where the model fitted to the
    /// levels up to the first foretells a rise.
    fn flat(&self, from: &TrialRecord, to: &TrialRecord) -> bool {
        let seen = (self.cpu(to) / self.cpu(from)).ln();
        // No model foretells a steeper rise than that of the users, so most pairs need none.
        if !self.below(to) || seen >= FLAT * (level(to) / level(from)).ln() {
            return false;
        }
        let up_to: Vec<&TrialRecord> = self
            .trials
            .iter()
            .copied()
            .filter(|trial| level(trial) <= level(from))
            .collect();
        let Some(fit) = CpuFit::of(&up_to, self.facts.cpus, self.target) else {
            return false;
        };
        let foretold = (fit.model_utilization(level(to)) / fit.model_utilization(level(from))).ln();
        let noise = self.doubt(from).hypot(self.doubt(to));
        foretold > TELLING * noise && seen < FLAT * foretold
    }
}

fn level(trial: &TrialRecord) -> f64 {
    super::level(trial).unwrap_or_default()
}
