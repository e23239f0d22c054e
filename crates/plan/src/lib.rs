//! What is asked and what is sent, as data: requirements and load plans.
//!
//! [`Requirement`] is the one type and the one parser for `cpu <= 80 %` wherever a user can write
//! it: studies, the command line, reports. [`LoadPlan`] is the one description of a load that the
//! engine runs, whether it was read from a JMeter plan or built from a URL; it is data and
//! validation only.
//!
//! Deliberately absent: running anything, reading files, substituting variables (a plan keeps the
//! text as the user wrote it, in [`Template`]s; `weir-script` gives them their meaning).

mod load;
mod requirement;

pub use load::{
    Argument, HttpRequest, Iterations, LoadPlan, OnSampleError, Position, Schedule, Step, Template,
    ThreadGroup, Timer, Variable,
};
pub use requirement::{Comparison, Metric, Requirement, RequirementError};
