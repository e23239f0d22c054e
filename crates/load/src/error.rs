//! Why a load cannot start.

use std::io;
use std::path::{Path, PathBuf};

use weir_metric::CpuSet;
use weir_record::JtlError;
use weir_script::ResolveError;

/// Why a load cannot start. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The plan has no user that would do anything.
    #[error(
        "start a load with no users that send anything: each thread group has 0 users or nothing to run"
    )]
    NoUsers,
    /// A server is not known before the test.
    #[error("find out whom the plan loads: {0}")]
    Hosts(#[from] ResolveError),
    /// A server is public, or stands for a public address by now, and is not allowed by name.
    #[error("start a load: {0}")]
    NotAllowed(String),
    /// The file for samples cannot be opened.
    #[error("open {} for samples", path.display())]
    OpenSamples {
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// The process may not open as many sockets as there are users.
    #[error(
        "open {needed} files, one for each connection: the limit is {limit}; raise it (`ulimit -n {needed}`) or use fewer users"
    )]
    OpenFiles {
        /// How many are needed.
        needed: u64,
        /// How many there may be.
        limit: u64,
    },
    /// A runtime could not be set up.
    #[error("set up a load runtime: {what}")]
    Runtime {
        /// What failed.
        what: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A runtime could not be bound to its CPU.
    #[error("run on CPU {cpus}: it does not exist or this process may not use it")]
    Cpus {
        /// The CPU.
        cpus: CpuSet,
        /// The cause.
        #[source]
        source: io::Error,
    },
}

impl LoadError {
    /// A result file cannot be opened.
    pub(crate) fn cannot_open(path: &Path, error: JtlError) -> Self {
        match error {
            JtlError::Open { path, source } => Self::OpenSamples { path, source },
            other => Self::OpenSamples {
                path: path.to_owned(),
                source: io::Error::other(other),
            },
        }
    }
}
