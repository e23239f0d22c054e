//! Treatments compared in randomised blocks.
//!
//! Every block has each treatment once, in a random order. What makes a whole block faster or
//! slower (the machine's afternoon) is taken out of the comparison; what is left over and above
//! treatments and blocks is the noise. After Montgomery, "Design and Analysis of Experiments", the
//! chapter on randomised complete block designs. Assumed: noise of the same size for all
//! treatments, which for figures of load is nearer to the truth on a logarithmic scale, and
//! no treatment that only some blocks favour.

use crate::error::check_finite;
use crate::student::{mean, two_sided};
use crate::{Estimate, Method, StatsError};

/// The analysis of a randomised complete block design.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocks {
    means: Vec<f64>,
    /// How many blocks there are.
    count: usize,
    residual_variance: f64,
}

impl Blocks {
    /// Analyses `values[block][treatment]`; at least two blocks of at least two treatments, all
    /// complete.
    ///
    /// ```
    /// use weir_stats::Blocks;
    ///
    /// let blocks = Blocks::of(&[vec![10.0, 12.0], vec![20.0, 22.5], vec![30.0, 31.5]])?;
    /// let difference = blocks.difference(1, 0, 1, 0.95);
    /// assert!((difference.value - 2.0).abs() < 1e-9 && difference.low > 0.0);
    /// # Ok::<(), weir_stats::StatsError>(())
    /// ```
    pub fn of(values: &[Vec<f64>]) -> Result<Self, StatsError> {
        let blocks = values.len();
        let treatments = values.first().map_or(0, Vec::len);
        let complete = values.iter().all(|block| block.len() == treatments);
        if blocks < 2 || treatments < 2 || !complete {
            return Err(StatsError::TooFew {
                count: blocks.min(treatments) as u64,
                needed: 2,
            });
        }
        for block in values {
            check_finite(block)?;
        }
        let means: Vec<f64> = (0..treatments)
            .map(|at| values.iter().map(|block| block[at]).sum::<f64>() / blocks as f64)
            .collect();
        let grand = mean(&means);
        let squares: f64 = values
            .iter()
            .map(|block| {
                let of_block = mean(block) - grand;
                let residuals = block.iter().zip(&means);
                residuals
                    .map(|(value, mean)| (value - mean - of_block).powi(2))
                    .sum::<f64>()
            })
            .sum();
        let freedom = (blocks - 1) * (treatments - 1);
        Ok(Self {
            means,
            count: blocks,
            residual_variance: squares / freedom as f64,
        })
    }

    /// The means of the treatments.
    pub fn means(&self) -> &[f64] {
        &self.means
    }

    /// The variance of the noise.
    pub fn residual_variance(&self) -> f64 {
        self.residual_variance
    }

    /// How much larger the mean of treatment `of` is than that of `than`, as one of so many
    /// comparisons that shall all be true together with the confidence (Bonferroni).
    ///
    /// Panics when there is no such treatment or no comparison: both are the caller's own numbers.
    pub fn difference(
        &self,
        of: usize,
        than: usize,
        comparisons: usize,
        confidence: f64,
    ) -> Estimate {
        assert!(comparisons > 0, "one of at least one comparison");
        let each = 1.0 - (1.0 - confidence) / comparisons as f64;
        Estimate::symmetric(
            self.means[of] - self.means[than],
            two_sided(each, self.freedom()) * self.standard_error_of_difference(),
            confidence,
            self.count,
            Method::Student,
        )
    }

    /// How many blocks there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Degrees of freedom of the noise.
    pub(crate) fn freedom(&self) -> f64 {
        ((self.count - 1) * (self.means.len() - 1)) as f64
    }

    /// Standard error of the difference of two means.
    pub(crate) fn standard_error_of_difference(&self) -> f64 {
        (2.0 * self.residual_variance / self.count as f64).sqrt()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The vascular graft experiment of Montgomery's chapter: yield at four extrusion pressures,
    /// six batches of resin.
    const GRAFTS: [[f64; 4]; 6] = [
        [90.3, 92.5, 85.5, 82.5],
        [89.2, 89.5, 90.8, 89.5],
        [98.2, 90.6, 89.6, 85.6],
        [93.9, 94.7, 86.2, 87.4],
        [87.4, 87.0, 88.0, 78.9],
        [97.9, 95.8, 93.4, 90.7],
    ];

    fn values<const N: usize>(rows: &[[f64; N]]) -> Vec<Vec<f64>> {
        rows.iter().map(|row| row.to_vec()).collect()
    }

    #[test]
    fn a_published_analysis_comes_back() {
        let blocks = Blocks::of(&values(&GRAFTS)).unwrap();
        // The mean square of error is published as 7.33 (109.89 with 15 degrees of freedom).
        assert!((blocks.residual_variance() - 109.89 / 15.0).abs() < 0.001);
        let published = [92.82, 91.68, 88.92, 85.77];
        for (mean, published) in blocks.means().iter().zip(published) {
            assert!((mean - published).abs() < 0.006, "{mean} {published}");
        }
        // Fisher's least significant difference is published as 3.33: t(0.025, 15) = 2.131.
        let difference = blocks.difference(0, 3, 1, 0.95);
        assert!((difference.half_width() - 3.33).abs() < 0.01);
        // Of three comparisons each has to be surer: t(0.025 / 3, 15) = 2.694.
        let together = blocks.difference(0, 3, 3, 0.95);
        let ratio = together.half_width() / difference.half_width();
        assert!((ratio - 2.694 / 2.131).abs() < 0.002, "{ratio}");
    }

    #[test]
    fn what_cannot_be_analysed_is_refused() {
        Blocks::of(&[vec![1.0, 2.0]]).unwrap_err();
        Blocks::of(&[vec![1.0], vec![2.0]]).unwrap_err();
        Blocks::of(&[vec![1.0, 2.0], vec![1.0]]).unwrap_err();
        Blocks::of(&[vec![1.0, f64::NAN], vec![1.0, 2.0]]).unwrap_err();
    }

    proptest! {
        #[test]
        fn what_a_whole_block_has_in_common_changes_nothing(shifts: [i16; 6]) {
            let plain = Blocks::of(&values(&GRAFTS)).unwrap();
            let mut shifted = values(&GRAFTS);
            for (block, shift) in shifted.iter_mut().zip(shifts) {
                for value in block {
                    *value += f64::from(shift);
                }
            }
            let shifted = Blocks::of(&shifted).unwrap();
            let (a, b) = (plain.difference(0, 3, 1, 0.95), shifted.difference(0, 3, 1, 0.95));
            prop_assert!((a.low - b.low).abs() < 1e-6 && (a.high - b.high).abs() < 1e-6);
        }
    }
}
