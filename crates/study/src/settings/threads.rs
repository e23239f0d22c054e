//! The largest number of threads at which the CPU stays within its goal with all of them busy.

use weir_queueing::{LargestThreads, ThreadLimited};
use weir_record::TrialRecord;

use super::Demand;
use crate::search::cpu::disturbed_by;

/// The most threads that are considered.
const THREADS_MAX: u32 = 2_000;
/// How far the model's CPU may be off, and how far a trial's, as standard deviations of the CPU
/// share. With them the first trial outweighs the model four to one.
const MODEL_DOUBT: f64 = 0.03;
const TRIAL_DOUBT: f64 = 0.015;
/// The CPU may exceed its goal by so much as fitted, if otherwise the throughput of the answer would
/// be missed: one thread moves the CPU by several points, and the check cannot tell less than a point.
const NEARLY: f64 = 0.0075;

/// A closed network of CPU and delay with as many requests as threads, and trials that correct it.
#[derive(Debug, Clone)]
pub(crate) struct ThreadSearch {
    model: ThreadLimited,
    goal: f64,
    /// Trials with all threads busy.
    seen: Vec<Seen>,
}

/// A trial with all threads busy.
#[derive(Debug, Clone, Copy)]
struct Seen {
    threads: u32,
    cpu: f64,
    /// One over the variance of the CPU.
    weight: f64,
}

impl ThreadSearch {
    /// `None` when no number of threads keeps the CPU at the goal.
    pub(crate) fn new(demand: &Demand, goal: f64) -> Option<Self> {
        let model = ThreadLimited {
            users: 1,
            think_s: 1.0,
            threads: 1,
            cpu_demand_s: demand.cpu_s,
            servers: demand.servers,
            delay_in_thread_s: demand.delay_in_thread_s,
            pool: None,
            room: None,
        };
        match model.largest_threads(goal, THREADS_MAX) {
            LargestThreads::Threads { .. } => Some(Self {
                model,
                goal,
                seen: Vec::new(),
            }),
            LargestThreads::Any { .. } | LargestThreads::Beyond { .. } => None,
        }
    }

    /// Adds a trial with this limit and all threads busy.
    pub(crate) fn add(&mut self, threads: u32, trial: &TrialRecord) {
        let Some(cpu) = trial.cpu else {
            return;
        };
        let disturbed = disturbed_by(trial, self.model.servers) / 2.0;
        self.seen.push(Seen {
            threads,
            cpu: cpu.total,
            weight: TRIAL_DOUBT.hypot(disturbed).powi(-2),
        });
    }

    /// How much higher the CPU is than the model says: the mean of the trials, drawn towards 0 by
    /// the model's own weight (posterior mean of a normal offset).
    fn offset(&self) -> f64 {
        let of_trial =
            |seen: &Seen| seen.weight * (seen.cpu - self.model.utilization_all_busy(seen.threads));
        let weights: f64 = self.seen.iter().map(|seen| seen.weight).sum();
        self.seen.iter().map(of_trial).sum::<f64>() / (weights + MODEL_DOUBT.powi(-2))
    }

    /// The CPU with all of `threads` busy, as fitted.
    pub(crate) fn cpu(&self, threads: u32) -> f64 {
        self.model.utilization_all_busy(threads) + self.offset()
    }

    /// The largest limit at which the fitted CPU is within the goal. `wanted` is the CPU that keeps
    /// the throughput of the answer; when the limit misses it and one thread more exceeds the goal
    /// by less than the check can tell, it is that.
    pub(crate) fn largest(&self, wanted: f64) -> u32 {
        let target = (self.goal - self.offset()).clamp(0.01, 0.995);
        let threads = match self.model.largest_threads(target, THREADS_MAX) {
            LargestThreads::Threads { threads, .. } => threads.max(1),
            LargestThreads::Any { .. } | LargestThreads::Beyond { .. } => THREADS_MAX,
        };
        let next = threads + 1;
        if self.cpu(threads) < wanted && self.cpu(next) <= self.goal + NEARLY {
            return next;
        }
        threads
    }
}
