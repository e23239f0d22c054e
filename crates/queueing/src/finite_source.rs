//! N users, c servers, room for K: the machine-repair model, exact.

use crate::ModelError;
use crate::birth_death::{average, steady_state};
use crate::error::{Check, POPULATION_MAX};

/// Users who think, then ask one of several servers; what finds the room full goes back to
/// thinking.
///
/// Exact for exponential think times of any kind of service (only the mean of the think time
/// matters) and exponential service; with as many servers as users any service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FiniteSource {
    /// Number of users.
    pub users: u32,
    /// Mean think time.
    pub think_s: f64,
    /// Mean service time.
    pub service_s: f64,
    /// Servers that work at the same time.
    pub servers: u32,
    /// Most requests inside, in service and waiting; `None`: all users fit.
    pub room: Option<u32>,
}

/// Averages of a [`FiniteSource`] in the steady state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FiniteSourceSolution {
    /// Requests served per second.
    pub throughput_per_s: f64,
    /// Mean time inside of those that were let in.
    pub response_time_s: f64,
    /// Mean number inside.
    pub present: f64,
    /// Busy share of each server.
    pub utilization: f64,
    /// Requests that were refused, per second.
    pub refused_per_s: f64,
    /// Refused over all attempts.
    pub refused_share: f64,
}

impl FiniteSource {
    /// Whether there is a solution.
    pub fn check(&self) -> Result<(), ModelError> {
        let check = Check("the finite source");
        check.at_least_one("the number of users", self.users)?;
        check.population("users", self.users)?;
        check.positive("the think time", self.think_s)?;
        check.positive("the service time", self.service_s)?;
        check.at_least_one("the number of servers", self.servers)?;
        self.room
            .map_or(Ok(()), |room| check.at_least_one("the room", room))
    }

    /// Solves the birth-death process with `(N - n)/Z` up and `min(n, c)/S` down.
    ///
    /// Panics where [`Self::check`] says why not.
    pub fn solve(&self) -> FiniteSourceSolution {
        assert!(
            self.think_s > 0.0
                && self.service_s > 0.0
                && self.servers > 0
                && self.users <= POPULATION_MAX,
            "{self:?} needs positive times and users that fit in memory"
        );
        let room = self.room.unwrap_or(self.users).min(self.users) as usize;
        let busy = |n: usize| n.min(self.servers as usize) as f64;
        let asking = |n: usize| f64::from(self.users - n as u32) / self.think_s;
        let states = steady_state(room, asking, |n| busy(n) / self.service_s);
        let throughput_per_s = average(&states, busy) / self.service_s;
        let present = average(&states, |n| n as f64);
        let refused_per_s = asking(room) * states[room];
        FiniteSourceSolution {
            throughput_per_s,
            response_time_s: present / throughput_per_s,
            present,
            utilization: throughput_per_s * self.service_s / f64::from(self.servers),
            refused_per_s,
            refused_share: refused_per_s / (throughput_per_s + refused_per_s),
        }
    }
}
