//! Connections and backlog: what may wait in front of the threads, and for how long.

use weir_metric::{Metric, Requirement};
use weir_record::WhenFull;

use super::Demand;

/// How long a request may wait when the study sets no response time: after ten seconds people turn
/// to something else (Nielsen 1993, "Usability Engineering", section 5.5).
const PATIENCE_S: f64 = 10.0;
/// A connection attempt that finds the backlog full is tried again after one second (RFC 6298,
/// section 2.1: initial retransmission time-out), which its user feels.
const RETRY_S: f64 = 1.0;
/// The largest backlog that a kernel leaves as it is unless told otherwise: `net.core.somaxconn`
/// since Linux 5.4 (`ip-sysctl`, "somaxconn").
const SOMAXCONN: f64 = 4_096.0;
/// Connections of the check's users that may overlap with their next ones while they close.
const OVERLAP: f64 = 1.1;

/// What comes to the front of the threads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Front {
    /// Requests per second with the CPU at its goal.
    pub(crate) throughput_per_s: f64,
    /// Users of the check: all of them have to fit.
    pub(crate) population: u32,
    /// How long a request may wait.
    pub(crate) patience_s: f64,
}

impl Front {
    /// The patience is the tightest response time of the requirements, else ten seconds.
    pub(crate) fn new(
        throughput_per_s: f64,
        population: u32,
        requirements: &[Requirement],
    ) -> Self {
        let bounds = requirements.iter().filter(|requirement| {
            let time = matches!(
                requirement.metric,
                Metric::Mean | Metric::Percentile(_) | Metric::Max
            );
            time && requirement.comparison.bounds_from_above() && requirement.class.is_none()
        });
        let patience_s = bounds
            .map(Requirement::bound_base)
            .fold(PATIENCE_S, f64::min);
        Self {
            throughput_per_s,
            population,
            patience_s,
        }
    }

    /// Threads, what may wait for them within the patience (Little's law), and what is kept open
    /// without a request; at least the users of the check.
    pub(super) fn connections(
        &self,
        threads: u32,
        demand: &Demand,
        when_full: Option<WhenFull>,
    ) -> Option<(f64, String)> {
        let queue = self.throughput_per_s * self.patience_s;
        let users = OVERLAP * f64::from(self.population);
        let idle = demand.idle_connections;
        let wanted = f64::from(threads) + queue + idle;
        if !wanted.is_finite() {
            return None;
        }
        let limit = wanted.max(users).ceil();
        let more = match when_full {
            Some(WhenFull::Refuse) => "; more are refused at once",
            Some(WhenFull::Wait | WhenFull::Block) => "; more wait to be accepted",
            None => "",
        };
        let because = if wanted >= users {
            format!(
                "{threads} in threads, {queue:.0} that wait at most {} s at {:.1} requests/s, {idle:.0} \
                 open without a request{more}",
                self.patience_s, self.throughput_per_s
            )
        } else {
            format!(
                "the {} users of the check and a tenth more for connections that are closing",
                self.population
            )
        };
        Some((limit, because))
    }

    /// Enough for the connections that come in the second before TCP tries again, and for all users
    /// of the check at once; a larger one costs nothing and stays.
    pub(super) fn backlog(&self, found: f64) -> (f64, String) {
        let burst = (self.throughput_per_s * RETRY_S).ceil();
        let need = burst.max(f64::from(self.population));
        let what = format!(
            "{need:.0} may connect at once ({} users of the check; {burst:.0} in the second before \
             TCP tries again, RFC 6298)",
            self.population
        );
        if found >= need {
            return (found, format!("stays: {what}"));
        }
        if need > SOMAXCONN {
            let cut = "the kernel cuts it down to net.core.somaxconn of the server's machine, 4096 \
                       unless set: raise that as well";
            return (need, format!("{what}; {cut}"));
        }
        (need, what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backlog_that_the_kernel_would_cut_down_says_so() {
        let words = |throughput_per_s| {
            let front = Front::new(throughput_per_s, 40, &[]);
            front.backlog(100.0).1
        };
        assert!(words(4_097.0).contains("net.core.somaxconn"));
        assert!(!words(4_096.0).contains("net.core.somaxconn"));
    }
}
