//! What a model says about a treatment.

use schemars::JsonSchema;
use serde::Serialize;
use weir_queueing::ModelError;

use crate::measured::Limits;
use crate::parameters::Parameters;

/// A treatment that is asked about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Question {
    /// Virtual users of all groups.
    pub population: u32,
    /// Limits in force.
    pub limits: Limits,
}

/// Figures of one treatment.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Figures {
    /// Requests per second.
    pub throughput_per_s: f64,
    /// Busy share of the target's CPUs.
    pub cpu: f64,
    /// Mean response time.
    pub response_time_s: f64,
    /// Mean number of busy threads.
    pub threads_busy: f64,
    /// Mean number of requests in front of the threads.
    pub queued: f64,
    /// Connections in use.
    pub pool_busy: f64,
    /// Threads that wait for a connection.
    pub pool_waiting: f64,
}

/// Figures with intervals for a new trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Predicted {
    /// The question.
    pub question: Question,
    /// The best single values.
    pub figures: Figures,
    /// Lower ends.
    pub low: Figures,
    /// Upper ends.
    pub high: Figures,
    /// Users over the most users of any trial: how far this is from what was measured.
    pub beyond: f64,
}

impl Parameters {
    /// What a server with these parameters does.
    pub fn predict(&self, servers: u32, question: Question) -> Result<Figures, ModelError> {
        let server = self.server(servers, question.population, question.limits);
        server.check()?;
        let found = server.solve();
        Ok(Figures {
            throughput_per_s: found.throughput_per_s,
            cpu: found.utilization,
            response_time_s: found.response_time_s + self.outside_s,
            threads_busy: found.threads_busy,
            queued: found.queued,
            pool_busy: found.pool.map_or(0.0, |pool| pool.busy),
            pool_waiting: found.pool.map_or(0.0, |pool| pool.waiting),
        })
    }
}

impl Figures {
    pub(crate) fn map(&self, other: &Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            throughput_per_s: of(self.throughput_per_s, other.throughput_per_s),
            cpu: of(self.cpu, other.cpu),
            response_time_s: of(self.response_time_s, other.response_time_s),
            threads_busy: of(self.threads_busy, other.threads_busy),
            queued: of(self.queued, other.queued),
            pool_busy: of(self.pool_busy, other.pool_busy),
            pool_waiting: of(self.pool_waiting, other.pool_waiting),
        }
    }
}
