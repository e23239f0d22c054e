//! Contenders compared with the best of them, whichever that is, in blocks.
//!
//! Every block runs each contender once, in a random order. They are compared within blocks, on a
//! logarithmic scale, with intervals that hold for all of them and all looks together (multiple
//! comparisons with the best; see [`weir_stats::Blocks`]). Earlier trials are not used: what
//! contends does so because a trial of it was lucky, and luck must not count twice.
//!
//! A contender is a level of one factor, or the levels of several.

use rand_xoshiro::Xoshiro256PlusPlus;
use weir_record::LevelVerdict;
use weir_stats::{Blocks, Estimate, Family};

use crate::sweep::shuffled;

/// After so many complete blocks it is looked whether the question is decided.
pub(crate) const LOOKS: [usize; 3] = [3, 5, 8];
/// Most blocks.
pub(crate) const BLOCKS_MAX: usize = LOOKS[LOOKS.len() - 1];
/// Probability that everything that is said of the contenders is true.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Measures a contender, for a reason in words: the logarithm of its figure, more being better;
/// nothing when it is out.
pub(crate) type Measure<'m, C, E> = dyn FnMut(&C, &str) -> Result<Option<f64>, E> + 'm;

/// A contender against the best one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Standing<C> {
    pub(crate) contender: C,
    /// Mean of the logarithms over the blocks.
    pub(crate) mean: f64,
    /// What it loses against the best, in logarithms.
    pub(crate) loss: Estimate,
    pub(crate) verdict: LevelVerdict,
}

/// The contenders against each other.
#[derive(Debug, Clone)]
pub(crate) struct Compared<C> {
    /// In the order of the contenders.
    pub(crate) standings: Vec<Standing<C>>,
    /// Standard deviation between trials of one contender in one block, in logarithms.
    pub(crate) noise: f64,
    /// Complete blocks: trials of each contender.
    pub(crate) blocks: usize,
}

impl<C> Compared<C> {
    /// The one with the highest mean.
    pub(crate) fn leader(&self) -> &Standing<C> {
        let standings = self.standings.iter();
        let leader = standings.max_by(|a, b| a.mean.total_cmp(&b.mean));
        leader.expect("there are contenders")
    }

    /// Those of which nobody was shown to be ahead: the best is among them.
    pub(crate) fn not_beaten(&self) -> impl Iterator<Item = &Standing<C>> {
        self.standings
            .iter()
            .filter(|standing| standing.loss.low <= 0.0)
    }

    /// Whether the leader was shown to be ahead of every other.
    pub(crate) fn leads_alone(&self) -> bool {
        self.not_beaten().count() == 1
    }

    /// Whether several may be the best, and between them there is no difference that matters.
    pub(crate) fn is_plateau(&self) -> bool {
        !self.leads_alone()
            && self
                .not_beaten()
                .all(|standing| standing.verdict == LevelVerdict::AsGood)
    }

    pub(crate) fn of(&self, verdict: LevelVerdict) -> impl Iterator<Item = &Standing<C>> {
        let that = move |standing: &&Standing<C>| standing.verdict == verdict;
        self.standings.iter().filter(that)
    }
}

/// The contenders and their blocks.
#[derive(Debug)]
pub(crate) struct Contest<C> {
    /// The difference that matters, in logarithms.
    margin: f64,
    contenders: Vec<C>,
    /// How many contended at the outset; some may have dropped out.
    entered: usize,
    /// Logarithms of what the trials gave, more being better, block by block.
    blocks: Vec<Vec<f64>>,
}

impl<C: Clone> Contest<C> {
    pub(crate) fn new(margin: f64, contenders: Vec<C>) -> Self {
        Self {
            margin,
            entered: contenders.len(),
            contenders,
            blocks: Vec::new(),
        }
    }

    /// Those that have not dropped out.
    pub(crate) fn contenders(&self) -> &[C] {
        &self.contenders
    }

    /// Complete blocks.
    pub(crate) fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Runs blocks until the question is decided or the last one is over; what is left alone is
    /// measured in so many.
    pub(crate) fn run<E>(
        &mut self,
        alone: usize,
        is_decided: impl Fn(&Compared<C>) -> bool,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut Measure<'_, C, E>,
    ) -> Result<(), E> {
        // A contender that drops out takes its block with it.
        for _ in 0..BLOCKS_MAX + self.entered {
            if self.is_over(alone, &is_decided) {
                break;
            }
            self.block(random, measure)?;
        }
        Ok(())
    }

    fn is_over(&self, alone: usize, is_decided: impl Fn(&Compared<C>) -> bool) -> bool {
        let count = self.blocks.len();
        match self.contenders.len() {
            0 => true,
            1 => count >= alone,
            _ if count >= BLOCKS_MAX => true,
            _ => {
                LOOKS.contains(&count)
                    && self
                        .compared()
                        .is_some_and(|compared| is_decided(&compared))
            }
        }
    }

    /// One trial of every contender, in a random order.
    fn block<E>(
        &mut self,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut Measure<'_, C, E>,
    ) -> Result<(), E> {
        let mut block = vec![0.0; self.contenders.len()];
        for at in shuffled(self.contenders.len(), random) {
            let why = format!(
                "block {} of at most {BLOCKS_MAX}, {} contend",
                self.blocks.len() + 1,
                self.contenders.len()
            );
            let Some(value) = measure(&self.contenders[at], &why)? else {
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

    /// The contenders against each other; `None` before two blocks are complete, or of one alone.
    pub(crate) fn compared(&self) -> Option<Compared<C>> {
        let blocks = Blocks::of(&self.blocks).ok()?;
        let losses = blocks.losses(Family {
            treatments: self.entered,
            looks: LOOKS.len(),
            confidence: CONFIDENCE,
        });
        let contenders = self.contenders.iter().zip(blocks.means()).zip(losses);
        let standings = contenders.map(|((contender, &mean), loss)| Standing {
            contender: contender.clone(),
            mean,
            loss,
            verdict: if loss.high < self.margin {
                LevelVerdict::AsGood
            } else if loss.low > self.margin {
                LevelVerdict::Worse
            } else {
                LevelVerdict::Open
            },
        });
        Some(Compared {
            standings: standings.collect(),
            noise: blocks.residual_variance().sqrt(),
            blocks: blocks.count(),
        })
    }
}
