//! What the input of an estimate can lack.

use thiserror::Error;

/// Why no number could be given. Each message fits after "failed to ...".
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum StatsError {
    /// The sample is too small for the question.
    #[error("estimate from {count} values where at least {needed} are needed")]
    TooFew {
        /// How many values there were.
        count: u64,
        /// The smallest number that would do.
        needed: u64,
    },
    /// The values depend on each other so much that they are worth too few independent ones.
    #[error(
        "estimate from values that are worth {effective:.1} independent ones, where {needed} are needed"
    )]
    TooFewEffective {
        /// How many independent values they are worth.
        effective: f64,
        /// The smallest number that would do.
        needed: u64,
    },
    /// A value, weight or half-width is NaN or infinite.
    #[error("estimate from a series whose value at index {index} is not finite")]
    NotFinite {
        /// Where it stands.
        index: usize,
    },
    /// A confidence or quantile outside the open interval from 0 to 1.
    #[error("use {value} as a probability: it has to lie between 0 and 1, both excluded")]
    NotAProbability {
        /// The number given.
        value: f64,
    },
    /// All trials have one level, or ran at one time, so that no line goes through them.
    #[error("fit a line: all {count} trials have the same level")]
    OneLevel {
        /// How many trials there are.
        count: usize,
    },
    /// The response does not change enough between the levels to say where it meets the target.
    #[error(
        "bound the crossing: the slope {slope} is not distinguishable from 0 (standard error {standard_error})"
    )]
    Flat {
        /// Change of the response per level.
        slope: f64,
        /// Its standard error.
        standard_error: f64,
    },
    /// The trials leave a parameter of the curve open, whatever they gave.
    #[error("fit the curve: the trials do not determine all of its parameters")]
    Singular,
    /// Two inputs that belong together have different lengths.
    #[error("pair {left} values with {right}")]
    Unequal {
        /// Length of the first.
        left: usize,
        /// Length of the second.
        right: usize,
    },
    /// A value whose logarithm is needed is not above 0.
    #[error(
        "take the logarithm of {value} at index {index}: only figures above 0 can be compared as ratios"
    )]
    NotPositive {
        /// Where it stands.
        index: usize,
        /// The value.
        value: f64,
    },
    /// A sample that has to be in ascending order is not.
    #[error("take a quantile: the sample is not in ascending order at index {index}")]
    NotSorted {
        /// The first value that is smaller than the one before it.
        index: usize,
    },
}

pub(crate) fn check_finite(values: &[f64]) -> Result<(), StatsError> {
    values
        .iter()
        .position(|value| !value.is_finite())
        .map_or(Ok(()), |index| Err(StatsError::NotFinite { index }))
}

pub(crate) fn check_probability(value: f64) -> Result<(), StatsError> {
    if value > 0.0 && value < 1.0 {
        Ok(())
    } else {
        Err(StatsError::NotAProbability { value })
    }
}
