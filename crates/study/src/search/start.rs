//! The smallest level of the range, when the root lies below it: whether anything holds at all.
//!
//! The root comes from a curve through all trials, which may be wrong just there. So nothing is
//! called broken at the smallest level but what broke in every trial at that level.

use weir_record::TrialRecord;

use super::root::{By, Root};
use super::{Found, Goals, Step, level as level_of, near};
use crate::file::FindSpec;
use crate::trials::Effort;

/// What the trials themselves say of the smallest level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AtStart {
    held: usize,
    broken: usize,
}

impl AtStart {
    fn of(spec: &FindSpec, goals: &Goals, binding: usize, trials: &[&TrialRecord]) -> Self {
        let start = f64::from(spec.within.0);
        let there = || {
            trials
                .iter()
                .filter(move |trial| level_of(trial) == Some(start))
        };
        let held = there()
            .filter(|trial| goals.met(binding, spec, trial))
            .count();
        Self {
            held,
            broken: there().count() - held,
        }
    }

    /// Why trials of which some held and some did not say neither.
    fn contradiction(self, spec: &FindSpec, binding: usize) -> Found {
        Found::Undecided(format!(
            "trials at {} {}, the smallest level, contradict each other: `{}` holds in {} of {}. A smaller start \
             of `within` finds up to where it holds",
            spec.within.0,
            spec.varied.noun(),
            spec.requirements[binding],
            self.held,
            self.held + self.broken
        ))
    }
}

/// What to do when the root lies below the range; `trials` are all valid ones, `used` those the
/// root comes from.
pub(super) fn below_range(
    spec: &FindSpec,
    goals: &Goals,
    (binding, root): (usize, Root),
    trials: &[&TrialRecord],
    used: &[&TrialRecord],
) -> Step {
    let try_start = |why: &str| Step::Try {
        level: spec.within.0,
        effort: Effort::Full,
        why: why.to_owned(),
    };
    // The interval of a CPU root says whether one trial is enough; a bracket is always in doubt.
    let clear = goals.is_cpu(binding) && root.high < f64::from(spec.within.0);
    let at_start = AtStart::of(spec, goals, binding, trials);
    match at_start {
        AtStart { held: 0, broken } if broken == 0 || (broken == 1 && !clear) => {
            try_start("the smallest level: whether anything holds")
        }
        AtStart { held: 0, .. } => Step::End(Found::Broken { binding }),
        AtStart { held: 1, broken: 0 } => {
            try_start("the smallest level again: it held there, and the other trials say otherwise")
        }
        AtStart { broken: 0, .. } => {
            let bracket = bracket(spec, goals, binding, root, trials);
            match near(spec, goals, binding, bracket, used) {
                Step::End(Found::Level { root, .. }) => Step::End(level(spec, binding, root)),
                step => step,
            }
        }
        AtStart { .. } => Step::End(at_start.contradiction(spec, binding)),
    }
}

/// As `below_range`, when the search has to end now.
pub(super) fn below_range_at_end(
    spec: &FindSpec,
    goals: &Goals,
    (binding, root): (usize, Root),
    trials: &[&TrialRecord],
) -> Found {
    let at_start = AtStart::of(spec, goals, binding, trials);
    match at_start {
        AtStart { held: 0, broken: 0 } => Found::Undecided(format!(
            "the budget ended before a trial at {} {}, the smallest level, where the model expects that `{}` does \
             not hold",
            spec.within.0,
            spec.varied.noun(),
            spec.requirements[binding]
        )),
        AtStart { held: 0, .. } => Found::Broken { binding },
        AtStart { broken: 0, .. } => {
            level(spec, binding, bracket(spec, goals, binding, root, trials))
        }
        AtStart { .. } => at_start.contradiction(spec, binding),
    }
}

/// Between the largest level up to which every trial held and the smallest at which one did not.
fn bracket(
    spec: &FindSpec,
    goals: &Goals,
    binding: usize,
    root: Root,
    trials: &[&TrialRecord],
) -> Root {
    let (low, high) = (f64::from(spec.within.0), f64::from(spec.within.1));
    let levels = |met: bool| {
        let wanted = trials
            .iter()
            .filter(move |trial| goals.met(binding, spec, trial) == met);
        wanted.filter_map(|trial| level_of(trial))
    };
    // The step before the break: there it still holds as far as is known.
    let last = levels(false).fold(high + 1.0, f64::min) - 1.0;
    let held = levels(true)
        .filter(|level| *level <= last)
        .fold(low, f64::max);
    Root {
        level: held,
        low: held,
        high: last.max(root.high),
        doubt: (last - held).max(root.doubt),
        between: (held, last),
        by: By::Bracket,
        ..root
    }
}

/// The answer that rests on the trials alone. The curve through them says less, so the interval
/// begins with the range.
fn level(spec: &FindSpec, binding: usize, bracket: Root) -> Found {
    Found::Level {
        root: Root {
            low: f64::from(spec.within.0),
            ..bracket
        },
        binding,
        at_range_end: bracket.level >= f64::from(spec.within.1),
    }
}
