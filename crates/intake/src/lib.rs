//! What people already have, as trials of Weir's own form.
//!
//! A load test that somebody ran by hand leaves a result file of JMeter and, with luck, what a
//! monitor wrote beside it: `sar`, `sadf -d`, `nmon`, `dstat`. This crate reads both ([`Samples`],
//! [`Monitor`]), lays them on one time axis ([`Clock::align`]), and makes of them what a trial of
//! Weir leaves behind ([`take_in`]): seconds, histograms, a record whose figures carry their
//! intervals, notes of everything that was assumed, left out or dropped.
//!
//! Invariants: nothing is read but what is handed in; no clock and no environment, the time zone is
//! an argument; a value that the files do not hold is absent, never 0; a line that cannot be read
//! is counted and named, and many of them are an error.

mod align;
mod broken;
mod error;
mod foreign;
mod monitor;
mod samples;
mod stretches;
mod take_in;
mod window;

pub use align::{Aligned, Clock};
pub use broken::Broken;
pub use error::IntakeError;
pub use monitor::{Monitor, MonitorKind};
pub use samples::{Part, ResultFile, Samples};
pub use take_in::{Ask, TakenIn, take_in};
