//! The built-in sample server as a target.
//!
//! Its stages carry the names of the funnel as they are. Thread, pool and connection limits change
//! while it runs, over its admin endpoint; the backlog belongs to the listening socket, so changing
//! it starts the server again.

mod kind;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Deserialize;
use weir_metric::CpuSet;
use weir_probe::Source;
use weir_record::{CpuScope, Stage, TargetFacts, WhenFull};

use crate::child::{Patience, ServerProcess};
use crate::error::TargetError;
use crate::funnel::check_limit;
use crate::server::{Server, Watched};

pub(crate) use kind::KIND;

/// How long the server may take to fill its table and listen.
const START_PATIENCE: Duration = Duration::from_secs(60);
/// How long the admin endpoint may take to answer.
const ADMIN_PATIENCE: Duration = Duration::from_secs(5);

/// The settings of the funnel, outermost first: stage, flag of `weir sample-server`.
const SETTINGS: [(&str, &str); 4] = [
    ("backlog", "--backlog"),
    ("connections", "--max-connections"),
    ("threads", "--threads"),
    ("pool.db", "--pool"),
];
/// The one that needs a new start. The kernel may have made less of it than was asked
/// (`net.core.somaxconn`), which the server tells.
const NEEDS_START: &str = "backlog";

/// How to start the sample server.
#[derive(Debug, Clone)]
pub struct BuiltinOptions {
    /// The program that has the `sample-server` command: Weir itself.
    pub program: PathBuf,
    /// Port of the application on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// CPUs that it may use; `None`: all.
    pub cpus: Option<CpuSet>,
    /// Limits to start with, by stage; stages not named have the server's defaults.
    pub settings: BTreeMap<String, f64>,
    /// What happens to a connection that comes when as many are open as may be: it waits in the
    /// backlog, or is refused (accepted and closed at once).
    pub when_connections_full: WhenFull,
    /// Set from outside to stop the wait until it is ready.
    pub interrupted: Arc<AtomicBool>,
    /// File that gets what the server prints.
    pub log: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Addresses {
    listen: SocketAddr,
    admin: SocketAddr,
}

/// A running sample server.
#[derive(Debug)]
pub struct Builtin {
    options: BuiltinOptions,
    process: ServerProcess,
    addresses: Addresses,
    agent: ureq::Agent,
    found: BTreeMap<String, f64>,
    /// What was asked for last: of the backlog more than may be in force.
    current: BTreeMap<String, f64>,
}

impl Builtin {
    /// Starts the server and reads its limits.
    pub fn start(options: BuiltinOptions) -> Result<Self, TargetError> {
        for stage in options.settings.keys() {
            known_stage(stage)?;
        }
        let (process, addresses) = launch(&options, &options.settings)?;
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(ADMIN_PATIENCE))
            .http_status_as_error(false)
            .build()
            .into();
        let mut server = Self {
            options,
            process,
            addresses,
            agent,
            found: BTreeMap::new(),
            current: BTreeMap::new(),
        };
        server.found = server.read_limits()?;
        server.current = server.found.clone();
        Ok(server)
    }

    /// The source of its stages' figures.
    fn source(&self) -> Option<Source> {
        let url = format!("http://{}/metrics", self.addresses.admin);
        url.parse().ok().map(Source::prometheus)
    }

    fn restart(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        self.process.stop();
        // The load already knows the port, so the new server gets the same one.
        self.options.port = self.addresses.listen.port();
        (self.process, self.addresses) = launch(&self.options, limits)?;
        let read = self.read_limits()?;
        self.asked_for(limits, read);
        Ok(())
    }

    /// Keeps what the server says it has; of the backlog, what it was asked to have.
    fn asked_for(&mut self, wanted: &BTreeMap<String, f64>, read: BTreeMap<String, f64>) {
        self.current = read;
        if let Some(asked) = wanted.get(NEEDS_START) {
            self.current.insert(NEEDS_START.to_owned(), *asked);
        }
    }

    fn read_limits(&self) -> Result<BTreeMap<String, f64>, TargetError> {
        let url = format!("http://{}/limits", self.addresses.admin);
        let answer = self.agent.get(&url).call();
        read_answer(&url, answer)
    }
}

