//! The search of one setting while the others stay: where to look, one trial a level.
//!
//! It begins around what the model proposes and goes on along a ladder of doubled levels for as
//! long as the trials point further, so that a wrong model costs trials and not the answer. Then it
//! takes finer steps. The curve through the trials is the closest one with one peak. What it
//! chooses is only a proposal: the joint comparison decides.

use std::collections::{BTreeMap, BTreeSet};

use rand_xoshiro::Xoshiro256PlusPlus;
use weir_stats::unimodal_regression;

use crate::best::{between, ladder};
use crate::file::BestGoal;
use crate::sweep::shuffled;

/// Rounds of finer steps.
const ROUNDS: u32 = 2;
/// Trials of finer steps at most.
pub(super) const FINER_MAX: usize = 6;
/// Levels of the ladder below and above the proposal with which it begins.
const BELOW: usize = 1;
const ABOVE: usize = 2;

/// Measures a level, for a reason in words; nothing when the level is out.
pub(super) type Measure<'m, E> = dyn FnMut(u32, &str) -> Result<Option<f64>, E> + 'm;

/// The search of one setting, under way.
#[derive(Debug)]
pub(super) struct Walk {
    goal: BestGoal,
    /// The difference that may be lost here, in logarithms.
    margin: f64,
    ladder: Vec<u32>,
    /// Logarithms of what was measured, more being better.
    tried: BTreeMap<u32, f64>,
    /// Levels that cannot be used.
    out: BTreeSet<u32>,
    /// How many more trials it may ask for.
    left: usize,
}

impl Walk {
    /// A search between two different levels, of at most so many trials.
    pub(super) fn new(goal: BestGoal, within: (u32, u32), margin: f64, most: usize) -> Self {
        Self {
            goal,
            margin,
            ladder: ladder(within),
            tried: BTreeMap::new(),
            out: BTreeSet::new(),
            left: most,
        }
    }

    /// Notes what is known of a level.
    pub(super) fn know(&mut self, level: u32, value: Option<f64>) {
        match value {
            Some(value) => {
                self.tried.insert(level, value);
            }
            None => {
                self.out.insert(level);
            }
        }
    }

    /// A level in the middle of the ladder: it says what the ends do not.
    pub(super) fn middle(&self) -> u32 {
        self.ladder[self.ladder.len() / 2]
    }

    /// Runs the search, around a proposal where there is one.
    pub(super) fn run<E>(
        &mut self,
        around: Option<u32>,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut Measure<'_, E>,
    ) -> Result<(), E> {
        self.explore(&self.first(around), "ladder", random, measure)?;
        while let Some(next) = self.further() {
            if self.left == 0 {
                return Ok(());
            }
            self.explore(&[next], "further along the ladder", random, measure)?;
        }
        for round in 0..ROUNDS {
            let finer = self.finer(round);
            self.explore(&finer, "between the best so far", random, measure)?;
        }
        Ok(())
    }

    /// The level that it proposes; `None` when none can be used.
    pub(super) fn choice(&self) -> Option<u32> {
        let fit = self.fit()?;
        Some(match self.goal {
            BestGoal::Best => fit.peak(),
            BestGoal::SmallestNearBest => fit.edge(self.margin),
        })
    }

    /// The next smaller level that was tried, and the next larger; with whether it can be used.
    pub(super) fn beside(&self, level: u32) -> (Option<Beside>, Option<Beside>) {
        let known = |level: u32| Beside {
            level,
            usable: !self.out.contains(&level),
        };
        let below = self.known().filter(|&known| known < level).max();
        let above = self.known().filter(|&known| known > level).min();
        (below.map(known), above.map(known))
    }

    fn known(&self) -> impl Iterator<Item = u32> {
        self.tried.keys().chain(&self.out).copied()
    }

    fn is_known(&self, level: u32) -> bool {
        self.tried.contains_key(&level) || self.out.contains(&level)
    }

    /// The levels around a proposal and the largest; the whole ladder without one.
    fn first(&self, around: Option<u32>) -> Vec<u32> {
        let Some(around) = around else {
            return self.ladder.clone();
        };
        let last = self.ladder.len() - 1;
        let at = self.ladder.iter().rposition(|&level| level <= around);
        let at = at.unwrap_or(0);
        let mut first = self.ladder[at.saturating_sub(BELOW)..=(at + ABOVE).min(last)].to_vec();
        if at + ABOVE < last {
            first.push(self.ladder[last]);
        }
        first
    }

    /// The level of the ladder to which the trials point.
    fn further(&self) -> Option<u32> {
        let mut untried = self.ladder.iter().filter(|&&level| !self.is_known(level));
        let Some(fit) = self.fit() else {
            // Nothing can be used yet: fewer hold back more.
            return untried.next_back().copied();
        };
        let peak = fit.peak();
        let falls_below = fit
            .below(peak)
            .is_none_or(|below| below < fit.top() - self.margin);
        let beside = |level: u32, untried: u32| {
            let is_between =
                |known: &u32| (untried.min(level) + 1..untried.max(level)).contains(known);
            !self.known().any(|known| is_between(&known))
        };
        let edge = fit.edge(self.margin);
        let lowest = fit.levels.first() == Some(&edge);
        let below_edge = self.ladder.iter().rev().find(|&&level| level < edge);
        if let Some(&below) = below_edge.filter(|below| lowest && !self.is_known(**below)) {
            return Some(below);
        }
        let wanted = self.goal == BestGoal::Best || falls_below;
        untried
            .find(|&&level| wanted && beside(peak, level))
            .copied()
    }

