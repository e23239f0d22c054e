//! The universal scalability law: throughput that rises, bends, and may fall again.
//!
//! `X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))` (Gunther 2007, "Guerrilla Capacity
//! Planning", chapter 4). alpha is the share of the work that waits for others (contention), beta
//! what it costs to agree with them (coherency), gamma the throughput of one. With beta above 0 the
//! curve has a peak at `sqrt((1 - alpha) / beta)`.
//!
//! **It explains, it does not decide.** It has no think time, no number of CPUs and no limits, so
//! that a hard plateau (a pool that is full) looks like contention and gets a peak that nobody
//! measured. So a fit answers [`UslFit::peak`] only if nothing speaks against it, and else says
//! what does.

use std::fmt;

use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use crate::error::check_finite;
use crate::least_squares::{Residual, least_squares};
use crate::student::two_sided;
use crate::{Estimate, Method, StatsError};

/// Three parameters, and one level more to say how well they fit.
const LEVELS_MIN: usize = 4;
/// Lack of fit counts if replicates scatter so much less in fewer than one study of a hundred.
const LACK_PROBABILITY: f64 = 0.01;
/// A trial that fixes a parameter by itself has a leverage of 1 and no residual; rounding must not
/// make much of it.
const LEVERAGE_ROOM: f64 = 1e-3;
/// Levels so close are one level.
const SAME_LEVEL: f64 = 1e-9;

/// A curve of the law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usl {
    /// alpha: contention.
    pub contention: f64,
    /// beta: coherency.
    pub coherency: f64,
    /// gamma: throughput at level 1.
    pub single: f64,
}

impl Usl {
    /// The curve through the throughput at level 1 and that at another level, with its peak at a
    /// third.
    ///
    /// `None` where no curve does this with a peak: the three do not belong to one curve of the
    /// law.
    pub fn through(single: f64, (level, throughput): (f64, f64), peak: f64) -> Option<Self> {
        // (n - 1) alpha + n (n - 1) beta = n gamma / X - 1 and beta = (1 - alpha) / peak^2.
        let crowd = level * (level - 1.0) / peak.powi(2);
        let contention = (level * single / throughput - 1.0 - crowd) / (level - 1.0 - crowd);
        let coherency = (1.0 - contention) / peak.powi(2);
        (contention.is_finite() && coherency > 0.0).then_some(Self {
            contention,
            coherency,
            single,
        })
    }

    /// Throughput at a level.
    pub fn throughput(&self, level: f64) -> f64 {
        self.single * level / self.divisor(level)
    }

    fn divisor(&self, level: f64) -> f64 {
        1.0 + self.contention * (level - 1.0) + self.coherency * level * (level - 1.0)
    }

    /// The level with the largest throughput; `None` where the curve rises for ever.
    pub fn peak(&self) -> Option<f64> {
        let square = (1.0 - self.contention) / self.coherency;
        (self.coherency > 0.0 && square > 0.0).then(|| square.sqrt())
    }

    /// What the throughput comes near to without ever reaching it, where the curve has no peak but
    /// contention.
    pub fn throughput_limit(&self) -> Option<f64> {
        (self.coherency <= 0.0 && self.contention > 0.0).then(|| self.single / self.contention)
    }

    /// How the throughput changes with gamma, alpha and beta.
    fn gradient(&self, level: f64) -> [f64; 3] {
        let divisor = self.divisor(level);
        let by_contention = -self.single * level * (level - 1.0) / divisor.powi(2);
        [level / divisor, by_contention, by_contention * level]
    }
}

