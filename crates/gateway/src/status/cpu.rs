//! How busy the backends are, as data.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cpu::CpuSeen;

/// How busy the CPUs of the backends are, and where that is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuStatus {
    /// The busy share of the CPUs that they may use, 0 to 1; absent while it is not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// How many CPUs the share is of, without what the hypervisor took from them, where that is
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// The busy share that the limit is to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<f64>,
    /// Where it is read, or was last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Why it is not read; absent while it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_read: Option<String>,
    /// Readings since the start.
    pub readings: u64,
    /// Times that it could be read and then could not.
    pub losses: u64,
}

impl CpuStatus {
    /// How the reading stands; `None`: there is nothing to read.
    pub(super) fn of(seen: CpuSeen) -> Option<Self> {
        let busy = seen.busy();
        seen.is_wanted.then_some(Self {
            busy: busy.map(|(busy, _)| busy),
            cpus: busy.and_then(|(_, cpus)| cpus),
            goal: seen.goal,
            from: seen.from,
            not_read: seen.not_read,
            readings: seen.readings,
            losses: seen.losses,
        })
    }
}

/// For a terminal.
impl fmt::Display for CpuStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.busy {
            Some(busy) => write!(f, "CPU of the backends {:.1} %", busy * 100.0)?,
            None => write!(f, "CPU of the backends not read")?,
        }
        if let Some(cpus) = self.cpus {
            let cpus = format!("{cpus:.2}");
            let cpus = cpus.trim_end_matches('0').trim_end_matches('.');
            write!(f, " (CPUs: {cpus})")?;
        }
        if let Some(goal) = self.goal {
            write!(f, ", goal {:.1} %", goal * 100.0)?;
        }
        match (&self.not_read, &self.from) {
            (Some(why), _) => write!(f, "; {why}"),
            (None, Some(from)) => write!(f, "; {from}"),
            (None, None) => Ok(()),
        }
    }
}
