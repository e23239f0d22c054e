//! One server and Poisson arrivals, whatever the distribution of the service: M/G/1, in order and
//! shared.
//!
//! Sources: Pollaczek (1930) and Khinchine (1932) for service in order of arrival; Sakata, Noguchi
//! and Oizumi (1971) for processor sharing, where only the mean of the service matters. Both as in
//! Kleinrock (1975), "Queueing Systems", volume 1, section 5.7, and volume 2 (1976), section 4.4.
//! They need arrivals that do not depend on the server.

use crate::ModelError;
use crate::error::Check;

/// Poisson arrivals to one server with any distribution of service.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GeneralQueue {
    /// Arrivals per second.
    pub arrivals_per_s: f64,
    /// Mean service time.
    pub service_s: f64,
}

/// Averages of a [`GeneralQueue`] that serves in order of arrival.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InOrder {
    /// Busy share of the server.
    pub utilization: f64,
    /// Mean wait of all requests.
    pub wait_s: f64,
    /// Mean time from arrival to end.
    pub response_time_s: f64,
    /// Mean number waiting.
    pub waiting: f64,
    /// Mean number waiting or served.
    pub present: f64,
}

/// Averages of a [`GeneralQueue`] whose server is shared equally by all requests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shared {
    /// Busy share of the server.
    pub utilization: f64,
    /// Mean time from arrival to end.
    pub response_time_s: f64,
    /// Response time of any request over its own service time.
    pub slowdown: f64,
    /// Mean number present.
    pub present: f64,
}

impl GeneralQueue {
    /// Service in order of arrival; `scv` is the variance of the service time over its squared
    /// mean: 0 for constant, 1 for exponential service. Wait = rho S (1 + scv) / (2 (1 - rho)).
    pub fn in_order(&self, scv: f64) -> Result<InOrder, ModelError> {
        let utilization = self.utilization("M/G/1")?;
        Check("M/G/1").not_negative(
            "the squared coefficient of variation of the service time",
            scv,
        )?;
        let wait_s = utilization * self.service_s * (1.0 + scv) / (2.0 * (1.0 - utilization));
        let response_time_s = wait_s + self.service_s;
        Ok(InOrder {
            utilization,
            wait_s,
            response_time_s,
            waiting: self.arrivals_per_s * wait_s,
            present: self.arrivals_per_s * response_time_s,
        })
    }

    /// Equal shares for all who are there: response time = S / (1 - rho).
    pub fn shared(&self) -> Result<Shared, ModelError> {
        let utilization = self.utilization("M/G/1-PS")?;
        let slowdown = 1.0 / (1.0 - utilization);
        Ok(Shared {
            utilization,
            response_time_s: self.service_s * slowdown,
            slowdown,
            present: utilization * slowdown,
        })
    }

    fn utilization(&self, model: &'static str) -> Result<f64, ModelError> {
        let check = Check(model);
        check.not_negative("the arrival rate", self.arrivals_per_s)?;
        check.positive("the service time", self.service_s)?;
        check.stable(self.arrivals_per_s, 1.0 / self.service_s)?;
        Ok(self.arrivals_per_s * self.service_s)
    }
}
