//! What every kind of server under load can do: the seam between a trial and a server.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::path::Path;

use weir_metric::CpuSet;
use weir_probe::{MachineFacts, Source, WatchedGate, WatchedMachine};
use weir_record::{CpuScope, TargetFacts};

use crate::configuration::ConfigurationChange;
use crate::error::TargetError;

/// A server that is ready to be loaded.
///
/// A limit goes by the name of its stage (`threads`, `pool.db`, `connections`, `backlog`) or, for
/// settings that limit no stage, by `native.` and the server's own word (`native.minSpareThreads`).
/// Dropping a server ends what Weir started of it; [`stop`](Self::stop) does so in order and tells
/// when something could not be put back.
pub trait Server: fmt::Debug {
    /// Its funnel, with the limits as found. `cpus` is how many it may use.
    fn facts(&self, cpus: u32, cpu_scope: CpuScope) -> TargetFacts;

    /// Where the load goes.
    fn address(&self) -> SocketAddr;

    /// What is to be watched of it; asked before every trial, because a new start changes it.
    fn watched(&self) -> Watched;

    /// What the machine is on which it runs, when that is another one that can be read.
    fn machine(&self) -> Option<MachineFacts> {
        None
    }

    /// Sets the limits that are named and puts all others back to what was found. Starts the server
    /// again where it cannot take a limit while it runs, on the same address.
    fn apply(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError>;

    /// Starts the server again as these levels say (`start.collector` and others), on the same
    /// address, unless it runs so already.
    fn start_as(&mut self, levels: &BTreeMap<String, String>) -> Result<(), TargetError> {
        nothing_of(
            "the process of this kind of server is started in one way only",
            levels,
        )
    }

    /// Sets the regulator inside the server as these levels say (`regulator.SETTING`), and takes
    /// back what they do not name.
    fn regulate(&mut self, levels: &BTreeMap<String, String>) -> Result<(), TargetError> {
        nothing_of("Weir reaches no regulator in this kind of server", levels)
    }

    /// Limits that are not as they were set, because somebody else has changed them; of a server
    /// that tells. They count as not set from then on.
    fn changed_by_others(&mut self) -> Result<Vec<ChangedSetting>, TargetError> {
        Ok(Vec::new())
    }

    /// An error when the server has ended by itself.
    fn check_alive(&mut self) -> Result<(), TargetError>;

    /// Where its log stands now, in bytes.
    fn log_length(&self) -> u64;

    /// Copies what it has logged since `from` into a file.
    fn copy_log(&self, from: u64, to: &Path) -> Result<(), TargetError>;

    /// What these limits change in the server's own configuration files; nothing for a server that
    /// has none, or whose files Weir does not know.
    fn configuration(
        &self,
        _limits: &BTreeMap<String, f64>,
    ) -> Result<Vec<ConfigurationChange>, TargetError> {
        Ok(Vec::new())
    }

    /// Puts back what was changed and stops what was started.
    fn stop(self: Box<Self>) -> Result<(), TargetError>;
}

/// Refuses levels that a kind of server does not take.
fn nothing_of(says: &str, levels: &BTreeMap<String, String>) -> Result<(), TargetError> {
    match levels.keys().next() {
        None => Ok(()),
        Some(name) => Err(TargetError::Setting {
            name: name.clone(),
            says: says.to_owned(),
        }),
    }
}

/// A limit that somebody else has changed.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedSetting {
    /// The stage, or `native.WORD`.
    pub setting: String,
    /// What it was set to.
    pub set: f64,
    /// What it is.
    pub now: f64,
}

/// What is to be watched of a server.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// Its processes; those that descend from them are found.
    pub pids: Vec<u32>,
    /// Ports on which it listens.
    pub ports: Vec<u16>,
    /// Where the figures of its stages are read.
    pub sources: Vec<Source>,
    /// The machine on which it runs, and whose processes and ports these are.
    pub machine: WatchedMachine,
    /// The CPUs of that machine that it may use, when it is not this one.
    pub cpus: Option<CpuSet>,
    /// A gateway in front of it, through which the load goes.
    pub gate: Option<WatchedGate>,
}

/// The prefix of settings by the server's own word.
pub const NATIVE: &str = "native.";