    /// Levels between those that were tried, where it counts.
    fn finer(&self, round: u32) -> Vec<u32> {
        let Some(fit) = self.fit() else {
            return Vec::new();
        };
        let mut sides = vec![];
        let (peak, edge) = (fit.peak(), fit.edge(self.margin));
        let (below_edge, _) = self.beside(edge);
        let (below_peak, above_peak) = self.beside(peak);
        if self.goal == BestGoal::SmallestNearBest {
            sides.push((below_edge.map(|below| below.level), Some(edge)));
        }
        if self.goal == BestGoal::Best || round == 0 {
            sides.push((below_peak.map(|below| below.level), Some(peak)));
            sides.push((Some(peak), above_peak.map(|above| above.level)));
        }
        let mut finer: Vec<u32> = sides
            .into_iter()
            .filter_map(|(low, high)| between(low?, high?))
            .collect();
        finer.sort_unstable();
        finer.dedup();
        finer
    }

    /// One trial at each of these levels that is not known, in a random order.
    fn explore<E>(
        &mut self,
        levels: &[u32],
        why: &str,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut Measure<'_, E>,
    ) -> Result<(), E> {
        let mut levels: Vec<u32> = levels.to_vec();
        levels.retain(|&level| !self.is_known(level));
        for at in shuffled(levels.len(), random) {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            let value = measure(levels[at], why)?;
            self.know(levels[at], value);
        }
        Ok(())
    }

    fn fit(&self) -> Option<Fit> {
        let values: Vec<f64> = self.tried.values().copied().collect();
        let weights = vec![1.0; values.len()];
        let fit = unimodal_regression(&values, &weights).ok()?;
        Some(Fit {
            levels: self.tried.keys().copied().collect(),
            fitted: fit.fitted,
            peak: fit.peak,
        })
    }
}

/// A level beside the one that is proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beside {
    pub(super) level: u32,
    pub(super) usable: bool,
}

/// The curve with one peak through the trials.
struct Fit {
    levels: Vec<u32>,
    fitted: Vec<f64>,
    peak: usize,
}

impl Fit {
    fn peak(&self) -> u32 {
        self.levels[self.peak]
    }

    fn top(&self) -> f64 {
        self.fitted[self.peak]
    }

    /// The first level within the margin of the plateau around the peak. The highest of single
    /// trials is the luckiest, so that the mean of all within two margins stands for the
    /// plateau.
    fn edge(&self, margin: f64) -> u32 {
        let near = self
            .fitted
            .iter()
            .filter(|&&fitted| fitted >= self.top() - 2.0 * margin);
        let (sum, count) = near.fold((0.0, 0.0), |(sum, count), fitted| {
            (sum + fitted, count + 1.0)
        });
        let least = sum / count - margin;
        let at = self.fitted.iter().position(|&fitted| fitted >= least);
        at.map_or_else(|| self.peak(), |at| self.levels[at])
    }

    /// The curve at the level below another.
    fn below(&self, level: u32) -> Option<f64> {
        let at = self.levels.iter().rposition(|&known| known < level)?;
        Some(self.fitted[at])
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::convert::Infallible;

    use rand_xoshiro::rand_core::SeedableRng;

    use super::*;

    /// Walks over a curve; the choice and how many trials it took.
    fn walked(
        goal: BestGoal,
        around: Option<u32>,
        curve: impl Fn(u32) -> Option<f64>,
    ) -> (Option<u32>, usize) {
        let mut walk = Walk::new(goal, (1, 200), 0.05, 20);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut trials = 0;
        let mut measure = |level: u32, _: &str| {
            trials += 1;
            Ok::<_, Infallible>(curve(level).map(f64::ln))
        };
        walk.run(around, &mut random, &mut measure).unwrap();
        (walk.choice(), trials)
    }

    fn plateau(level: u32) -> f64 {
        f64::from(level.min(20))
    }

    #[test]
    fn a_good_proposal_saves_trials_and_a_bad_one_does_no_harm() {
        for around in [None, Some(1), Some(5), Some(20), Some(90), Some(200)] {
            let (choice, trials) = walked(BestGoal::SmallestNearBest, around, |level| {
                Some(plateau(level))
            });
            let choice = choice.unwrap();
            assert!((19..=23).contains(&choice), "{around:?}: {choice}");
            let most = if around == Some(20) { 9 } else { 16 };
            assert!(trials <= most, "{around:?}: {trials} trials");
        }
    }

    #[test]
    fn a_peak_between_the_proposal_and_the_end_is_found() {
        let peak = |level: u32| {
            let distance = (f64::from(level) / 60.0).ln();
            Some((-distance.powi(2)).exp())
        };
        for around in [Some(2), Some(10), Some(190)] {
            let (choice, _) = walked(BestGoal::Best, around, peak);
            assert!(
                (45..=80).contains(&choice.unwrap()),
                "{around:?}: {choice:?}"
            );
        }
    }

    #[test]
    fn levels_that_are_out_drive_it_down_and_none_is_no_choice() {
        let up_to_six = |level: u32| (level <= 6).then(|| f64::from(level));
        let (choice, _) = walked(BestGoal::SmallestNearBest, Some(100), up_to_six);
        assert!((5..=6).contains(&choice.unwrap()), "{choice:?}");
        let (choice, trials) = walked(BestGoal::SmallestNearBest, Some(100), |_| None);
        assert_eq!(choice, None);
        assert_eq!(trials, 9, "the whole ladder once");
    }
}
