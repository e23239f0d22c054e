//! Files of cases with known answers: read, solved by what Weir is made of, compared, counted.
//!
//! A model that nobody checks is an opinion. An oracle file holds cases that were computed
//! elsewhere: parameters, expected values, tolerances, and where the formula comes from. The
//! `family` of a case selects the solver; every case is answered by the closed form or the exact
//! chain, and where events can be played by the simulator too.
//!
//! * [`read`] takes the text of a file apart;
//! * [`run`] solves and simulates one [`Case`] and compares: [`CaseResult`] is what goes into
//!   `cases` of the JSON;
//! * [`Effort`] says how much may be simulated, and on how many threads.
//!
//! Times are in seconds and rates per second, as in the files. No clock, no unseeded randomness, no
//! I/O.

mod case;
mod compare;
mod families;
mod judge;
mod run;
mod simulated;

pub use case::{Case, OracleError, Tolerance, Values, read};
pub use run::{CaseResult, run};
pub use simulated::Effort;
