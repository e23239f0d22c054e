//! Throughput against the size of a limit: curves with one peak or none, whose best level is known.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_record::{
    Level, Levels, Stage, TargetFacts, Treatment, TrialError, TrialObserver, TrialRecord,
    TrialRunner, WhenFull,
};

use super::record::{Seen, facts, record};
use super::{log_uniform, noisy, uniform};

/// The limit that is varied, and its range.
pub(crate) const FACTOR: &str = "threads";
pub(crate) const WITHIN: (u32, u32) = (1, 256);
/// Users in every trial.
pub(crate) const USERS: f64 = 300.0;
/// Requests a second at a curve's height of 1.
const SCALE_PER_S: f64 = 1_000.0;

/// A curve of throughput, up to a factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Curve {
    /// The universal scalability law (Gunther 1993).
    Scalability { contention: f64, coherency: f64 },
    /// Straight up to an edge, then down by this share for every doubling.
    Plateau { edge: f64, decay: f64 },
    /// Ever more slowly, half of the most at this level.
    Saturating { half: f64 },
}

impl Curve {
    /// Of the three forms in turn, drawn from a seed.
    pub(crate) fn drawn(seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        match seed % 3 {
            0 => {
                let peak = log_uniform(&mut random, 4.0, 120.0);
                let contention = uniform(&mut random, 0.0, 0.3);
                Self::Scalability {
                    contention,
                    coherency: (1.0 - contention) / (peak * peak),
                }
            }
            1 => Self::Plateau {
                edge: log_uniform(&mut random, 3.0, 100.0),
                decay: uniform(&mut random, 0.0, 0.03),
            },
            _ => Self::Saturating {
                half: log_uniform(&mut random, 2.0, 40.0),
            },
        }
    }

    /// The height at a level.
    pub(crate) fn at(&self, level: f64) -> f64 {
        match *self {
            Self::Scalability {
                contention,
                coherency,
            } => level / (1.0 + contention * (level - 1.0) + coherency * level * (level - 1.0)),
            Self::Plateau { edge, decay } => {
                level.min(edge) * (1.0 - decay * (level / edge).log2().max(0.0))
            }
            Self::Saturating { half } => level / (level + half),
        }
    }

    /// What a level loses against the best of the range, as a share.
    pub(crate) fn loss(&self, level: f64) -> f64 {
        1.0 - self.at(level) / self.best()
    }

    /// The smallest level that loses at most this share.
    pub(crate) fn smallest_within(&self, share: f64) -> f64 {
        let mut levels = (WITHIN.0..=WITHIN.1).map(f64::from);
        let least = (1.0 - share) * self.best();
        let smallest = levels.find(|level| self.at(*level) >= least);
        smallest.expect("the best level is in the range")
    }

    fn best(&self) -> f64 {
        let levels = (WITHIN.0..=WITHIN.1).map(f64::from);
        levels.map(|level| self.at(level)).fold(0.0, f64::max)
    }
}

/// A server with such a curve, measured with noise.
#[derive(Debug)]
pub(crate) struct Server {
    curve: Curve,
    sigma: f64,
    facts: TargetFacts,
}

impl Server {
    pub(crate) fn new(curve: Curve, sigma: f64) -> Self {
        let stage = Stage {
            name: FACTOR.to_owned(),
            native: None,
            limit: None,
            settable: true,
            when_full: WhenFull::Wait,
        };
        Self {
            curve,
            sigma,
            facts: facts(vec![stage]),
        }
    }

    /// What a trial at a level measures, in requests a second.
    pub(crate) fn measure(&self, level: f64, seed: u64) -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let height = SCALE_PER_S * self.curve.at(level);
        // A throughput is positive whatever the noise.
        noisy(height, self.sigma, &mut random).max(0.01 * height)
    }
}

impl TrialRunner for Server {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, _: &Levels) -> u32 {
        USERS as u32
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        _: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let level = treatment.levels.get(FACTOR).and_then(Level::number);
        let throughput_per_s = self.measure(level.unwrap_or(1.0), treatment.seed);
        let seen = Seen {
            throughput_per_s,
            response_s: USERS / throughput_per_s,
            cpu: None,
        };
        Ok(record(treatment, USERS as u32, &seen))
    }
}

/// A level of the range by chance, each as likely.
pub(crate) fn any_level(random: &mut Xoshiro256PlusPlus) -> f64 {
    f64::from(random.random_range(WITHIN.0..=WITHIN.1))
}
