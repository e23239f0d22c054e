//! Whether two things are the same for every purpose, different, or not told apart yet.
//!
//! A test that finds no difference has not shown that there is none: with few noisy trials it never
//! finds any. So "same" is what has to be shown here, by two one-sided tests (TOST; Schuirmann
//! 1987, "A comparison of the two one-sided tests procedure and the power approach"): the ratio is
//! shown to be larger than `1 / (1 + margin)` and smaller than `1 + margin`. All of it is done with
//! logarithms, since noise of load figures is a share of the figure and a ratio of two halves is as
//! far as a ratio of two.
//!
//! Assumed: independent trials, noise that is about normal on the logarithmic scale. Of seconds of
//! one trial neither holds; take one value for each trial.
//!
//! ```
//! use weir_stats::{LogRatio, Margin, Verdict};
//!
//! let before = [100.2, 99.1, 101.3, 98.7, 100.9, 99.8];
//! let after = [99.6, 100.4, 100.1, 99.0, 101.2, 100.3];
//! let found = LogRatio::of_independent(&before, &after)?.equivalence(Margin::new(0.03)?, 0.05)?;
//! assert_eq!(found.verdict, Verdict::Same);
//! assert!(found.ratio.low > 0.991 && found.ratio.high < 1.011);
//! # Ok::<(), weir_stats::StatsError>(())
//! ```

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::{check_finite, check_probability};
use crate::student::{mean, student_cdf, two_sided, variance};
use crate::{Estimate, Margin, Method, StatsError};

/// What a comparison with a margin says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Shown to differ by less than the margin, if at all.
    Same,
    /// Shown to differ, and by more than the margin as far as can be told.
    Different,
    /// Neither was shown.
    Undecided,
}

/// How much larger B is than A: the difference of mean logarithms, with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// Mean logarithm of B minus that of A.
    pub log: f64,
    /// Standard error of the difference.
    pub standard_error: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
    /// How many values it was made from: pairs, or the trials of both sides.
    pub count: usize,
    method: Method,
}

/// A comparison of B with A.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Equivalence {
    /// B over A, with the interval that decides: of a confidence of one minus twice the level.
    pub ratio: Estimate,
    /// The probability of data that look as equal as these, if the truth lay at the margin: the
    /// larger of the two one-sided tests.
    pub p_equivalence: f64,
    /// The probability of data that differ as much as these, if there were no difference.
    pub p_difference: f64,
    /// What it says.
    pub verdict: Verdict,
}

impl LogRatio {
    /// From trials of A and of B that do not belong together; the noise of the two may differ
    /// (Welch 1947).
    ///
    /// At least two trials each. Trials that ran one after the other, A first, also carry what
    /// happened to the machine in between: where the order can be chosen, take
    /// [`LogRatio::of_pairs`].
    pub fn of_independent(a: &[f64], b: &[f64]) -> Result<Self, StatsError> {
        let (a, b) = (logarithms(a)?, logarithms(b)?);
        let fewer = a.len().min(b.len());
        if fewer < 2 {
            return Err(too_few(fewer));
        }
        let part = |values: &[f64]| variance(values) / values.len() as f64;
        let (of_a, of_b) = (part(&a), part(&b));
        let square = of_a + of_b;
        let terms = of_a.powi(2) / (a.len() as f64 - 1.0) + of_b.powi(2) / (b.len() as f64 - 1.0);
        // Without any scatter the approximation of Welch and Satterthwaite is 0/0.
        let freedom = if terms > 0.0 {
            square.powi(2) / terms
        } else {
            (a.len() + b.len() - 2) as f64
        };
        Ok(Self {
            log: mean(&b) - mean(&a),
            standard_error: square.sqrt(),
            freedom,
            count: a.len() + b.len(),
            method: Method::WelchLogRatio,
        })
    }

    /// From pairs of a trial of A and one of B that ran next to each other: what both have in
    /// common (the machine's afternoon) is not in the ratio. At least two pairs.
    pub fn of_pairs(pairs: &[(f64, f64)]) -> Result<Self, StatsError> {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let differences: Vec<f64> = logarithms(&a)?
            .iter()
            .zip(logarithms(&b)?)
            .map(|(a, b)| b - a)
            .collect();
        Self::of_differences(&differences)
    }

    /// As `of_pairs`, from ratios B / A, one for each pair.
    pub fn of_ratios(ratios: &[f64]) -> Result<Self, StatsError> {
        Self::of_differences(&logarithms(ratios)?)
    }

    fn of_differences(differences: &[f64]) -> Result<Self, StatsError> {
        let count = differences.len();
        if count < 2 {
            return Err(too_few(count));
        }
        Ok(Self {
            log: mean(differences),
            standard_error: (variance(differences) / count as f64).sqrt(),
            freedom: count as f64 - 1.0,
            count,
            method: Method::PairedLogRatio,
        })
    }

