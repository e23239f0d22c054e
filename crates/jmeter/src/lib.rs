//! A real JMeter as the load engine, for plans that Weir does not run itself.
//!
//! [`Home::find`] takes the JMeter that the user names, or the one in Weir's cache, which
//! [`assemble`] fills from Maven artifacts. [`PlanFile`] tells what can be known of a plan without
//! running it (whom it loads, how many users it has) and writes a changed copy of it where the
//! plan's own properties do not reach ([`Changes`]). [`start`] launches JMeter and returns when its
//! test begins; [`Launched::begin`] then follows the result file and delivers the same seconds as
//! Weir's own engine.
//!
//! Why a result file and not a listener inside JMeter: the file is JMeter's stable interface, needs
//! no plugin in the user's installation, and is what the user keeps anyway. Its columns are forced
//! on the command line, so that a user's own settings cannot make it unreadable.
//!
//! Invariants: the user's plan is never written to; JMeter ends when Weir ends, whatever way; what
//! cannot be known about a plan's servers is said, not guessed. Deliberately absent: reading the
//! environment, printing, drawing conclusions.

mod assemble;
mod console;
mod constant;
mod error;
mod gc_log;
mod home;
mod launch;
mod plan_file;
mod process;
mod result_tail;
mod running;
mod seconds;

pub use assemble::assemble;
pub use error::JmeterError;
pub use home::{Environment, Home, Java};
pub use launch::{Launch, Launched, start};
pub use plan_file::{Changes, PlanFacts, PlanFile, PlannedServer, UnknownServer};
pub use running::{JmeterSecond, JmeterSummary, RunningJmeter};
