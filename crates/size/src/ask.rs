//! What is asked.

use weir_metric::Requirement;
use weir_sim::Balancer;

/// A question to a model: how many servers for so many users?
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// Name of the run that the model was fitted to.
    pub run: String,
    /// Version of Weir.
    pub weir: String,
    /// Users of all servers together, as the run's factor `users` counts them.
    pub users: u32,
    /// Virtual users of all groups.
    pub population: u32,
    /// What has to hold.
    pub requirements: Vec<Requirement>,
    /// Who gets the next request.
    pub balancer: Balancer,
    /// The most connections that the database takes from all servers together.
    pub database_connections: Option<u32>,
    /// Of everything random.
    pub seed: u64,
    /// How much is simulated.
    pub effort: Effort,
}

/// How much is simulated: what it costs, and how exact it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effort {
    /// Draws of the fitted numbers; from [`Self::DRAWS_MIN`] to [`Self::DRAWS_MAX`].
    pub draws: u32,
    /// Requests that count in one simulation; more for percentiles above 99.
    pub requests: u32,
}

impl Effort {
    /// With fewer draws, 95 % of them say little.
    pub const DRAWS_MIN: u32 = 20;
    /// So many a model has.
    pub const DRAWS_MAX: u32 = 200;
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            draws: 100,
            requests: 20_000,
        }
    }
}