impl Server for Builtin {
    fn facts(&self, cpus: u32, cpu_scope: CpuScope) -> TargetFacts {
        let stage = |name: &str, settable: bool| {
            let limit = self.found.get(name).copied();
            KIND.stage(name, limit, settable)
        };
        TargetFacts {
            name: "sample server".to_owned(),
            kind: KIND.name.to_owned(),
            recognised: None,
            cpus,
            cpu_scope,
            stages: vec![
                stage("backlog", true),
                Stage {
                    when_full: self.options.when_connections_full,
                    ..stage("connections", true)
                },
                stage("request-queue", false),
                stage("threads", true),
                stage("pool.db", true),
                stage("database", false),
            ],
        }
    }

    fn address(&self) -> SocketAddr {
        self.addresses.listen
    }

    fn watched(&self) -> Watched {
        Watched {
            pids: vec![self.process.pid()],
            ports: vec![self.addresses.listen.port()],
            sources: self.source().into_iter().collect(),
            ..Watched::default()
        }
    }

    fn apply(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        let mut wanted = self.found.clone();
        for (stage, limit) in limits {
            known_stage(stage)?;
            check_limit(stage, *limit)?;
            wanted.insert(stage.clone(), *limit);
        }
        if wanted.get(NEEDS_START) != self.current.get(NEEDS_START) {
            self.restart(&wanted)?;
        }
        let changes: Vec<String> = wanted
            .iter()
            .filter(|(stage, limit)| self.current.get(*stage) != Some(limit))
            .map(|(stage, limit)| format!("{stage}={limit}"))
            .collect();
        if !changes.is_empty() {
            let url = format!(
                "http://{}/limits?{}",
                self.addresses.admin,
                changes.join("&")
            );
            let answer = self.agent.put(&url).send_empty();
            let read = read_answer(&url, answer)?;
            self.asked_for(&wanted, read);
        }
        Ok(())
    }

    fn check_alive(&mut self) -> Result<(), TargetError> {
        self.process.check_alive()
    }

    fn log_length(&self) -> u64 {
        self.process.log_length()
    }

    fn copy_log(&self, from: u64, to: &Path) -> Result<(), TargetError> {
        self.process.copy_log(from, to)
    }

    fn stop(mut self: Box<Self>) -> Result<(), TargetError> {
        self.process.stop();
        Ok(())
    }
}

fn known_stage(stage: &str) -> Result<(), TargetError> {
    if SETTINGS.iter().any(|(known, _)| *known == stage) {
        Ok(())
    } else {
        Err(TargetError::NoSuchStage {
            stage: stage.to_owned(),
            known: SETTINGS.map(|(known, _)| known).join(", "),
        })
    }
}

fn launch(
    options: &BuiltinOptions,
    limits: &BTreeMap<String, f64>,
) -> Result<(ServerProcess, Addresses), TargetError> {
    let mut command = Command::new(&options.program);
    command
        .arg("sample-server")
        .arg("--with-parent")
        .arg(format!("--listen=127.0.0.1:{}", options.port))
        .arg("--admin=127.0.0.1:0")
        .arg(match options.when_connections_full {
            WhenFull::Refuse => "--when-full=close",
            WhenFull::Wait | WhenFull::Block => "--when-full=wait",
        });
    for (stage, flag) in SETTINGS {
        if let Some(limit) = limits.get(stage) {
            command.arg(format!("{flag}={limit}"));
        }
    }
    let patience = Patience {
        longest: START_PATIENCE,
        interrupted: &options.interrupted,
    };
    let (process, line) =
        ServerProcess::start(command, options.cpus.as_ref(), &options.log, patience)?;
    let addresses = serde_json::from_str(&line).map_err(|error| TargetError::Admin {
        url: "the server's first line".to_owned(),
        says: format!("{error} in `{line}`"),
    })?;
    Ok((process, addresses))
}

fn read_answer(
    url: &str,
    answer: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
) -> Result<BTreeMap<String, f64>, TargetError> {
    let failed = |says: String| TargetError::Admin {
        url: url.to_owned(),
        says,
    };
    let mut answer = answer.map_err(|error| failed(error.to_string()))?;
    let text = answer
        .body_mut()
        .read_to_string()
        .map_err(|error| failed(error.to_string()))?;
    if !answer.status().is_success() {
        return Err(failed(text));
    }
    serde_json::from_str(&text).map_err(|error| failed(format!("{error} in `{text}`")))
}