    /// B over A with a two-sided interval by Student's t.
    pub fn ratio(&self, confidence: f64) -> Result<Estimate, StatsError> {
        check_probability(confidence)?;
        let reach = two_sided(confidence, self.freedom) * self.standard_error;
        Ok(Estimate {
            value: self.log.exp(),
            low: (self.log - reach).exp(),
            high: (self.log + reach).exp(),
            confidence,
            count: self.count as u64,
            method: self.method,
        })
    }

    /// Compares with the margin. `level` is the probability of an error that is allowed for either
    /// claim: 0.05 for a single look, less for several.
    ///
    /// *Same* if both one-sided tests reject at the level, which is when the interval lies within
    /// the margins. *Different* if the two-sided test of no difference rejects at the level and
    /// the ratio lies outside the margins. A truth right at the margin is neither, whatever the
    /// number of trials.
    pub fn equivalence(&self, margin: Margin, level: f64) -> Result<Equivalence, StatsError> {
        let ratio = self.ratio(1.0 - 2.0 * level)?;
        let margin = margin.log();
        let above = |bound: f64| self.probability_above(bound);
        let p_equivalence = above(-margin).max(1.0 - above(margin));
        let no_difference = above(0.0);
        let p_difference = 2.0 * no_difference.min(1.0 - no_difference);
        let verdict = if p_equivalence < level {
            Verdict::Same
        } else if p_difference < level && self.log.abs() > margin {
            Verdict::Different
        } else {
            Verdict::Undecided
        };
        Ok(Equivalence {
            ratio,
            p_equivalence,
            p_difference,
            verdict,
        })
    }

    /// P(T >= (log - bound) / standard error): how likely chance puts the ratio so far above the
    /// bound.
    fn probability_above(&self, bound: f64) -> f64 {
        let distance = self.log - bound;
        if self.standard_error > 0.0 {
            student_cdf(-distance / self.standard_error, self.freedom)
        } else if distance == 0.0 {
            0.5
        } else {
            f64::from(u8::from(distance < 0.0))
        }
    }
}

fn too_few(count: usize) -> StatsError {
    StatsError::TooFew {
        count: count as u64,
        needed: 2,
    }
}

/// Logarithms of values that all have to be positive.
pub(crate) fn logarithms(values: &[f64]) -> Result<Vec<f64>, StatsError> {
    check_finite(values)?;
    match values.iter().position(|value| *value <= 0.0) {
        Some(index) => Err(StatsError::NotPositive {
            index,
            value: values[index],
        }),
        None => Ok(values.iter().map(|value| value.ln()).collect()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn margin() -> Margin {
        Margin::new(0.03).unwrap()
    }

    #[test]
    fn values_without_scatter_are_the_same_or_different() {
        let verdict = |b: f64| {
            let ratio = LogRatio::of_independent(&[10.0, 10.0], &[b, b]).unwrap();
            ratio.equivalence(margin(), 0.05).unwrap().verdict
        };
        assert_eq!(verdict(10.0), Verdict::Same);
        assert_eq!(verdict(10.2), Verdict::Same);
        assert_eq!(verdict(10.4), Verdict::Different);
    }

    #[test]
    fn what_has_no_logarithm_or_no_scatter_is_refused() {
        let refused = LogRatio::of_pairs(&[(1.0, 1.0), (1.0, 0.0)]);
        assert_eq!(
            refused,
            Err(StatsError::NotPositive {
                index: 1,
                value: 0.0
            })
        );
        LogRatio::of_pairs(&[(1.0, 1.0)]).unwrap_err();
        LogRatio::of_independent(&[1.0, 2.0, 3.0], &[1.0]).unwrap_err();
        LogRatio::of_ratios(&[1.0, f64::NAN]).unwrap_err();
        Margin::new(0.0).unwrap_err();
    }

    proptest! {
        /// Who is A and who is B does not matter, nor does the unit.
        #[test]
        fn swapping_inverts_the_ratio_and_keeps_the_verdict(
            pairs in prop::collection::vec((50.0..60.0_f64, 50.0..60.0_f64), 3..12),
            unit in 0.01..100.0_f64,
        ) {
            let swapped: Vec<(f64, f64)> = pairs.iter().map(|(a, b)| (unit * b, unit * a)).collect();
            let one = LogRatio::of_pairs(&pairs).unwrap().equivalence(margin(), 0.05).unwrap();
            let other = LogRatio::of_pairs(&swapped).unwrap().equivalence(margin(), 0.05).unwrap();
            prop_assert_eq!(one.verdict, other.verdict);
            prop_assert!((one.ratio.low * other.ratio.high - 1.0).abs() < 1e-9);
        }

        /// The verdict "same" and the interval within the margins are one statement.
        #[test]
        fn same_is_the_interval_within_the_margins(
            a in prop::collection::vec(97.0..103.0_f64, 3..9),
            b in prop::collection::vec(97.0..103.0_f64, 3..9),
        ) {
            let found = LogRatio::of_independent(&a, &b).unwrap().equivalence(margin(), 0.05).unwrap();
            let inside = found.ratio.low > 1.0 / 1.03 && found.ratio.high < 1.03;
            prop_assert_eq!(found.verdict == Verdict::Same, inside);
        }
    }
}
