//! Whether a small level is as good as the best: from all trials of all levels together.
//!
//! The curve with one peak ([`Curve`]) says which levels lie on top of it, and how much trials
//! scatter about it. A level is then compared with the mean of all trials on top, so that every one
//! of them counts, those of the ladder too. The level is the smallest that can still be shown to be
//! as good with the trials that are left, so that edges of which nothing would come are not tried
//! in vain.
//!
//! What this costs: a level is chosen for what its trials say, and these trials count. That makes
//! the first impression of a level too good or too bad; at least two of three trials of the answer
//! are therefore newer than its choice.

use std::collections::BTreeMap;

use weir_record::LevelVerdict;
use weir_stats::{Estimate, Method, student_quantile};

use super::levels::Curve;
use super::search::{Compared, Standing};
use crate::contest::CONFIDENCE;

/// Scatter between trials that is assumed (in logarithms), and its weight in degrees of freedom:
/// the curve through single trials leaves few of its own.
const NOISE: f64 = 0.03;
const NOISE_DF: f64 = 2.0;
/// Levels count as the top when the curve is at most this share of the margin below its peak.
const TOP: f64 = 0.5;
/// Fewest trials of the answer.
const TRIALS_MIN: usize = 3;
/// Rounds of two trials: one of the level that is asked about, one on top.
pub(crate) const ROUNDS_MAX: usize = 8;
/// Probability with which a loss is at most so large: the upper end of a two-sided 95 % interval …
const AS_GOOD: f64 = 0.975;
/// … and that with which it is at least so large: "worse" is said of levels that nobody asked for.
const AT_LEAST: f64 = 0.99;

/// What all trials say.
pub(super) struct Pooled<'a> {
    tried: &'a BTreeMap<u32, Vec<f64>>,
    /// Every level with its fitted value.
    curve: Vec<(u32, f64)>,
    margin: f64,
    /// Standard deviation of a trial, in logarithms, and its degrees of freedom.
    noise: f64,
    df: f64,
}

/// How far a level lies below the top.
#[derive(Debug, Clone, Copy)]
struct Below {
    /// May be negative.
    loss: f64,
    own_trials: f64,
    top_trials: f64,
}

impl<'a> Pooled<'a> {
    /// From logarithms of what was measured, more being better; `None` before two levels were
    /// tried.
    pub(super) fn of(tried: &'a BTreeMap<u32, Vec<f64>>, margin: f64) -> Option<Self> {
        if tried.len() < 2 {
            return None;
        }
        let curve: Vec<(u32, f64)> = Curve::of(tried, margin)?.points().collect();
        let squares: f64 = curve
            .iter()
            .flat_map(|(level, fitted)| tried[level].iter().map(move |value| value - fitted))
            .map(|residual| residual * residual)
            .sum();
        let trials: usize = tried.values().map(Vec::len).sum();
        // Every step of the curve is a mean that was fitted.
        let steps = 1 + curve
            .windows(2)
            .filter(|pair| (pair[0].1 - pair[1].1).abs() > 1e-12)
            .count();
        let df = NOISE_DF + (trials - steps) as f64;
        Some(Self {
            tried,
            curve,
            margin,
            noise: ((NOISE_DF * NOISE * NOISE + squares) / df).sqrt(),
            df,
        })
    }

    /// The level that is asked about: the smallest that may still be shown to be as good, else the
    /// one that is nearest to it.
    pub(super) fn candidate(&self) -> u32 {
        let least = self.peak() - self.margin;
        let edge = self.curve.iter().filter(|(_, fitted)| *fitted >= least);
        let levels: Vec<u32> = edge.map(|(level, _)| *level).collect();
        let hopeful = levels
            .iter()
            .find(|level| self.in_the_end(**level) <= self.margin);
        let nearest = || {
            let by_end = |a: &&u32, b: &&u32| self.in_the_end(**a).total_cmp(&self.in_the_end(**b));
            levels.iter().min_by(by_end)
        };
        *hopeful
            .or_else(nearest)
            .expect("the peak itself lies within the margin of the peak")
    }

    /// A level on top that the candidate is compared with: of those tried least, the one with the
    /// highest curve.
    pub(super) fn rival(&self, candidate: u32) -> u32 {
        let fewest = |(level, fitted): &(u32, f64)| (self.tried[level].len(), -fitted);
        let rivals = self.top_without(candidate).into_iter();
        rivals
            .min_by(|a, b| {
                let (a, b) = (fewest(a), fewest(b));
                a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
            })
            .expect("there is another level")
            .0
    }

