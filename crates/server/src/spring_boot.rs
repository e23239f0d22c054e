//! A Spring Boot application on its embedded Tomcat as a target.
//!
//! Weir starts the jar with its settings as `--name=value`, which go before everything else that a
//! Spring Boot application reads; nothing of the user's is changed. From then on its limits are
//! those of any Tomcat, read and set over JMX while it runs ([`Live`]), and so is the pool behind
//! it (`HikariCP`). Studies and settings use Spring Boot's words for them ([`names`]).
//!
//! The funnel is that of Tomcat: the kernel's queue (`accept-count`), connections
//! (`max-connections`), requests that wait for a thread, threads (`threads.max`), the pool
//! (`maximum-pool-size`).

mod configuration;
mod kind;
mod names;
mod properties;
pub(crate) mod property;
pub(crate) mod settings;
mod yaml;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::process::Signal;
use weir_exchange::MetricsUrl;
use weir_metric::CpuSet;
use weir_probe::{Metric, MetricRow, NameTable, Source};
use weir_record::{CpuScope, TargetFacts};

use crate::child::{Patience, ServerProcess};
use crate::configuration::ConfigurationChange;
use crate::error::TargetError;
use crate::free_port::{free_port, port_for};
use crate::jvm_server::JvmServer;
use crate::postgresql::Postgresql;
use crate::server::{Server, Watched};
use crate::tomcat::funnel;
use crate::tomcat::live::{self, Live};

pub(crate) use kind::KIND;

/// How long a start may take: 4 s on a machine of its own, 20 s have been seen on a busy one.
const START_PATIENCE: Duration = Duration::from_secs(120);
/// How long one answer may take while it starts.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);
/// How long the agent may take to answer after it was loaded.
const AGENT_PATIENCE: Duration = Duration::from_secs(20);
/// Where Micrometer's page is when the application has the actuator.
const METRICS: &str = "/actuator/prometheus";

/// How to run a Spring Boot application.
#[derive(Debug)]
pub struct SpringBootOptions {
    /// The executable jar; it is only read.
    pub jar: PathBuf,
    /// Where it runs: Spring Boot reads `application.yml` and the like there and in `config`
    /// there.
    pub directory: PathBuf,
    /// The file that settings belong into, when it is not the one found there.
    pub configuration: Option<PathBuf>,
    /// Whether these files are the user's, and not those of an application of Weir's.
    pub of_user: bool,
    /// The Java program.
    pub java: PathBuf,
    /// Options of the Java virtual machine, such as `-Xmx512m`.
    pub java_options: Vec<String>,
    /// Settings of the application beside Weir's, as `--name=value`.
    pub arguments: Vec<String>,
    /// A path that answers, not with a server's error, once everything is up. Asking it also makes
    /// the pool, which is made when it is first used.
    pub ready: String,
    /// The database, which ends with the application.
    pub database: Option<Postgresql>,
    /// Whether the application has the actuator, whose figures are then read on a port of its own:
    /// on the application's port they would queue with the load.
    pub actuator: bool,
    /// The Jolokia agent, a jar.
    pub agent: PathBuf,
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// CPUs that it may use; `None`: all.
    pub cpus: Option<CpuSet>,
    /// Limits to start with, by stage or `native.WORD`; others are the application's.
    pub settings: BTreeMap<String, f64>,
    /// Set from outside to stop the wait until it is ready.
    pub interrupted: Arc<AtomicBool>,
    /// File that gets what it prints.
    pub log: PathBuf,
}

/// A running Spring Boot application.
#[derive(Debug)]
pub struct SpringBoot {
    server: JvmServer,
    /// Micrometer's page.
    metrics: Option<MetricsUrl>,
    name: String,
    configuration: PathBuf,
    of_user: bool,
    live: Live,
    found: BTreeMap<String, f64>,
}

