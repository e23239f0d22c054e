//! Anything that a command line starts, as a target.
//!
//! The limits go where the user says: `{threads}`, `{backlog}`, `{connections}`, `{pool.NAME}` and
//! `{native.WORD}` may stand in the command line, in its environment, and in a template of a file
//! that Weir writes into its own folder and whose path is `{config}`. `{port}` is the port that the
//! load goes to. A limit changes by a new start, since nothing else is known of the server.
//!
//! It is ready when a URL answers, and ends by a signal. A server that it needs, such as the stub
//! of a service that it calls, can be started before it, on other CPUs: `{behind.port}` is where
//! that one is.

mod behind;
mod kind;
mod launch;
mod placeholders;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use rustix::process::Signal;
use weir_jvm::Vm;
use weir_metric::CpuSet;
use weir_probe::Source;
use weir_record::{CpuScope, TargetFacts};

use crate::child::ServerProcess;
use crate::error::TargetError;
use crate::free_port::port_for;
use crate::funnel::{check_limit, stages};
use crate::journal::Journal;
use crate::metrics_page::MetricsPage;
use crate::server::{Server, Watched};

pub use behind::BehindOptions;
pub(crate) use kind::KIND;

use behind::Behind;
use launch::{launch, read};
use placeholders::{BEHIND_PORT, FILLED_BY_WEIR, PORT, places};

/// How to run a server by its command line.
#[derive(Debug, Clone)]
pub struct CommandOptions {
    /// The command line, as a shell takes it: one program with its arguments.
    pub run: String,
    /// Variables of its environment.
    pub environment: BTreeMap<String, String>,
    /// A file of which a filled copy is written before every start.
    pub template: Option<PathBuf>,
    /// Where it is run.
    pub directory: PathBuf,
    /// Where the filled copy is put.
    pub folder: PathBuf,
    /// Port on 127.0.0.1; 0 takes a free one, which `{port}` tells the server.
    pub port: u16,
    /// A URL, or a path on the server, that answers when it is ready: with any status below 500.
    pub ready: String,
    /// How long that may take.
    pub patience: Duration,
    /// Set from outside to stop waiting for it.
    pub interrupted: Arc<AtomicBool>,
    /// The signal that asks it to end.
    pub end: EndSignal,
    /// Where it tells about its stages.
    pub metrics: Vec<MetricsPage>,
    /// CPUs that it may use; `None`: all.
    pub cpus: Option<CpuSet>,
    /// The limits to start with.
    pub settings: BTreeMap<String, f64>,
    /// What stands for places that are no limits: `app`, `java`.
    pub given: BTreeMap<String, String>,
    /// A server that it needs, started before it.
    pub behind: Option<BehindOptions>,
    /// File that gets what it prints.
    pub log: PathBuf,
    /// Where what is started is written down.
    pub journal: Journal,
}

/// A signal that asks a server to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EndSignal {
    /// SIGTERM.
    #[default]
    Term,
    /// SIGINT, as Ctrl-C sends it.
    Int,
    /// SIGQUIT.
    Quit,
}

impl EndSignal {
    fn signal(self) -> Signal {
        match self {
            Self::Term => Signal::TERM,
            Self::Int => Signal::INT,
            Self::Quit => Signal::QUIT,
        }
    }
}

/// A running server that a command line has started.
#[derive(Debug)]
pub struct StartedCommand {
    options: CommandOptions,
    template: Option<String>,
    settable: BTreeSet<String>,
    port: u16,
    process: ServerProcess,
    behind: Option<Behind>,
    current: BTreeMap<String, f64>,
}

