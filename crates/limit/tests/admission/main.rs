//! The whole decision, driven from outside as a gateway drives it.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod allocation;
mod classes;
mod concurrency;
mod driver;
mod learnt;
mod properties;
mod random;
mod rate;
mod vectors;
