//! A thread limit around CPU and connection pool.
//!
//! A thread is held for the whole request: while it uses the CPU, sleeps, waits for a connection
//! and holds one. What a given number of busy threads can do is a closed network without think
//! time; its throughput becomes the speed of one station with a queue in front (flow-equivalent
//! server: Chandy, Herzog and Woo 1975, "Parametric analysis of queueing networks"). Exact while
//! threads are never short; otherwise an approximation, within 0.06 % of the exact throughput, 0.1
//! % of the response time and 1 % of the queue lengths in the cases this crate is tested against.
//!
//! Needs: no CPU is used while a connection is held. With CPU use while holding the pool limits the
//! CPU too; for that there is [`crate::PooledServer`].

use crate::ModelError;
use crate::birth_death::{average, steady_state};
use crate::error::Check;
use crate::{ClosedNetwork, Station};

/// Users, a room, threads, CPUs, and one pool of connections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThreadLimited {
    /// Number of users.
    pub users: u32,
    /// Mean think time.
    pub think_s: f64,
    /// Thread limit.
    pub threads: u32,
    /// CPU time of one request.
    pub cpu_demand_s: f64,
    /// Number of CPUs.
    pub servers: u32,
    /// Time that a request spends in its thread without CPU and without a connection.
    pub delay_in_thread_s: f64,
    /// The connection pool, if requests use one.
    pub pool: Option<Pool>,
    /// Most requests in the server, in threads and in front of them; further ones are refused and
    /// their users think again. `None`: all wait.
    pub room: Option<u32>,
}

/// A pool of connections.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pool {
    /// Number of connections.
    pub limit: u32,
    /// Time that one request holds a connection, over all its holds.
    pub hold_s: f64,
}

/// Averages of a [`ThreadLimited`] server in the steady state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThreadLimitedSolution {
    /// Requests answered per second.
    pub throughput_per_s: f64,
    /// Mean time in the server, the queue in front of the threads included.
    pub response_time_s: f64,
    /// Busy share of the CPUs.
    pub utilization: f64,
    /// Mean number of busy threads.
    pub threads_busy: f64,
    /// Mean number of requests in front of the threads.
    pub queued: f64,
    /// Mean wait in front of the threads.
    pub queue_wait_s: f64,
    /// Mean number of thinking users.
    pub thinking: f64,
    /// The pool, if there is one.
    pub pool: Option<PoolUse>,
    /// Requests refused per second.
    pub refused_per_s: f64,
    /// Refused over all attempts.
    pub refused_share: f64,
}

/// Averages of a connection pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolUse {
    /// Mean number of connections in use.
    pub busy: f64,
    /// Mean number of threads that wait for one.
    pub waiting: f64,
    /// Mean wait per request, over all its holds.
    pub wait_s: f64,
}

/// Answer to "how many threads may there be?"
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LargestThreads {
    /// This many.
    Threads {
        /// The largest limit that meets the target with all threads busy; 0 if a single one
        /// exceeds it.
        threads: u32,
        /// CPU utilisation with all of them busy.
        utilization_at: f64,
        /// CPU utilisation with one more.
        utilization_next: f64,
    },
    /// Any number: the pool keeps the CPU below the target.
    Any {
        /// What the utilisation tends to.
        limit: f64,
    },
    /// More than were looked at.
    Beyond {
        /// The largest number looked at.
        threads_max: u32,
    },
}

const CPU: usize = 0;
const POOL: usize = 1;

impl ThreadLimited {
    /// Whether there is a solution.
    pub fn check(&self) -> Result<(), ModelError> {
        let check = Check("the thread-limited server");
        check.at_least_one("the number of users", self.users)?;
        check.population("users", self.users)?;
        check.positive("the think time", self.think_s)?;
        check.at_least_one("the thread limit", self.threads)?;
        check.not_negative("the delay in the thread", self.delay_in_thread_s)?;
        if let Some(room) = self.room {
            check.at_least_one("the room", room)?;
        }
        self.inside().check(self.threads.min(self.users))
    }

    /// Solves the flow-equivalent birth-death process: `(N - n)/Z` up, the throughput of `min(n,
    /// T)` threads down.
    ///
    /// Panics where [`Self::check`] says why not.
    pub fn solve(&self) -> ThreadLimitedSolution {
        assert!(
            self.users > 0 && self.threads > 0 && self.think_s > 0.0,
            "{self:?} needs users, threads, think time"
        );
        let threads = self.threads.min(self.users) as usize;
        let room = self.room.unwrap_or(self.users).min(self.users) as usize;
        let inside = self.inside();
        let flow = inside.throughputs(threads as u32);
        let asking = |n: usize| f64::from(self.users - n as u32) / self.think_s;
        let states = steady_state(room, asking, |n| flow[n.min(threads)]);
        let throughput_per_s = average(&states, |n| flow[n.min(threads)]);
        let present = average(&states, |n| n as f64);
        let queued = average(&states, |n| n.saturating_sub(threads) as f64);
        let refused_per_s = asking(room) * states[room];
        let pool = self.pool.map(|pool| {
            let by_threads = inside.waiting(POOL, threads as u32);
            let waiting = average(&states, |n| by_threads[n.min(threads)]);
            PoolUse {
                busy: throughput_per_s * pool.hold_s,
                waiting,
                wait_s: waiting / throughput_per_s,
            }
        });
        ThreadLimitedSolution {
            throughput_per_s,
            response_time_s: present / throughput_per_s,
            utilization: self.utilization(throughput_per_s),
            threads_busy: present - queued,
            queued,
            queue_wait_s: queued / throughput_per_s,
            thinking: f64::from(self.users) - present,
            pool,
            refused_per_s,
            refused_share: refused_per_s / (throughput_per_s + refused_per_s),
        }
    }

    /// CPU utilisation while all of `threads` are busy: what a surplus of users makes of this
    /// limit.
    pub fn utilization_all_busy(&self, threads: u32) -> f64 {
        let flow = self.inside().throughputs(threads);
        self.utilization(flow[threads as usize])
    }

    /// The largest thread limit that keeps the CPU at or below `target` with all threads busy,
    /// looking at up to `threads_max`. Users, think time and the present limit play no part.
    pub fn largest_threads(&self, target: f64, threads_max: u32) -> LargestThreads {
        use crate::LargestUsers::{Beyond, Never, Users};
        match self.inside().largest_users(CPU, target, threads_max) {
            Users {
                users,
                utilization_at,
                utilization_next,
            } => LargestThreads::Threads {
                threads: users,
                utilization_at,
                utilization_next,
            },
            Never { limit } => LargestThreads::Any { limit },
            Beyond { users_max } => LargestThreads::Beyond {
                threads_max: users_max,
            },
        }
    }

    /// What a thread goes through: CPU and pool as stations, its sleep as think time.
    fn inside(&self) -> ClosedNetwork {
        let cpu = Station {
            demand_s: self.cpu_demand_s,
            servers: self.servers,
        };
        let pool = self.pool.map(|pool| Station {
            demand_s: pool.hold_s,
            servers: pool.limit,
        });
        ClosedNetwork {
            think_s: self.delay_in_thread_s,
            stations: std::iter::once(cpu).chain(pool).collect(),
        }
    }

    fn utilization(&self, throughput_per_s: f64) -> f64 {
        throughput_per_s * self.cpu_demand_s / f64::from(self.servers)
    }
}
