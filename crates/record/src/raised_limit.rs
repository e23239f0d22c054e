//! A limit that ended a search with what was found, and was raised so that it could go on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A limit that kept the goal from being reached, and what it was raised to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RaisedLimit {
    /// The stage.
    pub stage: String,
    /// The server's own word for its limit, when it has one.
    pub native: Option<String>,
    /// The limit as it was: under it more users brought no more CPU, or requests waited for it
    /// that took too long.
    pub from: f64,
    /// The limit in the trials from there on: ample, so that it does not act. What is to be set
    /// stands in `settings`.
    pub to: f64,
    /// Virtual users of the trial that showed it.
    pub users: u32,
    /// Arrivals a second of that trial, where the search varies a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// CPU of that trial, as a share of the target's.
    pub cpu: f64,
    /// Its throughput.
    pub throughput_per_s: f64,
    /// Requests that waited for the stage in it, on average; absent when nobody counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// The trials that showed it.
    pub trials: Vec<u32>,
    /// The answer with the limit as it was, where there is one: a requirement other than the CPU's
    /// ended the search because requests waited for the limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerBefore>,
}

/// The answer with a limit as it was before it was raised.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerBefore {
    /// The answer: users, or arrivals a second.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: f64,
    /// Upper end of its 95 % interval.
    pub high: f64,
    /// The requirement that ended it.
    pub binding: String,
}
