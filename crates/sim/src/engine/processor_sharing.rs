//! Processor sharing in *service received*.
//!
//! Every job receives service at the same rate, so it is done when the common total has grown by
//! its demand, and a change of the rate moves nobody in the order: each event costs O(log n). One
//! event of the network is scheduled for the next end; when others come in and slow all down it is
//! left where it is, and moved when it comes up too early.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::entity::Entities;

/// When a job is done in service received, as bits that order like the number, its stamp, and whose
/// it is.
type Job = Reverse<(u64, u32, u32)>;

#[derive(Debug, Default)]
pub(crate) struct SharedJobs {
    jobs: BinaryHeap<Job>,
    /// Service that each job present since the start would have received.
    received: f64,
    /// Time up to which `received` is right.
    at: f64,
    /// The scheduled event; 0: none.
    pub(crate) stamp: u32,
    /// When it comes.
    pub(crate) due: f64,
    /// Whether the first job is done then.
    pub(crate) exact: bool,
}

impl SharedJobs {
    /// Goes on to `now` at `rate`.
    #[inline]
    pub(crate) fn advance(&mut self, now: f64, rate: f64) {
        self.received += (now - self.at) * rate;
        self.at = now;
    }

    #[inline]
    pub(crate) fn add(&mut self, id: u32, stamp: u32, demand_s: f64) {
        let done = self.received + demand_s;
        self.jobs.push(Reverse((done.to_bits(), stamp, id)));
    }

    /// Service until the first job is done; jobs that have gone are dropped on the way.
    #[inline]
    pub(crate) fn first_left(&mut self, entities: &Entities) -> Option<f64> {
        while let Some(Reverse((done, stamp, id))) = self.jobs.peek() {
            if entities[*id].stamp == *stamp {
                return Some((f64::from_bits(*done) - self.received).max(0.0));
            }
            self.jobs.pop();
        }
        // An empty station starts from 0, so that the sum keeps its digits.
        self.received = 0.0;
        None
    }

    /// Takes the first job out, which is done.
    #[inline]
    pub(crate) fn take_first(&mut self) -> u32 {
        let Reverse((done, _, id)) = self.jobs.pop().expect("a job is done");
        self.received = self.received.max(f64::from_bits(done));
        id
    }

    pub(crate) fn bytes(&self) -> usize {
        self.jobs.capacity() * size_of::<Job>()
    }
}
