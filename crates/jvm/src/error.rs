//! What keeps a virtual machine from being spoken with.

use std::io;
use std::path::PathBuf;

use weir_exchange::ExchangeError;

/// Each message fits after "failed to ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JvmError {
    /// The process cannot be looked at.
    #[error("look at process {pid}")]
    Process {
        /// The process.
        pid: u32,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The process is not one that can be spoken with this way.
    #[error("speak with process {pid}: {why}")]
    NotSpokenTo {
        /// The process.
        pid: u32,
        /// What it is instead, and what helps.
        why: &'static str,
    },
    /// A file or socket of the virtual machine.
    #[error("{doing} `{}`", path.display())]
    File {
        /// What was tried.
        doing: &'static str,
        /// With which file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The file of counters has another form.
    #[error("read the counters of a virtual machine: {0}")]
    PerfData(&'static str),
    /// The virtual machine refused a command.
    #[error("run `{command}` in process {pid}: it says `{says}`")]
    Command {
        /// The process.
        pid: u32,
        /// The command.
        command: String,
        /// What it answered.
        says: String,
    },
    /// An agent did not come up.
    #[error("load the agent `{}` into process {pid}: {why}", jar.display())]
    Agent {
        /// The process.
        pid: u32,
        /// The agent.
        jar: PathBuf,
        /// What went wrong.
        why: String,
    },
    /// A name that JMX does not know.
    #[error("use `{name}` as the name of an MBean: {why}")]
    ObjectName {
        /// The name.
        name: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Jolokia gave no answer.
    #[error("ask Jolokia at {url}")]
    Jolokia {
        /// Where.
        url: String,
        /// The cause.
        #[source]
        source: ExchangeError,
    },
    /// What answers at the address is not Jolokia.
    #[error("ask Jolokia at {url}: the answer is not what Jolokia would say: {why}")]
    NotJolokia {
        /// Where.
        url: String,
        /// What is wrong with the answer.
        why: String,
    },
    /// Jolokia answered that it does not do what was asked.
    #[error("{asked} by Jolokia at {url}: it says `{says}` (status {status})")]
    Refused {
        /// What was asked.
        asked: String,
        /// Where.
        url: String,
        /// Jolokia's status: as in HTTP, 404 when there is no such MBean, attribute or operation.
        status: u64,
        /// Jolokia's words.
        says: String,
    },
}

impl JvmError {
    /// What became of an operation on a file, as an error.
    pub(crate) fn file(
        doing: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File {
            doing,
            path,
            source,
        }
    }
}
