//! What an admission has counted.

use std::time::Duration;

use crate::decision::{Refusal, Why};
use crate::promise::PromiseSeen;

/// How an admission stands, and what it has counted since it began.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// The limit on requests in flight; infinite without one.
    pub limit: f64,
    /// Requests in flight.
    pub in_flight: u32,
    /// Requests that wait.
    pub queued: usize,
    /// What all classes have counted together.
    pub counts: Counts,
    /// Each class, in the order of the rules.
    pub classes: Vec<ClassSeen>,
}

/// How a class stands, and what it has counted.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassSeen {
    /// Its name.
    pub name: String,
    /// The limit on its requests in flight; infinite without one.
    pub limit: f64,
    /// Requests in flight.
    pub in_flight: u32,
    /// Requests that wait.
    pub queued: usize,
    /// Whether its queue has been standing for so long that those who came last are taken first.
    pub newest_first: bool,
    /// How its promise stands, if it has one.
    pub promise: Option<PromiseSeen>,
    /// What it has counted.
    pub counts: Counts,
}

/// Requests counted since the beginning. Those that arrived are admitted, refused, abandoned while
/// they waited, or still wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Requests that arrived.
    pub arrived: u64,
    /// Requests admitted, at once or after a wait.
    pub admitted: u64,
    /// Of those, the ones that waited.
    pub waited: u64,
    /// Sum of their waits.
    pub wait_total: Duration,
    /// The longest of their waits.
    pub wait_max: Duration,
    /// Requests refused, by why, in the order of [`Why::ALL`].
    pub refused: [u64; 5],
    /// Requests whose client left while they waited.
    pub abandoned: u64,
    /// Admitted requests that are over.
    pub finished: u64,
}

impl Counts {
    /// Requests refused for this reason.
    pub fn refused_for(&self, why: Why) -> u64 {
        self.refused[why as usize]
    }

    /// Requests refused for any reason.
    pub fn refused_total(&self) -> u64 {
        self.refused.iter().sum()
    }

    pub(crate) fn admit(&mut self, waited: Option<Duration>) {
        self.admitted += 1;
        if let Some(waited) = waited {
            self.waited += 1;
            self.wait_total += waited;
            self.wait_max = self.wait_max.max(waited);
        }
    }

    pub(crate) fn refuse(&mut self, refusal: &Refusal) {
        self.refused[refusal.why as usize] += 1;
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.arrived += other.arrived;
        self.admitted += other.admitted;
        self.waited += other.waited;
        self.wait_total += other.wait_total;
        self.wait_max = self.wait_max.max(other.wait_max);
        for (sum, count) in self.refused.iter_mut().zip(other.refused) {
            *sum += count;
        }
        self.abandoned += other.abandoned;
        self.finished += other.finished;
    }
}

/// Time that requests have spent, added up over all of them: what it grows by in a second is how
/// many there were on average in that second, which no single look tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// In flight.
    pub in_flight: Duration,
    /// Waiting, those included that are refused or leave in the end.
    pub waiting: Duration,
}

impl Spent {
    /// So many are in flight and so many wait for a time.
    pub(crate) fn add(&mut self, in_flight: u32, waiting: usize, time: Duration) {
        let waiting = u32::try_from(waiting).unwrap_or(u32::MAX);
        let spent = |sum: Duration, count: u32| sum.saturating_add(time.saturating_mul(count));
        self.in_flight = spent(self.in_flight, in_flight);
        self.waiting = spent(self.waiting, waiting);
    }
}
