//! A discrete-event simulator of the funnel of a thread-per-request server under a closed workload.
//!
//! Users think, then send a request, which passes the connection limit, waits in the request queue for a thread, and then goes
//! through its phases: it uses the CPU, sleeps, acquires and releases connections of pools. With the answer the user
//! thinks again. Each simulated second gives the same figures that a watch on a real server gives.
//!
//! Beside the plain truth a [`Scenario`] can hold what real servers do: a different CPU demand in each trial, a warm-up,
//! a drift, CPU time that others take, pauses of a garbage collector, a lock that nobody knows of. The same scenario and seed
//! give the same result.

mod cpu;
mod duration;
mod engine;
mod scenario;
mod second;

pub use duration::Duration;
pub use engine::{Response, Simulation, simulate};
pub use scenario::{
    ConnectionLimit, Discipline, Disturbances, Pauses, Phase, PoolLimit, Ramp, Scenario,
    ServerModel, StressRequest, UserClass, WhenConnectionsFull,
};
pub use second::{Averages, PoolAverages, Second, StageSecond};
