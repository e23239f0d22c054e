//! Queueing laws, exact and approximate solutions of closed networks, and the simulator.
//!
//! This crate foretells what a server will do under a load from a handful of numbers: how much CPU a request needs, how
//! long it holds a thread and a connection, how long users think. From small to large:
//!
//! * [`laws`]: what holds in every system, whatever its distributions;
//! * [`bounds`]: how much a closed network can do at all;
//! * [`open`]: M/M/c and M/M/c/K for arrivals that do not wait for answers;
//! * [`FiniteSource`]: N users, one pool of servers, a bounded room;
//! * [`ClosedNetwork`]: the exact solution for any number of stations with several servers each;
//! * [`ClosedCpu`]: think time and one CPU station, with the inverse questions a search asks;
//! * [`ThreadLimited`]: a thread limit around CPU and connection pool;
//! * [`sim`]: a discrete-event simulator of the whole funnel, for what no formula covers, and [`SimulatedServer`], which
//!   runs trials on it.
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
//! All times are in seconds, all rates per second. Nothing here reads a clock or draws an unseeded random number.

mod birth_death;
pub mod bounds;
mod closed_cpu;
mod finite_source;
pub mod laws;
mod network;
pub mod open;
pub mod sim;
mod simulated_server;
mod thread_limited;

pub use closed_cpu::{ClosedCpu, CpuPoint, ThinkFit};
pub use finite_source::{FiniteSource, FiniteSourceSolution};
pub use network::{ClosedNetwork, LargestUsers, NetworkSolution, Station, StationSolution};
pub use simulated_server::SimulatedServer;
pub use thread_limited::{LargestThreads, Pool, PoolUse, ThreadLimited, ThreadLimitedSolution};
