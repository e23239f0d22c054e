//! Student's t: quantiles, probabilities, and the mean of independent values.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::error::{check_finite, check_probability};
use crate::{Estimate, Method, StatsError};

/// The value below which Student's t with `df` degrees of freedom falls with probability `p`.
///
/// Panics if `df` is not positive or `p` is outside the open interval from 0 to 1: both are the
/// caller's own numbers.
pub fn student_quantile(p: f64, df: f64) -> f64 {
    assert!(p > 0.0 && p < 1.0, "a quantile lies between 0 and 1");
    standard(df).inverse_cdf(p)
}

/// The probability that Student's t with `df` degrees of freedom is at most `t`.
pub fn student_cdf(t: f64, df: f64) -> f64 {
    standard(df).cdf(t)
}

fn standard(df: f64) -> StudentsT {
    StudentsT::new(0.0, 1.0, df).expect("degrees of freedom are positive")
}

/// The two-sided factor: an interval of `factor * standard error` to both sides has the given
/// confidence.
pub(crate) fn two_sided(confidence: f64, df: f64) -> f64 {
    student_quantile(0.5 + confidence / 2.0, df)
}

/// Mean of values that do not depend on each other, for example one per trial.
pub fn mean_of_independent(values: &[f64], confidence: f64) -> Result<Estimate, StatsError> {
    check_probability(confidence)?;
    check_finite(values)?;
    let count = values.len();
    if count < 2 {
        return Err(StatsError::TooFew {
            count: count as u64,
            needed: 2,
        });
    }
    let standard_error = (variance(values) / count as f64).sqrt();
    let half_width = two_sided(confidence, count as f64 - 1.0) * standard_error;
    Ok(Estimate::symmetric(
        mean(values),
        half_width,
        confidence,
        count,
        Method::Student,
    ))
}

pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample variance with the divisor n - 1.
pub(crate) fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    values
        .iter()
        .map(|value| (value - centre).powi(2))
        .sum::<f64>()
        / (values.len() as f64 - 1.0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// Table of Student's t in NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2.
    #[test]
    fn quantiles_agree_with_the_printed_table() {
        for (p, df, printed) in [
            (0.95, 2.0, 2.920),
            (0.975, 1.0, 12.706),
            (0.975, 10.0, 2.228),
            (0.99, 30.0, 2.457),
            (0.995, 5.0, 4.032),
        ] {
            let t = student_quantile(p, df);
            assert!(
                (t - printed).abs() < 5e-4,
                "p {p} df {df}: {t} against {printed}"
            );
            assert!((student_cdf(t, df) - p).abs() < 1e-9);
        }
    }

    #[test]
    fn mean_of_three_trials_by_hand() {
        // s = 1, standard error 1/sqrt(3), t(2, 0.975) = 4.3027.
        let estimate = mean_of_independent(&[9.0, 10.0, 11.0], 0.95).unwrap();
        assert!((estimate.value - 10.0).abs() < 1e-12);
        assert!((estimate.half_width() - 4.302_652_73 / 3.0_f64.sqrt()).abs() < 1e-6);
        assert_eq!(estimate.count, 3);
        assert_eq!(
            mean_of_independent(&[1.0], 0.95),
            Err(StatsError::TooFew {
                count: 1,
                needed: 2
            })
        );
    }
}
