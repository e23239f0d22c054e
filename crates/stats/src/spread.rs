//! How much two trials of one treatment differ.
//!
//! The spread between trials is larger than the interval of one trial says (another process age,
//! other neighbours on the machine, another layout of memory), so it has to be measured by
//! repeating a treatment. It decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::error::{check_finite, check_probability};
use crate::student::mean;
use crate::{Estimate, Method, StatsError};

/// The smallest relative spread this crate believes. The quietest machines repeat a trial within
/// about 1 %; a smaller figure from a handful of repeats is luck, and would make a search stop too
/// early.
pub const SPREAD_FLOOR: f64 = 0.005;

/// The response of one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    /// Mean over its window.
    pub value: f64,
    /// Half-width of the 95 % interval within the trial; 0 if unknown.
    pub half_width: f64,
}

/// Relative standard deviation between trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Spread {
    /// Standard deviation between trials over their mean, without what the windows' own noise
    /// explains; never below [`SPREAD_FLOOR`].
    pub relative: f64,
    /// Degrees of freedom behind it: repeats minus groups; 0 if it was assumed rather than
    /// measured.
    pub df: f64,
    /// The spread with an interval; absent if it was assumed.
    pub estimate: Option<Estimate>,
}

impl Spread {
    /// A spread taken from experience, which any measured scatter soon outweighs.
    pub fn assumed(relative: f64) -> Self {
        Self {
            relative: relative.max(SPREAD_FLOOR),
            df: 0.0,
            estimate: None,
        }
    }
}

/// Pools repeats of several treatments (one group each) into one relative spread.
///
/// Within each group the deviations are taken relative to the group's mean; their sum of squares
/// over (repeats - groups) estimates the variance of trials, of which the mean variance within
/// trials `(half_width / 2)^2` is taken off (not below the floor). The interval is that of
/// chi-squared with the same degrees of freedom. Groups of fewer than two trials say nothing and
/// are left out.
pub fn between_trial_spread(
    groups: &[Vec<Observation>],
    confidence: f64,
) -> Result<Spread, StatsError> {
    check_probability(confidence)?;
    let repeated: Vec<&Vec<Observation>> = groups.iter().filter(|group| group.len() >= 2).collect();
    let count: usize = repeated.iter().map(|group| group.len()).sum();
    if count == 0 {
        return Err(StatsError::TooFew {
            count: 0,
            needed: 2,
        });
    }
    let df = (count - repeated.len()) as f64;
    let mut squares = 0.0;
    let mut within = 0.0;
    for group in repeated {
        let values: Vec<f64> = group.iter().map(|trial| trial.value).collect();
        check_finite(&values)?;
        let centre = mean(&values);
        squares += values
            .iter()
            .map(|value| (value / centre - 1.0).powi(2))
            .sum::<f64>();
        within += group
            .iter()
            .map(|trial| (trial.half_width / 2.0 / centre).powi(2))
            .sum::<f64>();
    }
    let own = |variance: f64| {
        (variance - within / count as f64)
            .max(0.0)
            .sqrt()
            .max(SPREAD_FLOOR)
    };
    let chi_squared =
        ChiSquared::new(df).expect("a repeated group leaves at least one degree of freedom");
    let tail = (1.0 - confidence) / 2.0;
    let relative = own(squares / df);
    let estimate = Estimate {
        value: relative,
        low: own(squares / chi_squared.inverse_cdf(1.0 - tail)),
        high: own(squares / chi_squared.inverse_cdf(tail)),
        confidence,
        count: count as u64,
        method: Method::ChiSquared,
    };
    Ok(Spread {
        relative,
        df,
        estimate: Some(estimate),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn trials(values: &[f64]) -> Vec<Observation> {
        values
            .iter()
            .map(|&value| Observation {
                value,
                half_width: 0.0,
            })
            .collect()
    }

    #[test]
    fn two_groups_pool_by_hand() {
        // Deviations -10 %, 0, +10 % and -10 %, +10 %: sum of squares 0.04, 3 degrees of freedom.
        // Chi-squared(3): 0.2158 at 0.025 and 9.3484 at 0.975 (NIST handbook, section 1.3.6.7.4).
        let spread = between_trial_spread(
            &[
                trials(&[90.0, 100.0, 110.0]),
                trials(&[9.0, 11.0]),
                trials(&[7.0]),
            ],
            0.95,
        )
        .unwrap();
        assert!((spread.df - 3.0).abs() < 1e-12);
        assert!((spread.relative - (0.04_f64 / 3.0).sqrt()).abs() < 1e-12);
        let interval = spread.estimate.unwrap();
        assert!((interval.low - (0.04_f64 / 9.3484).sqrt()).abs() < 1e-5);
        assert!((interval.high - (0.04_f64 / 0.2158).sqrt()).abs() < 1e-4);
    }

    #[test]
    fn noise_within_the_trials_is_taken_off() {
        // Half-widths of 10 % mean a standard deviation of 5 % within; between: 10 % in all.
        let group: Vec<_> = [90.0, 100.0, 110.0]
            .iter()
            .map(|&value| Observation {
                value,
                half_width: 10.0,
            })
            .collect();
        let spread = between_trial_spread(&[group], 0.95).unwrap();
        assert!((spread.relative - (0.01_f64 - 0.0025).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn equal_repeats_give_the_floor() {
        let spread = between_trial_spread(&[trials(&[5.0, 5.0])], 0.95).unwrap();
        assert!((spread.relative - SPREAD_FLOOR).abs() < 1e-12);
        assert_eq!(
            between_trial_spread(&[trials(&[5.0])], 0.95),
            Err(StatsError::TooFew {
                count: 0,
                needed: 2
            })
        );
    }
}
