//! What a Throughput Controller counts, for one user or for all users of a group.

/// Passes that a throughput controller has seen and has let through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Executions {
    pub(crate) passes: i64,
    pub(crate) executed: i64,
    pub(crate) runs: bool,
}

impl Default for Executions {
    fn default() -> Self {
        Self {
            passes: -1,
            executed: 0,
            runs: false,
        }
    }
}

impl Executions {
    /// One more pass of the controller above; says whether this one runs.
    pub(crate) fn pass(&mut self, is_total: bool, limit: f64) {
        self.passes += 1;
        let executed = self.executed as f64;
        self.runs = if is_total {
            executed < limit
        } else {
            (100.0 * executed + 50.0) / ((self.passes + 1) as f64) < limit
        };
        self.executed += i64::from(self.runs);
    }
}
