//! The CPUs: who is running, and who is done next.
//!
//! Works in *service received*: every running request receives service at the same rate, so it is done when the common
//! total has grown by its demand. A change of the rate then moves no entry of the heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::scenario::Discipline;

/// A number that orders itself; never NaN here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ordered(pub(crate) f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

pub(crate) struct Cpu {
    cores: f64,
    /// Share of its time that a core works for us.
    speed: f64,
    discipline: Discipline,
    paused: bool,
    /// Service that each request running since the start would have received.
    received: f64,
    /// Time up to which `received` and `busy` are right.
    at: f64,
    /// Integral of the busy share.
    busy: f64,
    /// By the value of `received` at which they are done.
    running: BinaryHeap<Reverse<(Ordered, u32)>>,
    waiting: VecDeque<(u32, f64)>,
}

impl Cpu {
    pub(crate) fn new(cores: u32, speed: f64, discipline: Discipline) -> Self {
        Self {
            cores: f64::from(cores),
            speed,
            discipline,
            paused: false,
            received: 0.0,
            at: 0.0,
            busy: 0.0,
            running: BinaryHeap::new(),
            waiting: VecDeque::new(),
        }
    }

    pub(crate) fn start(&mut self, now: f64, user: u32, demand_s: f64) {
        self.advance(now);
        if self.discipline == Discipline::FirstComeFirstServed
            && self.running.len() as f64 >= self.cores
        {
            self.waiting.push_back((user, demand_s));
        } else {
            self.running
                .push(Reverse((Ordered(self.received + demand_s), user)));
        }
    }

    /// When the next request is done, if nothing else happens before.
    pub(crate) fn next_done(&self) -> f64 {
        match self.running.peek() {
            Some(Reverse((Ordered(done_at), _))) if !self.paused => {
                self.at + (done_at - self.received).max(0.0) / self.rate()
            }
            _ => f64::INFINITY,
        }
    }

    /// Takes out the request that is done at `now`.
    pub(crate) fn finish(&mut self, now: f64) -> u32 {
        self.advance(now);
        let Reverse((_, user)) = self.running.pop().expect("a request is done");
        if let Some((next, demand_s)) = self.waiting.pop_front() {
            self.running
                .push(Reverse((Ordered(self.received + demand_s), next)));
        }
        user
    }

    pub(crate) fn pause(&mut self, now: f64) {
        self.advance(now);
        self.paused = true;
    }

    pub(crate) fn resume(&mut self, now: f64) {
        self.advance(now);
        self.paused = false;
    }

    /// Integral of the busy share (of the time that others leave) up to `now`.
    pub(crate) fn busy_integral(&mut self, now: f64) -> f64 {
        self.advance(now);
        self.busy
    }

    /// Service per second that each running request receives.
    fn rate(&self) -> f64 {
        self.speed * (self.cores / self.running.len() as f64).min(1.0)
    }

    fn advance(&mut self, now: f64) {
        let elapsed = now - self.at;
        self.at = now;
        if self.paused {
            self.busy += elapsed;
        } else if !self.running.is_empty() {
            self.received += elapsed * self.rate();
            self.busy += elapsed * (self.running.len() as f64 / self.cores).min(1.0);
        }
    }
}