impl SpringBoot {
    /// Starts the application and reads its limits.
    pub fn start(mut options: SpringBootOptions) -> Result<Self, TargetError> {
        names::check(&options.settings)?;
        // It runs in another directory.
        options.jar = std::path::absolute(&options.jar).map_err(TargetError::file(&options.jar))?;
        options.port = port_for(options.port)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let management = options.actuator.then(free_port).transpose()?;
        let mut process = ServerProcess::launch(
            Signal::TERM,
            command(&options, management),
            options.cpus.as_ref(),
            &options.log,
        )?;
        let ready = format!("http://{address}{}", options.ready);
        let patience = Patience {
            longest: START_PATIENCE,
            interrupted: &options.interrupted,
        };
        process.wait_until_answers(&ready, patience, ANSWER_PATIENCE, |status| {
            !status.is_server_error()
        })?;
        let server = JvmServer::with_agent(
            process,
            address,
            &options.agent,
            AGENT_PATIENCE,
            options.database,
        )?;
        let mut live = Live::connect(server.client(), options.port)?;
        let found = names::of_spring(&live.read()?);
        Ok(Self {
            name: format!("Spring Boot on {}", live.version()?),
            configuration: configuration::file(
                options.configuration.as_deref(),
                &options.directory,
            ),
            of_user: options.of_user,
            server,
            metrics: management.map(metrics_url).transpose()?,
            live,
            found,
        })
    }
}

impl Server for SpringBoot {
    fn facts(&self, cpus: u32, cpu_scope: CpuScope) -> TargetFacts {
        let database = self.server.database().map(Postgresql::stage);
        TargetFacts {
            name: self.name.clone(),
            kind: KIND.name.to_owned(),
            recognised: None,
            cpus,
            cpu_scope,
            stages: names::stages(&self.found)
                .into_iter()
                .chain(database)
                .collect(),
        }
    }

    fn address(&self) -> SocketAddr {
        self.server.address()
    }

    fn watched(&self) -> Watched {
        let stages = match &self.metrics {
            Some(page) => micrometer(page, self.server.address().port()),
            None => self.server.mbeans(funnel::reads(self.live.executor_read())),
        };
        self.server.watched(stages)
    }

    fn apply(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        names::check(limits)?;
        self.live.set(&live::wanted(
            &names::of_tomcat(&self.found),
            &names::of_tomcat(limits),
        ))
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
        configuration::changes(&self.configuration, self.of_user, limits)
    }

    /// There is nothing to put back: the settings were those of this process, and it ends.
    fn stop(self: Box<Self>) -> Result<(), TargetError> {
        self.server.stop();
        Ok(())
    }
}

fn metrics_url(port: u16) -> Result<MetricsUrl, TargetError> {
    let url = format!("http://127.0.0.1:{port}{METRICS}");
    url.parse().map_err(|error| TargetError::Admin {
        says: format!("{error}"),
        url,
    })
}

/// The page with the figures of the application's connector only: the one that the page itself
/// comes through has the same metrics, with another port in its name.
fn micrometer(page: &MetricsUrl, port: u16) -> Source {
    let known = NameTable::default();
    let on_port = |metric: &Metric| metric.clone().with("name", format!("*-{port}"));
    let of_connector: Vec<MetricRow> = known
        .rows()
        .iter()
        .filter(|row| row.metric.name.starts_with("tomcat_"))
        .map(|row| MetricRow {
            metric: on_port(&row.metric),
            less: row.less.as_ref().map(on_port),
            ..row.clone()
        })
        .collect();
    Source::Prometheus {
        url: page.clone(),
        names: known.with_rows(of_connector),
    }
}

fn command(options: &SpringBootOptions, management: Option<u16>) -> Command {
    let mut command = Command::new(&options.java);
    command
        .args(&options.java_options)
        .arg("-jar")
        .arg(&options.jar)
        .arg("--server.address=127.0.0.1")
        .arg(format!("--server.port={}", options.port))
        // Without these there are no MBeans of Tomcat and of the pool.
        .args([
            "--spring.jmx.enabled=true",
            "--server.tomcat.mbeanregistry.enabled=true",
            "--spring.datasource.hikari.register-mbeans=true",
        ]);
    if let Some(port) = management {
        command.args([
            "--management.server.address=127.0.0.1".to_owned(),
            format!("--management.server.port={port}"),
            "--management.endpoints.web.exposure.include=health,prometheus".to_owned(),
        ]);
    }
    if let Some(database) = &options.database {
        command.args([
            format!(
                "--spring.datasource.url={}",
                database.jdbc_url("spring-boot")
            ),
            format!("--spring.datasource.username={}", database.user()),
        ]);
    }
    command.args(names::arguments(&options.settings));
    // Last, so that they win.
    command.args(&options.arguments);
    command.current_dir(&options.directory);
    command
}
