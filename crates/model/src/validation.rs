//! How well a model predicts trials that it has not seen.

use schemars::JsonSchema;
use serde::Serialize;

use crate::measured::Measured;
use crate::parameters::{BUSY_SHARE, Parameters, Told, weighted};
use crate::prediction::{Figures, Question};

/// A model whose mean error is above these is refused; the usual targets are half of it (Menascé
/// and Almeida 2001, "Capacity Planning for Web Services": 10 % for throughput and utilisation, 30
/// % for response time).
const THROUGHPUT_ERROR_MAX: f64 = 0.10;
const CPU_ERROR_MAX: f64 = 0.10;
const RESPONSE_TIME_ERROR_MAX: f64 = 0.30;
/// Occupancies may be off by this share of the larger of measured and predicted …
const OCCUPANCY_ERROR_MAX: f64 = 0.30;
/// … as soon as they are this many.
const OCCUPANCY_MIN: f64 = 2.0;

/// Errors of predictions for one trial, relative to what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TrialErrors {
    /// The trial.
    pub trial: u32,
    /// Its users.
    pub users: f64,
    /// Virtual users of all groups.
    pub population: u32,
    /// What was measured.
    pub measured: Figures,
    /// What the model of all trials says.
    pub fitted: Figures,
    /// What the model of the other treatments says.
    pub held_out: Figures,
    /// Its CPU was so little busy that a request costs more there than under load.
    pub hardly_busy: bool,
}

/// Errors of one figure over all trials.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct FigureErrors {
    /// Mean of the absolute relative errors.
    pub mean: f64,
    /// The largest.
    pub worst: f64,
    /// The trial that has it.
    pub worst_trial: u32,
    /// Trials that it was made from.
    pub count: usize,
    /// Root of the mean square.
    pub root_mean_square: f64,
}

/// Errors of the three figures that matter.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, JsonSchema)]
pub struct HeldOut {
    /// Throughput.
    pub throughput: FigureErrors,
    /// CPU; without the trials that were hardly busy.
    pub cpu: FigureErrors,
    /// Mean response time.
    pub response_time: FigureErrors,
}

/// A figure or stage in which model and trials disagree too much.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Disagreement {
    /// The figure or the stage.
    pub figure: String,
    /// What disagrees, in a sentence.
    pub says: String,
}

/// How well a model predicts trials that it has not seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Validation {
    /// Each trial, predicted with its treatment left out.
    pub trials: Vec<TrialErrors>,
    /// Errors over all of them.
    pub held_out: HeldOut,
    /// Errors at the largest population, predicted from trials with at most half as many users;
    /// absent where there are none.
    pub at_twice_the_users: Option<HeldOut>,
    /// Why the model must not be used; empty if nothing speaks against it.
    pub disagreements: Vec<Disagreement>,
}

impl Validation {
    /// Leaves out each treatment once.
    pub(crate) fn of(trials: &[Measured], told: &[Told], servers: u32, pool: Option<&str>) -> Self {
        let all: Vec<&Told> = told.iter().collect();
        let fitted = weighted(&all);
        let busiest = trials
            .iter()
            .map(|trial| trial.utilization)
            .fold(0.0, f64::max);
        let errors: Vec<TrialErrors> = trials
            .iter()
            .filter_map(|trial| {
                let others = |other: &Measured| other.treatment() != trial.treatment();
                let held_out = parameters_of(trials, told, others)?;
                errors_of(trial, servers, &fitted, &held_out, busiest)
            })
            .collect();
        let held_out = HeldOut::of(&errors);
        let at_twice_the_users = twice(trials, told, servers, busiest);
        let disagreements = disagreements(&errors, &held_out, pool);
        Self {
            trials: errors,
            held_out,
            at_twice_the_users,
            disagreements,
        }
    }
}

/// The model of the trials that are chosen; `None` of none.
fn parameters_of(
    trials: &[Measured],
    told: &[Told],
    chosen: impl Fn(&Measured) -> bool,
) -> Option<Parameters> {
    let chosen: Vec<&Told> = trials
        .iter()
        .zip(told)
        .filter(|(trial, _)| chosen(trial))
        .map(|(_, told)| told)
        .collect();
    (!chosen.is_empty()).then(|| weighted(&chosen))
}

fn errors_of(
    trial: &Measured,
    servers: u32,
    fitted: &Parameters,
    held_out: &Parameters,
    busiest: f64,
) -> Option<TrialErrors> {
    let question = Question {
        population: trial.population,
        limits: trial.limits,
    };
    Some(TrialErrors {
        trial: trial.trial,
        users: trial.users,
        population: trial.population,
        measured: Figures {
            throughput_per_s: trial.throughput_per_s,
            cpu: trial.utilization,
            response_time_s: trial.response_time_s,
            threads_busy: trial.threads_busy.unwrap_or(f64::NAN),
            queued: trial.queued.unwrap_or(f64::NAN),
            pool_busy: trial.pool.map_or(f64::NAN, |pool| pool.busy),
            pool_waiting: trial.pool.map_or(f64::NAN, |pool| pool.waiting),
        },
        fitted: fitted.predict(servers, question).ok()?,
        held_out: held_out.predict(servers, question).ok()?,
        hardly_busy: trial.utilization < BUSY_SHARE * busiest,
    })
}

