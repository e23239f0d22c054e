//! Stages `request-queue` and `threads`: the requests that wait for a worker, and the workers.
//!
//! Both stages, the results of requests and the number of workers live behind one lock, which each
//! request takes three times for some tens of nanoseconds. So every reading is consistent: what
//! entered a stage has left it or is in it, at any instant.
//!
//! The queue has no limit of its own: a connection has one request here at most, so the connection
//! limit bounds it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::Instant;

use crate::connection::Connection;
use crate::stage::{Level, Line, StageReading, seconds};

/// The queue of requests and the census of workers.
pub(crate) struct Dispatch {
    state: Mutex<State>,
    work: Condvar,
}

/// A connection that has something to read.
pub(crate) struct Ready {
    pub(crate) connection: Connection,
    /// When it became readable.
    pub(crate) since: Instant,
    /// Whether no worker was free for it then.
    had_to_wait: bool,
}

struct State {
    queue: VecDeque<Ready>,
    line: Line,
    limit: u64,
    alive: u64,
    idle: usize,
    busy: Level,
    results: Results,
    stopping: bool,
}

/// How a worker's turn with a connection ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Outcome {
    /// Answered with this status.
    Answered(u16),
    /// The client went away before its request was complete.
    Abandoned,
}

/// What has come of the requests so far.
#[derive(Debug, Default, Clone)]
struct Results {
    by_status: BTreeMap<u16, u64>,
    abandoned: u64,
    response_ns: u128,
}

/// Both stages and the results at one instant.
pub(crate) struct DispatchReading {
    pub(crate) queue: StageReading,
    pub(crate) threads: StageReading,
    pub(crate) threads_alive: u64,
    pub(crate) by_status: BTreeMap<u16, u64>,
    pub(crate) abandoned: u64,
    pub(crate) response_seconds: f64,
}

impl Dispatch {
    /// No workers yet: see [`Self::set_limit`].
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        let state = State {
            queue: VecDeque::new(),
            line: Line::new(now),
            limit: 0,
            alive: 0,
            idle: 0,
            busy: Level::new(now),
            results: Results::default(),
            stopping: false,
        };
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
        }
    }

    /// Queues a connection that became readable at `since`.
    pub(crate) fn push(&self, connection: Connection, since: Instant) {
        let mut state = self.lock();
        if state.stopping {
            return;
        }
        let had_to_wait = state.queue.len() >= state.idle;
        state.line.join(Instant::now(), since);
        state.queue.push_back(Ready {
            connection,
            since,
            had_to_wait,
        });
        drop(state);
        self.work.notify_one();
    }

    /// A worker asks for its next request; none tells it to end, because there are too many of it
    /// or the server stops.
    pub(crate) fn take(&self) -> Option<Ready> {
        let mut state = self.lock();
        loop {
            if state.stopping || state.alive > state.limit {
                state.alive -= 1;
                // This worker may have been woken for a request that it now leaves to another.
                self.work.notify_one();
                return None;
            }
            if let Some(ready) = state.queue.pop_front() {
                let now = Instant::now();
                state.line.leave(now, ready.since, ready.had_to_wait);
                state.busy.rise(now);
                return Some(ready);
            }
            state.idle += 1;
            state = self.work.wait(state).expect(LOCK);
            state.idle -= 1;
        }
    }

    /// A worker has finished with the request that became readable at `since`.
    pub(crate) fn finish(&self, since: Instant, outcome: Outcome) {
        let mut state = self.lock();
        let now = Instant::now();
        state.busy.fall(now);
        match outcome {
            Outcome::Answered(status) => {
                *state.results.by_status.entry(status).or_default() += 1;
                state.results.response_ns += now.saturating_duration_since(since).as_nanos();
            }
            Outcome::Abandoned => state.results.abandoned += 1,
        }
    }

    pub(crate) fn limit(&self) -> u64 {
        self.lock().limit
    }

    /// Changes the number of workers; the caller starts as many as this returns. Workers above a
    /// lower limit end when they next ask for a request.
    pub(crate) fn set_limit(&self, limit: u64) -> u64 {
        let mut state = self.lock();
        state.limit = limit;
        let missing = limit.saturating_sub(state.alive);
        state.alive += missing;
        drop(state);
        self.work.notify_all();
        missing
    }

    /// Says that `count` of the workers asked for could not be started: the limit is what there is.
    pub(crate) fn not_started(&self, count: u64) {
        let mut state = self.lock();
        state.alive -= count;
        state.limit = state.alive;
    }

    /// Ends the workers as they become free and closes the connections in the queue.
    pub(crate) fn stop(&self) {
        let queue = {
            let mut state = self.lock();
            state.stopping = true;
            std::mem::take(&mut state.queue)
        };
        drop(queue);
        self.work.notify_all();
    }

    pub(crate) fn read(&self) -> DispatchReading {
        let state = self.lock();
        let now = Instant::now();
        let mut queue = StageReading::of("request-queue");
        state.line.read_into(&mut queue, now);
        // Whoever is in this stage waits.
        (queue.occupancy, queue.occupancy_seconds) = (queue.waiting, queue.waiting_seconds);
        let mut threads = StageReading::of("threads").occupied(&state.busy, now);
        threads.limit = Some(state.limit);
        threads.entries = Some(state.line.entries());
        DispatchReading {
            queue,
            threads,
            threads_alive: state.alive,
            by_status: state.results.by_status.clone(),
            abandoned: state.results.abandoned,
            response_seconds: seconds(state.results.response_ns),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect(LOCK)
    }
}

const LOCK: &str = "nothing panics while it holds the request queue";
