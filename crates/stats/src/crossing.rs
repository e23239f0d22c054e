//! Where a response meets its target: a local line through the trials near it.
//!
//! Near the target every smooth curve is almost a line, so the last step of a search needs no model
//! of the server. The line is fitted by weighted least squares: a trial's variance is
//! `sigma^2 y^2 + h^2/4`, sigma being the relative spread between trials and h the half-width of
//! the trial's own 95 % interval. The interval of the level follows from Fieller's theorem (1954,
//! "Some problems in interval estimation"): it holds exactly the levels at which the line's value
//! cannot be told from the target, so it agrees with [`Crossing::probability_at_most`].

use crate::error::check_probability;
use crate::student::{student_cdf, two_sided};
use crate::{Estimate, Method, Spread, StatsError};

/// Trials count as near a root r from 0.7 r to 1.35 r: on the curves of closed networks the line
/// departs from the curve by less than the noise there.
pub const NEAR: std::ops::RangeInclusive<f64> = 0.7..=1.35;
/// Fewest near trials for a line: it has two unknowns, and two more trials say how well it fits.
const POINTS_MIN: usize = 4;
/// The scatter about the line is taken to be at least 1 % of the target: four trials that lie on a
/// line by luck must not look like certainty.
const RESIDUAL_FLOOR: f64 = 0.01;

/// The response of one trial at a level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The level of the factor, for example users.
    pub level: f64,
    /// Mean of the response over the trial's window.
    pub value: f64,
    /// Half-width of the trial's own 95 % interval; 0 if unknown.
    pub half_width: f64,
}

impl Point {
    /// One over the variance of the trial's mean, which is taken to be at least `(RESIDUAL_FLOOR
    /// scale)^2`: a response of exactly 0 (no errors, nobody waiting) must not outweigh all
    /// others.
    pub(crate) fn weight(&self, spread_relative: f64, scale: f64) -> f64 {
        let variance = (spread_relative * self.value).powi(2) + self.half_width.powi(2) / 4.0;
        1.0 / variance
            .max((RESIDUAL_FLOOR * scale).powi(2))
            .max(f64::MIN_POSITIVE)
    }
}

/// A local line and the level at which it meets the target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Crossing {
    /// The level at which the line has the value of the target.
    pub level: f64,
    /// Its standard error (delta method).
    pub standard_error: f64,
    /// Degrees of freedom: near trials minus 2, plus those of the spread.
    pub df: f64,
    /// Change of the response per level.
    pub slope: f64,
    /// How many near trials the line goes through.
    pub count: usize,
    /// The value that is met.
    pub target: f64,
    origin: f64,
    intercept: f64,
    covariance: Covariance,
}

/// What is known of a line's slope before any trial: for example that the response follows a model,
/// more or less.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedSlope {
    /// Response per level.
    pub value: f64,
    /// How far the true slope may be from it (standard deviation of a normal distribution).
    pub standard_deviation: f64,
}

/// Of intercept and slope.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Covariance {
    intercept: f64,
    both: f64,
    slope: f64,
}

impl Crossing {
    /// Fits the line through the points whose level lies in [`NEAR`] times `root`, the best guess
    /// so far.
    ///
    /// The variance about the line pools what the spread foretells (with its degrees of freedom)
    /// with the scatter that is seen, and is at least `(0.01 target)^2`. With an assumed spread
    /// (0 degrees of freedom) only the scatter counts, and the floor.
    pub fn fit(
        points: &[Point],
        root: f64,
        target: f64,
        spread: &Spread,
    ) -> Result<Self, StatsError> {
        Self::fit_expecting(points, root, target, spread, None)
    }

    /// As `fit`, with a slope that is expected. It counts as much as its standard deviation says:
    /// quiet trials overrule it, and where trials scatter it keeps them from tilting the line
    /// by chance.
    pub fn fit_expecting(
        points: &[Point],
        root: f64,
        target: f64,
        spread: &Spread,
        expected: Option<ExpectedSlope>,
    ) -> Result<Self, StatsError> {
        let near: Vec<Point> = points
            .iter()
            .copied()
            .filter(|point| NEAR.contains(&(point.level / root)))
            .collect();
        let count = near.len();
        if count < POINTS_MIN {
            return Err(StatsError::TooFew {
                count: count as u64,
                needed: POINTS_MIN as u64,
            });
        }
        if near
            .iter()
            .all(|point| (point.level - near[0].level).abs() < f64::EPSILON)
        {
            return Err(StatsError::OneLevel { count });
        }
        let df = count as f64 - 2.0 + spread.df;
        let Line {
            intercept,
            slope,
            covariance,
        } = weighted_line(&near, root, target, spread, df, expected);
        let mut crossing = Self {
            level: root + (target - intercept) / slope,
            standard_error: 0.0,
            df,
            slope,
            count,
            target,
            origin: root,
            intercept,
            covariance,
        };
        if slope == 0.0 {
            return Err(StatsError::Flat {
                slope,
                standard_error: covariance.slope.sqrt(),
            });
        }
        crossing.standard_error = crossing.line_error(crossing.level) / slope.abs();
        Ok(crossing)
    }

