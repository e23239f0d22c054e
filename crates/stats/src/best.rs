//! What every treatment loses against the best one, whichever that is.
//!
//! The best treatment is not known, and the one with the highest mean was chosen for being high. So
//! the loss of a treatment is bounded against *all* others at once: its upper bound is the largest
//! that any of them allows, its lower bound the largest that one of them proves (multiple
//! comparisons with the best; Hsu 1984, Annals of Statistics 12).
//!
//! Each end of the intervals gets half of the error that is allowed. That an upper bound is too low
//! takes one comparison to fail, that with the true best (an intersection-union test; Berger 1982,
//! Technometrics 24), so that errors add up over the treatments only; that a lower bound is too
//! high may be the doing of any pair. Both add up over the looks at data that grows (Bonferroni).

use crate::student::student_quantile;
use crate::{Blocks, Estimate, Method};

/// How often, and among how many, losses are estimated with one confidence for all of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Family {
    /// Treatments at the outset.
    pub treatments: usize,
    /// Looks at the growing data, this one included, before and after.
    pub looks: usize,
    /// Probability that all intervals of all looks hold.
    pub confidence: f64,
}

impl Blocks {
    /// The loss of every treatment against the best of them, never below 0.
    ///
    /// Panics when the family has fewer than two treatments or no look: both are the caller's own
    /// numbers.
    pub fn losses(&self, family: Family) -> Vec<Estimate> {
        assert!(family.treatments > 1 && family.looks > 0, "an empty family");
        let means = self.means();
        let others = (family.treatments - 1) as f64;
        let each_end = (1.0 - family.confidence) / 2.0 / family.looks as f64;
        let upper = self.reach(each_end / others);
        let lower = self.reach(each_end / (others * family.treatments as f64));
        (0..means.len())
            .map(|of| {
                let ahead = (0..means.len())
                    .filter(|&other| other != of)
                    .map(|other| means[other] - means[of])
                    .fold(f64::NEG_INFINITY, f64::max);
                Estimate {
                    value: ahead.max(0.0),
                    low: (ahead - lower).max(0.0),
                    high: (ahead + upper).max(0.0),
                    confidence: family.confidence,
                    count: self.count() as u64,
                    method: Method::Student,
                }
            })
            .collect()
    }

    /// How far a difference of two means reaches to one side with this probability of reaching
    /// further.
    fn reach(&self, error: f64) -> f64 {
        student_quantile(1.0 - error, self.freedom()) * self.standard_error_of_difference()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_distr::StandardNormal;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    const FAMILY: Family = Family {
        treatments: 4,
        looks: 1,
        confidence: 0.95,
    };

    fn drawn(truth: &[f64], blocks: usize, seed: u64) -> Blocks {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let values: Vec<Vec<f64>> = (0..blocks)
            .map(|_| {
                let afternoon: f64 = random.sample(StandardNormal);
                let noisy = |mean: &f64| mean + afternoon + random.sample::<f64, _>(StandardNormal);
                truth.iter().map(noisy).collect()
            })
            .collect();
        Blocks::of(&values).unwrap()
    }

    #[test]
    fn what_is_clear_is_bounded_on_both_sides() {
        let values: Vec<Vec<f64>> = [[10.0, 5.0], [10.1, 5.1], [10.2, 5.0]]
            .map(Vec::from)
            .into();
        let family = Family {
            treatments: 2,
            ..FAMILY
        };
        let losses = Blocks::of(&values).unwrap().losses(family);
        assert!(losses[0].value <= 0.0 && losses[0].low <= 0.0);
        assert!(losses[0].high <= 0.0, "nothing can be ahead of it");
        assert!((losses[1].value - 5.066_666).abs() < 1e-5);
        assert!(losses[1].low > 4.0 && losses[1].high < 6.0, "{losses:?}");
    }

    #[test]
    fn more_looks_and_more_treatments_make_surer() {
        let blocks = drawn(&[0.0; 4], 6, 1);
        let of = |treatments, looks| {
            blocks.losses(Family {
                treatments,
                looks,
                ..FAMILY
            })[0]
                .high
        };
        assert!(of(4, 1) < of(5, 1) && of(4, 1) < of(4, 2));
    }

    /// All intervals of an analysis hold together in at least 95 of 100: with the best alone, with
    /// equals, with ties.
    #[test]
    fn intervals_hold_together_as_often_as_they_say() {
        for truth in [
            [0.0, 0.0, 0.0, 0.0],
            [2.0, 0.0, 1.0, 1.9],
            [3.0, 3.0, 0.0, 0.0],
        ] {
            let best = truth.iter().copied().fold(f64::MIN, f64::max);
            let rounds = 1_500;
            let missed = (0..rounds)
                .filter(|&seed| {
                    let losses = drawn(&truth, 4, seed).losses(FAMILY);
                    let pairs = losses.iter().zip(&truth);
                    pairs
                        .into_iter()
                        .any(|(loss, of)| !loss.contains(best - of))
                })
                .count();
            // 5 % of 1500 is 75; three standard deviations more is 100.
            assert!(missed < 100, "{missed} of {rounds} for {truth:?}");
        }
    }
}
