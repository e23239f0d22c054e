//! A gateway in front of a server of any kind, whose limits a study sets while everything runs.
//!
//! The gateway is a `weir gate` of its own on the load generator's CPUs. It is the stage `gate` of
//! the funnel, before all others; the load goes to it, and what it holds back the server never
//! sees. Of the server itself nothing changes, so that a study can vary the flow into one that may
//! not be touched.

mod file;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use serde::Deserialize;
use weir_exchange::MetricsUrl;
use weir_metric::CpuSet;
use weir_probe::{MachineFacts, Source, WatchedGate};
use weir_record::{CpuScope, Stage, TargetFacts, WhenFull};

use crate::child::{Patience, ServerProcess};
use crate::configuration::ConfigurationChange;
use crate::error::TargetError;
use crate::server::{ChangedSetting, Server, Watched};

/// The stage that the gateway is.
const STAGE: &str = "gate";
/// The factor that sets how many requests may be in flight.
const GATE_CONCURRENCY: &str = "gate.concurrency";
/// The factor that sets how many requests are admitted per second.
const GATE_RATE: &str = "gate.rate";
/// The file in a run's directory that holds the server where the study found that it is to be held.
pub const FILE_TO_HOLD: &str = "GATE.toml";
/// The most that either can be.
const LIMIT_MAX: f64 = 1e6;
/// How long the gateway may take to listen.
const START_PATIENCE: Duration = Duration::from_secs(20);
/// How long its admin port may take to answer.
const ADMIN_PATIENCE: Duration = Duration::from_secs(5);

/// What a gateway holds.
#[derive(Debug, Clone, PartialEq)]
pub struct GateLimits {
    /// Requests in flight; fractions are averages over time.
    pub concurrency: Option<f64>,
    /// Admitted requests per second.
    pub rate_per_s: Option<f64>,
    /// Longest wait of a request for its turn.
    pub max_wait: Duration,
    /// Most requests that wait.
    pub max_queue: u32,
    /// Kinds of requests with limits of their own; the first that matches counts.
    pub classes: Vec<GateClass>,
}

/// A kind of requests with limits of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct GateClass {
    /// What it is called.
    pub name: String,
    /// All of what a request of it has, in the words of the gateway's file.
    pub matches: BTreeMap<String, String>,
    /// Requests of it in flight; fractions are averages over time.
    pub concurrency: Option<f64>,
    /// Requests of it that are admitted per second.
    pub rate_per_s: Option<f64>,
}

impl GateLimits {
    /// These limits with those that factors set.
    fn with(&self, levels: &BTreeMap<String, f64>) -> Result<Self, TargetError> {
        let mut limits = self.clone();
        for (name, limit) in levels {
            let Some(place) = limits.place(name) else {
                return Err(TargetError::NoSuchStage {
                    stage: name.clone(),
                    known: self.factors().join(", "),
                });
            };
            if !(*limit > 0.0 && *limit <= LIMIT_MAX) {
                return Err(TargetError::Setting {
                    name: name.clone(),
                    says: format!("{limit} is no number above 0, up to {LIMIT_MAX}"),
                });
            }
            *place = Some(*limit);
        }
        Ok(limits)
    }

    /// The limit that a factor sets.
    fn place(&mut self, factor: &str) -> Option<&mut Option<f64>> {
        if let Some(own) = place(factor, &mut self.concurrency, &mut self.rate_per_s) {
            return Some(own);
        }
        let (class, of_class) = factor
            .strip_prefix(STAGE)?
            .strip_prefix('.')?
            .rsplit_once('.')?;
        let class = self.classes.iter_mut().find(|known| known.name == class)?;
        let factor = format!("{STAGE}.{of_class}");
        place(&factor, &mut class.concurrency, &mut class.rate_per_s)
    }

    /// The factors that there are.
    fn factors(&self) -> Vec<String> {
        let of_classes = self.classes.iter().flat_map(|class| {
            ["concurrency", "rate"].map(|limit| format!("{STAGE}.{}.{limit}", class.name))
        });
        let of_all = [GATE_CONCURRENCY, GATE_RATE].map(str::to_owned);
        of_all.into_iter().chain(of_classes).collect()
    }

    /// The bodies of `POST /limits` that set them, where they differ from what is in force.
    fn as_changes(&self, current: &Self) -> Vec<String> {
        let own = (None, self.concurrency, self.rate_per_s);
        let was = (None, current.concurrency, current.rate_per_s);
        let of = |class: &GateClass| {
            let name = Some(class.name.clone());
            (name, class.concurrency, class.rate_per_s)
        };
        let wanted = self.classes.iter().map(of).chain([own]);
        let before: Vec<_> = current.classes.iter().map(of).chain([was]).collect();
        let changed = wanted.filter(|limits| !before.contains(limits));
        changed
            .map(|(class, concurrency, per_s)| {
                let rate = per_s.map(|per_s| format!("{per_s}/s"));
                let mut change = serde_json::json!({ "concurrency": concurrency, "rate": rate });
                if let Some(class) = class {
                    change["class"] = class.into();
                }
                change.to_string()
            })
            .collect()
    }
}

