//! Apache Tomcat as a target.
//!
//! Weir starts a Tomcat of its own: the program from the cache or from the user's installation,
//! with a `CATALINA_BASE` in the run's directory ([`base`]), so that neither is changed and the
//! configuration as it was run stays with the run. Its limits are read and set over JMX
//! ([`live`]), all of them while it runs; a new backlog takes the connector off its port for a
//! moment. The pool behind it is Tomcat's own or `HikariCP` ([`pool`]).
//!
//! The funnel: the kernel's queue (`acceptCount`), connections that the connector holds
//! (`maxConnections`), requests that wait for a thread, threads (`maxThreads`), the pool.

mod base;
mod configuration;
mod connector;
pub(crate) mod funnel;
mod heavy;
mod kind;
pub(crate) mod live;
mod pool;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::process::Signal;
use ureq::http::StatusCode;
use weir_metric::CpuSet;
use weir_record::{CpuScope, TargetFacts};

use crate::child::{Patience, ServerProcess};
use crate::configuration::ConfigurationChange;
use crate::error::TargetError;
use crate::free_port::port_for;
use crate::journal::Journal;
use crate::jvm_server::JvmServer;
use crate::postgresql::Postgresql;
use crate::regulator::RegulatorSettings;
use crate::server::{Server, Watched};
use crate::start::StartLevels;

pub(crate) use connector::{executor_of, is_http_connector};
pub(crate) use kind::KIND;
pub(crate) use live::stage_of;
pub use pool::PoolKind;

use heavy::HeavyServer;
use live::Live;

/// How long a start may take: Tomcat itself needs some seconds, an application more.
const START_PATIENCE: Duration = Duration::from_secs(120);
/// How long one answer may take while it starts.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// How long the agent may take to answer after it was loaded.
const AGENT_PATIENCE: Duration = Duration::from_secs(20);

/// How to run a Tomcat.
#[derive(Debug)]
pub struct TomcatOptions {
    /// The installation; it is only read.
    pub home: PathBuf,
    /// Whether the installation's own configuration and applications are used, or Weir's.
    pub own_configuration: bool,
    /// The Java program.
    pub java: PathBuf,
    /// Others that are installed, by release, for trials that ask for one.
    pub javas: BTreeMap<u32, PathBuf>,
    /// Options of the Java virtual machine, such as `-Xmx512m`.
    pub java_options: Vec<String>,
    /// The directory that becomes `CATALINA_BASE`; what is there is removed.
    pub base: PathBuf,
    /// A WAR that is put at the root of the server.
    pub app: Option<PathBuf>,
    /// A path that answers, not with a server's error, once everything is up. Asking it also makes
    /// pools that are made when they are first used.
    pub ready: String,
    /// The pool behind the application, as `jdbc/db`.
    pub pool: Option<TomcatPool>,
    /// The Jolokia agent, a jar.
    pub agent: PathBuf,
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// CPUs that it may use; `None`: all.
    pub cpus: Option<CpuSet>,
    /// Limits to start with, by stage or `native.WORD`; others are the server's.
    pub settings: BTreeMap<String, f64>,
    /// File that gets what the server prints.
    pub log: PathBuf,
    /// Gets the processes of later starts.
    pub journal: Journal,
    /// Set from outside to stop the wait until it is ready.
    pub interrupted: Arc<AtomicBool>,
}

/// A pool of connections and the database that they go to.
#[derive(Debug)]
pub struct TomcatPool {
    /// Whose pool it is.
    pub kind: PoolKind,
    /// Jars of the driver, and of the pool where Tomcat has none of its own.
    pub libraries: Vec<PathBuf>,
    /// The database, which ends with the server.
    pub database: Postgresql,
}

/// A running Tomcat.
#[derive(Debug)]
pub struct Tomcat {
    server: JvmServer,
    /// The one in which heavy requests run, where they have their own.
    heavy: Option<HeavyServer>,
    name: String,
    /// How it was started; its pool has gone to the server.
    options: TomcatOptions,
    started_as: StartLevels,
    regulator: RegulatorSettings,
    live: Live,
    found: BTreeMap<String, f64>,
}

impl Tomcat {
    /// Starts the server and reads its limits.
    pub fn start(mut options: TomcatOptions) -> Result<Self, TargetError> {
        live::check(&options.settings)?;
        // The server runs in another directory.
        for path in [&mut options.home, &mut options.base] {
            *path = std::path::absolute(&*path).map_err(TargetError::file(path))?;
        }
        options.port = port_for(options.port)?;
        base::make(&options)?;
        let started_as = StartLevels::default();
        let first = Instance::first(&options, None);
        let process = launch(&options, &started_as, &first, &options.ready, is_up)?;
        let database = options.pool.take().map(|pool| pool.database);
        let address = address(&options);
        let server =
            JvmServer::with_agent(process, address, &options.agent, AGENT_PATIENCE, database)?;
        let mut live = Live::connect(server.client(), options.port)?;
        let found = live.read()?;
        Ok(Self {
            name: live.version()?,
            options,
            started_as,
            regulator: RegulatorSettings::default(),
            server,
            heavy: None,
            live,
            found,
        })
    }