/// The trials with the most users, from those with at most half as many.
fn twice(trials: &[Measured], told: &[Told], servers: u32, busiest: f64) -> Option<HeldOut> {
    let most = trials.iter().map(|trial| trial.population).max()?;
    let fewer = parameters_of(trials, told, |trial| 2 * trial.population <= most)?;
    let errors: Vec<TrialErrors> = trials
        .iter()
        .filter(|trial| trial.population == most)
        .filter_map(|trial| errors_of(trial, servers, &fewer, &fewer, busiest))
        .collect();
    Some(HeldOut::of(&errors))
}

impl HeldOut {
    fn of(trials: &[TrialErrors]) -> Self {
        let relative = |of: fn(&Figures) -> f64| {
            move |trial: &TrialErrors| of(&trial.held_out) / of(&trial.measured) - 1.0
        };
        let busy = trials.iter().filter(|trial| !trial.hardly_busy);
        Self {
            throughput: FigureErrors::of(
                trials.iter(),
                relative(|figures| figures.throughput_per_s),
            ),
            cpu: FigureErrors::of(busy, relative(|figures| figures.cpu)),
            response_time: FigureErrors::of(
                trials.iter(),
                relative(|figures| figures.response_time_s),
            ),
        }
    }
}

impl FigureErrors {
    fn of<'a>(
        trials: impl Iterator<Item = &'a TrialErrors>,
        error: impl Fn(&TrialErrors) -> f64,
    ) -> Self {
        let mut errors = Self::default();
        let (mut sum, mut squares) = (0.0, 0.0);
        for trial in trials {
            let own = error(trial).abs();
            sum += own;
            squares += own * own;
            errors.count += 1;
            if own >= errors.worst {
                (errors.worst, errors.worst_trial) = (own, trial.trial);
            }
        }
        let count = errors.count.max(1) as f64;
        errors.mean = sum / count;
        errors.root_mean_square = (squares / count).sqrt();
        errors
    }
}

fn disagreements(
    trials: &[TrialErrors],
    held_out: &HeldOut,
    pool: Option<&str>,
) -> Vec<Disagreement> {
    let figures = [
        ("throughput", &held_out.throughput, THROUGHPUT_ERROR_MAX),
        ("cpu", &held_out.cpu, CPU_ERROR_MAX),
        (
            "response time",
            &held_out.response_time,
            RESPONSE_TIME_ERROR_MAX,
        ),
    ];
    let mut found: Vec<Disagreement> = figures
        .into_iter()
        .filter(|(_, errors, most)| errors.mean > *most)
        .map(|(figure, errors, most)| Disagreement {
            figure: figure.to_owned(),
            says: format!(
                "{figure} of trials left out is predicted {:.0} % off on average ({:.0} % in trial {}), {:.0} % is the \
                 most that is accepted",
                errors.mean * 100.0,
                errors.worst * 100.0,
                errors.worst_trial,
                most * 100.0
            ),
        })
        .collect();
    let mut occupancies: Vec<(&str, Of)> = vec![("threads", |figures| figures.threads_busy)];
    if let Some(pool) = pool {
        occupancies.push((pool, |figures| figures.pool_busy));
    }
    found.extend(
        occupancies
            .into_iter()
            .filter_map(|(stage, of)| occupancy(trials, stage, of)),
    );
    found
}

/// A figure of a trial.
type Of = fn(&Figures) -> f64;

/// Whether the occupancy of a stage is predicted.
fn occupancy(trials: &[TrialErrors], stage: &str, of: fn(&Figures) -> f64) -> Option<Disagreement> {
    let off: Vec<(f64, &TrialErrors)> = trials
        .iter()
        .filter(|trial| of(&trial.measured).max(of(&trial.held_out)) >= OCCUPANCY_MIN)
        .filter(|trial| of(&trial.measured).is_finite())
        .map(|trial| {
            let (measured, predicted) = (of(&trial.measured), of(&trial.held_out));
            (
                (predicted - measured).abs() / measured.max(predicted),
                trial,
            )
        })
        .collect();
    let mean = off.iter().map(|(off, _)| off).sum::<f64>() / off.len().max(1) as f64;
    let (_, worst) = off
        .iter()
        .max_by(|left, right| left.0.total_cmp(&right.0))?;
    (mean > OCCUPANCY_ERROR_MAX).then(|| Disagreement {
        figure: stage.to_owned(),
        says: format!(
            "the occupancy of `{stage}` is predicted {:.0} % off on average: in trial {} {:.1} instead of {:.1}",
            mean * 100.0,
            worst.trial,
            of(&worst.held_out),
            of(&worst.measured)
        ),
    })
}