/// That of these two which a factor sets.
fn place<'l>(
    factor: &str,
    concurrency: &'l mut Option<f64>,
    rate_per_s: &'l mut Option<f64>,
) -> Option<&'l mut Option<f64>> {
    match factor {
        GATE_CONCURRENCY => Some(concurrency),
        GATE_RATE => Some(rate_per_s),
        _ => None,
    }
}

/// How to put a gateway in front of a server.
#[derive(Debug, Clone)]
pub struct GateOptions {
    /// The program that has the `gate` command: Weir itself.
    pub program: PathBuf,
    /// What it holds where no factor says otherwise.
    pub limits: GateLimits,
    /// CPUs that it may use: the load generator's.
    pub cpus: CpuSet,
    /// The run's directory, which gets its file and its log.
    pub directory: PathBuf,
    /// Set from outside to stop the wait until it listens.
    pub interrupted: Arc<AtomicBool>,
}

impl GateOptions {
    /// The file of the gateway that the trials go through.
    fn file(&self) -> PathBuf {
        self.directory.join("gate-of-trials.toml")
    }

    fn log(&self) -> PathBuf {
        self.directory.join("gate.log")
    }
}

/// The line that a gateway prints once it listens.
#[derive(Debug, Deserialize)]
struct Addresses {
    listen: Vec<SocketAddr>,
    admin: SocketAddr,
}

/// A server behind a gateway.
#[derive(Debug)]
pub struct Gated {
    // In this order they end: what is in front first.
    process: ServerProcess,
    server: Box<dyn Server>,
    options: GateOptions,
    front: SocketAddr,
    admin: SocketAddr,
    agent: ureq::Agent,
    current: GateLimits,
}

impl Gated {
    /// Starts a gateway in front of a server.
    pub fn start(server: Box<dyn Server>, options: GateOptions) -> Result<Self, TargetError> {
        let file = options.file();
        let text = options.limits.file_of_trials(server.address());
        fs::write(&file, text).map_err(TargetError::file(&file))?;
        let (process, addresses) = launch(&options, &file).map_err(in_front)?;
        let front = addresses.listen.first().copied();
        let front = front.ok_or_else(|| wrong_line("no address to connect to"))?;
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(ADMIN_PATIENCE))
            .http_status_as_error(false)
            .build()
            .into();
        Ok(Self {
            process,
            server,
            front,
            admin: addresses.admin,
            agent,
            current: options.limits.clone(),
            options,
        })
    }

    fn hold(&mut self, limits: GateLimits) -> Result<(), TargetError> {
        let url = format!("http://{}/limits", self.admin);
        let failed = |says: String| TargetError::Admin {
            url: url.clone(),
            says,
        };
        for change in limits.as_changes(&self.current) {
            let request = self.agent.post(&url);
            let request = request.header("Content-Type", "application/json");
            let mut answer = request
                .send(change)
                .map_err(|error| failed(error.to_string()))?;
            if !answer.status().is_success() {
                let says = answer.body_mut().read_to_string();
                return Err(failed(says.unwrap_or_else(|error| error.to_string())));
            }
        }
        self.current = limits;
        Ok(())
    }

    /// The source of the gateway's figures.
    fn source(&self) -> Option<Source> {
        let url: MetricsUrl = format!("http://{}/metrics", self.admin).parse().ok()?;
        Some(Source::prometheus(url))
    }
}

/// The limits of the gateway, and those of the server behind it.
fn divided(limits: &BTreeMap<String, f64>) -> (BTreeMap<String, f64>, BTreeMap<String, f64>) {
    let limits = limits.iter().map(|(name, limit)| (name.clone(), *limit));
    limits.partition(|(name, _)| {
        name.strip_prefix(STAGE)
            .is_some_and(|of| of.starts_with('.'))
    })
}

impl Server for Gated {
    fn facts(&self, cpus: u32, cpu_scope: CpuScope) -> TargetFacts {
        let mut facts = self.server.facts(cpus, cpu_scope);
        let limits = &self.options.limits;
        let gate = Stage {
            name: STAGE.to_owned(),
            native: Some("concurrency".to_owned()),
            limit: limits.concurrency,
            // By the factors `gate.…`, not as a limit of the server.
            settable: false,
            when_full: WhenFull::Wait,
        };
        facts.stages.insert(0, gate);
        facts
    }

    fn address(&self) -> SocketAddr {
        self.front
    }

    fn watched(&self) -> Watched {
        let mut watched = self.server.watched();
        watched.sources.extend(self.source());
        watched.gate = Some(WatchedGate {
            pid: self.process.pid(),
            port: self.front.port(),
        });
        watched
    }

    fn machine(&self) -> Option<MachineFacts> {
        self.server.machine()
    }