/// A curve of the law fitted to trials, with what is known about the fit.
#[derive(Debug, Clone, PartialEq)]
pub struct UslFit {
    /// The curve.
    pub curve: Usl,
    /// alpha.
    pub contention: Estimate,
    /// beta; 0 where the trials would have it negative, which no server is.
    pub coherency: Estimate,
    /// gamma.
    pub single: Estimate,
    /// The beta of a fit that may have a negative one.
    pub unconstrained_coherency: f64,
    /// Sum of the squared residuals.
    pub residual_squares: f64,
    /// Whether the curve fits, where levels were repeated.
    pub lack_of_fit: Option<LackOfFit>,
    peak: Option<Estimate>,
    levels: (f64, f64),
}

/// Whether the trials scatter about the curve by more than repeated trials differ (F test; Draper
/// and Smith 1998, "Applied Regression Analysis", section 2.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LackOfFit {
    /// Mean square about the curve that repeats do not explain, over that of the repeats.
    pub f: f64,
    /// Degrees of freedom of the two.
    pub freedom: (f64, f64),
    /// Probability of such a ratio or a larger one if the curve is right.
    pub probability: f64,
}

/// Why the peak of a fit must not be used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NoPeak {
    /// The curve does not fit.
    LackOfFit {
        /// What says so.
        probability: f64,
    },
    /// The trials fit best without coherency: throughput only flattens.
    Rises,
    /// More than one for one: contention is negative, which the law does not know.
    Superlinear {
        /// The fitted alpha.
        contention: f64,
    },
    /// The peak lies behind the largest level that was measured.
    Beyond {
        /// Where it would be.
        peak: f64,
        /// The largest level.
        largest: f64,
    },
}

impl fmt::Display for NoPeak {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LackOfFit { probability } => write!(
                f,
                "the curve does not fit: repeated trials differ too little for it (probability {probability:.4})"
            ),
            Self::Rises => {
                f.write_str("throughput flattens and does not fall within what was measured")
            }
            Self::Superlinear { contention } => write!(
                f,
                "throughput rises by more than the level does (contention {contention:.4}), which the law does not know"
            ),
            Self::Beyond { peak, largest } => write!(
                f,
                "the peak would lie at {peak:.0}, and nothing was measured behind {largest:.0}"
            ),
        }
    }
}

impl UslFit {
    /// The curve closest to trials (level, throughput), by least squares of the throughput; at
    /// least four levels.
    pub fn of(trials: &[(f64, f64)], confidence: f64) -> Result<Self, StatsError> {
        let (levels, figures): (Vec<f64>, Vec<f64>) = trials.iter().copied().unzip();
        check_finite(&levels)?;
        check_finite(&figures)?;
        crate::equivalence::logarithms(&levels)?;
        crate::equivalence::logarithms(&figures)?;
        let distinct = distinct(&levels);
        if distinct.len() < LEVELS_MIN {
            return Err(StatsError::TooFew {
                count: distinct.len() as u64,
                needed: LEVELS_MIN as u64,
            });
        }
        let free = Fitted::of(trials, 3)?;
        let constrained = if free.curve.coherency < 0.0 {
            Fitted::of(trials, 2)?
        } else {
            free
        };
        Ok(constrained.told(trials, &free, &distinct, confidence))
    }

    /// The level with the largest throughput, or why the fit must not be asked for it.
    pub fn peak(&self) -> Result<Estimate, NoPeak> {
        if let Some(lack) = self.lack_of_fit.filter(LackOfFit::is_shown) {
            return Err(NoPeak::LackOfFit {
                probability: lack.probability,
            });
        }
        if self.curve.contention < 0.0 {
            return Err(NoPeak::Superlinear {
                contention: self.curve.contention,
            });
        }
        let peak = self.peak.ok_or(NoPeak::Rises)?;
        if peak.value > self.levels.1 {
            return Err(NoPeak::Beyond {
                peak: peak.value,
                largest: self.levels.1,
            });
        }
        Ok(peak)
    }
}

impl LackOfFit {
    /// Whether the curve is shown not to fit.
    pub fn is_shown(&self) -> bool {
        self.probability < LACK_PROBABILITY
    }
}

