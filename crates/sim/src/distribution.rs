//! How long something takes: services, think times, patience.

use rand::RngExt as _;
use rand_distr::{Exp1, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The source of everything random in one replication.
pub(crate) type Random = Xoshiro256PlusPlus;

/// A distribution of durations, in seconds; never negative.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Distribution(Shape);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Constant(f64),
    Exponential(f64),
    Erlang {
        stages: u32,
        mean_of_stage: f64,
    },
    /// One of two exponential distributions.
    Hyperexponential {
        first: f64,
        mean_of_first: f64,
        mean_of_second: f64,
    },
    /// exp(N(location, scale)).
    Lognormal {
        location: f64,
        scale: f64,
    },
    Uniform {
        low: f64,
        high: f64,
    },
    /// N(mean, deviation), drawn again while negative.
    TruncatedNormal {
        mean: f64,
        deviation: f64,
    },
    /// |N(mean, deviation)|.
    FoldedNormal {
        mean: f64,
        deviation: f64,
    },
}

impl Distribution {
    /// No time at all.
    pub const ZERO: Self = Self(Shape::Constant(0.0));

    /// Always the same.
    pub fn constant(seconds: f64) -> Self {
        not_negative(seconds);
        Self(Shape::Constant(seconds))
    }

    /// Exponential.
    pub fn exponential(mean_s: f64) -> Self {
        not_negative(mean_s);
        Self(Shape::Exponential(mean_s))
    }

    /// The sum of `stages` exponential ones; its squared coefficient of variation is 1/stages.
    pub fn erlang(mean_s: f64, stages: u32) -> Self {
        not_negative(mean_s);
        assert!(stages > 0, "a sum has a part");
        Self(Shape::Erlang {
            stages,
            mean_of_stage: mean_s / f64::from(stages),
        })
    }

    /// Two exponential distributions with balanced means, for a squared coefficient of variation
    /// `scv` of at least 1 (Tijms, "Stochastic Models", 1994, appendix B).
    pub fn hyperexponential(mean_s: f64, scv: f64) -> Self {
        not_negative(mean_s);
        assert!(
            scv >= 1.0,
            "a hyperexponential varies at least as an exponential"
        );
        let first = f64::midpoint(1.0, ((scv - 1.0) / (scv + 1.0)).sqrt());
        Self(Shape::Hyperexponential {
            first,
            mean_of_first: mean_s / (2.0 * first),
            mean_of_second: mean_s / (2.0 * (1.0 - first)),
        })
    }

    /// Lognormal with this mean and squared coefficient of variation.
    pub fn lognormal(mean_s: f64, scv: f64) -> Self {
        assert!(
            mean_s > 0.0 && scv >= 0.0,
            "a lognormal has a positive mean"
        );
        let variance = scv.ln_1p();
        Self(Shape::Lognormal {
            location: mean_s.ln() - variance / 2.0,
            scale: variance.sqrt(),
        })
    }

    /// Anything between the two alike.
    pub fn uniform(low_s: f64, high_s: f64) -> Self {
        not_negative(low_s);
        assert!(high_s >= low_s, "from {low_s} to {high_s}");
        Self(Shape::Uniform {
            low: low_s,
            high: high_s,
        })
    }

    /// Normal with what is negative drawn again; `mean_s` and `deviation_s` are those before that.
    pub fn truncated_normal(mean_s: f64, deviation_s: f64) -> Self {
        not_negative(mean_s);
        not_negative(deviation_s);
        Self(Shape::TruncatedNormal {
            mean: mean_s,
            deviation: deviation_s,
        })
    }

    /// The magnitude of a normal: the Gaussian random timer of load plans.
    pub fn folded_normal(mean_s: f64, deviation_s: f64) -> Self {
        not_negative(mean_s);
        not_negative(deviation_s);
        Self(Shape::FoldedNormal {
            mean: mean_s,
            deviation: deviation_s,
        })
    }

    /// The mean.
    pub fn mean_s(&self) -> f64 {
        match self.0 {
            Shape::Constant(mean) | Shape::Exponential(mean) => mean,
            Shape::Erlang {
                stages,
                mean_of_stage,
            } => f64::from(stages) * mean_of_stage,
            Shape::Hyperexponential {
                first,
                mean_of_first,
                mean_of_second,
            } => first * mean_of_first + (1.0 - first) * mean_of_second,
            Shape::Lognormal { location, scale } => (location + scale * scale / 2.0).exp(),
            Shape::Uniform { low, high } => f64::midpoint(low, high),
            Shape::TruncatedNormal { mean, deviation } => {
                // mean + deviation * phi(a) / (1 - Phi(a)) with a = -mean / deviation.
                if deviation == 0.0 {
                    return mean;
                }
                let ratio = mean / deviation;
                mean + deviation * density(ratio) / cumulative(ratio)
            }
            Shape::FoldedNormal { mean, deviation } => {
                // Leone, Nelson and Nottingham 1961.
                if deviation == 0.0 {
                    return mean;
                }
                let ratio = mean / deviation;
                2.0 * deviation * density(ratio) + mean * (2.0 * cumulative(ratio) - 1.0)
            }
        }
    }

