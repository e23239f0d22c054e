//! The simulator against known answers, its intervals, its files.

#[path = "../../../queueing/tests/queueing/answers/cases.rs"]
#[expect(dead_code, reason = "the tests of the solvers need more of it")]
mod cases;
mod coverage;
mod fleets;
mod funnel;
mod funnel_answers;
mod fuzz;
mod known_answers;
mod network_file;
mod played;
mod trials;
