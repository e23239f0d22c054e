//! A funnel fitted to the trials of a run: what it predicts, and how far it can be believed.
//!
//! Few numbers describe a server behind a thread limit: how much CPU a request needs, how long it
//! holds its thread without CPU, how long it holds a connection, how long users think. Each trial
//! tells all of them ([`Parameters`]); their weighted means are the model ([`FittedModel`]), and
//! [`weir_queueing::ThreadLimited`] turns them into throughput, CPU and response time at levels
//! that nobody measured.
//!
//! A model is believed only for what it has shown: each treatment is left out once, the model
//! fitted to the others predicts it, and the errors of these predictions decide ([`Validation`]). A
//! model that errs too much is refused, with the figure and the trial that disagree. The same
//! errors are in the intervals of its predictions.
//!
//! Needs: a closed workload of one kind of requests. Requests that differ much share one mean only
//! as long as their mix stays the same; trials in which it shifted are left out, and a prediction
//! in which it would shift is refused.
//!
//! No I/O, no clock; the resampling is seeded.

mod error;
mod fitted;
mod measured;
mod network;
mod parameters;
mod prediction;
mod report;
mod validation;

pub use error::FitError;
pub use fitted::{FittedModel, Interval};
pub use measured::{LeftOut, Limits, Measured, PoolOf, TrialSet};
pub use parameters::Parameters;
pub use prediction::{Figures, Predicted, Question};
pub use report::{
    MODEL_SCHEMA, MeasuredFigures, ModelReport, NamedInterval, NamedParameter, PARAMETERS,
    TrialReport, ValidationReport,
};
pub use validation::{Disagreement, FigureErrors, HeldOut, TrialErrors, Validation};
