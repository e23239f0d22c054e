//! The search for the best level, and for the smallest that is not worse.
//!
//! It goes in three steps; the first two only choose where to look, the third alone decides.
//!
//! 1. *ladder*: one trial at each level of a logarithmic ladder, in a random order;
//! 2. *finer steps*: twice, between the levels where the peak and the edge of its plateau lie;
//! 3. for the best level *blocks*: the few levels that contend, each once a block and in a random
//!    order, until the question is decided or the last block is over. They are compared within
//!    blocks, on a logarithmic scale, against the best of them whichever that is, with intervals
//!    that hold for all levels and all looks together. The trials of the first two steps are not
//!    used here: a level contends because a trial of it was lucky, and luck must not count twice.
//! 4. for the smallest level that is as good, which asks for less, *rounds* of two trials instead:
//!    one of the level in question, one on top of the curve. All trials count together
//!    ([`super::pooled`]).
//!
//! Steps 1 and 2 follow the project's method notes (screening, weighted unimodal regression,
//! geometric midpoints); in step 3 blocks take the place of duels, so that the levels are compared
//! with the true best of them and not with the one that looked best.

use std::collections::BTreeMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use weir_record::LevelVerdict;

use super::levels::{Aim, Curve, ladder};
use super::pooled::{self, Pooled};
use crate::contest::{self, Contest};
use crate::sweep::shuffled;
use crate::trials::Effort;

/// Rounds of finer steps.
const ROUNDS: u32 = 2;
/// Most levels that contend.
pub(crate) const CONTENDERS_MAX: usize = 5;
/// Trials of finer steps at most, all rounds together.
pub(crate) const FINER_MAX: usize = 6;

/// A trial that the search asks for.
#[derive(Debug)]
pub(crate) struct Try {
    pub(crate) level: u32,
    pub(crate) effort: Effort,
    pub(crate) why: String,
}

/// A contender against the best one.
pub(super) type Standing = contest::Standing<u32>;
/// The contenders against each other, ascending by level. Where no blocks are run, `blocks` counts
/// the trials of the level in question.
pub(super) type Compared = contest::Compared<u32>;

impl Compared {
    /// The smallest that is not worse by the margin.
    pub(super) fn smallest_as_good(&self) -> Option<&Standing> {
        self.of(LevelVerdict::AsGood).next()
    }
}

/// A search under way; what it knows remains when a trial ends it.
#[derive(Debug)]
pub(crate) struct Search {
    aim: Aim,
    within: (u32, u32),
    /// The difference that matters, in logarithms.
    margin: f64,
    /// Logarithms of what the trials of the first two steps gave, more being better.
    tried: BTreeMap<u32, Vec<f64>>,
    /// The third step, once it has begun.
    contest: Option<Contest<u32>>,
}

impl Search {
    pub(crate) fn new(aim: Aim, within: (u32, u32), margin: f64) -> Self {
        Self {
            aim,
            within,
            margin,
            tried: BTreeMap::new(),
            contest: None,
        }
    }

    /// Runs the search. `measure` gives the logarithm of a trial's figure, more being better, or
    /// nothing when the level is out: its trial cannot be used, or breaks a requirement.
    pub(crate) fn run<E>(
        &mut self,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut dyn FnMut(Try) -> Result<Option<f64>, E>,
    ) -> Result<(), E> {
        self.explore(ladder(self.within), "ladder", random, measure)?;
        for _ in 0..ROUNDS {
            let finer = self.curve().map(|curve| curve.finer()).unwrap_or_default();
            self.explore(finer, "between the best so far", random, measure)?;
        }
        if self.aim == Aim::SmallestNearBest {
            return self.narrow(random, measure);
        }
        let Some(curve) = self.curve() else {
            return Ok(());
        };
        let contest = self
            .contest
            .insert(Contest::new(self.margin, curve.contenders()));
        // One that is left alone is no answer: there is nothing to compare it with.
        let alone = 0;
        let is_decided = |compared: &Compared| compared.leads_alone() || compared.is_plateau();
        contest.run(alone, is_decided, random, &mut |&level: &u32, why: &str| {
            measure(Try {
                level,
                effort: Effort::Full,
                why: why.to_owned(),
            })
        })
    }

    /// One trial at each of these levels that was not tried, in a random order.
    fn explore<E>(
        &mut self,
        mut levels: Vec<u32>,
        why: &str,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut dyn FnMut(Try) -> Result<Option<f64>, E>,
    ) -> Result<(), E> {
        levels.retain(|level| !self.tried.contains_key(level));
        for at in shuffled(levels.len(), random) {
            let level = levels[at];
            let asked = Try {
                level,
                effort: Effort::Rough,
                why: why.to_owned(),
            };
            if let Some(value) = measure(asked)? {
                self.tried.insert(level, vec![value]);
            }
        }
        Ok(())
    }

    /// Rounds of two trials until a small level is shown to be as good as the best.
    fn narrow<E>(
        &mut self,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut dyn FnMut(Try) -> Result<Option<f64>, E>,
    ) -> Result<(), E> {
        for round in 1..=pooled::ROUNDS_MAX {
            let Some(pooled) = Pooled::of(&self.tried, self.margin) else {
                return Ok(());
            };
            let candidate = pooled.candidate();
            if pooled.is_decided(candidate) {
                return Ok(());
            }
            let pair = [candidate, pooled.rival(candidate)];
            for at in shuffled(pair.len(), random) {
                let level = pair[at];
                let asked = Try {
                    level,
                    effort: Effort::Full,
                    why: format!(
                        "round {round} of at most {}: whether {candidate} is as good as the best",
                        pooled::ROUNDS_MAX
                    ),
                };
                match measure(asked)? {
                    Some(value) => self.tried.entry(level).or_default().push(value),
                    None => {
                        self.tried.remove(&level);
                    }
                }
            }
        }
        Ok(())
    }

    /// The curve through the trials of the first two steps.
    pub(crate) fn curve(&self) -> Option<Curve> {
        Curve::of(&self.tried, self.margin)
    }

    /// What is known of the levels that count; `None` before two of them, or two blocks of them,
    /// were tried.
    pub(crate) fn compared(&self) -> Option<Compared> {
        if self.aim == Aim::SmallestNearBest {
            return Some(Pooled::of(&self.tried, self.margin)?.compared());
        }
        self.contest.as_ref()?.compared()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests;
