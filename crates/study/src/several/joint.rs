//! The comparison that decides: what the searches propose, its neighbours, and all limits open, in
//! blocks.

use rand_xoshiro::Xoshiro256PlusPlus;
use weir_record::LevelVerdict;

use super::Point;
use crate::contest::{BLOCKS_MAX, Contest, LOOKS, Measure};
use crate::file::BestGoal;

/// Blocks that make an answer of what is left alone: nothing else met the requirements.
const ALONE: usize = LOOKS[0];

/// A contender against the best one.
pub(super) type Standing = crate::contest::Standing<Point>;
/// The contenders against each other.
pub(super) type Compared = crate::contest::Compared<Point>;

/// The contenders and their blocks.
#[derive(Debug)]
pub(super) struct Joint {
    goal: BestGoal,
    /// The difference that matters, in logarithms.
    margin: f64,
    contest: Contest<Point>,
}

/// How much all limits of a point let in: the sum of their logarithms.
fn size(point: &Point) -> f64 {
    point.iter().map(|&level| f64::from(level).ln()).sum()
}

impl Compared {
    /// The smallest that is not worse by the margin.
    pub(super) fn smallest_as_good(&self) -> Option<&Standing> {
        self.of(LevelVerdict::AsGood)
            .min_by(|a, b| size(&a.contender).total_cmp(&size(&b.contender)))
    }

    /// Those that have less of one setting than a point and no less of the others: what they lose,
    /// less of the one loses.
    pub(super) fn with_less_of<'s>(
        &'s self,
        place: usize,
        point: &'s Point,
    ) -> impl Iterator<Item = &'s Standing> {
        self.standings.iter().filter(move |standing| {
            let mut both = standing.contender.iter().zip(point).enumerate();
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
                    size(&open.contender) >= size(&smallest.contender)
                        || !self.may_be_shown(open, margin)
                })
            }),
        }
    }

    /// Whether the last block may show a point not to be worse, if its mean stays what it is:
    /// intervals shrink with the root of the blocks.
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
            contest: Contest::new(margin, contenders),
        }
    }

    /// Runs blocks until the question is decided or the last one is over.
    pub(super) fn run<E>(
        &mut self,
        random: &mut Xoshiro256PlusPlus,
        measure: &mut Measure<'_, Point, E>,
    ) -> Result<(), E> {
        let (goal, margin) = (self.goal, self.margin);
        let is_decided = |compared: &Compared| compared.is_decided(goal, margin);
        self.contest.run(ALONE, is_decided, random, measure)
    }

    /// What is left alone, when everything else dropped out and it was measured often enough.
    pub(super) fn alone(&self) -> Option<&Point> {
        match self.contest.contenders() {
            [only] if self.contest.blocks() >= ALONE => Some(only),
            _ => None,
        }
    }

    /// The contenders against each other; `None` before two blocks are complete, or of one alone.
    pub(super) fn compared(&self) -> Option<Compared> {
        self.contest.compared()
    }
}
