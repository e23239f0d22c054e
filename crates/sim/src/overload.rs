//! The situations that flow control is judged in: more than the server can take, less than it had,
//! pauses, retries, unequal requests.
//!
//! The server is two CPUs under processor sharing, with a mean of 10 ms of work per request,
//! exponential, so that it takes 200 requests per second; beyond 32 at once each one more costs it
//! 0.2 %. Arrivals are a Poisson process that waits for nobody. An answer within a second is good.
//! Whoever reads the CPU time sees what a program sees that reads `/proc/stat`: every 200 ms, in
//! ticks of 10 ms, 20 ms late, with a deviation of 1 % between when the kernel counts and when it
//! is read.

mod bad_times;
mod contestant;
mod goals;
mod lasting;
mod outages;
mod played;
mod scenarios;
mod steps;

pub use contestant::Contestant;
pub use scenarios::{Asked, Bound, SCENARIOS, Scenario};

/// What the server can take.
pub const CAPACITY_PER_S: f64 = 200.0;
