//! Why a gateway does not start, or does not take new settings.

use std::io;
use std::path::PathBuf;

use crate::settings::ListenAddress;

/// Why a gateway does not start, or does not take new settings.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// An address cannot be listened on.
    #[error("listen on {address}")]
    Listen {
        /// The address.
        address: ListenAddress,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Nobody knows a backend's name.
    #[error("find the address of {address}")]
    UnknownHost {
        /// The backend.
        address: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A file cannot be read or written.
    #[error("open {path}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// The sockets cannot be handed over, or taken over.
    #[error("hand over the sockets at {path}")]
    HandOver {
        /// Where one gateway asks another for them.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A certificate or a key is none.
    #[error("use {path}: {why}")]
    Certificate {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// This machine trusts nobody to sign certificates.
    #[error(
        "check the certificates of backends: this machine has no list of those who sign them; name one: `ca = \"ca.pem\"` in [backend-tls]"
    )]
    NobodySigns,
    /// A thread or an event queue cannot be had.
    #[error("start a thread of the gateway")]
    Thread(#[source] io::Error),
    /// The rules cannot be held.
    #[error("hold the limits: {0}")]
    Rules(#[from] weir_limit::RulesError),
    /// There is a goal for the CPU, and nothing says where that is read.
    #[error(
        "read the CPU of {backends} for its goal: not on this machine; say where it is read, such as `cpu-from = {{ prometheus = \"http://10.0.0.5:9100/metrics\" }}` in [limit.adaptive]"
    )]
    CpuElsewhere {
        /// The backends.
        backends: String,
    },
    /// Something that the file asks for, and that Weir cannot do.
    #[error("do what the file asks for: {0}")]
    NotBuilt(String),
    /// What cannot be changed while the gateway runs.
    #[error("change `{0}` while the gateway runs: start it anew")]
    Fixed(&'static str),
}