/// The closest curve with the first two or all three parameters free.
#[derive(Clone, Copy)]
struct Fitted {
    curve: Usl,
    squares: f64,
    parameters: usize,
    /// Covariance of the parameters, in the order gamma, alpha, beta.
    covariance: [[f64; 3]; 3],
}

impl Fitted {
    fn of(trials: &[(f64, f64)], parameters: usize) -> Result<Self, StatsError> {
        // Parameters of about the same size make equations that can be solved: alpha and beta by
        // the largest level.
        let largest = trials.iter().map(|(level, _)| *level).fold(1.0, f64::max);
        let per_one = trials
            .iter()
            .map(|(n, x)| x / n)
            .fold(f64::MIN_POSITIVE, f64::max);
        let scale = [per_one, 1.0 / largest, 1.0 / largest.powi(2)];
        let curve = |p: &[f64; 3]| Usl {
            single: p[0] * scale[0],
            contention: p[1] * scale[1],
            coherency: p[2] * scale[2],
        };
        let residuals = |p: &[f64; 3]| -> Vec<Residual<3>> {
            let curve = curve(p);
            let each = trials.iter().map(|&(level, figure)| {
                let gradient = curve.gradient(level);
                Residual {
                    value: figure - curve.throughput(level),
                    gradient: std::array::from_fn(|i| gradient[i] * scale[i]),
                }
            });
            each.collect()
        };
        let found = least_squares(start(trials, parameters, scale), parameters, residuals)?;
        let covariance = covariance(&found.inverse, &residuals(&found.parameters));
        Ok(Self {
            curve: curve(&found.parameters),
            squares: found.squares,
            parameters,
            covariance: std::array::from_fn(|i| {
                std::array::from_fn(|j| covariance[i][j] * scale[i] * scale[j])
            }),
        })
    }

    fn told(self, trials: &[(f64, f64)], free: &Self, levels: &[f64], confidence: f64) -> UslFit {
        let freedom = (trials.len() - self.parameters) as f64;
        let factor = two_sided(confidence, freedom);
        let reach = |fitted: &Self, gradient: [f64; 3]| {
            factor * quadratic(&fitted.covariance, gradient).max(0.0).sqrt()
        };
        let estimate = |value: f64, half_width: f64| {
            Estimate::symmetric(
                value,
                half_width,
                confidence,
                trials.len(),
                Method::NonlinearLeastSquares,
            )
        };
        let Usl {
            contention,
            coherency,
            single,
        } = self.curve;
        let peak = self.curve.peak().map(|peak| {
            let by_contention = -1.0 / (2.0 * coherency * peak);
            estimate(
                peak,
                reach(&self, [0.0, by_contention, by_contention * peak.powi(2)]),
            )
        });
        // At the bound itself the interval is that of the free fit, as far as it lies above 0.
        let of_coherency = if self.parameters == 3 {
            estimate(coherency, reach(&self, [0.0, 0.0, 1.0]))
        } else {
            let high = free.curve.coherency + reach(free, [0.0, 0.0, 1.0]);
            Estimate {
                high: high.max(0.0),
                ..estimate(0.0, 0.0)
            }
        };
        UslFit {
            curve: self.curve,
            contention: estimate(contention, reach(&self, [0.0, 1.0, 0.0])),
            coherency: of_coherency,
            single: estimate(single, reach(&self, [1.0, 0.0, 0.0])),
            unconstrained_coherency: free.curve.coherency,
            residual_squares: self.squares,
            lack_of_fit: lack_of_fit(trials, levels, self.squares, self.parameters),
            peak,
            levels: (levels[0], levels[levels.len() - 1]),
        }
    }
}