impl StartedCommand {
    /// Starts the server and waits until it is ready.
    pub fn start(mut options: CommandOptions) -> Result<Self, TargetError> {
        let template = match &options.template {
            Some(path) => Some(read(path)?),
            None => None,
        };
        let texts = std::iter::once(&options.run)
            .chain(options.environment.values())
            .chain(&template);
        let mut settable: BTreeSet<String> = texts.flat_map(|text| places(text)).collect();
        let takes_port = settable.contains(PORT);
        settable.retain(|name| !FILLED_BY_WEIR.contains(&name.as_str()));
        for (name, limit) in &options.settings {
            check_known(name, &settable)?;
            check_limit(name, *limit)?;
        }
        let port = match options.port {
            0 if !takes_port => {
                return Err(TargetError::Setting {
                    name: PORT.to_owned(),
                    says: "nothing tells which port the load goes to: name the server's `port`, or write `{port}` \
                           where the server takes it"
                        .to_owned(),
                });
            }
            port => port_for(port)?,
        };
        let behind = options.behind.as_ref();
        let behind = behind
            .map(|behind| Behind::start(behind, &options))
            .transpose()?;
        if let Some(behind) = &behind {
            let port = behind.port().to_string();
            options.given.insert(BEHIND_PORT.to_owned(), port);
        }
        let process = launch(&options, template.as_deref(), port, &options.settings)?;
        Ok(Self {
            current: options.settings.clone(),
            behind,
            options,
            template,
            settable,
            port,
            process,
        })
    }
}

