//! Open Liberty as a target.
//!
//! Weir starts a Liberty of its own, from the cache, with a user directory in the run's directory;
//! or a server of the user's installation. In both cases the limits stand in a file of Weir's own
//! below the server's `configDropins/overrides` ([`config`]), which Liberty merges into
//! `server.xml` and watches: the executor and the pools change while it runs, a new limit of open
//! connections takes the endpoint off its port for a moment. The user's `server.xml` is never
//! written to; Weir's file is in the journal and goes at the end.
//!
//! The funnel: connections that the endpoint holds (`maxOpenConnections`, above which they are
//! accepted and closed), requests that wait in the executor's queue, which no MBean tells (it is
//! derived from the connections), threads of the executor (`maxThreads`; `coreThreads` is always
//! set with it, so that it neither grows nor tunes itself), the pools (`maxPoolSize`).

mod config;
mod configuration;
mod elements;
mod kind;
mod live;

use std::collections::BTreeMap;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::process::Signal;
use weir_metric::CpuSet;
use weir_probe::mbeans;
use weir_record::{CpuScope, TargetFacts};

use crate::child::{Patience, ServerProcess};
use crate::configuration::ConfigurationChange;
use crate::error::TargetError;
use crate::free_port::port_for;
use crate::journal::Journal;
use crate::jvm_server::JvmServer;
use crate::postgresql::Postgresql;
use crate::server::{Server, Watched};

pub(crate) use kind::KIND;

use config::{Limits, Overrides};
use live::Live;

/// How long a start may take: the first one of a Liberty puts its caches together.
const START_PATIENCE: Duration = Duration::from_secs(240);
/// How long one answer may take while it starts.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// How long the agent may take to answer after it was loaded.
const AGENT_PATIENCE: Duration = Duration::from_secs(30);
/// The server that Weir makes.
const OWN_NAME: &str = "weir";

/// How to run a Liberty.
#[derive(Debug)]
pub struct LibertyOptions {
    /// The installation: the directory that has `bin`, `lib` and, with servers of its own, `usr`.
    pub home: PathBuf,
    /// Which server of it.
    pub server: LibertyServer,
    /// The Java program.
    pub java: PathBuf,
    /// Options of the Java virtual machine, such as `-Xmx512m`.
    pub java_options: Vec<String>,
    /// A directory of the run for what the server writes; what is there is removed.
    pub base: PathBuf,
    /// A path that answers, not with a server's error, once everything is up. Asking it also makes
    /// pools that are made when they are first used.
    pub ready: String,
    /// The Jolokia agent, a jar.
    pub agent: PathBuf,
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// CPUs that it may use; `None`: all.
    pub cpus: Option<CpuSet>,
    /// Limits to start with, by stage; others are the server's.
    pub settings: BTreeMap<String, f64>,
    /// Where what is changed is written down.
    pub journal: Journal,
    /// Set from outside to stop the wait until it is ready.
    pub interrupted: Arc<AtomicBool>,
    /// File that gets what the server prints.
    pub log: PathBuf,
}

/// Which server of an installation.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "a run has one")]
pub enum LibertyServer {
    /// One that Weir makes for this run.
    Own {
        /// A WAR that is put at the root of the server.
        app: Option<PathBuf>,
        /// What is behind it as `jdbc/db`.
        pool: Option<LibertyPool>,
    },
    /// One of the user's, by its name below `usr/servers`.
    Named(String),
}

/// The database behind a server of Weir's own.
#[derive(Debug)]
pub struct LibertyPool {
    /// The driver, a jar.
    pub driver: PathBuf,
    /// The database, which ends with the server.
    pub database: Postgresql,
}

/// A running Liberty.
#[derive(Debug)]
pub struct Liberty {
    server: JvmServer,
    name: String,
    /// The directory of its `server.xml`, and whether that is the user's.
    directory: PathBuf,
    of_user: bool,
    overrides: Overrides,
    live: Live,
    /// The limits as found: those of the study's settings, and what the server has for its pools.
    found: Limits,
    /// What the study set at the start.
    settings: Limits,
}

