//! Which distributions meet the percentiles of the run's own trials, and how far off they are.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use weir_model::{FittedModel, Measured};
use weir_record::{ResponseTime, TrialRecord};
use weir_sim::Balancer;

use crate::SizeError;
use crate::ask::Ask;
use crate::cores::Cores;
use crate::fleet::{Server, Share};
use crate::goal::RECORDED;
use crate::played::Play;
use crate::variation::{Pair, Variation};

/// Percentiles by which distributions are chosen: the upper ones, which requirements are about.
const CHOSEN_BY: [f64; 3] = [90.0, 95.0, 99.0];
/// The mean error of a percentile that is accepted; as for mean response times (Menascé and Almeida
/// 2001: 30 %).
const ERROR_MAX: f64 = 0.30;
/// Trials of one treatment differ by about this much on a quiet machine.
const SPREAD: f64 = 0.02;
/// Percentiles are compared here, so they are simulated for so many times as long as for an answer.
const MORE: u32 = 2;
/// With fewer trials that load the CPU, all are taken.
const TRIALS_MIN: usize = 2;

/// The distributions of a model's times, and how well they meet percentiles that were measured.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Calibration {
    /// The distributions taken.
    pub variation: Pair,
    /// Trials that they were tried on.
    pub trials: Vec<u32>,
    /// How far off the percentiles are, each trial predicted with the distributions that the
    /// others choose.
    pub percentiles: Vec<PercentileError>,
}

/// How far off a percentile is in the run's own trials.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct PercentileError {
    /// The percentile.
    pub percent: f64,
    /// Mean of the absolute relative errors.
    pub mean_error: f64,
    /// Mean of the signed ones: below 0 where the simulation is too quick.
    pub mean_signed_error: f64,
    /// Root of the mean square.
    pub root_mean_square: f64,
}

/// Logarithms of simulated over measured percentiles of one trial, as in [`RECORDED`]; `None` where
/// nothing was measured.
type Misses = [Option<f64>; RECORDED.len()];

impl Calibration {
    /// Tries all distributions on the trials.
    pub(crate) fn of(
        model: &FittedModel,
        records: &[TrialRecord],
        ask: &Ask,
        cores: Cores<'_>,
    ) -> Result<Self, SizeError> {
        let trials = trials(model, records);
        let pairs = Pair::all();
        let all: Vec<(Pair, &(Measured, ResponseTime))> = pairs
            .iter()
            .flat_map(|pair| trials.iter().map(|trial| (*pair, trial)))
            .collect();
        let misses = cores.map(&all, |(pair, (trial, measured))| {
            let played = Play {
                server: Server {
                    parameters: model.parameters,
                    variation: *pair,
                    cpus: model.set.servers,
                    limits: trial.limits,
                },
                share: Share {
                    servers: 1,
                    users: trial.population,
                    balancer: Balancer::Random,
                },
                requests: ask.effort.requests.saturating_mul(MORE),
                seed: ask.seed,
            }
            .run(cores.watcher)?;
            let measured_s = recorded_s(measured);
            Ok(std::array::from_fn(|index| {
                let simulated_s = played.percentile_s(RECORDED[index]);
                Some((simulated_s / measured_s[index]?).ln())
            }))
        })?;
        let of_pair: Vec<&[Misses]> = misses.chunks(trials.len().max(1)).collect();
        let best = |left_out: Option<usize>| best(&of_pair, left_out);
        let held_out: Vec<Misses> = (0..trials.len())
            .map(|trial| of_pair[best(Some(trial))][trial])
            .collect();
        Ok(Self {
            variation: pairs[best(None)],
            trials: trials.iter().map(|(trial, _)| trial.trial).collect(),
            percentiles: errors(&held_out),
        })
    }

    /// What is taken where no percentile is asked for: means hardly depend on it.
    pub(crate) fn without() -> Self {
        Self {
            variation: Pair {
                cpu: Variation::Exponential,
                delay: Variation::Exponential,
            },
            trials: Vec::new(),
            percentiles: Vec::new(),
        }
    }

