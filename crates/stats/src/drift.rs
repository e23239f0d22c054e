//! A machine that gets faster or slower while a study runs, seen by a reference that is repeated.
//!
//! Trials of one reference treatment, spread over the study, should all give the same. A line
//! through the logarithms of what they gave, against the time at which they ran, says by how much
//! the machine changes, and its scatter how much two trials differ anyway (Montgomery, "Design and
//! Analysis of Experiments", on covariates). Assumed: a change that is about even over the study,
//! and the same share for every treatment. A step, such as a neighbour that moves in, is not
//! even; the scatter about the line grows then, and the drift hides in it. Treatments that ran as
//! pairs or in blocks need none of this.

use crate::equivalence::logarithms;
use crate::error::{check_finite, check_probability};
use crate::student::{mean, two_sided};
use crate::{Estimate, Method, StatsError};

/// Two points make a line, and it takes two more to say how well it fits.
const REFERENCES_MIN: usize = 4;

/// The drift of a machine, from repeated trials of one treatment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Relative change from the first reference to the last: 0.03 is a rise by 3 %.
    pub over_study: Estimate,
    /// This change over an hour at this pace.
    pub per_hour: Estimate,
    /// Relative standard deviation of a reference trial about the line.
    pub noise: f64,
    slope_per_s: f64,
    middle_s: f64,
}

impl Drift {
    /// From references as (time in seconds, figure), in any order; at least four, at more than one
    /// time.
    ///
    /// ```
    /// use weir_stats::Drift;
    ///
    /// let references =
    ///     [(0.0, 100.0), (600.0, 99.2), (1200.0, 97.9), (1800.0, 97.0), (2400.0, 96.1)];
    /// let drift = Drift::of(&references, 0.95)?;
    /// assert!(drift.matters() && drift.over_study.contains(-0.04));
    /// // What the same trial would have given in the middle of the study.
    /// assert!((drift.adjusted(2400.0, 96.1) - 98.0).abs() < 0.2);
    /// # Ok::<(), weir_stats::StatsError>(())
    /// ```
    pub fn of(references: &[(f64, f64)], confidence: f64) -> Result<Self, StatsError> {
        check_probability(confidence)?;
        let count = references.len();
        if count < REFERENCES_MIN {
            return Err(StatsError::TooFew {
                count: count as u64,
                needed: REFERENCES_MIN as u64,
            });
        }
        let (times, figures): (Vec<f64>, Vec<f64>) = references.iter().copied().unzip();
        check_finite(&times)?;
        let logs = logarithms(&figures)?;
        let (middle_s, centre) = (mean(&times), mean(&logs));
        let spread: f64 = times.iter().map(|time| (time - middle_s).powi(2)).sum();
        if spread <= 0.0 {
            return Err(StatsError::OneLevel { count });
        }
        let shared: f64 = times
            .iter()
            .zip(&logs)
            .map(|(time, log)| (time - middle_s) * (log - centre))
            .sum();
        let slope_per_s = shared / spread;
        let squares: f64 = times
            .iter()
            .zip(&logs)
            .map(|(time, log)| (log - centre - slope_per_s * (time - middle_s)).powi(2))
            .sum();
        let freedom = count as f64 - 2.0;
        let variance = squares / freedom;
        let reach = two_sided(confidence, freedom) * (variance / spread).sqrt();
        let over = |seconds: f64| Estimate {
            value: (slope_per_s * seconds).exp_m1(),
            low: ((slope_per_s - reach) * seconds).exp_m1(),
            high: ((slope_per_s + reach) * seconds).exp_m1(),
            confidence,
            count: count as u64,
            method: Method::LogLine,
        };
        let first = times.iter().copied().fold(f64::INFINITY, f64::min);
        let last = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Self {
            over_study: over(last - first),
            per_hour: over(3600.0),
            noise: variance.sqrt(),
            slope_per_s,
            middle_s,
        })
    }

    /// Whether figures have to be adjusted: the change is larger than the noise between two trials,
    /// and its interval excludes 0.
    ///
    /// The first alone would be true of every second study without any drift: the slope through a
    /// handful of references is as noisy as they are.
    pub fn matters(&self) -> bool {
        let shown = !self.over_study.contains(0.0);
        shown && self.over_study.value.ln_1p().abs() > self.noise
    }

    /// A figure measured at a time as it would have been in the middle of the references; unchanged
    /// where the drift does not matter, since an adjustment by a slope that is mostly noise
    /// adds that noise.
    pub fn adjusted(&self, at_s: f64, figure: f64) -> f64 {
        if self.matters() {
            figure * (-self.slope_per_s * (at_s - self.middle_s)).exp()
        } else {
            figure
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    /// Logarithms 0, 1, 3, 4 at 0, 1, 2, 3 s have the slope 1.4 and residuals of 0.1, -0.3, 0.3,
    /// -0.1 about their line; the variance about it is 0.2 / 2, that of the slope 0.1 / 5, and
    /// t(2, 0.975) = 4.3027.
    #[test]
    fn a_line_by_hand() {
        let references = [0.0_f64, 1.0, 3.0, 4.0].map(f64::exp);
        let references: Vec<(f64, f64)> = (0..4)
            .map(|i| (f64::from(i), references[i as usize]))
            .collect();
        let drift = Drift::of(&references, 0.95).unwrap();
        assert!((drift.noise - 0.1_f64.sqrt()).abs() < 1e-12);
        assert!((drift.over_study.value.ln_1p() - 4.2).abs() < 1e-12);
        let reach = 4.302_653 * (0.1_f64 / 5.0).sqrt();
        assert!((drift.over_study.low.ln_1p() - 3.0 * (1.4 - reach)).abs() < 1e-5);
        assert!(drift.matters());
        assert!((drift.adjusted(3.0, 1.0).ln() + 1.4 * 1.5).abs() < 1e-12);
    }

    #[test]
    fn a_drift_that_is_lost_in_noise_adjusts_nothing() {
        let references = [(0.0, 100.0), (1.0, 104.0), (2.0, 97.0), (3.0, 101.5)];
        let drift = Drift::of(&references, 0.95).unwrap();
        assert!(!drift.matters());
        assert!((drift.adjusted(3.0, 50.0) - 50.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_references_or_one_time_are_refused() {
        Drift::of(&[(0.0, 1.0), (1.0, 1.0), (2.0, 1.0)], 0.95).unwrap_err();
        Drift::of(&[(7.0, 1.0); 5], 0.95).unwrap_err();
        Drift::of(&[(0.0, 1.0), (1.0, 0.0), (2.0, 1.0), (3.0, 1.0)], 0.95).unwrap_err();
    }
}
