//! How long something takes: think times, services, holds.

use rand::RngExt as _;
use rand_distr::{Exp1, Gamma, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A distribution of durations, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Duration {
    /// Always the same.
    Constant(f64),
    /// Exponential with this mean.
    Exponential(f64),
    /// `|N(mean, deviation)|`, cut to whole milliseconds: the Gaussian random timer of load plans.
    FoldedGaussian {
        /// Mean before folding.
        mean_s: f64,
        /// Standard deviation before folding.
        deviation_s: f64,
    },
    /// Gamma with this mean and coefficient of variation (positive).
    Gamma {
        /// Mean.
        mean_s: f64,
        /// Standard deviation over mean.
        variation: f64,
    },
}

impl Duration {
    /// One draw.
    pub(crate) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> f64 {
        match *self {
            Self::Constant(value) => value,
            Self::Exponential(mean) => mean * random.sample::<f64, _>(Exp1),
            Self::FoldedGaussian {
                mean_s,
                deviation_s,
            } => {
                let value = mean_s + deviation_s * random.sample::<f64, _>(StandardNormal);
                (value.abs() * 1e3).floor() / 1e3
            }
            Self::Gamma { mean_s, variation } => {
                let shape = variation.powi(-2);
                let gamma =
                    Gamma::new(shape, mean_s / shape).expect("mean and variation are positive");
                random.sample(gamma)
            }
        }
    }

    /// The mean; for the folded Gaussian that of the folded distribution, less half a millisecond for the cut.
    pub fn mean_s(&self) -> f64 {
        match *self {
            Self::Constant(mean) | Self::Exponential(mean) | Self::Gamma { mean_s: mean, .. } => {
                mean
            }
            Self::FoldedGaussian {
                mean_s,
                deviation_s,
            } => (folded_mean(mean_s, deviation_s) - 5e-4).max(0.0),
        }
    }
}

/// Mean of `|N(m, s)|`: `s sqrt(2/pi) exp(-m^2/(2 s^2)) + m (1 - 2 Phi(-m/s))` (Leone, Nelson and Nottingham 1961).
fn folded_mean(mean: f64, deviation: f64) -> f64 {
    if deviation <= 0.0 {
        return mean.abs();
    }
    let ratio = mean / deviation;
    let density = (2.0 / std::f64::consts::PI).sqrt() * (-ratio * ratio / 2.0).exp();
    deviation * density + mean * error_function(ratio / std::f64::consts::SQRT_2)
}

/// erf by its power series, for arguments that fold anything at all; beyond 4 it is 1 to the last digit that matters.
fn error_function(x: f64) -> f64 {
    if x.abs() > 4.0 {
        return x.signum();
    }
    let mut term = x;
    let mut sum = x;
    for n in 1..100 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn draws_have_the_mean_and_the_variation() {
        // 100,000 draws from one seed; the mean of a standard deviation s has a standard error of s/316, so that 5 of them
        // are exceeded once in two million seeds.
        for (duration, deviation) in [
            (Duration::Constant(0.3), 0.0),
            (Duration::Exponential(0.3), 0.3),
            (
                Duration::FoldedGaussian {
                    mean_s: 0.5,
                    deviation_s: 0.5,
                },
                0.40,
            ),
            (
                Duration::FoldedGaussian {
                    mean_s: 0.3,
                    deviation_s: 0.1,
                },
                0.1,
            ),
            (
                Duration::Gamma {
                    mean_s: 0.02,
                    variation: 0.5,
                },
                0.01,
            ),
            (
                Duration::Gamma {
                    mean_s: 0.02,
                    variation: 2.0,
                },
                0.04,
            ),
        ] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
            let draws: Vec<f64> = (0..100_000).map(|_| duration.draw(&mut random)).collect();
            let mean = draws.iter().sum::<f64>() / 1e5;
            let spread = (draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 1e5).sqrt();
            let wanted = duration.mean_s();
            assert!(
                (mean - wanted).abs() < 5.0 * deviation / 316.0 + 1e-9,
                "{duration:?}: {mean} {wanted}"
            );
            assert!(
                (spread - deviation).abs() < 0.05 * deviation + 1e-9,
                "{duration:?}: {spread}"
            );
        }
    }
}
