//! What a load is started with.

use std::time::{Instant, SystemTime};

use weir_metric::CpuSet;
use weir_script::{ResolvedPlan, Target};

use crate::samples::SampleSink;

/// Everything that decides what is sent and when.
#[derive(Debug)]
pub struct LoadSettings {
    /// The plan, ready to run.
    pub plan: ResolvedPlan,
    /// Overrides host and port of every sampler.
    pub target: Option<Target>,
    /// Hosts that redirects and pages may lead to although their addresses are public; `*`: all.
    pub allowed_hosts: Vec<String>,
    /// One runtime on each of these CPUs, and only there; without, one for each CPU that this
    /// process may use, wherever the kernel puts them.
    pub cpus: Option<CpuSet>,
    /// Where all random numbers come from: the same seed gives every user the same think times,
    /// whatever the number of runtimes.
    pub seed: u64,
    /// When the users end.
    pub length: Length,
    /// How many samples all users together may start; without, as many as the plan says.
    pub samples_max: Option<u64>,
    /// Users whose connections are refused again and again wait before they try once more: of a
    /// server that is gone a loop without pauses learns nothing, and takes the machine. JMeter
    /// does not wait.
    pub backs_off: bool,
    /// Where a row for each sample goes.
    pub samples: Option<SampleSink>,
    /// Start of the test and time origin of the seconds. When it has passed before everything is
    /// set up, the test starts then, and the seconds still count from here.
    pub origin: Instant,
    /// The wall-clock time of `origin`: the only one that is used, so that a clock that is set
    /// while the test runs changes nothing.
    pub started: SystemTime,
}

/// When the users end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// As the plan says.
    AsPlanned,
    /// When they are stopped: iterations, delay and duration of the plan's groups do not count;
    /// the ramp-up does.
    UntilStopped,
}
