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
    /// The limit under which more users brought no more CPU.
    pub from: f64,
    /// The limit in the trials from there on: ample, so that it does not act. What is to be set
    /// stands in `settings`.
    pub to: f64,
    /// Virtual users of the trial that showed it.
    pub users: u32,
    /// CPU of that trial, as a share of the target's.
    pub cpu: f64,
    /// Its throughput.
    pub throughput_per_s: f64,
    /// Requests that waited for the stage in it, on average; absent when nobody counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
    /// The trials that showed it.
    pub trials: Vec<u32>,
}
