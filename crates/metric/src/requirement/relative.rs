//! `METRIC[(CLASS)] OP NUMBER % of A`: what has to be kept of what another run had.

use std::fmt;
use std::str::FromStr;

use crate::quantity::{Quantity, Unit};

use super::{Comparison, Metric, RequirementError, parts};

/// How the other run is called.
const OTHER: &str = "of A";

/// A requirement on one run in shares of another one, `throughput >= 95 % of A`.
#[derive(Debug, Clone, PartialEq)]
pub struct RelativeRequirement {
    /// What is measured.
    pub metric: Metric,
    /// Only the samples of this class.
    pub class: Option<String>,
    /// How it is compared.
    pub comparison: Comparison,
    /// With how much of what the other run had.
    pub share: Quantity,
}

impl RelativeRequirement {
    /// Whether a text means one, right or wrong.
    pub fn is_meant(text: &str) -> bool {
        text.trim_end().ends_with(OTHER)
    }

    /// Whether this share of what the other run had meets the requirement.
    pub fn met_by(&self, share: f64) -> bool {
        self.comparison.holds(share * 100.0, self.share.number)
    }
}

impl fmt::Display for RelativeRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.metric)?;
        if let Some(class) = &self.class {
            write!(f, "({class})")?;
        }
        write!(f, " {} {} {OTHER}", self.comparison, self.share)
    }
}

impl FromStr for RelativeRequirement {
    type Err = RequirementError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || RequirementError::Relative(text.to_owned());
        let of_own = text.trim_end().strip_suffix(OTHER).ok_or_else(wrong)?;
        let (metric, class, comparison, bound) = parts(of_own)?;
        if bound.unit != Unit::Percent || bound.number <= 0.0 {
            return Err(wrong());
        }
        Ok(Self {
            metric,
            class,
            comparison,
            share: bound,
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_shows() {
        for text in [
            "throughput >= 95 % of A",
            "p99(light) <= 110 % of A",
            "cpu < 100 % of A",
        ] {
            let read: RelativeRequirement = text.parse().unwrap();
            assert_eq!(read.to_string(), text);
        }
        let read: RelativeRequirement = "throughput>=95% of A".parse().unwrap();
        assert!(read.met_by(0.95) && !read.met_by(0.94));
    }

    #[test]
    fn says_what_is_wrong() {
        for (text, part) in [
            ("throughput >= 95 of A", "95 % of A"),
            ("p99 <= 20 ms of A", "95 % of A"),
            ("p99 <= 0 % of A", "95 % of A"),
            ("speed >= 95 % of A", "`speed`"),
            ("throughput 95 % of A", "find <=, >="),
        ] {
            let error = text.parse::<RelativeRequirement>().unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
