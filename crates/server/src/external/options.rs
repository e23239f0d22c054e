//! What is known of a server that runs already, and what may be done to it.

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use weir_metric::CpuSet;
use weir_probe::WatchedMachine;

use super::jmx::{Jmx, JmxAgent};
use crate::error::TargetError;
use crate::journal::Journal;
use crate::metrics_page::MetricsPage;
use crate::recognise::Found;

/// A server that runs already.
#[derive(Debug, Clone)]
pub struct ExternalOptions {
    /// What it is called in reports.
    pub name: String,
    /// Where the load goes.
    pub address: SocketAddr,
    /// The machine on which it runs.
    pub machine: WatchedMachine,
    /// The CPUs of another machine that it may use.
    pub cpus: Option<CpuSet>,
    /// Its process on that machine.
    pub pid: Option<u32>,
    /// Where it tells about its stages.
    pub metrics: Vec<MetricsPage>,
    /// How its virtual machine is reached over JMX.
    pub jmx: Option<JmxAgent>,
    /// Whether its virtual machine is asked for thread dumps.
    pub dumps: bool,
    /// What was found of it, where it could be looked at: its kind says what its stages are.
    pub recognised: Option<Found>,
    /// What can be set, by stage or `native.WORD`.
    pub limits: BTreeMap<String, ExternalLimit>,
    /// Limits of the study, set before the first trial.
    pub settings: BTreeMap<String, f64>,
    /// Where commands are run on this machine; on another one it is the user's home there.
    pub directory: PathBuf,
    /// Gets what commands complain about.
    pub log: PathBuf,
    /// Where what is changed is written down, when a command can put it back.
    pub journal: Journal,
    /// How long the server may take to say that it has a limit that was set.
    pub takes_effect: Duration,
    /// Asks the user for something and returns when it is done.
    pub ask: fn(&str) -> io::Result<()>,
    /// Finds the process of this machine that serves an address.
    pub serving: fn(SocketAddr) -> Option<u32>,
}

impl ExternalOptions {
    /// Its process, when it is one of this machine.
    pub(super) fn pid_here(&self) -> Option<u32> {
        self.pid
            .filter(|_| matches!(self.machine, WatchedMachine::This))
    }

    /// Its MBeans, with the limits where one is set through them.
    pub(super) fn connect(&self) -> Result<Option<Jmx>, TargetError> {
        let by_jmx = self.limits.values().any(|limit| limit.set == SetBy::Jmx);
        let port = by_jmx.then(|| self.address.port());
        let agent = self.jmx.as_ref();
        agent
            .map(|agent| Jmx::connect(agent, self.pid_here(), port, &self.journal))
            .transpose()
    }
}

/// How a limit is set and read.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalLimit {
    /// How it is set.
    pub set: SetBy,
    /// A command that prints it.
    pub get: Option<String>,
    /// What it is now, where no command tells.
    pub found: Option<f64>,
}

/// Who sets a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetBy {
    /// A command in which `{value}` is the limit.
    Command(String),
    /// Weir, over JMX, which also tells what it is.
    Jmx,
    /// The user.
    Asking,
}
