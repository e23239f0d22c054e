//! Solvers and the simulator against known answers and against each other.

mod agreement;
mod answers;
mod approximations;
mod limits;
mod models;
