//! Callers who give up: M/M/c with exponential patience (Erlang A).

use crate::birth_death::{average, steady_state};
use crate::error::{Check, POPULATION_MAX};
use crate::{ModelError, open::OpenQueue};

/// Poisson arrivals to several servers; who waits gives up after an exponential time.
///
/// Source: Palm (1946, "Research on telephone traffic carried by full availability groups");
/// Garnett, Mandelbaum and Reiman (2002). A birth-death process with `lambda` up and
/// `min(n, c) mu + (n - c)+ theta` down; stable at any load as long as somebody gives up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImpatientQueue {
    /// Arrivals, services and servers.
    pub queue: OpenQueue,
    /// One over the mean patience; 0: nobody gives up.
    pub give_up_per_s: f64,
}

/// Averages of an [`ImpatientQueue`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ImpatientSolution {
    /// Share of arrivals that give up.
    pub given_up_share: f64,
    /// Mean number waiting.
    pub waiting: f64,
    /// Mean number waiting or served.
    pub present: f64,
    /// Requests served per second.
    pub throughput_per_s: f64,
    /// Busy share of each server.
    pub utilization: f64,
    /// Share of arrivals that find all servers busy.
    pub wait_probability: f64,
    /// Mean wait of all arrivals, of those that give up until they do.
    pub wait_s: f64,
}

/// States are counted until their weight is below this share of the largest one.
const NEGLIGIBLE: f64 = 1e-18;

impl ImpatientQueue {
    /// The steady state.
    pub fn solve(&self) -> Result<ImpatientSolution, ModelError> {
        let check = Check("M/M/c with abandonment");
        let queue = self.queue;
        queue.check(check)?;
        check.not_negative("the rate of giving up", self.give_up_per_s)?;
        if self.give_up_per_s == 0.0 {
            check.stable(queue.arrivals_per_s, queue.capacity_per_s())?;
        }
        let servers = queue.servers as usize;
        let death = |n: usize| {
            n.min(servers) as f64 * queue.services_per_s
                + n.saturating_sub(servers) as f64 * self.give_up_per_s
        };
        let last = self.last_state(check, death)?;
        let states = steady_state(last, |_| queue.arrivals_per_s, death);
        let waiting = average(&states, |n| n.saturating_sub(servers) as f64);
        let busy = average(&states, |n| n.min(servers) as f64);
        let throughput_per_s = busy * queue.services_per_s;
        Ok(ImpatientSolution {
            given_up_share: waiting * self.give_up_per_s / queue.arrivals_per_s,
            waiting,
            present: waiting + busy,
            throughput_per_s,
            utilization: busy / f64::from(queue.servers),
            wait_probability: average(&states, |n| f64::from(u8::from(n >= servers))),
            wait_s: waiting / queue.arrivals_per_s,
        })
    }

    /// The state behind which the rest weighs nothing.
    fn last_state(&self, check: Check, death: impl Fn(usize) -> f64) -> Result<usize, ModelError> {
        let (mut logarithm, mut largest) = (0.0_f64, 0.0_f64);
        for n in 1..=POPULATION_MAX as usize {
            let ratio = self.queue.arrivals_per_s / death(n);
            logarithm += ratio.ln();
            largest = largest.max(logarithm);
            // What follows is at most a geometric series of this ratio.
            if ratio < 1.0 && logarithm - (1.0 - ratio).ln() < largest + NEGLIGIBLE.ln() {
                return Ok(n);
            }
        }
        check.fits("states", f64::INFINITY, u64::from(POPULATION_MAX))?;
        Ok(POPULATION_MAX as usize)
    }
}
