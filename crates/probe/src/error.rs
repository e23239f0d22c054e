//! What keeps a watch from starting. What goes wrong later is an absent signal, not an error.

use std::io;

use weir_metric::CpuSet;

/// A watch that cannot be started; each message fits after "failed to ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The system gave no thread.
    #[error("start the thread that watches")]
    Thread(#[source] io::Error),
    /// The thread cannot be bound to the CPUs asked for.
    #[error("bind the thread that watches to CPUs {cpus}")]
    Affinity {
        /// The CPUs asked for.
        cpus: CpuSet,
        /// What the kernel said.
        #[source]
        source: io::Error,
    },
}
