//! How much a closed network of single-server stations can do at most and does at least.
//!
//! Source: Zahorjan, Sevcik, Eager and Galler (1982), "Balanced job bound analysis of queueing
//! networks"; Lazowska et al. (1984), "Quantitative System Performance", tables 5.2 and 5.3. Needs:
//! one class, load-independent stations, demands that do not change with the load.

use crate::ModelError;
use crate::error::Check;

/// Bounds on throughput and response time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// No more than this, whatever the distributions: `min(1/Dmax, N/(D+Z))`.
    pub throughput_max: f64,
    /// No less than this, when each request waits for all others: `N/(N D + Z)`.
    pub throughput_min: f64,
    /// No less than this: `max(D, N Dmax - Z)`.
    pub response_time_min_s: f64,
    /// Tighter upper bound, from a network with equal demands.
    pub balanced_throughput_max: f64,
    /// Tighter lower bound, from a network with equal demands.
    pub balanced_throughput_min: f64,
    /// The population at which the two asymptotes meet: `(D+Z)/Dmax`.
    pub knee_users: f64,
}

/// As `bounds`, after a look at the parameters.
pub fn bounds_checked(users: u32, think_s: f64, demands_s: &[f64]) -> Result<Bounds, ModelError> {
    let check = Check("the bounds of a closed network");
    check.at_least_one("the number of users", users)?;
    check.not_negative("the think time", think_s)?;
    for (index, &demand_s) in demands_s.iter().enumerate() {
        check.not_negative(&format!("the demand at station {}", index + 1), demand_s)?;
    }
    if demands_s.iter().all(|&demand_s| demand_s == 0.0) {
        return Err(ModelError::NoDemand {
            model: "the bounds of a closed network",
            class: 1,
        });
    }
    Ok(bounds(users, think_s, demands_s))
}

/// Bounds for `users` with think time `think_s` on stations with these demands.
///
/// Panics without a positive demand: nothing bounds such a network.
pub fn bounds(users: u32, think_s: f64, demands_s: &[f64]) -> Bounds {
    let n = f64::from(users);
    let total: f64 = demands_s.iter().sum();
    let largest = demands_s.iter().copied().fold(0.0, f64::max);
    assert!(largest > 0.0, "a network needs a station with a demand");
    let mean = total / demands_s.len() as f64;
    let unqueued = total + think_s;
    Bounds {
        throughput_max: (1.0 / largest).min(n / unqueued),
        throughput_min: n / (n * total + think_s),
        response_time_min_s: total.max(n * largest - think_s),
        balanced_throughput_max: (1.0 / largest)
            .min(n / (unqueued + (n - 1.0) * mean / (1.0 + think_s / total))),
        balanced_throughput_min: n
            / (unqueued + (n - 1.0) * largest / (1.0 + think_s / (n * total))),
        knee_users: unqueued / largest,
    }
}
