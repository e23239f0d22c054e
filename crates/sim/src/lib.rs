//! The event-driven simulator of networks of servers.
//!
//! A [`Network`] is stations and limits, the ways that classes of requests take through them, and
//! who sends those requests: users that think and wait for their answers, or arrivals that wait for
//! nobody. [`Simulation`] plays one replication of it; everything random comes from its seed.
//!
//! ```
//! use weir_sim::{Center, CenterKind, Class, Distribution, Network, Simulation, Source, Step};
//!
//! // One server of 10 ms, and 100 users that think for a second: the server can do 100 a second.
//! let network = Network {
//!     centers: vec![Center::new("cpu", CenterKind::Queue { servers: 1 })],
//!     classes: vec![Class::new(
//!         "request",
//!         Source::Users { users: 100, think: Distribution::exponential(1.0), ramp_s: 0.0 },
//!         vec![Step::Use(0, Distribution::exponential(0.01))],
//!     )],
//!     ..Network::default()
//! };
//! let mut simulation = Simulation::new(&network, 1);
//! simulation.run_until(20.0);
//! simulation.forget();
//! simulation.run_until(220.0);
//! let totals = simulation.totals();
//! assert!((totals.throughput_per_s(0) - 92.0).abs() < 2.0);
//! ```
//!
//! Nothing here reads a clock or a file, and nothing depends on how many cores work on it.

mod check;
mod distribution;
mod durations;
mod engine;
mod events;
mod file;
mod network;
pub mod overload;
mod profile;
mod replicate;
mod report;
mod server;
mod text;
mod totals;
mod trial;

pub use check::{About, BYTES_PER_USER, Fault, POPULATION_MAX, check};
pub use distribution::Distribution;
pub use engine::{CenterSeen, ClassSeen, Second, Simulation};
pub use file::{NETWORK_SCHEMA, NetworkFile};
pub use network::{
    AbandonedWork, Balancer, Breakdowns, CLASSES_MAX, Center, CenterKind, Class, CpuReader,
    Crowding, GROUPS_MAX, Gate, Gateway, Group, Happening, Jitter, LIMITS_MAX, Network, Planned,
    Retry, SERVERS_MAX, Scaling, ScalingBy, Source, Spacing, Step, Timeout, WhenFull,
};
pub use profile::Profile;
pub use replicate::{Plan, Replication, Unwatched, Watcher, replicate, seed_of};
pub use report::{
    ClassReport, GateReport, GroupReport, Report, SIMULATION_SCHEMA, StationReport, Times,
};
pub use server::{Disturbances, SimulatedServer};
pub use text::text;
pub use totals::{CenterTotals, ClassTotals, GateTotals, GroupTotals, Totals};
pub use trial::{SimulatedTrial, facts, timelines, trial};