impl Liberty {
    /// Starts the server and reads its limits.
    pub fn start(mut options: LibertyOptions) -> Result<Self, TargetError> {
        for path in [&mut options.home, &mut options.base, &mut options.log] {
            // The server runs in another directory.
            *path = std::path::absolute(&*path).map_err(TargetError::file(path))?;
        }
        options.port = port_for(options.port)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        make_base(&options.base)?;
        let (user, name, journal) = match &options.server {
            LibertyServer::Own { app, pool } => {
                config::make_server(&options.base, OWN_NAME, app.as_deref(), pool.as_ref())?;
                (options.base.clone(), OWN_NAME.to_owned(), None)
            }
            LibertyServer::Named(name) => {
                let journal = Some(options.journal.clone());
                (options.home.join("usr"), name.clone(), journal)
            }
        };
        let settings = options.settings.clone();
        let directory = user.join("servers").join(&name);
        let of_user = journal.is_some();
        let mut overrides = Overrides::of(&directory, options.port, journal)?;
        overrides.check(&settings)?;
        overrides.write(&settings)?;
        let mut process = launch(&options, &user, &name)?;
        options.journal.process(process.pid())?;
        let ready = format!("http://{address}{}", options.ready);
        // Until the application is there, the endpoint answers 404 in its place.
        let patience = Patience {
            longest: START_PATIENCE,
            interrupted: &options.interrupted,
        };
        process.wait_until_answers(&ready, patience, ANSWER_PATIENCE, |status| {
            status.as_u16() < 400
        })?;
        let database = match options.server {
            LibertyServer::Own { pool, .. } => pool.map(|pool| pool.database),
            LibertyServer::Named(_) => None,
        };
        let server =
            JvmServer::with_agent(process, address, &options.agent, AGENT_PATIENCE, database)?;
        let mut live = Live::new(server.client(), options.log.clone());
        let mut found = live.pools()?;
        found.extend(settings.clone());
        Ok(Self {
            name: live.version()?,
            server,
            directory,
            of_user,
            overrides,
            live,
            found,
            settings,
        })
    }
}

impl Server for Liberty {
    fn facts(&self, cpus: u32, cpu_scope: CpuScope) -> TargetFacts {
        let stage = |name: &str, settable| {
            let limit = self.found.get(name).copied();
            KIND.stage(name, limit, settable)
        };
        let mut stages = vec![
            stage("backlog", false),
            stage("connections", true),
            stage("request-queue", false),
            stage("threads", true),
        ];
        stages.extend(self.overrides.pools().map(|pool| stage(&pool, true)));
        stages.extend(self.server.database().map(Postgresql::stage));
        TargetFacts {
            name: self.name.clone(),
            kind: KIND.name.to_owned(),
            recognised: None,
            cpus,
            cpu_scope,
            stages,
        }
    }

    fn address(&self) -> SocketAddr {
        self.server.address()
    }

    fn watched(&self) -> Watched {
        // Weir's application counts every wait, also those of no length, which its server leaves
        // out.
        let reads = [mbeans::stress(), mbeans::liberty(), mbeans::machine()].concat();
        self.server.watched(self.server.mbeans(reads))
    }

    fn apply(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        self.overrides.check(limits)?;
        let mut wanted = self.settings.clone();
        wanted.extend(limits.clone());
        let (before, from) = (self.overrides.current().clone(), self.server.log_length());
        if wanted == before {
            return Ok(());
        }
        self.overrides.write(&wanted)?;
        self.live.wait_for_update(from)?;
        if wanted.get("connections") != before.get("connections") {
            self.live.wait_for_endpoint(from)?;
        }
        let mut pools = self.found.clone();
        pools.extend(wanted);
        pools.retain(|name, _| name.starts_with("pool."));
        self.live.wait_for_pools(&pools)
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
        configuration::changes(&self.directory, self.of_user, limits)
    }

    /// The file with the limits is in the journal, which goes with the program.
    fn stop(self: Box<Self>) -> Result<(), TargetError> {
        self.server.stop();
        Ok(())
    }
}

/// The command that `bin/server run` ends in, without the shell in between.
fn launch(options: &LibertyOptions, user: &Path, name: &str) -> Result<ServerProcess, TargetError> {
    let tools = options.home.join("bin/tools");
    let agent = tools.join("ws-javaagent.jar");
    let opened = options.home.join("lib/platform/java/java9.options");
    let mut command = Command::new(&options.java);
    command
        .arg(format!("@{}", opened.display()))
        .arg(format!("-javaagent:{}", agent.display()))
        .args(&options.java_options)
        .arg("-jar")
        .arg(tools.join("ws-server.jar"))
        .arg(name)
        .env("WLP_USER_DIR", user)
        .env("WLP_OUTPUT_DIR", options.base.join("output"))
        .env("LOG_DIR", options.base.join("logs"))
        // That the endpoint is back after a change is told on this level only.
        .env("WLP_LOGGING_CONSOLE_LOGLEVEL", "INFO")
        .current_dir(&options.base);
    options.journal.mark(&mut command)?;
    ServerProcess::launch(Signal::TERM, command, options.cpus.as_ref(), &options.log)
}

fn make_base(base: &Path) -> Result<(), TargetError> {
    if base.exists() {
        fs::remove_dir_all(base).map_err(TargetError::file(base))?;
    }
    for folder in ["logs", "output"] {
        let path = base.join(folder);
        fs::create_dir_all(&path).map_err(TargetError::file(&path))?;
    }
    Ok(())
}
