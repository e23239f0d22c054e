//! A model of a run: its parameters, its doubts, its predictions.

use std::collections::BTreeSet;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;
use weir_stats::student_quantile;

use crate::FitError;
use crate::measured::{Measured, TrialSet};
use crate::parameters::{Parameters, SPREAD, Told, weighted};
use crate::prediction::{Figures, Predicted, Question};
use crate::validation::{FigureErrors, Validation};

/// With three, each is predicted from two others.
const TREATMENTS_MIN: usize = 3;
/// Resamples of the trials (Efron and Tibshirani 1993, "An Introduction to the Bootstrap": 200
/// suffice for a standard error).
const RESAMPLES: usize = 200;
const SEED: u64 = 1;
const CONFIDENCE: f64 = 0.95;
/// The 97.5 % quantile of the normal distribution: what Student's t comes to with many treatments.
const NORMAL: f64 = 1.959_964;
/// Kinds of requests differ if one holds its thread for so many times as long as another …
const KINDS_DIFFER: f64 = 2.0;
/// … which matters once so large a share of all users waits for a thread.
const QUEUED_SHARE: f64 = 0.02;

/// A value with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The best single value.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A model of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedModel {
    /// The trials it was made from.
    pub set: TrialSet,
    /// Its parameters.
    pub parameters: Parameters,
    /// How well it predicts what it has not seen.
    pub validation: Validation,
    resamples: Vec<Parameters>,
    treatments: usize,
}

impl FittedModel {
    /// Fits a model to the trials of a run.
    pub fn fit(set: TrialSet) -> Result<Self, FitError> {
        let treatments: BTreeSet<_> = set.trials.iter().map(Measured::treatment).collect();
        if treatments.len() < TREATMENTS_MIN {
            return Err(FitError::TooFew {
                count: treatments.len(),
                needed: TREATMENTS_MIN,
                left_out: set.left_out_text(),
            });
        }
        let told: Vec<Told> = set
            .trials
            .iter()
            .map(|trial| Told::by(trial, set.servers))
            .collect();
        let all: Vec<&Told> = told.iter().collect();
        Ok(Self {
            parameters: weighted(&all),
            validation: Validation::of(&set.trials, &told, set.servers, set.pool.as_deref()),
            resamples: resamples(&told),
            treatments: treatments.len(),
            set,
        })
    }

    /// The 95 % interval of a parameter: Student's t with the spread over resampled trials.
    pub fn interval(&self, of: impl Fn(&Parameters) -> f64) -> Interval {
        let value = of(&self.parameters);
        let deviation = self.resampled_deviation(value, &of);
        let reach = self.student() * deviation;
        Interval {
            value,
            low: (value - reach).max(0.0),
            high: value + reach,
        }
    }

    /// Predicts a treatment, with 95 % intervals for a new trial of it: what the parameters are
    /// unsure of, and what predictions of trials left out were off.
    pub fn predict(&self, question: Question) -> Result<Predicted, FitError> {
        let servers = self.set.servers;
        let figures = self.parameters.predict(servers, question)?;
        self.check_mix(question, &figures)?;
        let mut squares = figures.map(&figures, |_, _| 0.0);
        for resample in &self.resamples {
            let own = resample.predict(servers, question)?;
            let off = own.map(&figures, |own, value| (own - value).powi(2));
            squares = squares.map(&off, |sum, off| sum + off);
        }
        let count = self.resamples.len() as f64;
        let errors = self.validation_errors(question, &figures);
        let factor = self.student();
        let reach = squares.map(&errors, |square, error| {
            factor * (square / count * self.few_trials()).sqrt().hypot(error)
        });
        let mut high = figures.map(&reach, |value, reach| value + reach);
        high.cpu = high.cpu.min(1.0);
        Ok(Predicted {
            question,
            figures,
            low: figures.map(&reach, |value, reach| (value - reach).max(0.0)),
            high,
            beyond: f64::from(question.population) / f64::from(self.most_users()),
        })
    }

