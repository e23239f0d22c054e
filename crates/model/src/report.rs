//! A model as it is written down: what `weir model --json` writes.

use schemars::JsonSchema;
use serde::Serialize;

use crate::fitted::{FittedModel, Interval};
use crate::measured::LeftOut;
use crate::parameters::Parameters;
use crate::prediction::{Figures, Predicted, Question};
use crate::validation::{Disagreement, HeldOut, TrialErrors};

/// Schema of [`ModelReport`] as JSON.
pub const MODEL_SCHEMA: &str = "weir/model/1";

/// Points of the curve.
const CURVE_POINTS: u32 = 40;
/// The curve goes so far beyond the users that were measured.
const CURVE_BEYOND: f64 = 1.25;

/// A model, its test and its predictions.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ModelReport {
    /// `weir/model/1`.
    pub schema: String,
    /// Version of Weir.
    pub weir: String,
    /// Name of the run that it was fitted to.
    pub run: String,
    /// CPUs of the target.
    pub servers: u32,
    /// The stage of the pool in the model, where there is one.
    pub pool: Option<String>,
    /// Confidence of every interval.
    pub confidence: f64,
    /// What one request needs, in seconds.
    pub parameters: Vec<NamedInterval>,
    /// How well it predicts trials that it has not seen.
    pub validation: ValidationReport,
    /// Trials that could not be used.
    pub left_out: Vec<LeftOut>,
    /// What was asked and what it says.
    pub predictions: Vec<Predicted>,
    /// What it refuses to say, and why.
    pub refused: Vec<String>,
    /// Predictions along the users with the limits of most trials, for drawing; empty where the
    /// model is refused.
    pub curve: Vec<Predicted>,
}

/// A parameter with its interval.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NamedInterval {
    /// `cpu_s`, `delay_s`, `hold_s`, `outside_s` or `think_s`.
    pub name: String,
    /// The best single value.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// How well a model predicts trials that it has not seen.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ValidationReport {
    /// Each trial, predicted with its treatment left out.
    pub trials: Vec<TrialReport>,
    /// Errors over all of them.
    pub held_out: HeldOut,
    /// Errors at the largest population, predicted from trials with at most half as many users;
    /// null where there are none.
    pub at_twice_the_users: Option<HeldOut>,
    /// Why the model must not be used; empty if nothing speaks against it.
    pub disagreements: Vec<Disagreement>,
}

/// One trial, measured and predicted.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TrialReport {
    /// The trial.
    pub trial: u32,
    /// Its users.
    pub users: f64,
    /// Virtual users of all groups.
    pub population: u32,
    /// What was measured.
    pub measured: MeasuredFigures,
    /// What the model of all trials says.
    pub fitted: Figures,
    /// What the model of the other treatments says.
    pub held_out: Figures,
    /// Its CPU was so little busy that a request costs more there than under load.
    pub hardly_busy: bool,
}

/// Figures of one trial; null where they were not read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MeasuredFigures {
    /// Requests per second.
    pub throughput_per_s: f64,
    /// Busy share of the target's CPUs.
    pub cpu: f64,
    /// Mean response time.
    pub response_time_s: f64,
    /// Mean number of busy threads.
    pub threads_busy: Option<f64>,
    /// Mean number of requests in front of the threads.
    pub queued: Option<f64>,
    /// Connections in use.
    pub pool_busy: Option<f64>,
    /// Threads that wait for a connection.
    pub pool_waiting: Option<f64>,
}

/// A parameter: its name, its words, and itself.
pub type NamedParameter = (&'static str, &'static str, fn(&Parameters) -> f64);

/// All parameters, in the order of a request's way.
pub const PARAMETERS: [NamedParameter; 5] = [
    ("cpu_s", "CPU of a request", |found| found.cpu_s),
    (
        "delay_s",
        "in its thread without CPU or connection",
        |found| found.delay_s,
    ),
    ("hold_s", "holding a connection", |found| found.hold_s),
    ("outside_s", "on the way, in no thread", |found| {
        found.outside_s
    }),
    ("think_s", "thinking", |found| found.think_s),
];

impl ModelReport {
    /// A model with what it was asked.
    pub fn of(
        run: &str,
        weir: &str,
        model: &FittedModel,
        predictions: Vec<Predicted>,
        refused: Vec<String>,
    ) -> Self {
        Self {
            schema: MODEL_SCHEMA.to_owned(),
            weir: weir.to_owned(),
            run: run.to_owned(),
            servers: model.set.servers,
            pool: model.set.pool.clone(),
            confidence: 0.95,
            parameters: parameters(model),
            validation: ValidationReport {
                trials: model.validation.trials.iter().map(trial).collect(),
                held_out: model.validation.held_out,
                at_twice_the_users: model.validation.at_twice_the_users,
                disagreements: model.validation.disagreements.clone(),
            },
            left_out: model.set.left_out.clone(),
            predictions,
            refused,
            curve: curve(model),
        }
    }
}

fn parameters(model: &FittedModel) -> Vec<NamedInterval> {
    let named = PARAMETERS.iter().map(|(name, _, of)| {
        let Interval { value, low, high } = model.interval(of);
        NamedInterval {
            name: (*name).to_owned(),
            value,
            low,
            high,
        }
    });
    named.collect()
}

fn trial(errors: &TrialErrors) -> TrialReport {
    let read = |value: f64| value.is_finite().then_some(value);
    let measured = &errors.measured;
    TrialReport {
        trial: errors.trial,
        users: errors.users,
        population: errors.population,
        measured: MeasuredFigures {
            throughput_per_s: measured.throughput_per_s,
            cpu: measured.cpu,
            response_time_s: measured.response_time_s,
            threads_busy: read(measured.threads_busy),
            queued: read(measured.queued),
            pool_busy: read(measured.pool_busy),
            pool_waiting: read(measured.pool_waiting),
        },
        fitted: errors.fitted,
        held_out: errors.held_out,
        hardly_busy: errors.hardly_busy,
    }
}

/// Predictions from one user to somewhat more than were measured; what would be refused is left
/// out.
fn curve(model: &FittedModel) -> Vec<Predicted> {
    if !model.validation.disagreements.is_empty() {
        return Vec::new();
    }
    let limits = model.set.usual_limits();
    let last = (f64::from(model.most_users()) * CURVE_BEYOND).ceil() as u32;
    let step = last.div_ceil(CURVE_POINTS).max(1);
    (1..=last)
        .step_by(step as usize)
        .filter_map(|population| model.predict(Question { population, limits }).ok())
        .collect()
}
