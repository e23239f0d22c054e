//! A server whose averages come from formulas, with noise between its trials: thousands of studies
//! in a second, each with a known answer.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _};
use rand_distr::StandardNormal;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_queueing::{ClosedCpu, LargestUsers, Pool, PoolUse, ThreadLimited};
use weir_record::{
    CpuScope, Level, Levels, Stage, TargetFacts, Treatment, TrialError, TrialObserver, TrialRecord,
    TrialRunner, WhenFull,
};

use crate::truth::noisy;
use crate::truth::record::{Seen, record};

/// A server with one class of users and exponential everything.
#[derive(Debug, Clone)]
pub(crate) struct Analytic {
    pub(crate) facts: TargetFacts,
    pub(crate) think_s: f64,
    pub(crate) cpu_s: f64,
    pub(crate) delay_s: f64,
    pub(crate) threads: u32,
    pub(crate) pool: Option<Pool>,
    /// Relative standard deviation of each figure between trials.
    pub(crate) sigma: f64,
    /// A lock that nothing shows: at most so many requests per second.
    pub(crate) throughput_max: f64,
    /// Virtual users per level.
    pub(crate) groups: u32,
}

impl Analytic {
    pub(crate) fn new(cpus: u32, think_s: f64, cpu_s: f64, delay_s: f64) -> Self {
        let stage = |name: &str, limit: Option<f64>, settable: bool, when_full| Stage {
            name: name.to_owned(),
            native: None,
            limit,
            settable,
            when_full,
        };
        let facts = TargetFacts {
            name: "formulas".to_owned(),
            kind: "simulated".to_owned(),
            recognised: None,
            cpus,
            cpu_scope: CpuScope::OwnCpus,
            stages: vec![
                stage("backlog", Some(511.0), true, WhenFull::Refuse),
                stage("connections", Some(20_000.0), true, WhenFull::Wait),
                stage("request-queue", None, false, WhenFull::Wait),
                stage("threads", Some(2_000.0), true, WhenFull::Wait),
                stage("pool.db", None, true, WhenFull::Block),
            ],
        };
        Self {
            facts,
            think_s,
            cpu_s,
            delay_s,
            threads: 2_000,
            pool: None,
            sigma: 0.0,
            throughput_max: f64::INFINITY,
            groups: 1,
        }
    }

    pub(crate) fn model(&self) -> ClosedCpu {
        ClosedCpu {
            think_s: self.think_s + self.delay_s,
            demand_s: self.cpu_s,
            servers: self.facts.cpus,
        }
    }

    /// The true largest level with at most this CPU, no limit being in the way.
    pub(crate) fn largest(&self, target: f64) -> f64 {
        match self.model().largest_users(target) {
            LargestUsers::Users { users, .. } => f64::from(users / self.groups),
            LargestUsers::Never { .. } | LargestUsers::Beyond { .. } => f64::INFINITY,
        }
    }

    /// True CPU at a level.
    pub(crate) fn cpu(&self, level: f64) -> f64 {
        self.model().solve(level as u32 * self.groups).utilization
    }
}

fn limit(levels: &Levels, stage: &str, found: u32) -> u32 {
    levels
        .get(stage)
        .and_then(Level::number)
        .map_or(found, |limit| limit as u32)
}

/// True averages of a trial.
struct Truth {
    throughput_per_s: f64,
    response_s: f64,
    cpu: f64,
    threads_busy: f64,
    queued: f64,
    pool: Option<PoolUse>,
}

impl Analytic {
    fn pool_at(&self, levels: &Levels) -> Option<Pool> {
        self.pool.map(|pool| Pool {
            limit: limit(levels, "pool.db", pool.limit),
            ..pool
        })
    }

