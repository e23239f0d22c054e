//! What one request needs, from the trials near the answer without Weir's limits.

use weir_queueing::{ClosedCpu, laws};
use weir_record::{TargetFacts, TrialRecord};

use super::{CONNECTIONS, REQUEST_QUEUE, THREADS};
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
    /// From the trials near `answer` (a level of users); `None` where the target does not tell how
    /// many of its threads are busy.
    pub(crate) fn of(
        trials: &[&TrialRecord],
        answer: f64,
        model: ClosedCpu,
        facts: &TargetFacts,
    ) -> Option<Self> {
        let near: Vec<&TrialRecord> = trials
            .iter()
            .copied()
            .filter(|trial| {
                trial
                    .level("users")
                    .is_some_and(|level| NEAR.contains(&(level / answer)))
            })
            .filter(|trial| trial.occupancy(THREADS).is_some())
            .collect();
        let requests: f64 = near
            .iter()
            .map(|trial| trial.throughput_per_s * trial.window_s)
            .sum();
        if requests <= 0.0 {
            return None;
        }
        // Per request, weighted by requests: what was present divided by throughput is Little's law.
        let mean = |of: &dyn Fn(&TrialRecord) -> f64| {
            near.iter()
                .map(|trial| of(trial) * trial.throughput_per_s * trial.window_s)
                .sum::<f64>()
                / requests
        };
        let held = |stage: &str| {
            mean(&|trial| {
                laws::time_spent_s(
                    trial.occupancy(stage).unwrap_or(0.0),
                    trial.throughput_per_s,
                )
            })
        };
        let pools: Vec<&str> = facts
            .stages
            .iter()
            .map(|stage| stage.name.as_str())
            .filter(|name| name.starts_with("pool."))
            .filter(|name| near.iter().all(|trial| trial.occupancy(name).is_some()))
            .collect();
        let in_cpu = mean(&|trial| model.solve(trial.population).response_time_s);
        let pool_wait: f64 = pools
            .iter()
            .map(|pool| {
                mean(&|trial| {
                    laws::time_spent_s(trial.waiting(pool).unwrap_or(0.0), trial.throughput_per_s)
                })
            })
            .sum();
        Some(Self {
            cpu_s: model.demand_s,
            servers: model.servers,
            delay_in_thread_s: (held(THREADS) - in_cpu - pool_wait).max(0.0),
            think_s: mean(&|trial| think_s(trial)),
            pools: pools
                .iter()
                .map(|pool| PoolDemand {
                    stage: (*pool).to_owned(),
                    hold_s: held(pool),
                    missing: 0,
                })
                .collect(),
            idle_connections: near.iter().map(|trial| idle(trial)).sum::<f64>() / near.len() as f64,
            trials: near.iter().map(|trial| trial.id).collect(),
        })
    }
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
