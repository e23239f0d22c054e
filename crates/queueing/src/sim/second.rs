//! What each simulated second shows, and averages over many.

/// Averages over one second.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Second {
    /// Requests answered.
    pub answered: u32,
    /// Requests refused.
    pub refused: u32,
    /// Sum of the response times of those answered.
    pub response_sum_s: f64,
    /// Busy share of the CPU time that others left.
    pub cpu: f64,
    /// Mean number of users that think.
    pub thinking: f64,
    /// Users that have started.
    pub users: u32,
    /// Open connections, and those waiting in the backlog.
    pub connections: StageSecond,
    /// Requests in their threads, and those waiting for one.
    pub threads: StageSecond,
    /// Connections of each pool in use, and the threads waiting for one; locks included.
    pub pools: Vec<StageSecond>,
}

/// One stage in one second.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct StageSecond {
    /// Mean number in the stage.
    pub occupancy: f64,
    /// Mean number waiting to get in.
    pub waiting: f64,
    /// How many got in.
    pub entries: u32,
    /// Sum of their waits.
    pub wait_sum_s: f64,
}

/// Averages over a number of seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Averages {
    /// Answered per second.
    pub throughput_per_s: f64,
    /// Mean response time.
    pub response_time_s: f64,
    /// Refused per second.
    pub refused_per_s: f64,
    /// Busy share of the CPUs.
    pub cpu: f64,
    /// Mean number of thinking users.
    pub thinking: f64,
    /// Mean number of requests in their threads.
    pub threads_busy: f64,
    /// Mean number of requests waiting for a thread.
    pub queued: f64,
    /// Mean number waiting in the backlog.
    pub backlog: f64,
    /// Each pool.
    pub pools: Vec<PoolAverages>,
}

/// Averages of one pool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolAverages {
    /// Mean number of connections in use.
    pub busy: f64,
    /// Mean number of threads waiting for one.
    pub waiting: f64,
    /// Mean wait of one acquisition; 0 if there was none.
    pub wait_s: f64,
}

impl Averages {
    /// Over all of `seconds`, of which there is at least one.
    pub fn of(seconds: &[Second]) -> Self {
        assert!(!seconds.is_empty(), "an average needs a second");
        let mean = |of: &dyn Fn(&Second) -> f64| {
            seconds.iter().map(of).sum::<f64>() / seconds.len() as f64
        };
        let throughput_per_s = mean(&|second| f64::from(second.answered));
        Self {
            throughput_per_s,
            response_time_s: mean(&|second| second.response_sum_s) / throughput_per_s,
            refused_per_s: mean(&|second| f64::from(second.refused)),
            cpu: mean(&|second| second.cpu),
            thinking: mean(&|second| second.thinking),
            threads_busy: mean(&|second| second.threads.occupancy),
            queued: mean(&|second| second.threads.waiting),
            backlog: mean(&|second| second.connections.waiting),
            pools: (0..seconds[0].pools.len())
                .map(|pool| PoolAverages {
                    busy: mean(&|second| second.pools[pool].occupancy),
                    waiting: mean(&|second| second.pools[pool].waiting),
                    wait_s: mean(&|second| second.pools[pool].wait_sum_s)
                        / mean(&|second| f64::from(second.pools[pool].entries))
                            .max(f64::MIN_POSITIVE),
                })
                .collect(),
        }
    }
}
