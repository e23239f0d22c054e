//! The servers under test: what stages they have, how to start, set and stop them.
//!
//! Each kind of server has a file of its own that describes its funnel (stage, limit, what happens
//! when full) and knows how to start it, change its limits and put them back. All of them are a
//! [`Server`] to the trials. [`Builtin`] is the sample server, run as a child process; [`Httpd`] is
//! an Apache httpd with a configuration of its own, [`StartedCommand`] anything that a command line
//! starts, [`External`] a server that runs already. [`Gated`] is any of them behind a gateway.
//!
//! [`recognise()`] tells of a running server which kind it is and what bounds it, without touching
//! it.
//!
//! Invariants: a server that Weir started is never left running (the child ends when Weir does,
//! whatever way it ends); what is changed that was there before stands in the [`Journal`] first;
//! limits that a trial does not name are as they were found; nothing here measures anything.

mod account;
mod builtin;
mod child;
mod command;
mod configuration;
mod error;
mod external;
mod free_port;
mod funnel;
mod gated;
mod glob_files;
mod httpd;
mod journal;
mod jvm_server;
mod kinds;
mod liberty;
mod machine;
mod metrics_page;
mod nginx;
mod patience;
mod postgresql;
mod process;
mod recognise;
mod regulator;
mod server;
mod spring_boot;
mod start;
mod tomcat;
mod trust;
mod xml_attributes;
mod xml_elements;

pub use builtin::{Builtin, BuiltinOptions};
pub use command::{BehindOptions, CommandOptions, EndSignal, StartedCommand};
pub use configuration::ConfigurationChange;
pub use error::TargetError;
pub use external::{External, ExternalLimit, ExternalOptions, JmxAgent, SetBy};
pub use gated::{FILE_TO_HOLD, GateClass, GateLimits, GateOptions, Gated};
pub use httpd::{
    Httpd, HttpdInstallation, HttpdOptions, Mpm, build_prefork, most_connections_per_s,
};
pub use journal::{
    Journal, JournalError, Leftover, LiveSetting, Restored, left_changed, restore_abandoned,
};
pub use kinds::{KINDS, Kind, StageInWords, kind_named};
pub use liberty::{Liberty, LibertyOptions, LibertyPool, LibertyServer};
pub use machine::Machine;
pub use metrics_page::MetricsPage;
pub use postgresql::{Filled, Postgresql, PostgresqlOptions, PostsTable};
pub use process::ProcessFacts;
pub use recognise::{
    AgentWay, Found, FoundKind, FoundLimit, FoundValue, OccupancyWay, SetWay, recognise,
};
pub use server::{ChangedSetting, NATIVE, Server, Watched};
pub use spring_boot::{SpringBoot, SpringBootOptions};
pub use start::{Collector, Scheduling, StartLevels, ThreadKind};
pub use tomcat::{PoolKind, Tomcat, TomcatOptions, TomcatPool};
