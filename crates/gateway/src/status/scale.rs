//! How many backends are wanted, as data.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scale::ScaleSeen;

/// How many backends the present load wants, and how sure that is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScaleStatus {
    /// Backends, between the file's `min` and `max`; absent while nobody can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<u32>,
    /// As many at least, with 95 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<u32>,
    /// And at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<u32>,
    /// CPU time of a request, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub demand_ms: Option<f64>,
    /// Requests that come in a second, rejected or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_per_s: Option<f64>,
    /// Why nobody can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
    /// How many were asked for last.
    pub asked: u32,
}

impl ScaleStatus {
    pub(super) fn of(seen: &ScaleSeen) -> Self {
        let found = seen.found.ok();
        Self {
            wanted: found.map(|found| found.wanted.wanted),
            low: found.map(|found| found.wanted.low),
            high: found.map(|found| found.wanted.high),
            demand_ms: found.map(|found| found.demand_s * 1e3),
            offered_per_s: found.map(|found| found.offered_per_s),
            unknown: seen.found.err().map(str::to_owned),
            asked: seen.asked,
        }
    }
}

/// For a terminal.
impl fmt::Display for ScaleStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.wanted, self.low, self.high, &self.unknown) {
            (Some(wanted), Some(low), Some(high), _) => {
                write!(f, "backends wanted: {wanted} ({low} to {high})")?;
                let (demand_ms, offered) = (self.demand_ms, self.offered_per_s);
                if let (Some(demand_ms), Some(offered)) = (demand_ms, offered) {
                    write!(f, " for {offered:.1}/s of {demand_ms:.2} ms CPU each")?;
                }
            }
            (.., Some(why)) => write!(f, "backends wanted: unknown, {why}")?,
            _ => write!(f, "backends wanted: unknown")?,
        }
        write!(f, "; asked for last: {}", self.asked)
    }
}