    /// Refuses a percentile that the run's own trials do not show.
    pub(crate) fn check(&self, percent: f64) -> Result<(), SizeError> {
        let off = self
            .error(percent)
            .map_or(f64::INFINITY, |of| of.mean_error);
        if off <= ERROR_MAX {
            return Ok(());
        }
        Err(SizeError::Percentile {
            percent,
            variation: self.variation.to_string(),
            off: off * 100.0,
            most: ERROR_MAX * 100.0,
        })
    }

    /// The relative error that a percentile may have in a new trial.
    pub(crate) fn off(&self, percent: f64) -> f64 {
        let of = self.error(percent);
        of.map_or(SPREAD, |of| of.root_mean_square.max(SPREAD))
    }

    /// How far off this percentile is.
    pub fn error(&self, percent: f64) -> Option<&PercentileError> {
        let mut all = self.percentiles.iter();
        all.find(|of| (of.percent - percent).abs() < 1e-9)
    }
}

/// The trials that load the CPU, with their response times.
fn trials(model: &FittedModel, records: &[TrialRecord]) -> Vec<(Measured, ResponseTime)> {
    let times: BTreeMap<u32, ResponseTime> = records
        .iter()
        .map(|record| (record.id, record.response_time_ms))
        .collect();
    let with_times = |trial: &Measured| Some((trial.clone(), *times.get(&trial.trial)?));
    let hardly_busy = |trial: &Measured| {
        let errors = model.validation.trials.iter();
        errors
            .filter(|errors| errors.trial == trial.trial)
            .any(|errors| errors.hardly_busy)
    };
    let all: Vec<_> = model.set.trials.iter().filter_map(with_times).collect();
    let busy: Vec<_> = all
        .iter()
        .filter(|(trial, _)| !hardly_busy(trial))
        .cloned()
        .collect();
    if busy.len() < TRIALS_MIN { all } else { busy }
}

/// The distributions that miss least, with one trial left out.
fn best(of_pair: &[&[Misses]], left_out: Option<usize>) -> usize {
    let missed = |misses: &[Misses]| -> f64 {
        misses
            .iter()
            .enumerate()
            .filter(|(trial, _)| Some(*trial) != left_out)
            .flat_map(|(_, misses)| chosen_by(misses))
            .map(|miss| miss * miss)
            .sum()
    };
    let all = of_pair.iter().map(|misses| missed(misses)).enumerate();
    all.min_by(|left, right| left.1.total_cmp(&right.1))
        .map_or(0, |(index, _)| index)
}

fn chosen_by(misses: &Misses) -> impl Iterator<Item = f64> {
    RECORDED
        .iter()
        .zip(misses)
        .filter(|(percent, _)| CHOSEN_BY.contains(percent))
        .filter_map(|(_, miss)| *miss)
}

fn errors(held_out: &[Misses]) -> Vec<PercentileError> {
    let of = |(index, percent): (usize, &f64)| {
        let errors: Vec<f64> = held_out
            .iter()
            .filter_map(|misses| misses[index])
            .map(f64::exp_m1)
            .collect();
        let mean =
            |of: fn(f64) -> f64| errors.iter().copied().map(of).sum::<f64>() / errors.len() as f64;
        (!errors.is_empty()).then(|| PercentileError {
            percent: *percent,
            mean_error: mean(f64::abs),
            mean_signed_error: mean(|error| error),
            root_mean_square: mean(|error| error * error).sqrt(),
        })
    };
    RECORDED.iter().enumerate().filter_map(of).collect()
}

/// What a trial recorded, in the order of [`RECORDED`].
fn recorded_s(times: &ResponseTime) -> [Option<f64>; RECORDED.len()] {
    [times.p50, times.p90, times.p95, times.p99, times.p999]
        .map(|ms| (ms > 0.0).then_some(ms / 1e3))
}
