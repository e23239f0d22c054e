//! One simulation of a share of the fleet.

use weir_sim::{Simulation, Totals};

use crate::SizeError;
use crate::cores::Watcher;
use crate::fleet::{CPU, Places, REQUEST, Server, Share};

/// Warm-up in response times: users start thinking, which is how they stay when think times are
/// exponential, so only the servers have to fill.
const WARM_UP_RESPONSES: f64 = 20.0;
/// A queue forgets its start after 1/(mu (1 - sqrt rho)^2); the utilization is not taken above
/// this.
const BUSY_MAX: f64 = 0.95;

/// A simulation to run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Play {
    pub(crate) server: Server,
    pub(crate) share: Share,
    pub(crate) requests: u32,
    pub(crate) seed: u64,
}

/// What it showed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Played {
    totals: Totals,
    places: Places,
    servers: f64,
}

impl Play {
    /// Runs it.
    pub(crate) fn run(&self, watcher: &dyn Watcher) -> Result<Played, SizeError> {
        let servers = f64::from(self.share.servers);
        let each = self
            .server
            .closed_form(f64::from(self.share.users) / servers)?;
        let (network, places) = self.server.network(self.share);
        let rate =
            f64::from(self.share.users) / (self.server.parameters.think_s + each.response_time_s);
        let warm_up_s = self.warm_up_s(each.response_time_s, each.cpu);
        let mut simulation = Simulation::new(&network, self.seed);
        simulation.run_until(warm_up_s);
        simulation.forget();
        simulation.run_until(warm_up_s + f64::from(self.requests) / rate);
        if !watcher.simulated() {
            return Err(SizeError::Stopped);
        }
        Ok(Played {
            totals: simulation.totals(),
            places,
            servers,
        })
    }

    fn warm_up_s(&self, response_s: f64, busy: f64) -> f64 {
        let service_s = self.server.parameters.cpu_s / f64::from(self.server.cpus);
        let relaxation_s = service_s / (1.0 - busy.min(BUSY_MAX).sqrt()).powi(2);
        (WARM_UP_RESPONSES * response_s).max(relaxation_s)
    }
}

impl Played {
    /// Requests per second that one server answers.
    pub(crate) fn throughput_per_s(&self) -> f64 {
        self.totals.throughput_per_s(REQUEST) / self.servers
    }

    /// Mean response time.
    pub(crate) fn mean_s(&self) -> f64 {
        self.totals.response_s(REQUEST).unwrap_or(f64::INFINITY)
    }

    /// A percentile of the response time.
    pub(crate) fn percentile_s(&self, percent: f64) -> f64 {
        self.totals
            .response_quantile_s(REQUEST, percent / 100.0)
            .unwrap_or(f64::INFINITY)
    }

    /// Busy share of the CPUs.
    pub(crate) fn cpu(&self) -> f64 {
        self.totals.utilization(CPU).unwrap_or(0.0)
    }

    /// Busy threads of one server; all its requests where there is no limit.
    pub(crate) fn threads_busy(&self, server: &Server) -> f64 {
        let inside = |center: usize| self.totals.centers[center].inside_s / self.totals.seconds;
        let without_limit = || {
            self.totals.throughput_per_s(REQUEST) * (self.mean_s() - server.parameters.outside_s)
        };
        self.places.threads.map_or_else(without_limit, inside) / self.servers
    }

    /// Mean wait in front of the threads.
    pub(crate) fn wait_for_thread_s(&self) -> f64 {
        self.places
            .threads
            .and_then(|threads| self.totals.wait_s(threads))
            .unwrap_or(0.0)
    }

    /// Connections that one server uses.
    pub(crate) fn connections_busy(&self, server: &Server) -> f64 {
        self.throughput_per_s() * server.parameters.hold_s
    }
}
