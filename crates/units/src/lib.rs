//! Quantities as they are typed in files and on the command line, and shown to people.
//!
//! A quantity is a number and a unit: `80 %`, `300 ms`, `50 /s`, `64 MB`. Inside Weir every
//! quantity is kept in its base unit (share of one, seconds, per second, bytes); this crate holds
//! the one place where text becomes a base unit and back. [`CpuSet`] is the kernel's list format
//! for sets of CPUs (`0-1,3`).
//!
//! Deliberately absent: arithmetic on quantities, locale-dependent formats, any clock.

mod cpuset;
mod quantity;

pub use cpuset::{CpuSet, CpuSetError};
pub use quantity::{Quantity, QuantityError, Unit, parse_duration, parse_share};
