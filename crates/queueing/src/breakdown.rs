//! A server that fails and comes back: M/M/1 with breakdowns.

use crate::ModelError;
use crate::error::Check;

/// Poisson arrivals to one exponential server that works and fails by turns, both for exponential
/// times; what was being served goes on where it stopped, and arrivals continue meanwhile.
///
/// Source: White and Christie (1958), "Queuing with preemptive priorities or with breakdown". With
/// a = 1/up and b = 1/down: `L = lambda ((a+b)^2 + a mu) / ((a+b) (b (mu - lambda) - a lambda))`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreakdownQueue {
    /// Arrivals per second.
    pub arrivals_per_s: f64,
    /// Requests that the server finishes per second while it works.
    pub services_per_s: f64,
    /// Mean time from one repair to the next failure.
    pub up_s: f64,
    /// Mean time of a repair.
    pub down_s: f64,
}

/// Averages of a [`BreakdownQueue`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BreakdownSolution {
    /// Mean number present.
    pub present: f64,
    /// Mean time from arrival to end.
    pub response_time_s: f64,
    /// Share of the time in which the server works.
    pub availability: f64,
    /// Arrivals over what the server can do in the long run.
    pub utilization: f64,
}

impl BreakdownQueue {
    /// The steady state.
    pub fn solve(&self) -> Result<BreakdownSolution, ModelError> {
        let check = Check("M/M/1 with breakdowns");
        check.positive("the arrival rate", self.arrivals_per_s)?;
        check.positive("the service rate", self.services_per_s)?;
        check.positive("the mean time between failures", self.up_s)?;
        check.not_negative("the mean repair time", self.down_s)?;
        let availability = self.up_s / (self.up_s + self.down_s);
        let capacity_per_s = self.services_per_s * availability;
        check.stable(self.arrivals_per_s, capacity_per_s)?;
        // The closed form with numerator and denominator times down^2, so that repairs may take no
        // time.
        let (lambda, mu) = (self.arrivals_per_s, self.services_per_s);
        let fails = self.down_s / self.up_s;
        let turns = 1.0 + fails;
        let present = lambda * (turns * turns + fails * self.down_s * mu)
            / (turns * (mu - lambda - fails * lambda));
        Ok(BreakdownSolution {
            present,
            response_time_s: present / lambda,
            availability,
            utilization: lambda / capacity_per_s,
        })
    }
}
