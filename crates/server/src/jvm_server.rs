//! A server in a Java virtual machine, with the database behind it: what Tomcat, Spring Boot and
//! Liberty share once their own process is started.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use weir_jvm::{Agent, Jolokia, Permission, Vm};
use weir_probe::{MbeanRead, Source, mbeans};

use crate::child::ServerProcess;
use crate::error::TargetError;
use crate::postgresql::Postgresql;
use crate::regulator;
use crate::server::Watched;
use crate::tomcat::live;

/// A running server that answers, with Jolokia in it.
#[derive(Debug)]
pub(crate) struct JvmServer {
    process: ServerProcess,
    address: SocketAddr,
    agent: Agent,
    database: Option<Postgresql>,
}

impl JvmServer {
    /// Loads the agent, a jar, into a process that answers at its address. The agent may take this
    /// long to answer.
    pub(crate) fn with_agent(
        process: ServerProcess,
        address: SocketAddr,
        agent: &Path,
        patience: Duration,
        database: Option<Postgresql>,
    ) -> Result<Self, TargetError> {
        Ok(Self {
            agent: agent_in(&process, agent, patience)?,
            process,
            address,
            database,
        })
    }

    /// Ends the process, so that another can take its place; the database stays.
    pub(crate) fn stop_process(&mut self) {
        self.process.stop();
    }

    /// Another process has taken the place of the one that was stopped, and answers.
    pub(crate) fn go_on_with(
        &mut self,
        process: ServerProcess,
        agent: &Path,
        patience: Duration,
    ) -> Result<(), TargetError> {
        self.process = process;
        self.agent = agent_in(&self.process, agent, patience)?;
        Ok(())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// A client of its agent.
    pub(crate) fn client(&self) -> Jolokia {
        self.agent.client()
    }

    /// These MBeans of it.
    pub(crate) fn mbeans(&self, reads: Vec<MbeanRead>) -> Source {
        Source::Jolokia {
            url: self.agent.url().clone(),
            reads,
        }
    }

    /// The database behind it.
    pub(crate) fn database(&self) -> Option<&Postgresql> {
        self.database.as_ref()
    }

    /// What is to be watched: what the kind tells of its stages, the virtual machine's own counters
    /// and threads, the queue that no kind tells, and the database.
    pub(crate) fn watched(&self, stages: Source) -> Watched {
        let (pid, port) = (self.process.pid(), self.address.port());
        let of_every_kind = [
            Source::PerfData { pid },
            Source::RequestThreads { pid, port },
            Source::Census { pids: vec![pid] },
            Source::DerivedQueue { port },
        ];
        let database = self.database();
        Watched {
            pids: std::iter::once(pid)
                .chain(database.map(Postgresql::pid))
                .collect(),
            ports: vec![port],
            sources: std::iter::once(stages)
                .chain(of_every_kind)
                .chain(database.map(Postgresql::source))
                .collect(),
            ..Watched::default()
        }
    }

    /// An error when it or its database has ended by itself.
    pub(crate) fn check_alive(&mut self) -> Result<(), TargetError> {
        self.process.check_alive()?;
        self.database
            .as_mut()
            .map_or(Ok(()), Postgresql::check_alive)
    }

    /// Where its log stands now, in bytes.
    pub(crate) fn log_length(&self) -> u64 {
        self.process.log_length()
    }

    /// Copies what it has logged since `from` into a file.
    pub(crate) fn copy_log(&self, from: u64, to: &Path) -> Result<(), TargetError> {
        self.process.copy_log(from, to)
    }

    /// Stops it, then its database.
    pub(crate) fn stop(mut self) {
        self.process.stop();
        if let Some(database) = self.database {
            database.stop();
        }
    }
}

/// Loads the agent into a virtual machine.
fn agent_in(
    process: &ServerProcess,
    agent: &Path,
    patience: Duration,
) -> Result<Agent, TargetError> {
    let vm = Vm::of(process.pid())?.ok_or_else(|| TargetError::Jmx {
        says: format!("process {} is no Java virtual machine", process.pid()),
    })?;
    Ok(Agent::provide(&vm, agent, &permissions()?, patience)?)
}

/// What an agent that Weir loads permits: reading what is watched of any server, and setting the
/// limits of those whose limits Weir sets over JMX.
pub(crate) fn permissions() -> Result<Vec<Permission>, TargetError> {
    let watched = weir_probe::permissions(&mbeans::all());
    let set = live::permissions()?;
    Ok([watched, set, vec![regulator::permission()?]].concat())
}
