//! Solvers and simulator against values computed elsewhere.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod cases;
mod solvers;
