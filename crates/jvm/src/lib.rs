//! Speaking with a running Java virtual machine from outside, without one of our own.
//!
//! Three ways, from the cheapest:
//!
//! * [`PerfFile`]: the file in which HotSpot keeps its counters (collections, safepoints, threads).
//!   Reading it does not touch the process, and works while every thread of it is busy.
//! * [`Attach`]: the protocol that `jcmd` speaks. It runs diagnostic commands and loads agents;
//!   [`RequestThreads`] is what a thread dump says of those that serve requests.
//! * [`Jolokia`]: JMX over HTTP: many attributes of many MBeans in one question. [`Agent`] is
//!   Jolokia's agent in a process, found there or loaded.
//!
//! Why not an existing client: those for JMX need a Java virtual machine, whose start costs more
//! than the trial it would watch.
//!
//! Invariants: no signal is sent to a process that is not a HotSpot virtual machine ready to take
//! it; every wait is bounded; an agent that was not loaded by Weir is not stopped by Weir; one that
//! was is nobody else's to use; what lies in a folder that all can write into counts only when it
//! is the virtual machine's own.

mod agent;
mod agent_files;
mod attach;
mod error;
mod folder;
#[cfg(test)]
mod fuzz;
mod jolokia;
mod object_name;
mod perf_data;
#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod planted;
mod policy;
mod private_folder;
mod process;
mod thread_dump;
mod virtual_threads;

pub use agent::Agent;
pub use attach::Attach;
pub use error::JvmError;
pub use jolokia::{Answer, Jolokia, Refusal, Request};
pub use object_name::ObjectName;
pub use perf_data::{Collector, PerfCounters, PerfFile};
pub use policy::Permission;
pub use process::Vm;
pub use thread_dump::RequestThreads;
pub use virtual_threads::has_virtual_threads;