    /// Whether the candidate is shown to be as good.
    pub(super) fn is_decided(&self, candidate: u32) -> bool {
        self.tried[&candidate].len() >= TRIALS_MIN && self.at_most(candidate) < self.margin
    }

    fn peak(&self) -> f64 {
        let fitted = self.curve.iter().map(|(_, fitted)| *fitted);
        fitted.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The levels on top but for one; where it is alone there, the next below.
    fn top_without(&self, level: u32) -> Vec<(u32, f64)> {
        let others = || {
            self.curve
                .iter()
                .copied()
                .filter(move |(other, _)| *other != level)
        };
        let least = self.peak() - TOP * self.margin;
        let top: Vec<(u32, f64)> = others().filter(|(_, fitted)| *fitted >= least).collect();
        if top.is_empty() {
            return others()
                .max_by(|a, b| a.1.total_cmp(&b.1))
                .into_iter()
                .collect();
        }
        top
    }

    fn below(&self, level: u32) -> Below {
        let own = &self.tried[&level];
        let top: Vec<f64> = self
            .top_without(level)
            .iter()
            .flat_map(|(other, _)| self.tried[other].iter().copied())
            .collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        Below {
            loss: mean(&top) - mean(own),
            own_trials: own.len() as f64,
            top_trials: top.len() as f64,
        }
    }

    /// Upper bound of a level's loss. Nothing is better than the best, so that a level whose trials
    /// were lucky counts as equal to the others: it was chosen for its luck.
    fn at_most(&self, level: u32) -> f64 {
        let below = self.below(level);
        below.loss.max(0.0) + self.reach(AS_GOOD, below.own_trials, below.top_trials)
    }

    /// As `at_most`, after the last round, if the means stay what they are.
    fn in_the_end(&self, level: u32) -> f64 {
        let below = self.below(level);
        let rounds = ROUNDS_MAX as f64;
        let own = below.own_trials.max(rounds);
        let top = below.top_trials + (own - below.own_trials);
        below.loss.max(0.0) + self.reach(AS_GOOD, own, top)
    }

    /// Lower bound of a level's loss.
    fn at_least(&self, level: u32) -> f64 {
        let below = self.below(level);
        below.loss - self.reach(AT_LEAST, below.own_trials, below.top_trials)
    }

    /// How far a difference of two means reaches with this probability to one side.
    fn reach(&self, probability: f64, own_trials: f64, top_trials: f64) -> f64 {
        let error = self.noise * (1.0 / own_trials + 1.0 / top_trials).sqrt();
        student_quantile(probability, self.df) * error
    }

    /// The candidate, the level it was compared with, and the largest below it that is shown to be
    /// worse.
    pub(super) fn compared(&self) -> Compared {
        let candidate = self.candidate();
        let worse = self
            .tried
            .keys()
            .rev()
            .find(|level| **level < candidate && self.at_least(**level) > self.margin);
        let rival = self.top_without(candidate);
        let rival = rival.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let mut levels: Vec<u32> = worse.copied().into_iter().collect();
        levels.push(candidate);
        levels.extend(rival.map(|(level, _)| *level));
        levels.sort_unstable();
        let standings = levels.iter().map(|level| self.standing(*level, candidate));
        Compared {
            standings: standings.collect(),
            noise: self.noise,
            blocks: self.tried[&candidate].len(),
        }
    }

    fn standing(&self, level: u32, candidate: u32) -> Standing {
        let own = &self.tried[&level];
        let loss = Estimate {
            value: self.below(level).loss.max(0.0),
            low: self.at_least(level).max(0.0),
            high: self.at_most(level).max(0.0),
            confidence: CONFIDENCE,
            count: own.len() as u64,
            method: Method::Student,
        };
        let verdict = if loss.low > self.margin {
            LevelVerdict::Worse
        } else if level >= candidate && own.len() >= TRIALS_MIN && loss.high < self.margin {
            LevelVerdict::AsGood
        } else {
            LevelVerdict::Open
        };
        Standing {
            contender: level,
            mean: own.iter().sum::<f64>() / own.len() as f64,
            loss,
            verdict,
        }
    }
}
