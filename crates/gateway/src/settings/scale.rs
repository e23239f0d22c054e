//! How many backends there are to be.

use std::time::Duration;

use weir_scale::Bounds;

use super::CpuFrom;

/// How many backends there are to be, and who is told.
#[derive(Debug, Clone, PartialEq)]
pub struct ScaleSettings {
    /// The share of its CPUs that is to be busy on each.
    pub goal: f64,
    /// No fewer are asked for.
    pub min: u32,
    /// No more are asked for.
    pub max: u32,
    /// Where the CPU of all of them is read; `None`: where the limit reads it.
    pub cpu_from: Option<CpuFrom>,
    /// CPUs of a backend; `None`: those that are read, divided among the backends that are up.
    pub cpus: Option<f64>,
    /// A program that is run with the number as its last argument; empty: nobody is told.
    pub command: Vec<String>,
    /// How long more have to be wanted.
    pub up_after: Duration,
    /// How long fewer have to be wanted.
    pub down_after: Duration,
}

impl ScaleSettings {
    /// Between which numbers of backends it is, and how long another one has to be wanted.
    pub(crate) fn bounds(&self) -> Bounds {
        Bounds {
            min: self.min,
            max: self.max,
            up_after: self.up_after,
            down_after: self.down_after,
        }
    }

    /// For this share, with every default.
    pub fn new(goal: f64) -> Self {
        Self {
            goal,
            min: 1,
            max: 100,
            cpu_from: None,
            cpus: None,
            command: Vec::new(),
            up_after: Duration::from_secs(15),
            // As Kubernetes' autoscaler waits before it goes down.
            down_after: Duration::from_secs(300),
        }
    }
}