    /// Half-width of the level at the given confidence by the delta method: the search stops when
    /// it is small enough.
    pub fn half_width(&self, confidence: f64) -> f64 {
        two_sided(confidence, self.df) * self.standard_error
    }

    /// The level with its interval (Fieller). Fails if the slope could be 0 at this confidence.
    pub fn estimate(&self, confidence: f64) -> Result<Estimate, StatsError> {
        check_probability(confidence)?;
        let t = two_sided(confidence, self.df);
        // All x with (target - intercept - slope x)^2 <= t^2 (c00 + 2 c01 x + c11 x^2).
        let missing = self.target - self.intercept;
        let a = self.slope.powi(2) - t * t * self.covariance.slope;
        let b = -(missing * self.slope + t * t * self.covariance.both);
        let c = missing.powi(2) - t * t * self.covariance.intercept;
        if a <= 0.0 {
            return Err(StatsError::Flat {
                slope: self.slope,
                standard_error: self.covariance.slope.sqrt(),
            });
        }
        // With a > 0 the level itself solves the inequality, so that the root is real but for
        // rounding.
        let root = (b * b - a * c).max(0.0).sqrt();
        Ok(Estimate {
            value: self.level,
            low: self.origin + (-b - root) / a,
            high: self.origin + (-b + root) / a,
            confidence,
            count: self.count as u64,
            method: Method::Crossing,
        })
    }

    /// The expected response at `level`, with its interval.
    pub fn predict(&self, level: f64, confidence: f64) -> Result<Estimate, StatsError> {
        check_probability(confidence)?;
        let half_width = two_sided(confidence, self.df) * self.line_error(level);
        Ok(Estimate::symmetric(
            self.line_value(level),
            half_width,
            confidence,
            self.count,
            Method::LocalLine,
        ))
    }

    /// How sure it is that the expected response at `level` does not exceed `limit`.
    pub fn probability_at_most(&self, level: f64, limit: f64) -> f64 {
        student_cdf(
            (limit - self.line_value(level)) / self.line_error(level),
            self.df,
        )
    }

    fn line_value(&self, level: f64) -> f64 {
        self.intercept + self.slope * (level - self.origin)
    }

    fn line_error(&self, level: f64) -> f64 {
        let x = level - self.origin;
        let Covariance {
            intercept,
            both,
            slope,
        } = self.covariance;
        (intercept + 2.0 * x * both + x * x * slope).max(0.0).sqrt()
    }
}

struct Line {
    intercept: f64,
    slope: f64,
    covariance: Covariance,
}

