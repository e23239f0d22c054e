//! How long a step of the load hurts until new servers are there: the fluid model of scale-out.
//!
//! Requests are a fluid here: nothing is random, and queues below capacity are empty. It says how
//! much piles up while servers start and how long it takes to work off; the waits of a queue that
//! keeps up come on top (the other models of this crate).

use crate::ModelError;
use crate::error::Check;

/// A step of the arrival rate, and servers that come later.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaleOut {
    /// Arrivals per second after the step.
    pub arrivals_per_s: f64,
    /// Requests per second that one server can do.
    pub per_server_per_s: f64,
    /// Servers at the step.
    pub servers: u32,
    /// Servers that are added.
    pub added: u32,
    /// Time from the step until they work.
    pub delay_s: f64,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaleOutSolution {
    /// Requests that wait when the new servers come: `(lambda - n mu) d`.
    pub backlog: f64,
    /// Time from then until nobody waits.
    pub drain_s: f64,
    /// Time from the step until nobody waits.
    pub recovered_s: f64,
    /// The longest wait of any request: `d (1 - n mu / lambda)`.
    pub wait_max_s: f64,
    /// When the request with the longest wait arrives, from the step on: `d n mu / lambda`.
    pub wait_max_at_s: f64,
    /// Wait of a request that arrives when the new servers come.
    pub wait_when_added_s: f64,
    /// Requests that had to wait.
    pub delayed: f64,
}

impl ScaleOut {
    /// Solves the fluid; an error when even all servers together cannot keep up.
    pub fn solve(&self) -> Result<ScaleOutSolution, ModelError> {
        let check = Check("the scale-out");
        check.positive("the arrival rate", self.arrivals_per_s)?;
        check.positive("the rate of one server", self.per_server_per_s)?;
        check.not_negative("the delay until servers come", self.delay_s)?;
        let before = f64::from(self.servers) * self.per_server_per_s;
        let after = before + f64::from(self.added) * self.per_server_per_s;
        let excess = self.arrivals_per_s - before;
        if excess <= 0.0 {
            return Ok(ScaleOutSolution {
                backlog: 0.0,
                drain_s: 0.0,
                recovered_s: 0.0,
                wait_max_s: 0.0,
                wait_max_at_s: 0.0,
                wait_when_added_s: 0.0,
                delayed: 0.0,
            });
        }
        check.stable(self.arrivals_per_s, after)?;
        let backlog = excess * self.delay_s;
        let drain_s = backlog / (after - self.arrivals_per_s);
        let recovered_s = self.delay_s + drain_s;
        let share = before / self.arrivals_per_s;
        Ok(ScaleOutSolution {
            backlog,
            drain_s,
            recovered_s,
            wait_max_s: self.delay_s * (1.0 - share),
            wait_max_at_s: self.delay_s * share,
            wait_when_added_s: backlog / after,
            delayed: self.arrivals_per_s * recovered_s,
        })
    }
}
