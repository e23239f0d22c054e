//! Estimates and tests against known answers and over many seeds.

mod coverage;
mod equivalence;
mod known_answers;
#[path = "../series/mod.rs"]
mod series;
mod usl;
