//! What a tune's settings cost at its answer, in numbers.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What limits cost where nobody needs them: one trial at the answer with the limits in force, and
/// what the fit says of the same users without them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AnswerCost {
    /// The trial with the limits.
    pub trial: u32,
    /// Its virtual users.
    pub users: u32,
    /// Samples answered per second with the limits.
    pub throughput_per_s: f64,
    /// Samples answered per second without them, as fitted.
    pub throughput_without_per_s: f64,
    /// Mean response time with the limits, in milliseconds.
    pub response_time_ms: f64,
    /// Mean response time without them, as fitted, in milliseconds.
    pub response_time_without_ms: f64,
    /// Requests that waited in front of the threads with the limits, on average; absent when
    /// nobody counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<f64>,
}

impl AnswerCost {
    /// How much the limits change the throughput, as a share of what it is without them.
    pub fn throughput_change(&self) -> f64 {
        self.throughput_per_s / self.throughput_without_per_s - 1.0
    }

    /// How long a request waited in front of the threads with the limits, on average, in
    /// milliseconds (Little's law).
    pub fn wait_ms(&self) -> Option<f64> {
        Some(self.waiting? / self.throughput_per_s * 1e3)
    }
}

impl fmt::Display for AnswerCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "with {} users: throughput {:.1} /s against {:.1} /s fitted without limits \
             ({:+.1} %), mean response time {:.0} ms against {:.0} ms",
            self.users,
            self.throughput_per_s,
            self.throughput_without_per_s,
            self.throughput_change() * 100.0,
            self.response_time_ms,
            self.response_time_without_ms,
        )?;
        if let (Some(waiting), Some(wait_ms)) = (self.waiting, self.wait_ms()) {
            write!(
                f,
                "; {waiting:.1} requests wait in front of the threads, {wait_ms:.0} ms on average"
            )?;
        }
        write!(f, " (trial {})", self.trial)
    }
}
