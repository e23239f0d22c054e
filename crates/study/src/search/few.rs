//! Answers of a few users: the whole numbers next to the root are all there is to try.

use weir_record::TrialRecord;

use super::cpu::SPREAD;
use super::root::Root;
use super::{Effort, Found, Goals, Step, count_at, level};
use crate::file::FindSpec;

/// Below so many users (or other levels) the whole numbers next to the root are further from it
/// than what counts as near.
const FEW: f64 = 5.0;
/// A CPU that differs from its goal by this share of it is clearly on one side: three times what
/// trials differ by.
const CLEARLY: f64 = 3.0 * SPREAD;

/// Of few users each counts, and between two numbers of them there is no third: both next to the
/// root are tried.
pub(super) fn next(
    spec: &FindSpec,
    goals: &Goals,
    binding: usize,
    root: Root,
    trials: &[&TrialRecord],
) -> Option<Step> {
    if root.level >= FEW || !goals.is_cpu(binding) {
        return None;
    }
    if let Some(root) = between_neighbours(goals, binding, root, trials) {
        return Some(Step::End(Found::Level {
            root,
            binding,
            at_range_end: false,
        }));
    }
    let below = (root.level.floor() as u32).max(spec.within.0);
    let next = [below, below + 1]
        .into_iter()
        .filter(|level| *level <= spec.within.1)
        .find(|level| count_at(trials, *level) == 0)?;
    Some(Step::Try {
        level: next,
        effort: Effort::Full,
        why: format!(
            "one of the two next to {:.1} {}",
            root.level,
            spec.varied.noun()
        ),
    })
}

/// The root between two neighbours of which one clearly meets the CPU goal and the next clearly
/// does not, whatever a curve through all trials says.
pub(super) fn between_neighbours(
    goals: &Goals,
    binding: usize,
    root: Root,
    trials: &[&TrialRecord],
) -> Option<Root> {
    if root.level >= FEW || !goals.is_cpu(binding) {
        return None;
    }
    let (_, goal) = goals.cpu?;
    let at = |users: u32| {
        let of_level = trials
            .iter()
            .filter(move |trial| level(trial) == Some(f64::from(users)));
        of_level.filter_map(|trial| trial.cpu.map(|cpu| cpu.total))
    };
    let holds = |users: u32| {
        at(users).next().is_some() && at(users).all(|cpu| cpu <= goal * (1.0 - CLEARLY))
    };
    let breaks = |users: u32| {
        at(users).next().is_some() && at(users).all(|cpu| cpu >= goal * (1.0 + CLEARLY))
    };
    let last = (1..FEW as u32).find(|users| holds(*users) && breaks(users + 1))?;
    let last = f64::from(last);
    Some(Root {
        level: last + 0.5,
        low: last,
        high: last,
        doubt: 0.0,
        between: (last, last),
        ..root
    })
}
