//! What can go wrong with a server.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Why a server cannot be started, set or stopped.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// The program does not run at all.
    #[error("start the target `{program}`: {source}")]
    Spawn {
        /// The program.
        program: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The log cannot be written.
    #[error("write the target's log `{path}`: {source}")]
    Log {
        /// The log.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// It ended before it answered.
    #[error(
        "start the target: it ended before it was ready ({status}); its last words: {last_words}"
    )]
    EndedAtStart {
        /// How it ended.
        status: String,
        /// The end of its log.
        last_words: String,
    },
    /// It does not answer in time.
    #[error("start the target: it was not ready after {seconds} s; its log is `{log}`")]
    NotReady {
        /// How long was waited.
        seconds: u64,
        /// Its log.
        log: PathBuf,
    },
    /// A part of it cannot be built.
    #[error("build {what}: {says}")]
    NotBuilt {
        /// Which part.
        what: String,
        /// What the compiler said.
        says: String,
    },
    /// It ended while it should run.
    #[error("keep the target running: it ended by itself ({status}); its last words: {last_words}")]
    Ended {
        /// How it ended.
        status: String,
        /// The end of its log.
        last_words: String,
    },
    /// The admin endpoint refuses or does not answer.
    #[error("set or read the target's limits at {url}: {says}")]
    Admin {
        /// What was asked.
        url: String,
        /// What came back.
        says: String,
    },
    /// The server has no such stage, or its limit cannot be set.
    #[error("set `{stage}`: the target has the settings {known}")]
    NoSuchStage {
        /// The name as given.
        stage: String,
        /// What there is.
        known: String,
    },
    /// The limit is not one that can be set.
    #[error("set `{stage}` to {value}: a limit is a whole number from 1")]
    Limit {
        /// The stage.
        stage: String,
        /// The value as given.
        value: String,
    },
    /// The server or its configuration does not take a setting.
    #[error("set `{name}`: {says}")]
    Setting {
        /// The setting.
        name: String,
        /// Why not, and what can be done.
        says: String,
    },
    /// A file that the target needs cannot be read or written.
    #[error("use `{path}` for the target: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The gateway in front of it does not run.
    #[error("run the gateway in front of the target: {0}")]
    Gate(#[source] Box<TargetError>),
    /// Another server listens on the port that the study names.
    #[error("start the target on {address}: {source}")]
    PortTaken {
        /// Where it was to listen.
        address: SocketAddr,
        /// What the kernel says.
        source: io::Error,
    },
    /// There is no free port.
    #[error("find a free port for the target: {0}")]
    Port(#[source] io::Error),
    /// A program of PostgreSQL fails.
    #[error("{doing} for the private PostgreSQL: {says}")]
    Postgresql {
        /// What was to be done.
        doing: String,
        /// What came back.
        says: String,
    },
    /// It was stopped from outside.
    #[error("start the target: interrupted")]
    Interrupted,
    /// A configuration file is not what the server's kind has.
    #[error("read `{path}`: {says}")]
    Configuration {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        says: String,
    },
    /// The server's virtual machine does not have what is looked for.
    #[error("find the server over JMX: {says}")]
    Jmx {
        /// What is missing.
        says: String,
    },
    /// The journal cannot be written, so that nothing may be changed.
    #[error(transparent)]
    Journal(#[from] crate::journal::JournalError),
    /// The server's virtual machine cannot be spoken with.
    #[error(transparent)]
    Jvm(#[from] weir_jvm::JvmError),
    /// The server's machine cannot be spoken with.
    #[error(transparent)]
    Ssh(#[from] weir_ssh::SshError),
    /// The process cannot be signalled.
    #[error("signal the target's process {pid}: {source}")]
    Signal {
        /// Its id.
        pid: u32,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
    /// The server that the one under load needs does not run.
    #[error("run what stands behind the target: {source}")]
    Behind {
        /// What is wrong with it, in the words for a target.
        #[source]
        source: Box<TargetError>,
    },
    /// The CPUs cannot be used.
    #[error("run on the CPUs {cpus}: {source}")]
    Cpus {
        /// The CPUs asked for.
        cpus: String,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
}

impl TargetError {
    /// This error, of the server behind the one under load.
    pub(crate) fn behind(self) -> Self {
        match self {
            // Nothing is wrong with it.
            Self::Interrupted => self,
            other => Self::Behind {
                source: Box::new(other),
            },
        }
    }

    /// What the operating system says of a file or folder, as an error that names it.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File { path, source }
    }
}
