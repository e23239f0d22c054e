//! What can be measured, and in what: the words of the trade as types.
//!
//! A [`Quantity`] is a number and a unit as people type it: `80 %`, `300 ms`, `50 /s`, `64 MB`.
//! Inside Weir every quantity is kept in its base unit (share of one, seconds, per second, bytes).
//! A [`Requirement`] such as `cpu <= 80 %` bounds a [`Metric`], wherever a user can write one:
//! studies, the command line, reports. A [`Signal`] is a number that is read once a second; the
//! [`catalogue()`] has each with its [`SignalUnit`], its weight and the way it gets better, and
//! [`figure()`] those of every figure of a trial's record. [`CpuSet`] is the kernel's list format
//! for sets of CPUs (`0-1,3`).
//!
//! Why not strings with a convention: a unit that is guessed from the end of a name is guessed
//! differently in the next place.
//!
//! Deliberately absent: arithmetic on quantities, locale-dependent formats, any clock.

mod catalogue;
mod cpuset;
pub mod names;
mod quantity;
mod requirement;
mod signal;
mod signal_unit;
mod stage;
mod written;

pub use catalogue::{catalogue, describe, figure, load_figures, record_figures};
pub use cpuset::{CpuSet, CpuSetError};
pub use quantity::{Quantity, QuantityError, Unit, parse_bytes, parse_duration, parse_share};
pub use requirement::{Comparison, Metric, RelativeRequirement, Requirement, RequirementError};
pub use signal::{Better, Signal, Weight};
pub use signal_unit::{DECIMALS_MAX, SignalUnit};
pub use stage::{is_pool, is_stage, stage_place};
pub use written::{decimals_apart, number};