    fn apply(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        let (gate, server) = divided(limits);
        let gate = self.options.limits.with(&gate)?;
        self.server.apply(&server)?;
        self.hold(gate)
    }

    fn start_as(&mut self, levels: &BTreeMap<String, String>) -> Result<(), TargetError> {
        self.server.start_as(levels)
    }

    fn regulate(&mut self, levels: &BTreeMap<String, String>) -> Result<(), TargetError> {
        self.server.regulate(levels)
    }

    fn changed_by_others(&mut self) -> Result<Vec<ChangedSetting>, TargetError> {
        self.server.changed_by_others()
    }

    fn check_alive(&mut self) -> Result<(), TargetError> {
        self.process.check_alive().map_err(in_front)?;
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
        let (gate, server) = divided(limits);
        let mut changes = self.server.configuration(&server)?;
        if !gate.is_empty() {
            let limits = self.options.limits.with(&gate)?;
            changes.push(ConfigurationChange {
                file: self.options.directory.join(FILE_TO_HOLD),
                of_user: false,
                before: None,
                after: limits.file_to_hold(self.server.address()),
            });
        }
        Ok(changes)
    }

    fn stop(mut self: Box<Self>) -> Result<(), TargetError> {
        self.process.stop();
        self.server.stop()
    }
}

fn launch(options: &GateOptions, file: &Path) -> Result<(ServerProcess, Addresses), TargetError> {
    let mut command = Command::new(&options.program);
    command.args(["gate", "--with-parent"]).arg(file);
    let patience = Patience {
        longest: START_PATIENCE,
        interrupted: &options.interrupted,
    };
    let (process, line) =
        ServerProcess::start(command, Some(&options.cpus), &options.log(), patience)?;
    let addresses = serde_json::from_str(&line);
    let addresses = addresses.map_err(|error| wrong_line(&format!("{error} in `{line}`")))?;
    Ok((process, addresses))
}

fn wrong_line(says: &str) -> TargetError {
    TargetError::Admin {
        url: "the gateway's first line".to_owned(),
        says: says.to_owned(),
    }
}

fn in_front(error: TargetError) -> TargetError {
    match error {
        // Nothing is wrong with it.
        TargetError::Interrupted => error,
        other => TargetError::Gate(Box::new(other)),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn limits() -> GateLimits {
        GateLimits {
            concurrency: None,
            rate_per_s: Some(50.0),
            max_wait: Duration::from_secs(600),
            max_queue: 10_000,
            classes: vec![GateClass {
                name: "db-heavy".to_owned(),
                matches: [("header".to_owned(), "X-Users: db-heavy".to_owned())].into(),
                concurrency: None,
                rate_per_s: None,
            }],
        }
    }

    #[test]
    fn factors_of_the_gate_are_told_from_the_servers() {
        let all = [
            ("gate.concurrency", 4.0),
            ("threads", 8.0),
            ("pool.gate", 2.0),
        ];
        let all = all.map(|(name, limit)| (name.to_owned(), limit)).into();
        let (gate, server) = divided(&all);
        assert_eq!(gate.len(), 1);
        assert_eq!(server.len(), 2);
        let set = limits().with(&gate).unwrap();
        assert_eq!((set.concurrency, set.rate_per_s), (Some(4.0), Some(50.0)));
        assert_eq!(
            set.as_changes(&limits()),
            [r#"{"concurrency":4.0,"rate":"50/s"}"#]
        );
        assert_eq!(
            limits().as_changes(&set),
            [r#"{"concurrency":null,"rate":"50/s"}"#]
        );
        assert!(set.as_changes(&set).is_empty());
    }

    #[test]
    fn a_class_has_limits_of_its_own() {
        let levels = [("gate.db-heavy.concurrency".to_owned(), 20.0)].into();
        let set = limits().with(&levels).unwrap();
        assert_eq!(set.classes[0].concurrency, Some(20.0));
        assert_eq!(
            set.as_changes(&limits()),
            [r#"{"class":"db-heavy","concurrency":20.0,"rate":null}"#]
        );
        let file = set.file_to_hold("127.0.0.1:8080".parse().unwrap());
        assert!(file.contains("[[class]]\nname = \"db-heavy\"\n"), "{file}");
        assert!(file.contains("concurrency = 20\n"), "{file}");
    }

    #[test]
    fn what_the_gate_does_not_have_is_refused() {
        for (name, limit, says) in [
            (
                "gate.queue",
                4.0,
                "gate.concurrency, gate.rate, gate.db-heavy.concurrency, gate.db-heavy.rate",
            ),
            ("gate.cpu-heavy.rate", 4.0, "gate.db-heavy.rate"),
            ("gate.db-heavy.queue", 4.0, "gate.db-heavy.rate"),
            ("gate.concurrency", 0.0, "above 0"),
            ("gate.rate", f64::NAN, "above 0"),
        ] {
            let error = limits().with(&[(name.to_owned(), limit)].into());
            let error = error.unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