    /// Whether it can be 0 for ever, so that nothing would pass time.
    pub fn is_zero(&self) -> bool {
        self.mean_s() == 0.0
    }

    /// One draw.
    #[inline]
    pub(crate) fn draw(&self, random: &mut Random) -> f64 {
        match self.0 {
            Shape::Constant(value) => value,
            Shape::Exponential(mean) => mean * random.sample::<f64, _>(Exp1),
            _ => self.draw_other(random),
        }
    }

    fn draw_other(&self, random: &mut Random) -> f64 {
        match self.0 {
            Shape::Constant(value) => value,
            Shape::Exponential(mean) => mean * random.sample::<f64, _>(Exp1),
            Shape::Erlang {
                stages,
                mean_of_stage,
            } => {
                let sum: f64 = (0..stages).map(|_| random.sample::<f64, _>(Exp1)).sum();
                mean_of_stage * sum
            }
            Shape::Hyperexponential {
                first,
                mean_of_first,
                mean_of_second,
            } => {
                let mean = if random.random::<f64>() < first {
                    mean_of_first
                } else {
                    mean_of_second
                };
                mean * random.sample::<f64, _>(Exp1)
            }
            Shape::Lognormal { location, scale } => {
                (location + scale * random.sample::<f64, _>(StandardNormal)).exp()
            }
            Shape::Uniform { low, high } => low + (high - low) * random.random::<f64>(),
            Shape::TruncatedNormal { mean, deviation } => loop {
                // The mean is not negative, so at least every second draw will do.
                let value = mean + deviation * random.sample::<f64, _>(StandardNormal);
                if value >= 0.0 {
                    return value;
                }
            },
            Shape::FoldedNormal { mean, deviation } => {
                (mean + deviation * random.sample::<f64, _>(StandardNormal)).abs()
            }
        }
    }
}

fn not_negative(seconds: f64) {
    assert!(
        seconds >= 0.0 && seconds.is_finite(),
        "a duration of {seconds} s"
    );
}

/// The density of the standard normal.
fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The distribution function of the standard normal, by the series around 0 (Abramowitz and Stegun
/// 26.2.11).
fn cumulative(x: f64) -> f64 {
    if x.abs() > 8.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= x * x / f64::from(2 * n + 1);
        sum += term;
    }
    0.5 + density(x) * sum
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    /// Means and deviations against closed forms; 200,000 draws of one seed, so that the standard
    /// error of a mean is a 447th of the deviation.
    #[test]
    fn draws_have_the_mean_and_the_deviation() {
        let cases = [
            (Distribution::constant(0.3), 0.3, 0.0),
            (Distribution::exponential(0.3), 0.3, 0.3),
            (Distribution::erlang(0.02, 4), 0.02, 0.01),
            (Distribution::hyperexponential(1.0, 4.0), 1.0, 2.0),
            (Distribution::lognormal(1.0, 2.0), 1.0, 2.0_f64.sqrt()),
            (Distribution::uniform(1.0, 3.0), 2.0, 2.0 / 12.0_f64.sqrt()),
            // Half-normal: sqrt(2/pi) and sqrt(1 - 2/pi).
            (
                Distribution::truncated_normal(0.0, 1.0),
                0.797_885,
                0.602_81,
            ),
            (Distribution::folded_normal(0.0, 1.0), 0.797_885, 0.602_81),
            // |N(0.5, 0.5)| and N(0.5, 0.5 | > 0), by numerical integration.
            (Distribution::folded_normal(0.5, 0.5), 0.583_315, 0.399_7),
            (Distribution::truncated_normal(0.5, 0.5), 0.643_800, 0.396_8),
        ];
        for (distribution, mean, deviation) in cases {
            assert!(
                (distribution.mean_s() - mean).abs() < 2e-6,
                "{distribution:?}: {}",
                distribution.mean_s()
            );
            let mut random = Random::seed_from_u64(11);
            let draws: Vec<f64> = (0..200_000)
                .map(|_| distribution.draw(&mut random))
                .collect();
            let found = draws.iter().sum::<f64>() / 2e5;
            let spread =
                (draws.iter().map(|draw| (draw - found).powi(2)).sum::<f64>() / 2e5).sqrt();
            assert!(
                (found - mean).abs() < 5.0 * deviation / 447.0 + 1e-9,
                "{distribution:?}: mean {found}"
            );
            assert!(
                (spread - deviation).abs() < 0.05 * deviation + 1e-9,
                "{distribution:?}: deviation {spread}"
            );
            assert!(draws.iter().all(|draw| *draw >= 0.0));
        }
    }
}
