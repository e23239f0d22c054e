//! Apache httpd 2.4 as a target, with the prefork or the event MPM.
//!
//! Weir runs a server of its own: with a configuration that it writes into the run's directory, on
//! a loopback port, as a child process in the foreground. The configuration is Weir's, or a copy of
//! one of the user's ([`users`], [`copy`]), whose files are only read; the answer is shown as a
//! change of them ([`configuration`]).
//!
//! Its funnel is short. Prefork: the kernel's queue (`ListenBacklog`), then a process for every
//! connection (`MaxRequestWorkers`, the stage `threads`). Event holds connections beyond its
//! threads, so it has `connections` in between. A new value is brought in as gently as the server
//! allows: a graceful restart, a restart, or a new start where the listening socket or the
//! scoreboard has to be made anew ([`directives`] has the table).
//!
//! The status page is never asked: the request would need one of the workers that are measured, and
//! with one connection per process it would cost a process. The figures come from the kernel's
//! sockets, from `/proc`, and from the error log.

mod configuration;
mod copy;
pub(crate) mod directives;
pub(crate) mod installation;
mod kind;
mod place;
pub(crate) mod reader;
mod rebuilt;
mod syntax;
mod users;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::process::Signal;
use weir_metric::CpuSet;
use weir_probe::{HttpdSource, Source};
use weir_record::{CpuScope, TargetFacts};

use crate::child::{Patience, ServerProcess};
use crate::configuration::ConfigurationChange;
use crate::error::TargetError;
use crate::free_port::port_for;
use crate::journal::Journal;
use crate::server::{Server, Watched};

pub use directives::Mpm;
pub use installation::HttpdInstallation;
pub(crate) use kind::KIND;
pub use rebuilt::{build_prefork, most_connections_per_s};

use directives::{
    BACKLOG, Change, LIFETIME, LISTEN_BACKLOG, MAX_REQUEST_WORKERS, THREADS, Values, change,
    connections, defaults, settled, with,
};
use kind::CONNECTIONS;
use place::Place;
use users::UsersConfiguration;

/// How long a start or a restart may take; it takes some tens of milliseconds.
const START_PATIENCE: Duration = Duration::from_secs(30);
/// What the server writes to its log when it is ready, after every start and restart.
const READY: &str = "resuming normal operations";
/// How to run an httpd.
#[derive(Debug, Clone)]
pub struct HttpdOptions {
    /// The server's files.
    pub installation: HttpdInstallation,
    /// How it turns connections into work; a configuration of the user's says it itself.
    pub mpm: Mpm,
    /// A configuration of the user's; it is only read.
    pub configuration: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// CPUs that it may use; `None`: all.
    pub cpus: Option<CpuSet>,
    /// Limits to start with, by stage or `native.WORD`; others have the server's defaults.
    pub settings: BTreeMap<String, f64>,
    /// What it serves; `None`: files of 1, 2, 4, 8 and 16 KiB, `/1k.html` …, which are made.
    pub documents: Option<PathBuf>,
    /// Its private folder: configuration, documents, process id.
    pub folder: PathBuf,
    /// A folder that every user can reach, for the documents when the server's user cannot reach
    /// [`Self::folder`]; what is put there is removed in the end.
    pub spare: PathBuf,
    /// Its error log.
    pub log: PathBuf,
    /// Where what is started and made is written down.
    pub journal: Journal,
    /// Set from outside to stop the wait until it is ready.
    pub interrupted: Arc<AtomicBool>,
}

/// A running httpd.
#[derive(Debug)]
pub struct Httpd {
    options: HttpdOptions,
    version: String,
    place: Place,
    port: u16,
    process: ServerProcess,
    found: Values,
    current: Values,
}

impl Httpd {
    /// Writes the configuration and starts the server.
    pub fn start(mut options: HttpdOptions) -> Result<Self, TargetError> {
        options.log = absolute(&options.log)?;
        let version = options.installation.version()?;
        let (place, base) = make_place(&mut options)?;
        let found = with(options.mpm, &base, &options.settings)?;
        let port = port_for(options.port)?;
        let process = launch(&options, &place, port, &found)?;
        Ok(Self {
            options,
            version,
            place,
            port,
            process,
            current: found.clone(),
            found,
        })
    }

    /// The configuration file, in its own words, with these values.
    fn text(&self, values: &Values) -> String {
        let options = &self.options;
        let (mpm, log) = (options.mpm, &options.log);
        self.place
            .text(&options.installation, mpm, values, self.port, log)
    }

    fn change_to(&mut self, values: &Values) -> Result<(), TargetError> {
        let Some(change) = change(&self.current, values) else {
            return Ok(());
        };
        match change {
            Change::Start => {
                self.process.stop();
                self.process = launch(&self.options, &self.place, self.port, values)?;
            }
            Change::Graceful | Change::Restart => {
                let options = &self.options;
                self.place.configure(
                    &options.installation,
                    options.mpm,
                    values,
                    self.port,
                    &options.log,
                )?;
                let from = self.process.log_length();
                self.process.signal(if change == Change::Graceful {
                    Signal::USR1
                } else {
                    Signal::HUP
                })?;
                ready(&mut self.process, &self.options, from)?;
            }
        }
        self.current = values.clone();
        Ok(())
    }
}

