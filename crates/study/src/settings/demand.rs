//! What one request needs, from the trials near the answer without Weir's limits.

use weir_queueing::{ClosedCpu, laws};
use weir_record::{TargetFacts, TrialRecord};

use super::{CONNECTIONS, GATE, REQUEST_QUEUE, THREADS};
use crate::search::root::NEAR;

/// What one request needs; means over the trials near the answer, weighted by their requests.
#[derive(Debug, Clone)]
pub(crate) struct Demand {
    /// CPU time.
    pub(crate) cpu_s: f64,
    /// CPUs of the target.
    pub(crate) servers: u32,
    /// Time in its thread that is neither CPU nor waiting for CPU or a connection.
    pub(crate) delay_in_thread_s: f64,
    /// Time that a user thinks between two requests.
    pub(crate) think_s: f64,
    /// The pools it passes.
    pub(crate) pools: Vec<PoolDemand>,
    /// Connections that are open without a request, on average.
    pub(crate) idle_connections: f64,
    /// Trials it rests on.
    pub(crate) trials: Vec<u32>,
}

/// What one request needs of a pool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PoolDemand {
    pub(crate) stage: String,
    /// Time that it holds a connection, over all its holds.
    pub(crate) hold_s: f64,
    /// Connections that a trial of the check has shown to be missing.
    pub(crate) missing: u32,
}

impl Demand {
    /// From the trials near `answer` (a level of users); `None` where nothing tells how many
    /// requests are in the server.
    pub(crate) fn of(
        trials: &[&TrialRecord],
        answer: f64,
        model: ClosedCpu,
        facts: &TargetFacts,
    ) -> Option<Self> {
        let near = Near::of(trials, answer)?;
        let pools: Vec<&str> = facts
            .stages
            .iter()
            .map(|stage| stage.name.as_str())
            .filter(|name| name.starts_with("pool.") && near.all_have(name))
            .collect();
        let in_cpu = near.mean(|trial| model.solve(trial.population).response_time_s);
        let pool_wait: f64 = pools.iter().map(|pool| near.waited_s(pool)).sum();
        let demand_of = |pool: &&str| PoolDemand {
            stage: (*pool).to_owned(),
            hold_s: near.held_s(pool),
            missing: 0,
        };
        Some(Self {
            cpu_s: model.demand_s,
            servers: model.servers,
            delay_in_thread_s: (near.in_server_s() - in_cpu - pool_wait).max(0.0),
            think_s: near.mean(think_s),
            pools: pools.iter().map(demand_of).collect(),
            idle_connections: near.mean(idle),
            trials: near.trials.iter().map(|trial| trial.id).collect(),
        })
    }
}

/// The trials near the answer.
pub(super) struct Near<'a> {
    trials: Vec<&'a TrialRecord>,
    requests: f64,
}

impl<'a> Near<'a> {
    /// `None` without any that tells how many requests are in the server.
    pub(super) fn of(trials: &[&'a TrialRecord], answer: f64) -> Option<Self> {
        let near = |trial: &&TrialRecord| {
            let level = trial.level("users");
            level.is_some_and(|level| NEAR.contains(&(level / answer)))
                && in_server(trial).is_some()
        };
        let trials: Vec<&TrialRecord> = trials.iter().copied().filter(near).collect();
        let requests = trials.iter().map(|trial| requests(trial)).sum();
        (requests > 0.0).then_some(Self { trials, requests })
    }

    fn all_have(&self, stage: &str) -> bool {
        self.trials
            .iter()
            .all(|trial| trial.occupancy(stage).is_some())
    }

    /// What all of them tell the occupancy of, by the parts of its name between this and it.
    pub(super) fn parts(&self, prefix: &str) -> Vec<String> {
        let first = self.trials.first().into_iter();
        let names = first.flat_map(|trial| trial.signals.keys());
        let parts = names.filter_map(|name| name.strip_prefix(prefix)?.strip_suffix(".occupancy"));
        parts
            .filter(|part| self.all_have(&format!("{prefix}{part}")))
            .map(str::to_owned)
            .collect()
    }

    pub(super) fn any_has(&self, signal: &str) -> bool {
        let mut trials = self.trials.iter();
        trials.any(|trial| trial.signals.contains_key(signal))
    }

    /// The mean over all requests of these trials.
    pub(super) fn mean(&self, of: impl Fn(&TrialRecord) -> f64) -> f64 {
        let sum: f64 = self
            .trials
            .iter()
            .map(|trial| of(trial) * requests(trial))
            .sum();
        sum / self.requests
    }

    /// Time that a request spends in the server (Little's law).
    fn in_server_s(&self) -> f64 {
        self.mean(|trial| {
            let present = in_server(trial).unwrap_or(0.0);
            laws::time_spent_s(present, trial.throughput_per_s)
        })
    }

    /// Time that a request holds a place of a stage (Little's law).
    fn held_s(&self, stage: &str) -> f64 {
        self.mean(|trial| {
            let present = trial.occupancy(stage).unwrap_or(0.0);
            laws::time_spent_s(present, trial.throughput_per_s)
        })
    }

    /// Time that a request waits for a place of a stage (Little's law).
    fn waited_s(&self, stage: &str) -> f64 {
        self.mean(|trial| {
            let waiting = trial.waiting(stage).unwrap_or(0.0);
            laws::time_spent_s(waiting, trial.throughput_per_s)
        })
    }
}

/// Requests in the server: in its threads, or where it does not tell, those that a gateway in front
/// has let in.
pub(crate) fn in_server(trial: &TrialRecord) -> Option<f64> {
    trial.occupancy(THREADS).or_else(|| trial.occupancy(GATE))
}

/// Requests in the window of a trial.
fn requests(trial: &TrialRecord) -> f64 {
    trial.throughput_per_s * trial.window_s
}

/// Mean time of a user between two requests, by the response-time law.
pub(crate) fn think_s(trial: &TrialRecord) -> f64 {
    let response_s = trial.response_time_ms.mean / 1e3;
    laws::think_time_s(
        f64::from(trial.population),
        trial.throughput_per_s,
        response_s,
    )
    .max(0.0)
}

fn idle(trial: &TrialRecord) -> f64 {
    let open = trial.occupancy(CONNECTIONS).unwrap_or(0.0);
    let served =
        trial.occupancy(THREADS).unwrap_or(0.0) + trial.occupancy(REQUEST_QUEUE).unwrap_or(0.0);
    (open - served).max(0.0)
}