/// Where the search starts: `N / X` is linear in 1/gamma, alpha/gamma and beta/gamma, so those are
/// fitted first, each trial weighted so that an error of its throughput counts the same.
fn start(trials: &[(f64, f64)], parameters: usize, scale: [f64; 3]) -> [f64; 3] {
    let line = |p: &[f64; 3]| -> Vec<Residual<3>> {
        let each = trials.iter().map(|&(level, figure)| {
            let weight = figure.powi(2) / level / scale[0].powi(2);
            let terms = [
                1.0,
                (level - 1.0) * scale[1],
                level * (level - 1.0) * scale[2],
            ];
            let fitted: f64 = terms.iter().zip(p).map(|(term, p)| term * p).sum();
            Residual {
                value: weight * (level / figure * scale[0] - fitted),
                gradient: terms.map(|term| weight * term),
            }
        });
        each.collect()
    };
    let flat = [1.0, 1.0, 0.0];
    let Ok(found) = least_squares(flat, parameters, line) else {
        return flat;
    };
    let [one, contention, coherency] = found.parameters;
    if one > 0.0 {
        [1.0 / one, contention / one, coherency / one]
    } else {
        flat
    }
}

/// The covariance that does not assume equal noise at all levels: each trial speaks for its own, by
/// its residual over one minus its leverage (HC3; `MacKinnon` and White 1985). Noise of load
/// figures is a share of the figure, and the usual covariance would cover a peak in 85 of 100
/// studies rather than 95.
fn covariance(inverse: &[[f64; 3]; 3], residuals: &[Residual<3>]) -> [[f64; 3]; 3] {
    let mut sum = [[0.0; 3]; 3];
    for residual in residuals {
        let leverage = quadratic(inverse, residual.gradient);
        let own = residual.value / (1.0 - leverage).max(LEVERAGE_ROOM);
        let pull: [f64; 3] = std::array::from_fn(|i| {
            let terms = inverse[i].iter().zip(residual.gradient);
            own * terms.map(|(cell, by)| cell * by).sum::<f64>()
        });
        for (i, row) in sum.iter_mut().enumerate() {
            for (j, cell) in row.iter_mut().enumerate() {
                *cell += pull[i] * pull[j];
            }
        }
    }
    sum
}

fn quadratic(matrix: &[[f64; 3]; 3], vector: [f64; 3]) -> f64 {
    (0..3)
        .flat_map(|i| (0..3).map(move |j| (i, j)))
        .map(|(i, j)| vector[i] * matrix[i][j] * vector[j])
        .sum()
}

/// The levels, ascending, each once.
fn distinct(levels: &[f64]) -> Vec<f64> {
    let mut levels = levels.to_vec();
    levels.sort_by(f64::total_cmp);
    levels.dedup_by(|a, b| is_same(*a, *b));
    levels
}

fn is_same(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME_LEVEL * a.abs().max(b.abs())
}

/// The F test, where at least one level was repeated and there are more levels than parameters.
fn lack_of_fit(
    trials: &[(f64, f64)],
    levels: &[f64],
    squares: f64,
    parameters: usize,
) -> Option<LackOfFit> {
    let pure: f64 = levels
        .iter()
        .map(|level| {
            let own: Vec<f64> = trials
                .iter()
                .filter(|(other, _)| is_same(*other, *level))
                .map(|(_, figure)| *figure)
                .collect();
            let centre = crate::student::mean(&own);
            own.iter()
                .map(|figure| (figure - centre).powi(2))
                .sum::<f64>()
        })
        .sum();
    let freedom = (
        levels
            .len()
            .checked_sub(parameters)
            .filter(|more| *more > 0)? as f64,
        trials
            .len()
            .checked_sub(levels.len())
            .filter(|more| *more > 0)? as f64,
    );
    if pure <= 0.0 {
        return None;
    }
    let f = ((squares - pure).max(0.0) / freedom.0) / (pure / freedom.1);
    let distribution =
        FisherSnedecor::new(freedom.0, freedom.1).expect("degrees of freedom are positive");
    Some(LackOfFit {
        f,
        freedom,
        probability: distribution.sf(f),
    })
}
