//! Between which levels a rising curve can leave a target behind: an interval that assumes nothing
//! of the curve but that it rises.
//!
//! A level is in the interval if a rising curve that crosses the target there fits the trials
//! nearly as well as the best rising curve does: the likelihood ratio test for monotone functions
//! (Banerjee and Wellner 2001), inverted. Its limit has smaller quantiles than those of chi-squared
//! with one degree of freedom; of so few trials the latter are used, which is on the safe side. The
//! spread between trials is not known, so that they are those of Student's t, squared.
//!
//! Where the curve is flat at the target the interval is wide: no single trial that lies above it
//! by chance makes an end.

use std::ops::Range;

use crate::StatsError;
use crate::crossing::Point;
use crate::isotonic::isotonic_regression;
use crate::student::two_sided;

/// The trials as one mean per level.
struct Means {
    levels: Vec<f64>,
    values: Vec<f64>,
    weights: Vec<f64>,
    /// Scatter of the trials about the means of their levels.
    scatter: f64,
    trials: usize,
}

impl Means {
    fn of(points: &[Point], scale: f64) -> Self {
        let mut sorted = points.to_vec();
        sorted.sort_by(|a, b| a.level.total_cmp(&b.level));
        let mut all = Self {
            levels: Vec::new(),
            values: Vec::new(),
            weights: Vec::new(),
            scatter: 0.0,
            trials: points.len(),
        };
        for group in sorted.chunk_by(|a, b| a.level.total_cmp(&b.level).is_eq()) {
            let weight = |point: &Point| point.weight(0.0, scale);
            let total: f64 = group.iter().map(weight).sum();
            let mean = group.iter().map(|p| weight(p) * p.value).sum::<f64>() / total;
            let about = group.iter().map(|p| weight(p) * (p.value - mean).powi(2));
            all.scatter += about.sum::<f64>();
            all.levels.push(group[0].level);
            all.values.push(mean);
            all.weights.push(total);
        }
        all
    }

    /// The best rising curve through some of the levels.
    fn rising(&self, range: Range<usize>) -> Result<Vec<f64>, StatsError> {
        isotonic_regression(&self.values[range.clone()], &self.weights[range])
    }

    /// Weighted squares of what a curve leaves over, from a level on.
    fn misfit(&self, from: usize, fitted: impl Iterator<Item = f64>) -> f64 {
        let seen = self.values[from..].iter().zip(&self.weights[from..]);
        fitted
            .zip(seen)
            .map(|(fitted, (value, weight))| weight * (value - fitted).powi(2))
            .sum()
    }
}

/// The levels between which a rising curve through the points crosses `target`, with this
/// confidence: 0 where it may lie below all levels that were tried, infinity where above.
///
/// A point's half-width is that of a 95 % interval of how far trials differ, its own included, and
/// counts like `df` degrees of freedom beside the scatter that is seen.
pub fn rising_crossing(
    points: &[Point],
    target: f64,
    df: f64,
    confidence: f64,
) -> Result<(f64, f64), StatsError> {
    let means = Means::of(points, target.abs());
    let count = means.levels.len();
    if count == 0 {
        return Ok((0.0, f64::INFINITY));
    }
    let best = means.rising(0..count)?;
    let steps = 1 + best.windows(2).filter(|pair| pair[1] > pair[0]).count();
    let misfit = means.misfit(0, best.into_iter());
    let own = df;
    let df = own + (means.trials - steps) as f64;
    let factor = (own + misfit + means.scatter) / df;
    let most = misfit + factor * two_sided(confidence, df).powi(2);
    let mut accepted: Option<(usize, usize)> = None;
    for below in 0..=count {
        let left = means.rising(0..below)?.into_iter();
        let right = means.rising(below..count)?.into_iter();
        let with_crossing = means.misfit(0, left.map(|value| value.min(target)))
            + means.misfit(below, right.map(|value| value.max(target)));
        if with_crossing <= most {
            let first = accepted.map_or(below, |(first, _)| first);
            accepted = Some((first, below));
        }
    }
    let (first, last) = accepted.expect("the best rising curve crosses somewhere");
    let low = first.checked_sub(1).map_or(0.0, |at| means.levels[at]);
    let high = means.levels.get(last).copied().unwrap_or(f64::INFINITY);
    Ok((low, high))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// Points of which 95 % lie within `half_width` of the truth.
    fn points(pairs: &[(f64, f64)], half_width: f64) -> Vec<Point> {
        let point = |&(level, value): &(f64, f64)| Point {
            level,
            value,
            half_width,
        };
        pairs.iter().map(point).collect()
    }

    #[test]
    fn a_steep_curve_is_crossed_between_its_neighbours() {
        let steep = points(&[(10.0, 1.0), (20.0, 2.0), (30.0, 8.0), (40.0, 16.0)], 0.4);
        assert_eq!(
            rising_crossing(&steep, 5.0, 1e4, 0.95).unwrap(),
            (20.0, 30.0)
        );
        assert_eq!(
            rising_crossing(&steep, 0.2, 1e4, 0.95).unwrap(),
            (0.0, 10.0)
        );
        let beyond = rising_crossing(&steep, 20.0, 1e4, 0.95).unwrap();
        assert_eq!(beyond, (40.0, f64::INFINITY));
    }

    #[test]
    fn on_a_flat_curve_a_trial_that_is_above_by_chance_ends_nothing() {
        // All but the last within the noise of the target.
        let flat = points(
            &[
                (10.0, 9.9),
                (20.0, 10.2),
                (30.0, 9.8),
                (40.0, 10.1),
                (80.0, 20.0),
            ],
            0.6,
        );
        assert_eq!(
            rising_crossing(&flat, 10.0, 1e4, 0.95).unwrap(),
            (0.0, 80.0)
        );
        // The same trials, if they were certain.
        let certain = points(&[(10.0, 9.9), (20.0, 10.2), (80.0, 20.0)], 0.001);
        let (_, high) = rising_crossing(&certain, 10.0, 1e4, 0.95).unwrap();
        assert!((high - 20.0).abs() < 1e-9, "{high}");
    }

    #[test]
    fn a_level_by_hand() {
        // One trial 1.5 standard deviations above the target: the curve that crosses behind it
        // costs 2.25, less than the 3.84 of chi-squared; at 80 % (1.64) it costs too much.
        let one = points(&[(10.0, 1.0), (20.0, 11.5), (30.0, 30.0)], 2.0);
        assert_eq!(
            rising_crossing(&one, 10.0, 1e4, 0.95).unwrap(),
            (10.0, 30.0)
        );
        assert_eq!(
            rising_crossing(&one, 10.0, 1e4, 0.80).unwrap(),
            (10.0, 20.0)
        );
    }

    #[test]
    fn nothing_tried_says_nothing() {
        assert_eq!(
            rising_crossing(&[], 1.0, 2.0, 0.95).unwrap(),
            (0.0, f64::INFINITY)
        );
    }
}
