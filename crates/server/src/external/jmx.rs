//! Limits over JMX in a virtual machine that somebody else runs: those of a Tomcat, stand-alone or
//! in an application, and of its pools.
//!
//! The MBeans are reached through a Jolokia agent: one that is there, or one that Weir loads into
//! the process and stops again. What an attribute was stands in the journal before the first write,
//! and before that the agent, which outlives a Weir that is killed: another one writes the
//! attributes back through it, and then stops it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use weir_exchange::MetricsUrl;
use weir_jvm::{Agent, Jolokia, Vm};
use weir_probe::{Source, mbeans};

use crate::error::TargetError;
use crate::journal::{Journal, LiveSetting};
use crate::jvm_server::permissions;
use crate::tomcat::live::Live;

/// How long an agent that was loaded may take to answer.
const AGENT_PATIENCE: Duration = Duration::from_secs(20);
/// Binding the port anew drops connections, which nobody wants of a server that serves others.
const RESTARTS: &str = "backlog";

/// Through which Jolokia agent a virtual machine is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum JmxAgent {
    /// One that listens there already, such as `http://127.0.0.1:8778/jolokia`.
    At(MetricsUrl),
    /// This jar, loaded into the process and stopped at the end; one that is there already is used
    /// instead.
    Load(PathBuf),
}

/// The MBeans of a running server.
#[derive(Debug)]
pub(super) struct Jmx {
    url: MetricsUrl,
    limits: Option<Limits>,
}

/// The limits that can be written.
#[derive(Debug)]
struct Limits {
    live: Live,
    found: BTreeMap<String, f64>,
    /// As last written: what is not named in a trial is as found.
    wanted: BTreeMap<String, f64>,
}

impl Jmx {
    /// Reaches the agent; with `port`, also the connector of that port and the pools.
    pub(super) fn connect(
        agent: &JmxAgent,
        pid: Option<u32>,
        port: Option<u16>,
        journal: &Journal,
    ) -> Result<Self, TargetError> {
        let url = match agent {
            JmxAgent::At(url) => url.clone(),
            JmxAgent::Load(jar) => provided(pid, jar, journal)?,
        };
        let mut jmx = Self { url, limits: None };
        jmx.limits = port.map(|port| jmx.limits_at(port)).transpose()?;
        Ok(jmx)
    }

    /// Where the agent listens.
    pub(super) fn url(&self) -> &MetricsUrl {
        &self.url
    }

    /// One that tells of no limit.
    #[cfg(test)]
    pub(super) fn without_limits() -> Self {
        Self {
            url: "http://127.0.0.1:1/jolokia".parse().expect("it is a URL"),
            limits: None,
        }
    }

    fn limits_at(&self, port: u16) -> Result<Limits, TargetError> {
        let mut live = Live::connect(Jolokia::new(self.url.clone()), port)?;
        let mut found = live.read()?;
        found.remove(RESTARTS);
        Ok(Limits {
            live,
            wanted: found.clone(),
            found,
        })
    }

    /// A limit as it was found.
    pub(super) fn found(&self, name: &str) -> Result<f64, TargetError> {
        let found = self.limits.as_ref().map(|limits| &limits.found);
        let limit = found.and_then(|found| found.get(name)).copied();
        limit.ok_or_else(|| TargetError::NoSuchStage {
            stage: name.to_owned(),
            known: found.map_or_else(String::new, |found| {
                let names: Vec<&str> = found.keys().map(String::as_str).collect();
                format!("{} over JMX", names.join(", "))
            }),
        })
    }

    /// All limits as they were found, those that are not the study's among them.
    pub(super) fn all_found(&self) -> impl Iterator<Item = (&String, &f64)> {
        let limits = self.limits.iter().flat_map(|limits| &limits.found);
        // A limit below 0 is none.
        limits.filter(|(_, limit)| **limit >= 0.0)
    }

    /// A limit as it is now.
    pub(super) fn now(&mut self, name: &str) -> Result<Option<f64>, TargetError> {
        let Some(limits) = &mut self.limits else {
            return Ok(None);
        };
        Ok(limits.live.read()?.get(name).copied())
    }

    /// Writes a limit, and what has to change with it.
    pub(super) fn set(
        &mut self,
        name: &str,
        to: f64,
        journal: &Journal,
    ) -> Result<(), TargetError> {
        let Some(limits) = &mut self.limits else {
            return Ok(());
        };
        for setting in limits.live.as_found(name)? {
            journal.live(setting)?;
        }
        limits.wanted.insert(name.to_owned(), to);
        limits.live.set(&limits.wanted)
    }

    /// What is read of it.
    pub(super) fn source(&self) -> Source {
        let limits = self.limits.as_ref();
        let executor = limits.and_then(|limits| limits.live.executor_read());
        Source::Jolokia {
            url: self.url.clone(),
            reads: executor.into_iter().chain(mbeans::all()).collect(),
        }
    }
}

/// Where the agent of a process listens. One that has to be loaded stands in the journal first:
/// what is put back goes through it, so that it is the last to go.
fn provided(pid: Option<u32>, jar: &Path, journal: &Journal) -> Result<MetricsUrl, TargetError> {
    let vm = virtual_machine(pid)?;
    if let Some(agent) = Agent::find(&vm)? {
        if agent.client().wants_password().unwrap_or(false) {
            let says = format!(
                "process {} has an agent at {} that asks for a password (status 401): if another Weir has loaded it, end \
                 that one, or type `weir target restore` if it was killed; stop any other one first",
                vm.pid(),
                agent.url()
            );
            return Err(TargetError::Jmx { says });
        }
        return Ok(agent.url().clone());
    }
    journal.live(LiveSetting::Agent {
        pid: vm.pid(),
        jar: jar.to_owned(),
    })?;
    let agent = Agent::provide(&vm, jar, &permissions()?, AGENT_PATIENCE)?;
    Ok(agent.url().clone())
}

fn virtual_machine(pid: Option<u32>) -> Result<Vm, TargetError> {
    let says = |says: String| TargetError::Jmx { says };
    let pid = pid.ok_or_else(|| {
        says(
            "no process of this machine is known into which the agent could be loaded: write its `pid`, or where an \
             agent listens that is there, `jolokia = \"http://HOST:8778/jolokia\"`"
                .to_owned(),
        )
    })?;
    let vm = Vm::of(pid)?;
    vm.ok_or_else(|| says(format!("process {pid} is no Java virtual machine")))
}