    fn truth(&self, levels: &Levels) -> Truth {
        let population = self.population(levels);
        let threads = limit(levels, "threads", self.threads).min(population);
        let mut truth = if threads < population || self.pool.is_some() {
            self.limited(population, threads, self.pool_at(levels))
        } else {
            self.unlimited(population)
        };
        if truth.throughput_per_s > self.throughput_max {
            truth.cpu *= self.throughput_max / truth.throughput_per_s;
            truth.throughput_per_s = self.throughput_max;
            truth.response_s = f64::from(population) / self.throughput_max - self.think_s;
        }
        truth
    }

    fn limited(&self, users: u32, threads: u32, pool: Option<Pool>) -> Truth {
        let model = ThreadLimited {
            users,
            think_s: self.think_s,
            threads,
            cpu_demand_s: self.cpu_s,
            servers: self.facts.cpus,
            delay_in_thread_s: self.delay_s,
            pool,
            room: None,
        };
        let solved = model.solve();
        Truth {
            throughput_per_s: solved.throughput_per_s,
            response_s: solved.response_time_s,
            cpu: solved.utilization,
            threads_busy: solved.threads_busy,
            queued: solved.queued,
            pool: solved.pool,
        }
    }

    fn unlimited(&self, users: u32) -> Truth {
        let solved = self.model().solve(users);
        let response_s = solved.response_time_s + self.delay_s;
        Truth {
            throughput_per_s: solved.throughput_per_s,
            response_s,
            cpu: solved.utilization,
            threads_busy: solved.throughput_per_s * response_s,
            queued: 0.0,
            pool: None,
        }
    }

    fn signals(&self, levels: &Levels, truth: &Truth, busy: f64) -> BTreeMap<String, f64> {
        let threads = f64::from(limit(levels, "threads", self.threads));
        let mut signals = vec![
            ("threads.occupancy", busy),
            ("threads.limit", threads),
            ("request-queue.waiting", truth.queued),
            ("request-queue.wait", truth.queued / truth.throughput_per_s),
        ];
        if let (Some(seen), Some(pool)) = (&truth.pool, self.pool_at(levels)) {
            signals.extend([
                ("pool.db.occupancy", seen.busy),
                ("pool.db.limit", f64::from(pool.limit)),
                ("pool.db.waiting", seen.waiting),
                ("pool.db.wait", seen.wait_s),
                ("pool.db.entries", truth.throughput_per_s),
            ]);
        }
        signals
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

impl TrialRunner for Analytic {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, levels: &Levels) -> u32 {
        limit(levels, "users", 1) * self.groups
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        _: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let levels = &treatment.levels;
        let truth = self.truth(levels);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(treatment.seed);
        let mut noisy = |value: f64| noisy(value, self.sigma, &mut random);
        let cpu = noisy(truth.cpu).min(1.0);
        let throughput_per_s = noisy(truth.throughput_per_s);
        let response_s = noisy(truth.response_s);
        let busy = noisy(truth.threads_busy);
        let seen = Seen {
            throughput_per_s,
            response_s,
            cpu: Some(cpu),
        };
        Ok(TrialRecord {
            signals: self.signals(levels, &truth, busy),
            ..record(treatment, self.population(levels), &seen)
        })
    }
}

/// What a figure is multiplied with for its noise: a normal spread of its logarithm.
pub(crate) fn noise(sigma: f64, seed: u64) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    (sigma * random.sample::<f64, _>(StandardNormal)).exp()
}

/// An analytic server of which each trial is run in another way.
pub(crate) struct Altered<F> {
    pub(crate) server: Analytic,
    /// Runs a trial of the server.
    pub(crate) trial: F,
}

impl<F> TrialRunner for Altered<F>
where
    F: FnMut(&mut Analytic, &Treatment, &mut dyn TrialObserver) -> Result<TrialRecord, TrialError>,
{
    fn facts(&self) -> &TargetFacts {
        self.server.facts()
    }

    fn population(&self, levels: &Levels) -> u32 {
        self.server.population(levels)
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        (self.trial)(&mut self.server, treatment, observer)
    }
}