    /// Parameters as they may be: the resamples, spread as wide as the intervals of
    /// [`Self::interval`] are.
    pub fn draws(&self) -> Vec<Parameters> {
        let wider = self.widening();
        self.resamples
            .iter()
            .map(|resample| self.parameters.moved_towards(resample, wider))
            .collect()
    }

    /// By how much few treatments and few trials widen what resampling shows: Student's t over the
    /// normal's, and the variance that resampling misses.
    pub fn widening(&self) -> f64 {
        self.student() / NORMAL * self.few_trials().sqrt()
    }

    /// The most users of any trial.
    pub fn most_users(&self) -> u32 {
        let users = self.set.trials.iter().map(|trial| trial.population);
        users.max().unwrap_or(1)
    }

    /// Standard errors of a new trial as far as trials left out showed them; beyond what was
    /// measured also what predictions from half the users showed.
    fn validation_errors(&self, question: Question, figures: &Figures) -> Figures {
        let held_out = &self.validation.held_out;
        let far = self
            .validation
            .at_twice_the_users
            .filter(|_| question.population > self.most_users());
        let error = |near: &FigureErrors, far: Option<FigureErrors>| {
            let far = far.map_or(0.0, |far| far.root_mean_square);
            near.root_mean_square.max(far).max(SPREAD)
        };
        let throughput = error(&held_out.throughput, far.map(|far| far.throughput));
        let cpu = error(&held_out.cpu, far.map(|far| far.cpu));
        let response = error(&held_out.response_time, far.map(|far| far.response_time));
        Figures {
            throughput_per_s: throughput * figures.throughput_per_s,
            cpu: cpu * figures.cpu,
            response_time_s: response * figures.response_time_s,
            threads_busy: response * figures.threads_busy,
            queued: response * figures.queued,
            pool_busy: throughput * figures.pool_busy,
            pool_waiting: response * figures.pool_waiting,
        }
    }

    /// Refuses what would shift the mix of requests of different kinds.
    fn check_mix(&self, question: Question, figures: &Figures) -> Result<(), FitError> {
        let times = self.set.kinds.values().copied();
        let shortest = times.clone().fold(f64::INFINITY, f64::min);
        let longest = times.fold(0.0, f64::max);
        let waiting = figures.queued + figures.pool_waiting;
        let few = waiting <= QUEUED_SHARE * f64::from(question.population);
        if self.set.kinds.len() < 2 || longest < KINDS_DIFFER * shortest || few {
            return Ok(());
        }
        let kinds: Vec<String> = self
            .set
            .kinds
            .iter()
            .map(|(kind, time_s)| format!("`{kind}` {time_s:.2} s"))
            .collect();
        Err(FitError::MixWouldShift {
            question: question.to_string(),
            queued: waiting,
            population: question.population,
            kinds: kinds.join(", "),
        })
    }

    fn resampled_deviation(&self, value: f64, of: impl Fn(&Parameters) -> f64) -> f64 {
        let squares: f64 = self
            .resamples
            .iter()
            .map(|resample| (of(resample) - value).powi(2))
            .sum();
        (squares / self.resamples.len() as f64 * self.few_trials()).sqrt()
    }

    /// Resampling few trials shows less than their variance: by (n - 1) / n.
    fn few_trials(&self) -> f64 {
        let count = self.set.trials.len() as f64;
        count / (count - 1.0)
    }

    fn student(&self) -> f64 {
        student_quantile(0.5 + CONFIDENCE / 2.0, self.treatments as f64 - 1.0)
    }
}

impl std::fmt::Display for Question {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} users", self.population)?;
        if let Some(threads) = self.limits.threads {
            write!(f, ", {threads} threads")?;
        }
        if let Some(pool) = self.limits.pool {
            write!(f, ", {pool} connections in the pool")?;
        }
        Ok(())
    }
}

/// Parameters from trials drawn with replacement.
fn resamples(told: &[Told]) -> Vec<Parameters> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
    (0..RESAMPLES)
        .map(|_| {
            let drawn: Vec<&Told> = (0..told.len())
                .map(|_| &told[random.random_range(0..told.len())])
                .collect();
            weighted(&drawn)
        })
        .collect()
}
