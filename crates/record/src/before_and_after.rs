//! One load under two settings: with the limits as found and with those that were set.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_stats::Estimate;

use crate::trial::TrialRecord;

/// What the settings change for the users of the check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BeforeAndAfter {
    /// Virtual users in both trials.
    pub users: u32,
    /// With the limits as found.
    pub before: Side,
    /// With the settings.
    pub after: Side,
}

/// The figures of one of the two trials.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// The trial.
    pub trial: u32,
    /// Samples answered per second.
    pub throughput_per_s: Seen,
    /// CPU, as a share of the target's; absent when it was not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Seen>,
    /// Median response time in milliseconds.
    pub p50_ms: Seen,
    /// 90th percentile in milliseconds.
    pub p90_ms: Seen,
    /// 99th percentile in milliseconds.
    pub p99_ms: Seen,
    /// Failed samples, as a share of all.
    pub errors: f64,
}

/// A figure with its 95 % interval; absent where the trial is too short for one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Seen {
    /// The figure.
    pub value: f64,
    /// Its interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Estimate>,
}

impl Side {
    /// The figures of a trial.
    pub fn of(trial: &TrialRecord) -> Self {
        let seen = |name: &str, value| Seen {
            value,
            interval: trial.intervals.get(name).copied(),
        };
        let response = &trial.response_time_ms;
        Self {
            trial: trial.id,
            throughput_per_s: seen("throughput_per_s", trial.throughput_per_s),
            cpu: trial.cpu.map(|cpu| seen("cpu", cpu.total)),
            p50_ms: seen("response_time_ms.p50", response.p50),
            p90_ms: seen("response_time_ms.p90", response.p90),
            p99_ms: seen("response_time_ms.p99", response.p99),
            errors: trial.errors.share,
        }
    }
}
