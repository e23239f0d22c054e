//! Apache Tomcat as a target.
//!
//! Weir starts a Tomcat of its own: the program from the cache or from the user's installation, with
//! a `CATALINA_BASE` in the run's directory ([`base`]), so that neither is changed and the
//! configuration as it was run stays with the run. Its limits are read and set over JMX
//! ([`live`]), all of them while it runs; a new backlog takes the connector off its port for a
//! moment. The pool behind it is Tomcat's own or `HikariCP` ([`pool`]).
//!
//! The funnel: the kernel's queue (`acceptCount`), connections that the connector holds
//! (`maxConnections`), requests that wait for a thread, threads (`maxThreads`), the pool.

mod base;
mod configuration;
pub(crate) mod funnel;
mod kind;
pub(crate) mod live;
mod pool;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;
use weir_record::{CpuScope, TargetFacts};
use weir_units::CpuSet;

use crate::child::ServerProcess;
use crate::configuration::ConfigurationChange;
use crate::error::TargetError;
use crate::free_port::free_port;
use crate::jvm_server::JvmServer;
use crate::postgresql::Postgresql;
use crate::server::{Server, Watched};

pub(crate) use base::is_http_connector;
pub(crate) use kind::KIND;
pub(crate) use live::stage_of;
pub use pool::PoolKind;

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
    name: String,
    home: Option<PathBuf>,
    base: PathBuf,
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
        if options.port == 0 {
            options.port = free_port()?;
        }
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        base::make(&options)?;
        let mut process = ServerProcess::launch(
            Signal::TERM,
            command(&options),
            options.cpus.as_ref(),
            &options.log,
        )?;
        let ready = format!("http://{address}{}", options.ready);
        process.wait_until_answers(&ready, START_PATIENCE, ANSWER_PATIENCE, |status| {
            !status.is_server_error()
        })?;
        let database = options.pool.map(|pool| pool.database);
        let server =
            JvmServer::with_agent(process, address, &options.agent, AGENT_PATIENCE, database)?;
        let mut live = Live::connect(server.client(), options.port)?;
        let found = live.read()?;
        Ok(Self {
            name: live.version()?,
            home: options.own_configuration.then_some(options.home),
            base: options.base,
            server,
            live,
            found,
        })
    }
}

impl Server for Tomcat {
    fn facts(&self, cpus: u32, cpu_scope: CpuScope) -> TargetFacts {
        TargetFacts {
            name: self.name.clone(),
            kind: KIND.name.to_owned(),
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
        self.server.watched(self.server.mbeans(funnel::reads()))
    }

    fn apply(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        live::check(limits)?;
        self.live.set(&live::wanted(&self.found, limits))
    }

    fn check_alive(&mut self) -> Result<(), TargetError> {
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
        let of_user = self.home.is_some();
        configuration::changes(self.home.as_ref().unwrap_or(&self.base), of_user, limits)
    }

    /// There is nothing to put back: the configuration is Weir's own and the process ends.
    fn stop(self: Box<Self>) -> Result<(), TargetError> {
        self.server.stop();
        Ok(())
    }
}

fn command(options: &TomcatOptions) -> Command {
    let bin = options.home.join("bin");
    let class_path = [bin.join("bootstrap.jar"), bin.join("tomcat-juli.jar")]
        .map(|jar| jar.display().to_string())
        .join(":");
    let property = |name: &str, value: &Path| format!("-D{name}={}", value.display());
    let base = &options.base;
    let mut command = Command::new(&options.java);
    command
        .args(&options.java_options)
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
    command
}
