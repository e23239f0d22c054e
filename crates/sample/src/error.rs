//! What can keep the server from starting.
//!
//! Only starting fails: what goes wrong with one request is an answer to that request.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Why the sample server did not start; each message fits after "failed to ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SampleError {
    /// The admin endpoint was to listen where other machines could reach it.
    #[error(
        "open the admin endpoint on {address}: it changes limits without asking who calls, so it takes loopback addresses only"
    )]
    AdminNotLoopback {
        /// The address that was asked for.
        address: SocketAddr,
    },
    /// An address could not be listened on, usually because it is taken.
    #[error("listen on {address}")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// A file of the data directory could not be written.
    #[error("prepare the data in {}", path.display())]
    Data {
        /// The file or directory concerned.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The database could not be built or opened.
    #[error("open the database {}", path.display())]
    Database {
        /// The database file.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
    /// A thread could not be started.
    #[error("start the {role} thread")]
    Thread {
        /// What the thread is for.
        role: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused an event queue.
    #[error("watch connections for requests")]
    Events {
        /// What the kernel said.
        source: io::Error,
    },
    /// The signal handlers could not be installed.
    #[error("listen for SIGTERM and SIGINT")]
    Signals {
        /// What the kernel said.
        source: io::Error,
    },
}
