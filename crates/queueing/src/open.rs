//! Arrivals that do not wait for answers: M/M/c and M/M/c/K, exact.
//!
//! They need Poisson arrivals and exponential service. Sources: Erlang (1917); Kleinrock (1975),
//! "Queueing Systems", volume 1, chapter 3.

use crate::ModelError;
use crate::birth_death::{average, steady_state};
use crate::error::{Check, POPULATION_MAX};

/// Poisson arrivals to several equal servers with one queue; with one server it is M/M/1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenQueue {
    /// Arrivals per second.
    pub arrivals_per_s: f64,
    /// Requests that one server finishes per second.
    pub services_per_s: f64,
    /// Number of servers.
    pub servers: u32,
}

/// Averages and tails of an [`OpenQueue`] that keeps up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpenSolution {
    /// Busy share of each server.
    pub utilization: f64,
    /// Probability that a request has to wait (Erlang C).
    pub wait_probability: f64,
    /// Mean wait of all requests, those that do not wait included.
    pub wait_s: f64,
    /// Mean time from arrival to end.
    pub response_time_s: f64,
    /// Mean number waiting.
    pub waiting: f64,
    /// Mean number waiting or served.
    pub present: f64,
    queue: OpenQueue,
}

/// Share of arrivals that find all of `servers` busy when nothing may wait (Erlang B), for an
/// offered load in erlangs.
///
/// By the recursion `B(k) = a B(k-1) / (k + a B(k-1))`, which is stable for any number of servers.
pub fn erlang_b(offered: f64, servers: u32) -> f64 {
    (1..=servers).fold(1.0, |blocked, k| {
        offered * blocked / (f64::from(k) + offered * blocked)
    })
}

impl OpenQueue {
    /// The steady state; `None` if the servers cannot keep up, so that there is none.
    pub fn solve(&self) -> Option<OpenSolution> {
        let offered = self.arrivals_per_s / self.services_per_s;
        let utilization = offered / f64::from(self.servers);
        if utilization >= 1.0 {
            return None;
        }
        let blocked = erlang_b(offered, self.servers);
        let wait_probability = blocked / (1.0 - utilization * (1.0 - blocked));
        let wait_s = wait_probability / self.spare_per_s();
        let response_time_s = wait_s + 1.0 / self.services_per_s;
        Some(OpenSolution {
            utilization,
            wait_probability,
            wait_s,
            response_time_s,
            waiting: self.arrivals_per_s * wait_s,
            present: self.arrivals_per_s * response_time_s,
            queue: *self,
        })
    }

    /// The steady state, or why there is none.
    pub fn solve_checked(&self) -> Result<OpenSolution, ModelError> {
        let check = Check("M/M/c");
        self.check(check)?;
        check.stable(self.arrivals_per_s, self.capacity_per_s())?;
        Ok(self.solve().expect("arrivals are below the capacity"))
    }

    /// Rates are positive and there is a server.
    pub(crate) fn check(&self, check: Check) -> Result<(), ModelError> {
        check.positive("the arrival rate", self.arrivals_per_s)?;
        check.positive("the service rate", self.services_per_s)?;
        check.at_least_one("the number of servers", self.servers)
    }

    /// What all servers can do per second.
    pub(crate) fn capacity_per_s(&self) -> f64 {
        f64::from(self.servers) * self.services_per_s
    }

    /// The solution with room for `room` requests, or why there is none.
    pub fn solve_bounded_checked(&self, room: u32) -> Result<BoundedSolution, ModelError> {
        let check = Check("M/M/c/K");
        self.check(check)?;
        check.at_least_one("the room", room)?;
        check.population("places", room)?;
        Ok(self.solve_bounded(room))
    }

    /// Room for `room` requests in all, in service and waiting; further arrivals are refused.
    pub fn solve_bounded(&self, room: u32) -> BoundedSolution {
        assert!(
            room <= POPULATION_MAX,
            "{room} places are more than memory has"
        );
        let servers = self.servers as usize;
        let busy = |n: usize| n.min(servers) as f64;
        let states = steady_state(
            room as usize,
            |_| self.arrivals_per_s,
            |n| busy(n) * self.services_per_s,
        );
        let throughput_per_s = average(&states, busy) * self.services_per_s;
        let present = average(&states, |n| n as f64);
        let waiting = average(&states, |n| n.saturating_sub(servers) as f64);
        BoundedSolution {
            refused_share: states[room as usize],
            throughput_per_s,
            present,
            waiting,
            response_time_s: present / throughput_per_s,
            wait_s: waiting / throughput_per_s,
            utilization: throughput_per_s / self.services_per_s / f64::from(self.servers),
            empty_probability: states[0],
        }
    }

    /// Rate at which a queue shrinks while all servers are busy.
    fn spare_per_s(&self) -> f64 {
        f64::from(self.servers) * self.services_per_s - self.arrivals_per_s
    }
}

impl OpenSolution {
    /// The wait that the share `q` of all requests does not exceed: `P(wait > t) = C exp(-(c mu -
    /// lambda) t)`.
    pub fn wait_quantile_s(&self, q: f64) -> f64 {
        ((self.wait_probability / (1.0 - q)).ln() / self.queue.spare_per_s()).max(0.0)
    }

    /// The response time that the share `q` of all requests does not exceed.
    pub fn response_time_quantile_s(&self, q: f64) -> f64 {
        let (mut low, mut high) = (
            0.0,
            self.wait_quantile_s(q) + 50.0 / self.queue.services_per_s,
        );
        // 100 halvings bring any start below the last digit.
        for _ in 0..100 {
            let middle = f64::midpoint(low, high);
            if self.response_time_exceeds(middle) > 1.0 - q {
                low = middle;
            } else {
                high = middle;
            }
        }
        f64::midpoint(low, high)
    }

    /// `P(response time > t)`: service alone, or an exponential wait and then service.
    fn response_time_exceeds(&self, time_s: f64) -> f64 {
        let (mu, spare) = (self.queue.services_per_s, self.queue.spare_per_s());
        let service = (-mu * time_s).exp();
        let gap = mu - spare;
        // Density of the wait times the tail of the service, integrated; the two rates may be equal
        // (M/M/1 at rest).
        let with_wait = if gap.abs() < 1e-9 * mu {
            (1.0 + mu * time_s) * service
        } else {
            (mu * (-spare * time_s).exp() - spare * service) / gap
        };
        (1.0 - self.wait_probability) * service + self.wait_probability * with_wait
    }
}

/// Averages of an [`OpenQueue`] with bounded room.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoundedSolution {
    /// Share of arrivals that are refused.
    pub refused_share: f64,
    /// Requests served per second.
    pub throughput_per_s: f64,
    /// Mean number waiting or served.
    pub present: f64,
    /// Mean number waiting.
    pub waiting: f64,
    /// Mean time inside of those that were let in.
    pub response_time_s: f64,
    /// Mean wait of those that were let in.
    pub wait_s: f64,
    /// Busy share of each server.
    pub utilization: f64,
    /// Probability that nothing is there.
    pub empty_probability: f64,
}
