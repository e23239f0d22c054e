//! What was observed on real systems: what can be computed from the figures given.

use serde_json::{Value, json};

use super::values;
use crate::{Case, OracleError, Values};

pub(super) fn solve(case: &Case) -> Result<Option<Values>, OracleError> {
    if case.has("idle") && case.has("R_ms") {
        return idle_connections(case).map(Some);
    }
    if case.has("MaxRequestsPerChild") && case.has("observed_rps") {
        return spawned_processes(case).map(Some);
    }
    Ok(None)
}

/// Idle connections against a thread pool: Little's law, and what each thousand of them costs in
/// system time.
fn idle_connections(case: &Case) -> Result<Values, OracleError> {
    let times = case.numbers("R_ms")?;
    let busy: Vec<f64> = case
        .numbers("X")?
        .iter()
        .zip(&times)
        .map(|(throughput, time_ms)| throughput * time_ms / 1e3)
        .collect();
    let thousands: Vec<f64> = case
        .numbers("idle")?
        .iter()
        .map(|idle| idle / 1e3)
        .collect();
    let slope = slope(&thousands, &case.numbers("sys")?);
    Ok(values([
        ("concurrency", json!(busy)),
        ("sys_slope_per_1000", json!(slope)),
    ]))
}

/// A plateau that grows with a setting that is no limit of its own.
fn spawned_processes(case: &Case) -> Result<Values, OracleError> {
    let slope = slope(
        &case.numbers("MaxRequestsPerChild")?,
        &case.numbers("observed_rps")?,
    );
    Ok(values([
        ("limit", Value::Null),
        ("slope_rps_per_request_per_child", json!(slope)),
    ]))
}

/// Slope of the least-squares line; not a number for fewer than two places.
fn slope(x: &[f64], y: &[f64]) -> f64 {
    let count = x.len().min(y.len()) as f64;
    let centre_x = x.iter().sum::<f64>() / count;
    let centre_y = y.iter().sum::<f64>() / count;
    let (mut both, mut square) = (0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        both += (x - centre_x) * (y - centre_y);
        square += (x - centre_x).powi(2);
    }
    both / square
}