/// Weighted least squares of value on (level - origin).
fn weighted_line(
    points: &[Point],
    origin: f64,
    target: f64,
    spread: &Spread,
    df: f64,
    expected: Option<ExpectedSlope>,
) -> Line {
    let weights: Vec<f64> = points
        .iter()
        .map(|point| point.weight(spread.relative, target))
        .collect();
    let total: f64 = weights.iter().sum();
    let average = |of: &dyn Fn(&Point) -> f64| {
        points
            .iter()
            .zip(&weights)
            .map(|(point, weight)| weight * of(point))
            .sum::<f64>()
            / total
    };
    let centre = average(&|point| point.level - origin);
    let value = average(&|point| point.value);
    let squares = average(&|point| (point.level - origin - centre).powi(2));
    let slope = average(&|point| (point.level - origin - centre) * (point.value - value)) / squares;
    let intercept = value - slope * centre;
    let chi_squared = total
        * average(&|point| (point.value - intercept - slope * (point.level - origin)).powi(2));
    // The weights are known up to one factor: 1 if the spread holds, more if the points scatter
    // more.
    let factor = (spread.df + chi_squared) / df;
    let mean_variance = points.len() as f64 / total;
    let factor = factor.max((RESIDUAL_FLOOR * target).powi(2) / mean_variance);
    // A normal prior and normal data: precisions add up, and the mean weighs by them.
    let measured = total * squares / factor;
    let prior = expected.map_or(0.0, |expected| expected.standard_deviation.powi(-2));
    let slope = (measured * slope + prior * expected.map_or(0.0, |expected| expected.value))
        / (measured + prior);
    let intercept = value - slope * centre;
    let slope_variance = 1.0 / (measured + prior);
    let covariance = Covariance {
        intercept: factor / total + centre.powi(2) * slope_variance,
        both: -centre * slope_variance,
        slope: slope_variance,
    };
    Line {
        intercept,
        slope,
        covariance,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// Equal weights (by a half-width that hides the relative spread), so that the textbook
    /// formulas apply.
    fn points(pairs: &[(f64, f64)]) -> Vec<Point> {
        pairs
            .iter()
            .map(|&(level, value)| Point {
                level,
                value,
                half_width: 200.0,
            })
            .collect()
    }

    #[test]
    fn four_points_by_hand() {
        // y = 40, 44, 56, 60 at x = -3, -1, 1, 3 about 20: slope 72/20 = 3.6, intercept 50,
        // residuals 0.8, -2.4, 2.4, -0.8: sum of squares 12.8, variance 6.4 with 2 degrees
        // of freedom. Target 52: x = 2/3.6.
        let near = points(&[(17.0, 40.0), (19.0, 44.0), (21.0, 56.0), (23.0, 60.0)]);
        let crossing = Crossing::fit(&near, 20.0, 52.0, &Spread::assumed(0.005)).unwrap();
        assert!((crossing.slope - 3.6).abs() < 1e-4);
        assert!((crossing.level - (20.0 + 2.0 / 3.6)).abs() < 1e-4);
        let by_hand = (6.4_f64 * (1.0 / 4.0 + (2.0_f64 / 3.6).powi(2) / 20.0)).sqrt() / 3.6;
        assert!(
            (crossing.standard_error - by_hand).abs() < 1e-4,
            "{} {by_hand}",
            crossing.standard_error
        );
        // t(2, 0.95) = 2.920
        assert!((crossing.half_width(0.9) - 2.919_986 * by_hand).abs() < 1e-3);
        let predicted = crossing.predict(20.0, 0.95).unwrap();
        assert!((predicted.value - 50.0).abs() < 1e-3);
        assert!((predicted.half_width() - 4.302_653 * (6.4_f64 / 4.0).sqrt()).abs() < 1e-2);
        assert!((crossing.probability_at_most(crossing.level, 52.0) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn the_ends_of_the_interval_have_the_probabilities_of_its_tails() {
        let near = points(&[
            (34.0, 66.0),
            (38.0, 75.0),
            (42.0, 83.0),
            (46.0, 88.0),
            (41.0, 78.0),
        ]);
        let crossing = Crossing::fit(&near, 40.0, 80.0, &Spread::assumed(0.02)).unwrap();
        let interval = crossing.estimate(0.95).unwrap();
        assert!(interval.low < crossing.level && crossing.level < interval.high);
        assert!((crossing.probability_at_most(interval.low, 80.0) - 0.975).abs() < 1e-6);
        assert!((crossing.probability_at_most(interval.high, 80.0) - 0.025).abs() < 1e-6);
    }

    #[test]
    fn an_expected_slope_counts_as_much_as_it_is_sure() {
        let near = points(&[(17.0, 40.0), (19.0, 44.0), (21.0, 56.0), (23.0, 60.0)]);
        let slope = |standard_deviation| {
            let expected = ExpectedSlope {
                value: 1.0,
                standard_deviation,
            };
            let spread = Spread::assumed(0.005);
            let fit = Crossing::fit_expecting(&near, 20.0, 52.0, &spread, Some(expected));
            fit.unwrap().slope
        };
        assert!((slope(1e6) - 3.6).abs() < 1e-4);
        assert!((slope(1e-6) - 1.0).abs() < 1e-4);
        // The variance about the line is 6.4, so that of the slope 6.4/20 = 0.32: with the same
        // before, the mean of both.
        assert!((slope(0.32_f64.sqrt()) - 2.3).abs() < 1e-3);
    }

    #[test]
    fn points_on_a_line_still_have_the_floor() {
        let near: Vec<Point> = [30.0, 35.0, 45.0, 50.0]
            .iter()
            .map(|&level| Point {
                level,
                value: 2.0 * level,
                half_width: 0.1,
            })
            .collect();
        let crossing = Crossing::fit(&near, 40.0, 80.0, &Spread::assumed(0.01)).unwrap();
        assert!((crossing.level - 40.0).abs() < 1e-9);
        assert!(
            crossing.standard_error >= 0.8 / 2.0 / 2.0 * 0.99,
            "{}",
            crossing.standard_error
        );
    }

    #[test]
    fn what_cannot_be_fitted_says_why() {
        let spread = Spread::assumed(0.02);
        let far = points(&[(10.0, 1.0), (40.0, 2.0), (41.0, 3.0), (80.0, 4.0)]);
        assert_eq!(
            Crossing::fit(&far, 40.0, 2.0, &spread),
            Err(StatsError::TooFew {
                count: 2,
                needed: 4
            })
        );
        let one_level = points(&[(40.0, 1.0), (40.0, 2.0), (40.0, 3.0), (40.0, 4.0)]);
        assert_eq!(
            Crossing::fit(&one_level, 40.0, 2.0, &spread),
            Err(StatsError::OneLevel { count: 4 })
        );
        let flat = points(&[(38.0, 3.0), (39.0, 1.0), (41.0, 1.2), (42.0, 3.1)]);
        let crossing = Crossing::fit(&flat, 40.0, 2.0, &spread).unwrap();
        assert!(matches!(
            crossing.estimate(0.95),
            Err(StatsError::Flat { .. })
        ));
    }
}