impl Server for StartedCommand {
    fn facts(&self, cpus: u32, cpu_scope: CpuScope) -> TargetFacts {
        let program = self.options.run.split_whitespace().next();
        TargetFacts {
            name: program.unwrap_or_default().to_owned(),
            kind: KIND.name.to_owned(),
            recognised: None,
            cpus,
            cpu_scope,
            stages: stages(&KIND, &self.settable, &self.options.settings),
        }
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    fn watched(&self) -> Watched {
        let pid = self.process.pid();
        // Those that are no URL were refused at the start.
        let pages = self.options.metrics.iter();
        let pages = pages.filter_map(|page| page.source(self.address()).ok());
        let port = self.port;
        let is_vm = matches!(Vm::of(pid), Ok(Some(_)));
        let of_vm = [
            Source::PerfData { pid },
            Source::RequestThreads { pid, port },
        ];
        let of_vm = of_vm.into_iter().filter(|_| is_vm);
        Watched {
            pids: vec![pid],
            ports: vec![port],
            sources: pages
                .chain(of_vm)
                .chain([Source::Census { pids: vec![pid] }])
                .collect(),
            ..Watched::default()
        }
    }

    fn apply(&mut self, limits: &BTreeMap<String, f64>) -> Result<(), TargetError> {
        let mut wanted = self.options.settings.clone();
        for (name, limit) in limits {
            check_known(name, &self.settable)?;
            check_limit(name, *limit)?;
            wanted.insert(name.clone(), *limit);
        }
        if wanted != self.current {
            self.process.stop();
            self.process = launch(&self.options, self.template.as_deref(), self.port, &wanted)?;
            self.current = wanted;
        }
        Ok(())
    }

    fn check_alive(&mut self) -> Result<(), TargetError> {
        self.process.check_alive()?;
        self.behind.as_mut().map_or(Ok(()), Behind::check_alive)
    }

    fn log_length(&self) -> u64 {
        self.process.log_length()
    }

    fn copy_log(&self, from: u64, to: &Path) -> Result<(), TargetError> {
        self.process.copy_log(from, to)
    }

    fn stop(mut self: Box<Self>) -> Result<(), TargetError> {
        self.process.stop();
        if let Some(behind) = self.behind.take() {
            behind.stop();
        }
        Ok(())
    }
}

fn check_known(name: &str, settable: &BTreeSet<String>) -> Result<(), TargetError> {
    if settable.contains(name) {
        return Ok(());
    }
    let known: Vec<&str> = settable.iter().map(String::as_str).collect();
    Err(TargetError::NoSuchStage {
        stage: name.to_owned(),
        known: if known.is_empty() {
            format!("none: write `{{{name}}}` where the server takes it")
        } else {
            known.join(", ")
        },
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn options(folder: &Path, run: &str, settings: &[(&str, f64)]) -> CommandOptions {
        let settings = settings.iter();
        CommandOptions {
            run: run.to_owned(),
            environment: BTreeMap::new(),
            template: None,
            directory: folder.to_owned(),
            folder: folder.join("filled"),
            port: 0,
            ready: "/".to_owned(),
            patience: Duration::from_secs(20),
            interrupted: Arc::default(),
            end: EndSignal::Term,
            metrics: Vec::new(),
            cpus: None,
            settings: settings
                .map(|(name, limit)| ((*name).to_owned(), *limit))
                .collect(),
            given: BTreeMap::new(),
            behind: None,
            log: folder.join("log"),
            journal: Journal::new(folder.join("state")),
        }
    }

    #[test]
    fn what_cannot_be_started_says_what_to_write() {
        let folder = tempfile::tempdir().unwrap();
        for (run, settings, says) in [
            ("true {threads}", &[][..], "nothing tells which port"),
            (
                "true {port}",
                &[("threads", 3.0)][..],
                "write `{threads}` where the server takes it",
            ),
            (
                "true {port} {threads}",
                &[("threads", 0.0)],
                "a whole number from 1",
            ),
            ("true {port} {threads}", &[], "has no value"),
            ("echo all over; exit 3 #{port}", &[], "all over"),
            ("no-such-program {port}", &[], "no-such-program"),
        ] {
            let error = StartedCommand::start(options(folder.path(), run, settings));
            let error = error.unwrap_err().to_string();
            assert!(error.contains(says), "{run}: {error}");
        }
    }

    #[test]
    fn a_template_is_filled_into_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let template = folder.path().join("server.conf");
        std::fs::write(&template, "threads = {threads}\n").unwrap();
        let mut options = options(
            folder.path(),
            "sh -c 'cat {config}; exit 9' {port}",
            &[("threads", 7.0)],
        );
        options.template = Some(template.clone());
        let error = StartedCommand::start(options).unwrap_err().to_string();
        assert!(error.contains("threads = 7"), "{error}");
        let copy = folder.path().join("filled/server.conf");
        assert_eq!(std::fs::read_to_string(copy).unwrap(), "threads = 7\n");
        assert_eq!(
            std::fs::read_to_string(template).unwrap(),
            "threads = {threads}\n"
        );
    }

    /// Answers one question with nothing, as a server that is ready.
    fn ready_once() -> SocketAddr {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::spawn(move || {
            use std::io::{Read as _, Write as _};
            let (mut client, _) = listener.accept().unwrap();
            assert!(client.read(&mut [0; 1_024]).unwrap() > 0, "a question");
            client
                .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
                .unwrap();
        });
        address
    }

    #[test]
    fn what_stands_behind_is_started_first_and_ends_last() {
        let folder = tempfile::tempdir().unwrap();
        let run = "sh -c 'echo at {behind.port}; exit 9' {port}";
        let mut options = options(folder.path(), run, &[]);
        options.behind = Some(BehindOptions {
            run: "sh -c 'echo $$ {port}; exec sleep 600'".to_owned(),
            ready: format!("http://{}/", ready_once()),
            cpus: None,
            log: folder.path().join("behind.log"),
        });
        let error = StartedCommand::start(options).unwrap_err().to_string();
        let told = std::fs::read_to_string(folder.path().join("behind.log")).unwrap();
        let (pid, port) = told.trim().split_once(' ').unwrap();
        assert!(error.contains(&format!("at {port}")), "{error}");
        assert!(!Path::new("/proc").join(pid).exists(), "it has ended too");
    }

    #[test]
    fn what_is_wrong_behind_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path(), "true {port} {behind.port}", &[]);
        options.behind = Some(BehindOptions {
            run: "sh -c 'echo no prices; exit 9'".to_owned(),
            ready: "/".to_owned(),
            cpus: None,
            log: folder.path().join("behind.log"),
        });
        let error = StartedCommand::start(options).unwrap_err();
        assert!(matches!(error, TargetError::Behind { .. }), "{error}");
        let says = weir_record::failed_to(&error);
        assert!(says.contains("no prices"), "{says}");
    }
}
