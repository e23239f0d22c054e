//! Steps of the load, stalls, and what Little's law says of a pool.

use serde_json::{Value, json};
use weir_queueing::schedule::{Schedule, quantile};
use weir_queueing::{ModelError, ScaleOut, laws};

use super::{Solved, values};
use crate::{Case, OracleError};

pub(super) fn fluid_scaleout(case: &Case) -> Solved {
    let step = ScaleOut {
        arrivals_per_s: case.number("rate_after")?,
        per_server_per_s: case.number("per_server")?,
        servers: case.count("servers")?,
        added: case.count("servers_added")?,
        delay_s: case.number("startup_delay")?,
    };
    let from = case.number_or("t_step", 0.0)?;
    match step.solve() {
        Ok(found) => Ok(values([
            ("backlog_at_ready", json!(found.backlog)),
            ("drain_time", json!(found.drain_s)),
            ("recovered_at", json!(from + found.recovered_s)),
            ("max_wait", json!(found.wait_max_s)),
            ("delayed_requests", json!(found.delayed)),
            (
                "arrival_time_of_max_wait",
                json!(from + found.wait_max_at_s),
            ),
            ("wait_at_ready", json!(found.wait_when_added_s)),
        ])),
        // All servers together do not keep up: the backlog is known, its end is not.
        Err(ModelError::Unstable { capacity_per_s, .. }) => {
            let excess = step.arrivals_per_s - f64::from(step.servers) * step.per_server_per_s;
            let backlog = excess * step.delay_s;
            Ok(values([
                ("backlog_at_ready", json!(backlog)),
                ("drain_time", Value::Null),
                ("recovered_at", Value::Null),
                ("max_wait", Value::Null),
                ("delayed_requests", Value::Null),
                ("arrival_time_of_max_wait", Value::Null),
                ("wait_at_ready", json!(backlog / capacity_per_s)),
            ]))
        }
        Err(error) => Err(error.into()),
    }
}

pub(super) fn coordinated_omission(case: &Case) -> Solved {
    let schedule = Schedule {
        due_per_s: case.number("schedule_rate")?,
        duration_s: case.number("duration")?,
        service_s: case.number("service")?,
        stall_at_s: case.number_or("stall_at", 0.0)?,
        stall_s: case.number_or("stall_length", 0.0)?,
        clients: case.limit("clients")?.unwrap_or(1),
    };
    let times = schedule.solve()?;
    let mut solved = values([("n", json!(times.from_due_s.len()))]);
    for (prefix, sorted) in [
        ("", &times.from_due_s),
        ("uncorrected_", &times.from_sent_s),
    ] {
        let (Some(max), count) = (sorted.last(), sorted.len() as f64) else {
            return Err(OracleError::Other("a schedule without requests".to_owned()));
        };
        let mean = sorted.iter().sum::<f64>() / count;
        solved.insert(format!("{prefix}max"), json!(max));
        solved.insert(format!("{prefix}mean"), json!(mean));
        for (name, q) in [
            ("p50", 0.5),
            ("p90", 0.9),
            ("p95", 0.95),
            ("p99", 0.99),
            ("p999", 0.999),
        ] {
            solved.insert(format!("{prefix}{name}"), json!(quantile(sorted, q)));
        }
    }
    Ok(solved)
}

pub(super) fn little(case: &Case) -> Solved {
    let (throughput, response_s) = (case.number("throughput")?, case.number("response")?);
    let busy = laws::number_present(throughput, response_s);
    let mut solved = values([("concurrency", json!(busy))]);
    if let Some(threads) = case.limit("threads")? {
        let share = laws::utilization(throughput, response_s, threads);
        solved.extend(values([
            ("thread_util", json!(share)),
            (
                "max_throughput_by_threads",
                json!(f64::from(threads) / response_s),
            ),
        ]));
    }
    Ok(solved)
}
