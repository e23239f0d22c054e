//! Queueing laws, exact and approximate solutions of queues and closed networks.
//!
//! This crate foretells what a server will do under a load from a handful of numbers: how much CPU
//! a request needs, how long it holds a thread and a connection, how long users think. From small
//! to large:
//!
//! * [`laws`]: what holds in every system, whatever its distributions;
//! * [`bounds`]: how much a closed network can do at all;
//! * [`open`]: M/M/c and M/M/c/K for arrivals that do not wait for answers; [`GeneralQueue`] for
//!   any distribution of service, [`BreakdownQueue`] for a server that fails, [`ImpatientQueue`]
//!   for callers who give up, [`TransientQueue`] for a queue that has not settled yet;
//! * [`FiniteSource`]: N users, one pool of servers, a bounded room;
//! * [`ClosedNetwork`]: the exact solution for any number of stations with several servers each;
//!   [`MulticlassNetwork`] the same for several classes, exact and approximate;
//! * [`ClosedCpu`]: think time and one CPU station, with the inverse questions a search asks;
//! * [`ThreadLimited`]: a thread limit around CPU and connection pool; [`PooledServer`]: the same
//!   with CPU used while a connection is held, approximate and as an exact chain;
//!   [`BlockingTandem`]: a full stage that blocks the one before;
//! * [`ScaleOut`]: a step of the load while servers start; [`schedule`]: what a stall does to a
//!   schedule.
//!
//! What no formula covers is simulated, by `weir-sim`.
//!
//! Networks that cannot be stable, negative demands, classes without demand and more states than
//! memory has are a [`ModelError`]; the small models that a search calls thousands of times have a
//! `check` for it.
//!
//! ```
//! use weir_queueing::{ClosedCpu, LargestUsers};
//!
//! // Requests that need 60 ms on 2 CPUs and spend a second in sleep; users think for half a second.
//! let server = ClosedCpu { think_s: 1.5, demand_s: 0.06, servers: 2 };
//! let LargestUsers::Users { users, utilization_at, .. } = server.largest_users(0.8) else {
//!     unreachable!("enough users fill any CPU");
//! };
//! assert_eq!(users, 43);
//! assert!((utilization_at - 0.791).abs() < 0.001);
//! ```
//!
//! All times are in seconds, all rates per second. Nothing here reads a clock or draws an unseeded
//! random number.

mod abandonment;
mod birth_death;
pub mod bounds;
mod breakdown;
mod chain;
mod closed_cpu;
mod error;
mod finite_source;
mod general_service;
pub mod laws;
mod multiclass;
mod network;
pub mod open;
mod pooled_server;
mod scale_out;
pub mod schedule;
mod tandem;
mod thread_limited;
mod transient;

pub use abandonment::{ImpatientQueue, ImpatientSolution};
pub use breakdown::{BreakdownQueue, BreakdownSolution};
pub use closed_cpu::{ClosedCpu, CpuPoint, ThinkFit};
pub use error::{ModelError, POPULATION_MAX};
pub use finite_source::{FiniteSource, FiniteSourceSolution};
pub use general_service::{GeneralQueue, InOrder, Shared};
pub use multiclass::{ClassOfUsers, MulticlassNetwork, MulticlassSolution};
pub use network::{ClosedNetwork, LargestUsers, NetworkSolution, Station, StationSolution};
pub use pooled_server::{PooledServer, PooledSolution};
pub use scale_out::{ScaleOut, ScaleOutSolution};
pub use tandem::{BlockingSolution, BlockingTandem};
pub use thread_limited::{LargestThreads, Pool, PoolUse, ThreadLimited, ThreadLimitedSolution};
pub use transient::{QueueAt, TransientQueue, relaxation_time_s};
