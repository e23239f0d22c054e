//! Why there is no number of servers.

/// Why there is no number of servers.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SizeError {
    /// The model of the run must not be used.
    #[error("size a fleet from this run: its model is refused, because {0}")]
    Refused(String),
    /// The percentiles of the run's own trials are not met.
    #[error(
        "size a fleet by p{percent}: no distribution meets it in the run's own trials; the best ({variation}) is {off:.0} % off on \
         average, and {most:.0} % is the most that is accepted; require `mean` or `cpu`, whose errors `weir model` shows"
    )]
    Percentile {
        /// The percentile.
        percent: f64,
        /// The best distributions.
        variation: String,
        /// Their mean error in percent.
        off: f64,
        /// The most that is accepted, in percent.
        most: f64,
    },
    /// The model says nothing about this requirement.
    #[error("size a fleet for `{requirement}`: {why}")]
    Requirement {
        /// As typed.
        requirement: String,
        /// What is wrong, and what can be asked.
        why: String,
    },
    /// Not even a server for each user is enough.
    #[error(
        "meet `{requirement}` with any number of servers: with as many servers as users there is {alone}; the request itself \
         has to become quicker"
    )]
    Alone {
        /// As typed.
        requirement: String,
        /// What there is with a server for each user.
        alone: String,
    },
    /// With one user alone it holds in too few draws.
    #[error(
        "meet the requirement for sure: with one user on each server it holds in {share:.0} % of what the fit allows; trials with few \
         users would tell more"
    )]
    Unsure {
        /// Percent of the draws.
        share: f64,
    },
    /// Nothing that is required ever fails.
    #[error(
        "find a number of servers: `{requirement}` holds for any number of users on one server, because its limits ({limits}) hold \
         them back in a queue; require a response time too, such as `p99 <= 300 ms`"
    )]
    Always {
        /// As typed.
        requirement: String,
        /// The limits in force.
        limits: String,
    },
    /// More servers than a simulation can tell apart.
    #[error("size a fleet for {population} users: a model takes from 1 to {most} of them")]
    Users {
        /// What was asked.
        population: u32,
        /// The most.
        most: u32,
    },
    /// The model has no answer.
    #[error(transparent)]
    Fit(#[from] weir_model::FitError),
    /// The watcher said to stop.
    #[error("go on: it was stopped")]
    Stopped,
}
