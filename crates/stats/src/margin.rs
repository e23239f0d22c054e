//! The smallest difference that matters.

use std::fmt;

use crate::StatsError;

/// A relative difference that matters: of 0.03, a ratio of 1.03 or of 1/1.03 is just as far as
/// matters.
///
/// It has to come from what the difference costs, not from the data: an equivalence test with a
/// margin chosen after looking says nothing.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Margin(f64);

impl Margin {
    /// From a share between 0 and 1, both excluded.
    pub fn new(relative: f64) -> Result<Self, StatsError> {
        crate::error::check_probability(relative)?;
        Ok(Self(relative))
    }

    /// The share.
    pub fn relative(self) -> f64 {
        self.0
    }

    /// The margin as a difference of logarithms.
    pub fn log(self) -> f64 {
        self.0.ln_1p()
    }
}

impl fmt::Display for Margin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} %", (self.0 * 1e4).round() / 1e2)
    }
}
