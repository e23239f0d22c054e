//! Two stages in a row with little room between: a full second stage blocks the first.

use crate::ModelError;
use crate::birth_death::{average, steady_state};
use crate::error::Check;

/// Two exponential servers in a row, blocking after service; the first one always has work.
///
/// What finds the place between the two full stays on the first server until the second one
/// finishes (Hunt 1956, "Sequential arrays of waiting lines"; Perros 1994, "Queueing Networks with
/// Blocking"). Births at the rate of the first server, deaths at the rate of the second, up to
/// `room + 2` requests: one served, `room` waiting and one that blocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockingTandem {
    /// Requests per second that the first server finishes when nothing blocks it.
    pub first_per_s: f64,
    /// Requests per second that the second server finishes.
    pub second_per_s: f64,
    /// Waiting places between the two.
    pub room: u32,
}

/// Averages of a [`BlockingTandem`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlockingSolution {
    /// Requests that leave per second.
    pub throughput_per_s: f64,
    /// Share of the time in which the first server is blocked.
    pub blocked_share: f64,
    /// Mean number at the second server, waiting or served; the one that blocks the first is not
    /// there yet.
    pub at_second: f64,
}

impl BlockingTandem {
    /// The steady state.
    pub fn solve(&self) -> Result<BlockingSolution, ModelError> {
        let check = Check("two stages with blocking");
        check.positive("the rate of the first stage", self.first_per_s)?;
        check.positive("the rate of the second stage", self.second_per_s)?;
        check.population("waiting places", self.room)?;
        let places = self.room as usize + 1;
        let states = steady_state(places + 1, |_| self.first_per_s, |_| self.second_per_s);
        Ok(BlockingSolution {
            throughput_per_s: (1.0 - states[0]) * self.second_per_s,
            blocked_share: states[places + 1],
            at_second: average(&states, |n| n.min(places) as f64),
        })
    }
}
