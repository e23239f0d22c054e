//! A number with its doubt: the only form in which this crate hands out a result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value with a two-sided interval, and how both were found.
///
/// Both ends are always finite: where a sample cannot bound a value, the functions of this crate
/// return an error rather than an interval that is open on one side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Estimate {
    /// The best single value.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Nominal probability that such an interval covers the truth, for example 0.95.
    pub confidence: f64,
    /// How many values it was made from: bins, requests or trials, depending on the method.
    pub count: u64,
    /// How it was made.
    pub method: Method,
}

/// How an [`Estimate`] was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Method {
    /// Mean of a correlated series, from the spread of batch means; the count is the number of
    /// bins.
    BatchMeans,
    /// Mean of independent values, by Student's t; the count is the number of values.
    Student,
    /// A quantile between two order statistics; the count is the number of responses.
    OrderStatistics,
    /// A share of successes or failures, exact binomial (Clopper and Pearson); the count is the
    /// number of attempts.
    ClopperPearson,
    /// A relative standard deviation from repeats, by the chi-squared distribution; the count is
    /// the number of repeats.
    ChiSquared,
    /// The level at which a local line meets its target (Fieller); the count is the number of
    /// trials.
    Crossing,
    /// The value of a local line at a level; the count is the number of trials.
    LocalLine,
    /// A ratio of two independent groups of trials, by Welch's t of their logarithms; the count is
    /// the number of trials.
    WelchLogRatio,
    /// A ratio of trials that ran as pairs, by Student's t of the logarithms; the count is the
    /// number of pairs.
    PairedLogRatio,
    /// A relative change over time, by a line through logarithms; the count is the number of
    /// trials.
    LogLine,
    /// A parameter of a curve, by nonlinear least squares; the count is the number of trials.
    NonlinearLeastSquares,
    /// A difference or ratio of two estimates from their intervals (MOVER); the count is that of
    /// both.
    Mover,
}

impl Estimate {
    /// An interval that reaches equally far to both sides.
    pub(crate) fn symmetric(
        value: f64,
        half_width: f64,
        confidence: f64,
        count: usize,
        method: Method,
    ) -> Self {
        Self {
            value,
            low: value - half_width,
            high: value + half_width,
            confidence,
            count: count as u64,
            method,
        }
    }

    /// Half the length of the interval.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Half-width over the magnitude of the value; infinite for a value of 0 with a proper
    /// interval.
    pub fn relative_half_width(&self) -> f64 {
        let half_width = self.half_width();
        if half_width == 0.0 {
            0.0
        } else {
            half_width / self.value.abs()
        }
    }

    /// Whether the interval covers `truth`, ends included.
    pub fn contains(&self, truth: f64) -> bool {
        self.low <= truth && truth <= self.high
    }

    /// This estimate in another unit: value and interval times a positive `factor`.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        assert!(factor > 0.0, "a change of unit has a positive factor");
        Self {
            value: self.value * factor,
            low: self.low * factor,
            high: self.high * factor,
            ..self
        }
    }
}
