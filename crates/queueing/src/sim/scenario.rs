//! What is simulated: the server, its users, and what disturbs them.

use super::duration::Duration;

/// A server with its users.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The server.
    pub server: ServerModel,
    /// The users.
    pub classes: Vec<UserClass>,
    /// How the users start.
    pub ramp: Ramp,
    /// What departs from the plain truth.
    pub disturbances: Disturbances,
}

/// CPUs and limits of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerModel {
    /// Number of CPUs.
    pub cores: u32,
    /// How they are shared.
    pub discipline: Discipline,
    /// Most open connections; `None`: no limit.
    pub connections: Option<ConnectionLimit>,
    /// Worker threads; `None`: as many as requests.
    pub threads: Option<u32>,
    /// Connection pools; phases name them by their index.
    pub pools: Vec<PoolLimit>,
}

/// How requests share the CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discipline {
    /// All at once, each at most one CPU: what a time-slicing kernel comes near to.
    ProcessorSharing,
    /// One after the other, to the end.
    FirstComeFirstServed,
}

/// A limit on open connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimit {
    /// Most connections.
    pub limit: u32,
    /// What happens to one more.
    pub when_full: WhenConnectionsFull,
}

/// What happens to a connection that finds the limit reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenConnectionsFull {
    /// It is closed at once: the request fails and its user thinks again.
    Close,
    /// It waits in the backlog.
    Wait,
}

/// A pool of connections with waiters in order of arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolLimit {
    /// Its name in the funnel, as in `pool.NAME`; `None` for a lock that no instrument shows.
    pub name: Option<String>,
    /// Most connections in use.
    pub limit: u32,
}

/// Users that do the same.
#[derive(Debug, Clone, PartialEq)]
pub struct UserClass {
    /// Label of their requests.
    pub label: String,
    /// How many.
    pub users: u32,
    /// Pause before each request.
    pub think: Duration,
    /// What a request does in its thread, in order.
    pub request: Vec<Phase>,
}

/// A step of a request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Phase {
    /// Takes a connection of the pool with this index, waiting while none is free.
    Acquire(usize),
    /// Gives it back.
    Release(usize),
    /// Uses this much CPU time.
    Cpu(Duration),
    /// Waits without using anything but what it holds.
    Sleep(Duration),
}

impl Phase {
    /// Holds a connection for some time without using the CPU.
    pub fn hold(pool: usize, duration: Duration) -> [Self; 3] {
        [
            Self::Acquire(pool),
            Self::Sleep(duration),
            Self::Release(pool),
        ]
    }
}

/// A request of the stress application of the published WebSphere experiment.
///
/// It holds a connection for the search, computes two primes, sleeps some times, and holds a connection for the update.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StressRequest {
    /// Index of the pool.
    pub pool: usize,
    /// How long the search holds a connection.
    pub search: Duration,
    /// CPU time of the primes.
    pub primes: Duration,
    /// One sleep.
    pub interval: Duration,
    /// How many sleeps.
    pub times: u32,
    /// How long the update holds a connection; 1 ms in the published program, whatever was asked for.
    pub update: Duration,
}

impl StressRequest {
    /// Its phases, in order.
    pub fn phases(&self) -> Vec<Phase> {
        let mut phases = Phase::hold(self.pool, self.search).to_vec();
        phases.push(Phase::Cpu(self.primes));
        phases.extend((0..self.times).map(|_| Phase::Sleep(self.interval)));
        phases.extend(Phase::hold(self.pool, self.update));
        phases
    }
}

/// How users start: one after the other, evenly spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ramp {
    /// Seconds over which they start.
    pub seconds: f64,
}

/// What departs from the plain truth; the default is nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Disturbances {
    /// Relative standard deviation of the CPU demand between trials: one factor for a whole trial.
    pub between_trials: f64,
    /// Extra CPU demand at the start, relative, fading exponentially …
    pub warm_up: f64,
    /// … with this time constant.
    pub warm_up_s: f64,
    /// Relative change of the CPU demand per hour.
    pub drift_per_hour: f64,
    /// Share of the CPU time that others take.
    pub steal: f64,
    /// Pauses of a garbage collector.
    pub pauses: Option<Pauses>,
}

/// A collector that stops all requests after so many of them, with all CPUs busy meanwhile.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pauses {
    /// Requests from one pause to the next.
    pub every_requests: u32,
    /// Length of a pause.
    pub pause_s: f64,
}

impl Scenario {
    /// All users together.
    pub fn population(&self) -> u32 {
        self.classes.iter().map(|class| class.users).sum()
    }

    /// Panics on what no server can be: phases that name no pool, a request without any, no CPUs, no users.
    pub(crate) fn check(&self) {
        let server = &self.server;
        assert!(server.cores > 0, "a server needs a CPU");
        assert!(server.threads != Some(0), "a server needs a thread");
        assert!(
            server.pools.iter().all(|pool| pool.limit > 0),
            "a pool needs a connection"
        );
        assert!(
            (0.0..1.0).contains(&self.disturbances.steal),
            "steal is a share below 1"
        );
        assert!(self.population() > 0, "a load needs a user");
        // A request that takes no time at all would also let the event loop nest without bound.
        let takes_time = |class: &UserClass| {
            class
                .request
                .iter()
                .any(|phase| matches!(phase, Phase::Cpu(_) | Phase::Sleep(_)))
        };
        assert!(
            self.classes.iter().all(takes_time),
            "a request needs a phase that takes time"
        );
        for phase in self.classes.iter().flat_map(|class| &class.request) {
            if let Phase::Acquire(pool) | Phase::Release(pool) = phase {
                assert!(
                    *pool < server.pools.len(),
                    "{phase:?} names none of {} pools",
                    server.pools.len()
                );
            }
        }
    }
}
