//! The operational laws: relations between measured averages that need no assumption about
//! distributions (Denning and Buzen 1978, "The operational analysis of queueing network models").
//!
//! They hold over any window at whose ends about the same number of requests is in the system, so
//! they also serve as free tests of the instruments.

/// Little's law: mean number present = throughput times mean time spent.
pub fn number_present(throughput_per_s: f64, time_s: f64) -> f64 {
    throughput_per_s * time_s
}

/// Little's law read the other way: mean time spent = mean number present over throughput.
pub fn time_spent_s(number_present: f64, throughput_per_s: f64) -> f64 {
    number_present / throughput_per_s
}

/// Utilisation law: busy share of each of `servers` = throughput times demand over servers.
pub fn utilization(throughput_per_s: f64, demand_s: f64, servers: u32) -> f64 {
    throughput_per_s * demand_s / f64::from(servers)
}

/// Utilisation law solved for the demand: what one request costs.
pub fn demand_s(utilization: f64, throughput_per_s: f64, servers: u32) -> f64 {
    utilization * f64::from(servers) / throughput_per_s
}

/// Response-time law of a closed system: response time = users over throughput, less the think
/// time.
pub fn response_time_s(users: f64, throughput_per_s: f64, think_s: f64) -> f64 {
    users / throughput_per_s - think_s
}

/// Response-time law solved for the think time: what users do outside, from what was measured.
pub fn think_time_s(users: f64, throughput_per_s: f64, response_time_s: f64) -> f64 {
    users / throughput_per_s - response_time_s
}