    /// Ends the process and starts another in its place.
    fn start_anew(&mut self, levels: StartLevels) -> Result<(), TargetError> {
        self.server.stop_process();
        self.heavy = None;
        let options = &self.options;
        base::connect_on(options, &levels)?;
        if let Some(policy) = levels.heavy {
            let heavy = HeavyServer::start(options, &levels, policy)?;
            options.journal.process(heavy.pid())?;
            self.heavy = Some(heavy);
        }
        let first = Instance::first(options, self.heavy.as_ref());
        let process = launch(options, &levels, &first, &options.ready, is_up)?;
        options.journal.process(process.pid())?;
        self.started_as = levels;
        self.regulator.forget();
        self.server
            .go_on_with(process, &self.options.agent, AGENT_PATIENCE)?;
        self.live = Live::connect(self.server.client(), self.options.port)?;
        self.found = self.live.read()?;
        Ok(())
    }
}

impl Server for Tomcat {
    fn facts(&self, cpus: u32, cpu_scope: CpuScope) -> TargetFacts {
        TargetFacts {
            name: self.name.clone(),
            kind: KIND.name.to_owned(),
            recognised: None,
            cpus,
            cpu_scope,
            stages: funnel::stages(&self.found)
                .chain(self.server.database().map(Postgresql::stage))
                .collect(),
        }
    }

    fn address(&self) -> SocketAddr {
        self.server.address()
    }

    fn watched(&self) -> Watched {
        let mut watched = self
            .server
            .watched(self.server.mbeans(funnel::reads(self.live.executor_read())));
        watched
            .pids
            .extend(self.heavy.as_ref().map(HeavyServer::pid));
        watched.cpus.clone_from(&self.started_as.cpus);
        watched
    }

    fn apply(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        live::check(limits)?;
        self.live.set(&live::wanted(&self.found, limits))
    }

    fn start_as(&mut self, levels: &BTreeMap<String, String>) -> Result<(), TargetError> {
        let levels = StartLevels::parse(levels)?;
        if levels == self.started_as && !levels.each_trial {
            return Ok(());
        }
        self.start_anew(levels)
    }

    fn regulate(&mut self, levels: &BTreeMap<String, String>) -> Result<(), TargetError> {
        self.regulator.set(&mut self.server.client(), levels)
    }

    fn check_alive(&mut self) -> Result<(), TargetError> {
        let heavy = self.heavy.as_mut();
        heavy.map_or(Ok(()), HeavyServer::check_alive)?;
        self.server.check_alive()
    }

    fn log_length(&self) -> u64 {
        self.server.log_length()
    }

    fn copy_log(&self, from: u64, to: &Path) -> Result<(), TargetError> {
        self.server.copy_log(from, to)
    }

    fn configuration(
        &self,
        limits: &BTreeMap<String, f64>,
    ) -> Result<Vec<ConfigurationChange>, TargetError> {
        let of_user = self.options.own_configuration;
        let place = if of_user {
            &self.options.home
        } else {
            &self.options.base
        };
        configuration::changes(place, of_user, limits)
    }

    /// There is nothing to put back: the configuration is Weir's own and the process ends.
    fn stop(self: Box<Self>) -> Result<(), TargetError> {
        self.server.stop();
        Ok(())
    }
}

fn address(options: &TomcatOptions) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, options.port))
}

/// One of the processes that serve: where it lies and listens, and what it is told beside the
/// target's own options.
struct Instance {
    base: PathBuf,
    port: u16,
    log: PathBuf,
    properties: Vec<String>,
}

impl Instance {
    /// The one to which the load goes.
    fn first(options: &TomcatOptions, heavy: Option<&HeavyServer>) -> Self {
        Self {
            base: options.base.clone(),
            port: options.port,
            log: options.log.clone(),
            properties: heavy.map(HeavyServer::property).into_iter().collect(),
        }
    }
}

/// What every application answers once it is there.
fn is_up(status: StatusCode) -> bool {
    !status.is_server_error()
}

/// Starts a process and waits until it answers at a path with a status that means that it is ready.
fn launch(
    options: &TomcatOptions,
    levels: &StartLevels,
    instance: &Instance,
    ready: &str,
    is_ready: impl Fn(StatusCode) -> bool,
) -> Result<ServerProcess, TargetError> {
    let cpus = levels.cpus.as_ref().or(options.cpus.as_ref());
    let command = command(options, levels, instance)?;
    let mut process = ServerProcess::launch(Signal::TERM, command, cpus, &instance.log)?;
    let ready = format!("http://127.0.0.1:{}{ready}", instance.port);
    let patience = Patience {
        longest: START_PATIENCE,
        interrupted: &options.interrupted,
    };
    process.wait_until_answers(&ready, patience, ANSWER_PATIENCE, is_ready)?;
    Ok(process)
}

fn command(
    options: &TomcatOptions,
    levels: &StartLevels,
    instance: &Instance,
) -> Result<Command, TargetError> {
    let bin = options.home.join("bin");
    let class_path = [bin.join("bootstrap.jar"), bin.join("tomcat-juli.jar")]
        .map(|jar| jar.display().to_string())
        .join(":");
    let property = |name: &str, value: &Path| format!("-D{name}={}", value.display());
    let base = &instance.base;
    let mut command = levels.command(&options.java, &options.javas, &options.java_options)?;
    command
        .args(&instance.properties)
        .args([
            property("catalina.home", &options.home),
            property("catalina.base", base),
            property("java.io.tmpdir", &base.join("temp")),
            property(
                "java.util.logging.config.file",
                &base.join("conf/logging.properties"),
            ),
        ])
        .args([
            "-Djava.util.logging.manager=org.apache.juli.ClassLoaderLogManager",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            "-cp",
            &class_path,
            "org.apache.catalina.startup.Bootstrap",
            "start",
        ])
        .current_dir(base);
    Ok(command)
}