impl Server for Httpd {
    fn facts(&self, cpus: u32, cpu_scope: CpuScope) -> TargetFacts {
        let mpm = self.options.mpm;
        let stage = |name: &str, limit: u64, settable| {
            let limit = Some(limit as f64);
            KIND.stage(name, limit, settable)
        };
        let mut stages = vec![stage(BACKLOG, self.found[LISTEN_BACKLOG], true)];
        if mpm == Mpm::Event {
            stages.push(stage(CONNECTIONS, connections(mpm, &self.found), false));
        }
        stages.push(stage(THREADS, self.found[MAX_REQUEST_WORKERS], true));
        TargetFacts {
            name: format!("Apache httpd {} ({})", self.version, mpm.name()),
            kind: KIND.name.to_owned(),
            recognised: None,
            cpus,
            cpu_scope,
            stages,
        }
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    fn watched(&self) -> Watched {
        let source = match self.options.mpm {
            Mpm::Event => Source::Accepted {
                port: self.port,
                workers: None,
            },
            Mpm::Prefork => Source::Httpd(HttpdSource {
                parent: Some(self.process.pid()),
                port: self.port,
                error_log: Some(self.options.log.clone()),
                process_limit: Some(as_count(self.current[MAX_REQUEST_WORKERS])),
                connections_per_process: self
                    .current
                    .get(LIFETIME)
                    .filter(|connections| **connections > 0)
                    .map(|connections| as_count(*connections)),
            }),
        };
        Watched {
            pids: vec![self.process.pid()],
            ports: vec![self.port],
            sources: vec![source],
            ..Watched::default()
        }
    }

    fn apply(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        let values = with(self.options.mpm, &self.found, limits)?;
        self.change_to(&values)
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

    /// Of a configuration of Weir's own the change from what the study set, for the user to see.
    fn configuration(
        &self,
        limits: &BTreeMap<String, f64>,
    ) -> Result<Vec<ConfigurationChange>, TargetError> {
        let values = with(self.options.mpm, &self.found, limits)?;
        if let Some(configuration) = self.place.users_configuration() {
            return configuration::changes(configuration, &values);
        }
        let (before, after) = (self.text(&self.found), self.text(&values));
        let change = (before != after).then(|| ConfigurationChange {
            file: self.place.configuration(),
            of_user: false,
            before: Some(before),
            after,
        });
        Ok(change.into_iter().collect())
    }

    fn stop(mut self: Box<Self>) -> Result<(), TargetError> {
        self.process.stop();
        Ok(())
    }
}

fn as_count(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// The private folder, and the values that limits start from.
fn make_place(options: &mut HttpdOptions) -> Result<(Place, Values), TargetError> {
    if let Some(path) = &options.configuration {
        let read = UsersConfiguration::read(path, options.installation.built_in()?)?;
        options.mpm = read.mpm;
        // What the user's server makes of them, so that what is measured is what it does.
        let (base, _) = settled(read.mpm, &read.values);
        let place = Place::of_user(&options.folder, read, &options.spare, &options.journal)?;
        return Ok((place, base));
    }
    let place = Place::make(
        &options.folder,
        options.documents.as_deref(),
        &options.spare,
        &options.journal,
    )?;
    Ok((place, defaults(options.mpm)))
}

fn launch(
    options: &HttpdOptions,
    place: &Place,
    port: u16,
    values: &Values,
) -> Result<ServerProcess, TargetError> {
    place.configure(
        &options.installation,
        options.mpm,
        values,
        port,
        &options.log,
    )?;
    place.forget_old_process();
    let mut command = options.installation.command();
    command
        .arg("-f")
        .arg(place.configuration())
        .arg("-DFOREGROUND");
    if let Some(configuration) = place.users_configuration() {
        command.envs(&configuration.environment);
    }
    options.journal.mark(&mut command)?;
    let from = std::fs::metadata(&options.log).map_or(0, |facts| facts.len());
    let mut process =
        ServerProcess::launch(Signal::TERM, command, options.cpus.as_ref(), &options.log)?;
    options.journal.process(process.pid())?;
    ready(&mut process, options, from)?;
    Ok(process)
}

/// Waits until the server has written that it is ready, and passes on what it did not like.
fn ready(
    process: &mut ServerProcess,
    options: &HttpdOptions,
    from: u64,
) -> Result<(), TargetError> {
    let patience = Patience {
        longest: START_PATIENCE,
        interrupted: &options.interrupted,
    };
    let mut written = String::new();
    process.wait_until(patience, || {
        written = read_from(&options.log, from).unwrap_or_default();
        written.contains(READY)
    })?;
    match adjusted(&written) {
        None => Ok(()),
        Some(says) => Err(TargetError::Setting {
            name: "the server's limits".to_owned(),
            says: format!("it does not take them as they are: {says}"),
        }),
    }
}

fn read_from(log: &Path, from: u64) -> std::io::Result<String> {
    let mut file = File::open(log)?;
    file.seek(SeekFrom::Start(from))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The first line in which the MPM says, before it is ready, that it uses another value than it was
/// given.
fn adjusted(log: &str) -> Option<&str> {
    log.lines()
        .take_while(|line| !line.contains(READY))
        .find(|line| line.contains("[mpm_") && line.contains(":warn]"))
        .map(str::trim)
}

fn absolute(path: &Path) -> Result<PathBuf, TargetError> {
    std::path::absolute(path).map_err(|source| TargetError::File {
        path: path.to_owned(),
        source,
    })
}
