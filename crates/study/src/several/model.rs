//! What a model of threads, CPU and pool proposes: where a search begins, never where it ends.
//!
//! The trials so far give, by the operational laws, what a request needs: CPU time (utilisation
//! law), time that it holds a connection (Little's law), think time (response-time law). The rest
//! of its time in a thread is the delay with which the model ([`ThreadLimited`]) has the measured
//! throughput. Where the CPU is saturated every delay does, so that the trial with the least CPU is
//! taken, and none that leaves too little free.

use weir_queueing::{Pool, ThreadLimited, laws};
use weir_record::{TargetFacts, TrialRecord};

use crate::settings::{THREADS, think_s};

/// With more CPU than this a trial says nothing of the time that is spent beside it.
const CPU_MOST: f64 = 0.9;
/// Users who do not think are taken to think this long: the model needs some time, and this one
/// changes nothing.
const THINK_LEAST_S: f64 = 1e-3;
/// Halvings of the interval of the delay: enough for any precision that is wanted here.
const HALVINGS: usize = 40;

/// A server as the trials so far show it.
#[derive(Debug, Clone)]
pub(super) struct Model {
    server: ThreadLimited,
    /// The pool that requests hold longest.
    pool: Option<String>,
}

impl Model {
    /// `None` as long as the trials do not tell what it needs.
    pub(super) fn of(trials: &[&TrialRecord], facts: &TargetFacts) -> Option<Self> {
        let cpu = |trial: &TrialRecord| trial.cpu.map(|cpu| cpu.total);
        let usable = trials.iter().filter(|trial| {
            let answers = trial.throughput_per_s > 0.0 && trial.population > 0;
            answers && cpu(trial).is_some_and(|cpu| (0.0..=CPU_MOST).contains(&cpu) && cpu > 0.0)
        });
        let trial =
            usable.min_by(|a, b| cpu(a).partial_cmp(&cpu(b)).expect("figures are finite"))?;
        let throughput = trial.throughput_per_s;
        let limit = |stage: &str| {
            let found = || facts.stage(stage).and_then(|stage| stage.limit);
            let limit = trial.level(stage).or_else(found)?;
            Some((limit as u32).clamp(1, trial.population))
        };
        let held = facts.stages.iter().filter_map(|stage| {
            let occupied = trial.occupancy(&stage.name)?;
            let is_pool = stage.name.starts_with("pool.") && occupied > 0.0;
            is_pool.then_some((&stage.name, occupied))
        });
        let longest = held.max_by(|a, b| a.1.total_cmp(&b.1));
        let pool = longest.map(|(stage, occupied)| Pool {
            limit: limit(stage).unwrap_or(trial.population),
            hold_s: laws::time_spent_s(occupied, throughput),
        });
        let server = ThreadLimited {
            users: trial.population,
            think_s: think_s(trial).max(THINK_LEAST_S),
            threads: limit(THREADS).unwrap_or(trial.population),
            cpu_demand_s: cpu(trial)? * f64::from(facts.cpus) / throughput,
            servers: facts.cpus,
            delay_in_thread_s: 0.0,
            pool,
            room: None,
        };
        server.check().ok()?;
        Some(Self {
            server: with_delay(server, throughput),
            pool: longest.map(|(stage, _)| stage.clone()),
        })
    }

    /// The smallest number of threads that loses at most this share of what `most` answer.
    pub(super) fn threads(&self, within: (u32, u32), loss: f64) -> u32 {
        smallest(within, loss, |threads| self.throughput(Some(threads), None))
    }

    /// As `threads`, of the connections of a pool, behind so many threads; `None` for another pool
    /// than the model's.
    pub(super) fn pool(
        &self,
        stage: &str,
        threads: Option<u32>,
        within: (u32, u32),
        loss: f64,
    ) -> Option<u32> {
        (self.pool.as_deref() == Some(stage))
            .then(|| smallest(within, loss, |pool| self.throughput(threads, Some(pool))))
    }

    fn throughput(&self, threads: Option<u32>, pool: Option<u32>) -> f64 {
        let mut server = self.server;
        server.threads = threads.unwrap_or(server.users).clamp(1, server.users);
        if let Some(held) = &mut server.pool {
            held.limit = pool.unwrap_or(server.users).clamp(1, server.users);
        }
        server.solve().throughput_per_s
    }
}

/// The delay in the thread with which the server answers as much as was measured; none where it
/// answers less without.
fn with_delay(server: ThreadLimited, throughput: f64) -> ThreadLimited {
    let with = |delay_in_thread_s: f64| ThreadLimited {
        delay_in_thread_s,
        ..server
    };
    let (mut low, mut high) = (0.0, f64::from(server.users) / throughput);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if with(middle).solve().throughput_per_s > throughput {
            low = middle;
        } else {
            high = middle;
        }
    }
    with(low)
}

/// The smallest level that loses at most this share against the largest; more never answer less in
/// the model.
fn smallest((low, high): (u32, u32), loss: f64, throughput: impl Fn(u32) -> f64) -> u32 {
    let enough = (1.0 - loss) * throughput(high);
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = low + (high - low) / 2;
        if throughput(middle) >= enough {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}
