//! Why tracepoints cannot be read, and what to do about it.

use std::io;

/// What may be done where the kernel does not permit it.
const ALLOW: &str = "run Weir as root, or, where tracefs is mounted, with the capabilities CAP_PERFMON and CAP_DAC_READ_SEARCH";

/// Tracepoints that cannot be read; each message is a reason that stands by itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TraceError {
    /// The kernel does not permit it.
    #[error("{what} may not be read: {ALLOW}")]
    NotPermitted {
        /// What was to be read or opened.
        what: String,
    },
    /// Something else stood against it.
    #[error("{what} cannot be read: {source}")]
    Unreadable {
        /// What was to be read or opened.
        what: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// This kernel lacks a tracepoint.
    #[error("this kernel has no tracepoint {0}: it needs Linux 6.10 with CONFIG_TRACEPOINTS")]
    NoTracepoint(String),
    /// This kernel's tracepoint does not tell what is needed.
    #[error("the tracepoint {event} of this kernel does not tell `{field}`: it needs Linux 6.10")]
    NoField {
        /// The tracepoint.
        event: String,
        /// What it does not tell.
        field: String,
    },
    /// The numbers of threads in tracepoints are not those that this process sees.
    #[error(
        "Weir runs in a process namespace of its own, in which threads have other numbers than in tracepoints: run it \
         outside the container"
    )]
    ProcessNamespace,
}

impl TraceError {
    /// The error of a call that failed.
    pub(crate) fn of_reading(what: &str, source: io::Error) -> Self {
        let what = what.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::NotPermitted { what },
            _ => Self::Unreadable { what, source },
        }
    }
}
