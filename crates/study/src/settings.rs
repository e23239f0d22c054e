//! The setting of every stage, from what the trials say a request holds.
//!
//! The thread limit holds the CPU at its goal whatever the number of users ([`threads`]); behind it
//! the pool has to be large enough that nobody waits ([`pool`]); in front of it connections and
//! backlog bound what waits ([`queue`]). Stages that a target does not have or cannot set are left
//! out. A gateway that tells classes of requests apart holds each by a cap of its own instead
//! ([`classes`]), and the server stays as it is.

pub(crate) mod classes;
mod demand;
mod pool;
mod queue;
mod threads;

use std::collections::BTreeMap;

use weir_record::{SettingDetail, TargetFacts};

pub(crate) use demand::{Demand, in_server, think_s};
pub(crate) use pool::quantile;
pub(crate) use queue::Front;
pub(crate) use threads::ThreadSearch;

/// A gateway in front of the server.
pub(crate) const GATE: &str = "gate";
/// What the factors of the gateway and its parts begin with: the rest of a factor is the word of
/// its file, that of a part the name of a class.
pub(crate) const OF_THE_GATE: &str = "gate.";
pub(crate) const THREADS: &str = "threads";
pub(crate) const CONNECTIONS: &str = "connections";
pub(crate) const BACKLOG: &str = "backlog";
pub(crate) const REQUEST_QUEUE: &str = "request-queue";

/// The limits to set, with their reasons.
#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) limits: BTreeMap<String, f64>,
    pub(crate) details: Vec<SettingDetail>,
}

impl Settings {
    /// All stages around a thread limit. `because` says where the thread limit comes from.
    pub(crate) fn around(
        threads: u32,
        because: String,
        demand: &Demand,
        front: &Front,
        facts: &TargetFacts,
    ) -> Self {
        let mut settings = Self::default();
        let trials = &demand.trials;
        settings.put(facts, THREADS, f64::from(threads), because, trials);
        for pool in &demand.pools {
            let (limit, because) = pool::limit(pool, threads, front.throughput_per_s);
            settings.put(facts, &pool.stage, limit, because, trials);
        }
        let when_full = facts.stage(CONNECTIONS).map(|stage| stage.when_full);
        if let Some((limit, because)) = front.connections(threads, demand, when_full) {
            settings.put(facts, CONNECTIONS, limit, because, trials);
        }
        let found = facts.stage(BACKLOG).and_then(|stage| stage.limit);
        if let Some((limit, because)) = found.map(|found| front.backlog(found)) {
            settings.put(facts, BACKLOG, limit, because, trials);
        }
        settings
    }

    /// Adds a limit, where the target has it and it can be set.
    pub(crate) fn put(
        &mut self,
        facts: &TargetFacts,
        stage: &str,
        to: f64,
        because: String,
        trials: &[u32],
    ) {
        let Some(stage) = facts.stage(stage).filter(|stage| stage.settable) else {
            return;
        };
        self.limits.insert(stage.name.clone(), to);
        self.details.push(SettingDetail {
            stage: stage.name.clone(),
            native: stage.native.clone(),
            from: stage.limit,
            to,
            because,
            trials: trials.to_vec(),
        });
    }

    /// Adds what stands in another and not in this.
    pub(crate) fn add_missing(&mut self, other: Option<Self>) {
        for detail in other.into_iter().flat_map(|other| other.details) {
            if !self.limits.contains_key(&detail.stage) {
                self.limits.insert(detail.stage.clone(), detail.to);
                self.details.push(detail);
            }
        }
    }

    /// The limits that differ from what was found: only they have to be set, and a target may need
    /// a new start for some.
    pub(crate) fn changed<'a>(
        &'a self,
        facts: &'a TargetFacts,
    ) -> impl Iterator<Item = (&'a String, f64)> {
        self.limits
            .iter()
            .map(|(stage, limit)| (stage, *limit))
            .filter(|(stage, limit)| {
                facts.stage(stage).and_then(|found| found.limit) != Some(*limit)
            })
    }

    /// Adds trials that speak for all of the settings.
    pub(crate) fn add_trials(&mut self, trials: &[u32]) {
        for detail in &mut self.details {
            detail.trials.extend(trials);
        }
    }
}
