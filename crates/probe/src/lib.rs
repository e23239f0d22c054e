//! Watching: what the operating system, the target and the load generator themselves say, each
//! second.
//!
//! A [`Watcher`] reads everything that a [`WatchPlan`] names and turns it into a [`Reading`]: a map
//! from signal name to a number. A [`WatchThread`] does so once a second, on the second, beside a
//! running load. `weir_metric::catalogue` lists every signal with its unit and definition.
//!
//! Why not an existing agent: a trial needs seconds that are aligned with the load's seconds, a
//! cost that is known and small (files are kept open and read again, sockets are counted by the
//! kernel's socket monitor), and figures that are honest about what was not seen.
//!
//! Invariants:
//!
//! * A signal that could not be read is absent, never 0.
//! * A second that was not watched is missed, never interpolated.
//! * Rates come from the difference of two counters and the instants that the caller gives.
//! * Nothing on the system is changed. No privilege is needed, but for the kernel's tracepoints:
//!   without it the [`Arrivals`] are absent, with the reason.
//!
//! ```
//! use std::time::Instant;
//! use weir_probe::{WatchPlan, Watcher};
//!
//! let mut watcher = Watcher::new(WatchPlan { own_process: true, ..WatchPlan::default() });
//! watcher.sample(Instant::now()); // The first reading has levels, but no rates yet.
//! let reading = watcher.sample(Instant::now());
//! assert!(reading["load.memory.rss"] > 0.0);
//! assert!(!reading.contains_key("target.memory.rss"), "no target was named");
//! ```

mod accepted;
mod arrivals;
mod busy;
mod control_group;
mod counters;
mod cpu;
mod error;
mod far_files;
mod far_machine;
mod far_watch;
mod files;
mod followed_log;
mod frequency;
mod httpd;
mod kept_file;
mod kernel_text;
mod listeners;
mod machine;
mod origin;
mod other_namespaces;
mod own;
mod paging;
mod pressure;
mod reading;
mod source;
mod system;
mod target;
mod tcp;
mod ticks;
mod watch_thread;
mod watcher;

pub use arrivals::{ArrivalTimes, Arrivals};
pub use busy::{BusyError, BusyOf, BusyReader};
pub use error::ProbeError;
pub use far_machine::{FarMachine, FarProcess};
pub use httpd::HttpdSource;
pub use listeners::{listening_ports, processes_listening, servers_listening, user_listening};
pub use machine::{MachineFacts, free_memory_bytes, machine_facts, online_cpus};
pub use other_namespaces::{passes_on_to, process_in_other_namespace};
pub use reading::{Reading, SignalName};
pub use source::{
    DumpedPool, MbeanRead, MbeanValue, Metric, MetricRow, NameTable, Origins, PostgresqlClient,
    Rule, Source, mbeans, permissions,
};
pub use source::{PageSample, page_samples};
pub use target::{cpus_of_process, quota_of_process};
pub use watch_thread::{TimedReading, WatchThread};
pub use watcher::{WatchPlan, WatchedGate, WatchedMachine, Watcher};
pub use weir_exchange::{MetricsUrl, UrlError};
