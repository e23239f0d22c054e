//! One real trial: set the server, start the load, warm up, measure, drain, store.
//!
//! [`Rig`] is the [`TrialRunner`](weir_record::TrialRunner) that works on real sockets and a real
//! `/proc`. [`measure`](measure()) is its core, which `weir run` uses on its own: one load and one
//! watch on one time origin, followed second by second until the window is long enough.
//!
//! Invariants: the target and the load generator keep to CPUs of their own where there are two
//! ([`CpuPlan`]); limits that a treatment does not name are as they were found; a trial counts from
//! the moment its record is written whole. Deliberately absent: any choice of what to try next.

mod cpus;
mod engine;
mod levels;
mod measure;
mod rig;
mod trial_load;
mod unseen;

pub use cpus::CpuPlan;
pub use engine::{Engine, LoadEnd};
pub use measure::{Length, Measured, Measurement, measure};
pub use rig::{Rig, RigOptions};
pub use trial_load::{JmeterLoad, TrialLoad};
