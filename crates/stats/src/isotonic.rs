//! The rising step curve that lies closest to the trials: a check that assumes nothing but "more
//! users, more of it".

use crate::StatsError;
use crate::crossing::Point;
use crate::error::check_finite;

/// Weighted least-squares fit of a never falling sequence, by pooling adjacent violators (Ayer et
/// al. 1955; Barlow et al. 1972, "Statistical Inference under Order Restrictions").
///
/// For a never rising sequence negate the values and the result. Weights are positive.
pub fn isotonic_regression(values: &[f64], weights: &[f64]) -> Result<Vec<f64>, StatsError> {
    if values.len() != weights.len() {
        return Err(StatsError::Unequal {
            left: values.len(),
            right: weights.len(),
        });
    }
    check_finite(values)?;
    check_finite(weights)?;
    let mut blocks: Vec<Block> = Vec::with_capacity(values.len());
    for (&value, &weight) in values.iter().zip(weights) {
        assert!(weight > 0.0, "a weight of {weight} is not positive");
        let mut block = Block {
            value,
            weight,
            length: 1,
        };
        while let Some(before) = blocks.pop_if(|before| before.value > block.value) {
            block = before.joined(&block);
        }
        blocks.push(block);
    }
    Ok(blocks
        .iter()
        .flat_map(|block| std::iter::repeat_n(block.value, block.length))
        .collect())
}

/// Neighbours that share one fitted value.
struct Block {
    value: f64,
    weight: f64,
    length: usize,
}

impl Block {
    fn joined(&self, after: &Self) -> Self {
        let weight = self.weight + after.weight;
        Self {
            value: (self.value * self.weight + after.value * after.weight) / weight,
            weight,
            length: self.length + after.length,
        }
    }
}

/// A rising curve through trials at several levels.
#[derive(Debug, Clone, PartialEq)]
pub struct IsotonicFit {
    /// The levels tried, ascending, each once.
    pub levels: Vec<f64>,
    /// The fitted response at each.
    pub fitted: Vec<f64>,
}

impl IsotonicFit {
    /// Fits the points; repeats of a level count as one with their weighted mean. `spread_relative`
    /// is the relative standard deviation between trials.
    pub fn of(points: &[Point], spread_relative: f64) -> Result<Self, StatsError> {
        let scale = points
            .iter()
            .map(|point| point.value.abs())
            .fold(0.0, f64::max);
        let mut sorted = points.to_vec();
        sorted.sort_by(|a, b| a.level.total_cmp(&b.level));
        let mut levels = Vec::new();
        let mut values = Vec::new();
        let mut weights = Vec::new();
        for group in sorted.chunk_by(|a, b| a.level.total_cmp(&b.level).is_eq()) {
            let weight: f64 = group
                .iter()
                .map(|point| point.weight(spread_relative, scale))
                .sum();
            let total: f64 = group
                .iter()
                .map(|point| point.weight(spread_relative, scale) * point.value)
                .sum();
            levels.push(group[0].level);
            values.push(total / weight);
            weights.push(weight);
        }
        Ok(Self {
            fitted: isotonic_regression(&values, &weights)?,
            levels,
        })
    }

    /// Where the curve, joined by straight lines, leaves `target` behind; `None` if it starts above
    /// it or never reaches it.
    pub fn crossing(&self, target: f64) -> Option<f64> {
        let above = self.fitted.iter().position(|&value| value > target)?;
        let below = above.checked_sub(1)?;
        let share = (target - self.fitted[below]) / (self.fitted[above] - self.fitted[below]);
        Some(self.levels[below] + share * (self.levels[above] - self.levels[below]))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_worked_example() {
        // 3 and 2 are pooled to 2.5; 6, 5 with weights 1 and 3 to 5.25.
        let fitted =
            isotonic_regression(&[1.0, 3.0, 2.0, 6.0, 5.0], &[1.0, 1.0, 1.0, 1.0, 3.0]).unwrap();
        assert_eq!(fitted, [1.0, 2.5, 2.5, 5.25, 5.25]);
    }

    #[test]
    fn the_crossing_lies_between_the_levels() {
        let point = |level, value| Point {
            level,
            value,
            half_width: 0.0,
        };
        let fit = IsotonicFit::of(
            &[point(30.0, 0.9), point(10.0, 0.3), point(20.0, 0.7)],
            0.03,
        )
        .unwrap();
        assert_eq!(fit.levels, [10.0, 20.0, 30.0]);
        assert!((fit.crossing(0.8).unwrap() - 25.0).abs() < 1e-9);
        assert_eq!(fit.crossing(0.95), None);
        assert_eq!(fit.crossing(0.2), None);
    }

    #[test]
    fn trials_without_any_response_do_not_outweigh_the_others() {
        // Nobody waits in the first trials and in one lucky one behind them.
        let point = |level, value| Point {
            level,
            value,
            half_width: 0.0,
        };
        let trials = [
            point(1.0, 0.0),
            point(2.0, 0.0),
            point(3.0, 4.0),
            point(4.0, 0.0),
            point(5.0, 5.0),
        ];
        let fit = IsotonicFit::of(&trials, 0.01).unwrap();
        assert!((fit.fitted[2] - 2.0).abs() < 0.1, "{:?}", fit.fitted);
    }

    proptest! {
        #[test]
        fn rises_keeps_the_mean_and_is_its_own_fit(
            pairs in prop::collection::vec((-1e3..1e3_f64, 0.1..10.0_f64), 1..40)
        ) {
            let (values, weights): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let fitted = isotonic_regression(&values, &weights).unwrap();
            prop_assert!(fitted.is_sorted());
            let total = |series: &[f64]| series.iter().zip(&weights).map(|(v, w)| v * w).sum::<f64>();
            prop_assert!((total(&fitted) - total(&values)).abs() < 1e-6);
            let again = isotonic_regression(&fitted, &weights).unwrap();
            prop_assert!(again.iter().zip(&fitted).all(|(a, b)| (a - b).abs() < 1e-9));
        }

        /// The fit is the closest rising sequence: no other rising sequence does better
        /// (Karush-Kuhn-Tucker: residuals summed from the left never turn positive against the
        /// fit).
        #[test]
        fn no_rising_sequence_is_closer(
            values in prop::collection::vec(-10.0..10.0_f64, 1..12),
            mut other in prop::collection::vec(-10.0..10.0_f64, 12),
        ) {
            other.truncate(values.len());
            other.sort_by(f64::total_cmp);
            let fitted = isotonic_regression(&values, &vec![1.0; values.len()]).unwrap();
            let loss = |series: &[f64]| series.iter().zip(&values).map(|(s, v)| (s - v).powi(2)).sum::<f64>();
            prop_assert!(loss(&fitted) <= loss(&other) + 1e-9);
        }
    }
}
