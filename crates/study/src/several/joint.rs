//! The comparison that decides: what the searches propose, its neighbours, and all limits open, in blocks.
//!
//! Every block runs each of them once, in a random order. They are compared within blocks, on a logarithmic scale, against the
//! best of them whichever that is, with intervals that hold for all of them and all looks together (multiple comparisons
//! with the best; see `weir_stats::Blocks`). Trials of the searches are not used: what contends does so because a
//! trial of it was lucky, and luck must not count twice.

use rand_xoshiro::Xoshiro256PlusPlus;
use weir_record::LevelVerdict;
use weir_stats::{Blocks, Estimate, Family};

use super::Point;
use crate::spec::BestGoal;
use crate::sweep::shuffled;

/// After so many complete blocks it is looked whether the question is decided.
pub(super) const LOOKS: [usize; 3] = [3, 5, 8];
/// Most blocks.
pub(super) const BLOCKS_MAX: usize = LOOKS[LOOKS.len() - 1];
/// Probability that everything that is said of the contenders is true.
pub(super) const CONFIDENCE: f64 = 0.95;
/// Blocks that make an answer of what is left alone: nothing else met the requirements.
const ALONE: usize = LOOKS[0];

/// Measures a point, for a reason in words; nothing when it is out.
pub(super) type Measure<'m, E> = dyn FnMut(&Point, &str) -> Result<Option<f64>, E> + 'm;

/// The contenders and their blocks.
#[derive(Debug)]
pub(super) struct Joint {
    goal: BestGoal,
    /// The difference that matters, in logarithms.
    margin: f64,
    contenders: Vec<Point>,
    /// How many contended at the outset; some may have dropped out.
    entered: usize,
    /// Logarithms of what the trials gave, more being better, block by block.
    blocks: Vec<Vec<f64>>,
}

/// A contender against the best one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Standing {
    pub(super) point: Point,
    /// Mean of the logarithms over the blocks.
    pub(super) mean: f64,
    /// What it loses against the best, in logarithms.
    pub(super) loss: Estimate,
    pub(super) verdict: LevelVerdict,
}

/// The contenders against each other.
#[derive(Debug, Clone)]
pub(super) struct Compared {
    pub(super) standings: Vec<Standing>,
    /// Standard deviation between trials of one point in one block, in logarithms.
    pub(super) noise: f64,
    pub(super) blocks: usize,
}

/// How much all limits of a point let in: the sum of their logarithms.
fn size(point: &Point) -> f64 {
    point.iter().map(|&level| f64::from(level).ln()).sum()
}

impl Compared {
    /// The one with the highest mean.
    pub(super) fn leader(&self) -> &Standing {
        let standings = self.standings.iter();
        let leader = standings.max_by(|a, b| a.mean.total_cmp(&b.mean));
        leader.expect("there are contenders")
    }

    /// Those of which nobody was shown to be ahead: the best is among them.
    pub(super) fn not_beaten(&self) -> impl Iterator<Item = &Standing> {
        self.standings
            .iter()
            .filter(|standing| standing.loss.low <= 0.0)
    }

    pub(super) fn leads_alone(&self) -> bool {
        self.not_beaten().count() == 1
    }

    /// Whether several may be the best, and between them there is no difference that matters.
    pub(super) fn is_plateau(&self) -> bool {
        !self.leads_alone()
            && self
                .not_beaten()
                .all(|standing| standing.verdict == LevelVerdict::AsGood)
    }

    pub(super) fn of(&self, verdict: LevelVerdict) -> impl Iterator<Item = &Standing> {
        let that = move |standing: &&Standing| standing.verdict == verdict;
        self.standings.iter().filter(that)
    }

    /// The smallest that is not worse by the margin.
    pub(super) fn smallest_as_good(&self) -> Option<&Standing> {
        self.of(LevelVerdict::AsGood)
            .min_by(|a, b| size(&a.point).total_cmp(&size(&b.point)))
    }

    /// Those that have less of one setting than a point and no less of the others: what they lose, less of the one loses.
    pub(super) fn with_less_of<'s>(
        &'s self,
        place: usize,
        point: &'s Point,
    ) -> impl Iterator<Item = &'s Standing> {
        self.standings.iter().filter(move |standing| {
            let mut both = standing.point.iter().zip(point).enumerate();
            both.all(|(at, (own, level))| {
                if at == place {
                    own < level
                } else {
                    own >= level
                }
            })
        })
    }

    fn is_decided(&self, goal: BestGoal, margin: f64) -> bool {
        match goal {
            BestGoal::Best => self.leads_alone() || self.is_plateau(),
            BestGoal::SmallestNearBest => self.smallest_as_good().is_some_and(|smallest| {
                self.of(LevelVerdict::Open).all(|open| {
                    size(&open.point) >= size(&smallest.point) || !self.may_be_shown(open, margin)
                })
            }),
        }
    }

    /// Whether the last block may show a point not to be worse, if its mean stays what it is: intervals shrink with the
    /// root of the blocks.
    fn may_be_shown(&self, open: &Standing, margin: f64) -> bool {
        let shrinks = (self.blocks as f64 / BLOCKS_MAX as f64).sqrt();
        open.loss.value + shrinks * (open.loss.high - open.loss.value) < margin
    }
}

impl Joint {
    pub(super) fn new(goal: BestGoal, margin: f64, contenders: Vec<Point>) -> Self {
        Self {
            goal,
            margin,
            entered: contenders.len(),
            contenders,
            blocks: Vec::new(),
        }
    }

    /// Runs blocks until the question is decided or the last one is over.
    pub(super) fn run<E>(
        &mut self,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut Measure<'_, E>,
    ) -> Result<(), E> {
        // A point that drops out takes its block with it.
        for _ in 0..BLOCKS_MAX + self.entered {
            if self.is_over() {
                break;
            }
            self.block(random, measure)?;
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        let count = self.blocks.len();
        match self.contenders.len() {
            0 => true,
            1 => count >= ALONE,
            _ if count >= BLOCKS_MAX => true,
            _ => {
                let looks = LOOKS.contains(&count);
                let decided = |compared: Compared| compared.is_decided(self.goal, self.margin);
                looks && self.compared().is_some_and(decided)
            }
        }
    }

    /// One trial of every contender, in a random order.
    fn block<E>(
        &mut self,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut Measure<'_, E>,
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

    /// What is left alone, when everything else dropped out and it was measured often enough.
    pub(super) fn alone(&self) -> Option<&Point> {
        match self.contenders.as_slice() {
            [only] if self.blocks.len() >= ALONE => Some(only),
            _ => None,
        }
    }

    /// The contenders against each other; `None` before two blocks are complete, or of one alone.
    pub(super) fn compared(&self) -> Option<Compared> {
        let blocks = Blocks::of(&self.blocks).ok()?;
        let losses = blocks.losses(Family {
            treatments: self.entered,
            looks: LOOKS.len(),
            confidence: CONFIDENCE,
        });
        let contenders = self.contenders.iter().zip(blocks.means()).zip(losses);
        let standings = contenders.map(|((point, &mean), loss)| Standing {
            point: point.clone(),
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
