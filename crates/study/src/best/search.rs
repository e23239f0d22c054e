//! The search for the best level, and for the smallest that is not worse.
//!
//! It goes in three steps; the first two only choose where to look, the third alone decides.
//!
//! 1. *ladder*: one trial at each level of a logarithmic ladder, in a random order;
//! 2. *finer steps*: twice, between the levels where the peak and the edge of its plateau lie;
//! 3. for the best level *blocks*: the few levels that contend, each once a block and in a random order, until the
//!    question is decided or the last block is over. They are compared within blocks, on a logarithmic scale, against the
//!    best of them whichever that is, with intervals that hold for all levels and all looks together. The trials of the first
//!    two steps are not used here: a level contends because a trial of it was lucky, and luck must not count twice.
//! 4. for the smallest level that is as good, which asks for less, *rounds* of two trials instead: one of the level in
//!    question, one on top of the curve. All trials count together ([`super::pooled`]).
//!
//! Steps 1 and 2 follow the project's method notes (screening, weighted unimodal regression,
//! geometric midpoints); in step 3 blocks take the place of duels, so that the levels are compared with the true best of
//! them and not with the one that looked best.

use std::collections::BTreeMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use weir_stats::{Blocks, Estimate, Family};

use super::levels::{Aim, Curve, ladder};
use super::pooled::{self, Pooled};
use crate::sweep::shuffled;
use crate::trials::Effort;

/// Rounds of finer steps.
const ROUNDS: u32 = 2;
/// After so many complete blocks it is looked whether the question is decided.
const LOOKS: [usize; 3] = [3, 5, 8];
/// Most blocks.
pub(crate) const BLOCKS_MAX: usize = LOOKS[LOOKS.len() - 1];
/// Most levels that contend.
pub(crate) const CONTENDERS_MAX: usize = 5;
/// Trials of finer steps at most, all rounds together.
pub(crate) const FINER_MAX: usize = 6;
/// Probability that everything that is said of the contenders is true.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// A trial that the search asks for.
#[derive(Debug)]
pub(crate) struct Try {
    pub(crate) level: u32,
    pub(crate) effort: Effort,
    pub(crate) why: String,
}

/// What a contender is against the best one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Not worse by the margin.
    AsGood,
    /// Worse by more than the margin.
    Worse,
    /// Neither can be told.
    Open,
}

/// A contender against the best one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standing {
    pub(crate) level: u32,
    /// Mean of the logarithms over the blocks.
    pub(crate) mean: f64,
    /// What it loses against the best, in logarithms.
    pub(crate) loss: Estimate,
    pub(crate) verdict: Verdict,
}

/// The contenders against each other.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    /// Ascending by level.
    pub(crate) standings: Vec<Standing>,
    /// Standard deviation between trials of one level in one block, in logarithms.
    pub(crate) noise: f64,
    /// Complete blocks, or trials of the level in question.
    pub(crate) blocks: usize,
}

impl Compared {
    /// The contender with the highest mean.
    pub(crate) fn leader(&self) -> &Standing {
        let best = self
            .standings
            .iter()
            .max_by(|a, b| a.mean.total_cmp(&b.mean));
        best.expect("there are contenders")
    }

    /// Whether the leader was shown to be ahead of every other.
    pub(crate) fn leads_alone(&self) -> bool {
        self.not_beaten().count() == 1
    }

    /// Those of which nobody was shown to be ahead: the best is among them.
    pub(crate) fn not_beaten(&self) -> impl Iterator<Item = &Standing> {
        self.standings
            .iter()
            .filter(|standing| standing.loss.low <= 0.0)
    }

    /// The smallest that is not worse by the margin.
    pub(crate) fn smallest_as_good(&self) -> Option<&Standing> {
        self.of(Verdict::AsGood).next()
    }

    pub(crate) fn of(&self, verdict: Verdict) -> impl Iterator<Item = &Standing> {
        let that = move |standing: &&Standing| standing.verdict == verdict;
        self.standings.iter().filter(that)
    }

    /// Whether the best is known, or that there is none.
    fn is_decided(&self) -> bool {
        self.leads_alone()
            || self
                .not_beaten()
                .all(|standing| standing.verdict == Verdict::AsGood)
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
    contenders: Vec<u32>,
    /// How many contended at the outset; some may have dropped out.
    entered: usize,
    /// The same of the contenders, block by block.
    blocks: Vec<Vec<f64>>,
}

impl Search {
    pub(crate) fn new(aim: Aim, within: (u32, u32), margin: f64) -> Self {
        Self {
            aim,
            within,
            margin,
            tried: BTreeMap::new(),
            contenders: Vec::new(),
            entered: 0,
            blocks: Vec::new(),
        }
    }

    /// Runs the search. `measure` gives the logarithm of a trial's figure, more being better, or nothing when the level
    /// is out: its trial cannot be used, or breaks a requirement.
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
        self.contenders = curve.contenders();
        self.entered = self.contenders.len();
        // A level that drops out takes its block with it.
        for _ in 0..BLOCKS_MAX + CONTENDERS_MAX {
            if self.contenders.len() < 2 || self.blocks.len() == BLOCKS_MAX {
                break;
            }
            self.block(random, measure)?;
            let looks = LOOKS.contains(&self.blocks.len());
            if looks
                && self
                    .compared()
                    .is_some_and(|compared| compared.is_decided())
            {
                break;
            }
        }
        Ok(())
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

    /// One trial of every contender, in a random order.
    fn block<E>(
        &mut self,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut dyn FnMut(Try) -> Result<Option<f64>, E>,
    ) -> Result<(), E> {
        let mut block = vec![0.0; self.contenders.len()];
        for at in shuffled(self.contenders.len(), random) {
            let asked = Try {
                level: self.contenders[at],
                effort: Effort::Full,
                why: format!(
                    "block {} of at most {BLOCKS_MAX}, {} levels contend",
                    self.blocks.len() + 1,
                    self.contenders.len()
                ),
            };
            let Some(value) = measure(asked)? else {
                self.contenders.remove(at);
                for block in &mut self.blocks {
                    block.remove(at);
                }
                return Ok(());
            };
            block[at] = value;
        }
        self.blocks.push(block);
        Ok(())
    }

    /// The curve through the trials of the first two steps.
    pub(crate) fn curve(&self) -> Option<Curve> {
        Curve::of(&self.tried, self.margin)
    }

    /// What is known of the levels that count; `None` before two of them, or two blocks of them, were tried.
    pub(crate) fn compared(&self) -> Option<Compared> {
        if self.aim == Aim::SmallestNearBest {
            return Some(Pooled::of(&self.tried, self.margin)?.compared());
        }
        let blocks = Blocks::of(&self.blocks).ok()?;
        let losses = blocks.losses(Family {
            treatments: self.entered,
            looks: LOOKS.len(),
            confidence: CONFIDENCE,
        });
        let contenders = self.contenders.iter().zip(blocks.means()).zip(losses);
        let standings = contenders.map(|((&level, &mean), loss)| Standing {
            level,
            mean,
            loss,
            verdict: if loss.high < self.margin {
                Verdict::AsGood
            } else if loss.low > self.margin {
                Verdict::Worse
            } else {
                Verdict::Open
            },
        });
        Some(Compared {
            standings: standings.collect(),
            noise: blocks.residual_variance().sqrt(),
            blocks: blocks.count(),
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests;
