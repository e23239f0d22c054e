//! Users who wait for answers.

use serde_json::{Value, json};
use weir_queueing::bounds::bounds_checked;
use weir_queueing::{
    ClassOfUsers, ClosedNetwork, FiniteSource, LargestUsers, MulticlassNetwork, NetworkSolution,
    POPULATION_MAX, PooledServer, Station, StationSolution,
};

use super::{Solved, values};
use crate::{Case, OracleError, Values};

fn of_each(found: &NetworkSolution, of: impl Fn(&StationSolution) -> f64) -> Value {
    json!(found.stations.iter().map(of).collect::<Vec<f64>>())
}

fn network(think_s: f64, stations: impl IntoIterator<Item = (f64, u32)>) -> ClosedNetwork {
    let stations = stations
        .into_iter()
        .map(|(demand_s, servers)| Station { demand_s, servers });
    ClosedNetwork {
        think_s,
        stations: stations.collect(),
    }
}

fn solved(network: &ClosedNetwork, users: u32) -> Solved {
    network.check(users)?;
    let found = network.solve(users);
    Ok(values([
        ("X", json!(found.throughput_per_s)),
        ("R", json!(found.response_time_s)),
        ("Q", of_each(&found, |station| station.present)),
        ("U", of_each(&found, |station| station.utilization)),
        ("Ri", of_each(&found, |station| station.residence_s)),
        ("p0", of_each(&found, |station| station.empty_probability)),
    ]))
}

pub(super) fn mva(case: &Case) -> Solved {
    let demands = case.numbers("D")?;
    let servers = if case.has("servers") {
        case.counts_of("servers")?
    } else {
        vec![1; demands.len()]
    };
    let (users, think_s) = (case.count("N")?, case.number_or("Z", 0.0)?);
    let mut solved = solved(
        &network(think_s, demands.iter().copied().zip(servers)),
        users,
    )?;
    let bounds = bounds_checked(users, think_s, &demands)?;
    solved.extend(values([
        ("Nstar", json!(bounds.knee_users)),
        ("X_upper", json!(bounds.throughput_max)),
    ]));
    Ok(solved)
}

pub(super) fn mva_multiserver(case: &Case) -> Solved {
    let users = case.count("N")?;
    let network = network(case.number_or("Z", 0.0)?, case.stations("stations")?);
    let mut solved = solved(&network, users)?;
    if let Some(wanted) = case.expected.get("pN").and_then(Value::as_array) {
        solved.insert("pN".to_owned(), distributions(&network, users, wanted));
    }
    Ok(solved)
}

/// `pN` in the shape in which it is wanted: the distribution of the number at each station, at the
/// first one, or the probability that all are at each.
fn distributions(network: &ClosedNetwork, users: u32, wanted: &[Value]) -> Value {
    let stations = network.stations.len();
    if wanted.first().is_some_and(Value::is_array) {
        let all: Vec<Vec<f64>> = (0..stations)
            .map(|station| network.distribution(station, users))
            .collect();
        json!(all)
    } else if wanted.is_empty() {
        json!([])
    } else if wanted.len() == users as usize + 1 {
        json!(network.distribution(0, users))
    } else {
        let all: Vec<f64> = (0..stations)
            .map(|station| network.distribution(station, users)[users as usize])
            .collect();
        json!(all)
    }
}

pub(super) fn mva_multiclass(case: &Case) -> Solved {
    let demands = case.rows("D")?;
    let users = case.counts_of("N")?;
    let think = if case.has("Z") {
        case.numbers("Z")?
    } else {
        vec![0.0; users.len()]
    };
    if demands.len() != users.len() || think.len() != users.len() {
        return Err(OracleError::Other(format!(
            "{} classes with {} think times and {} rows of demands",
            users.len(),
            think.len(),
            demands.len()
        )));
    }
    let stations = demands.first().map_or(0, Vec::len);
    let servers = if case.has("servers") {
        case.counts_of("servers")?
    } else {
        vec![1; stations]
    };
    let classes = users.iter().zip(think).zip(demands);
    let network = MulticlassNetwork {
        classes: classes
            .map(|((&users, think_s), demands_s)| ClassOfUsers {
                users,
                think_s,
                demands_s,
            })
            .collect(),
        servers,
    };
    let found = network.solve()?;
    Ok(values([
        ("X", json!(found.throughput_per_s)),
        ("R", json!(found.response_time_s)),
        ("Q", json!(found.present_in_all())),
        ("U", json!(found.utilization)),
    ]))
}

pub(super) fn largest_users(case: &Case) -> Solved {
    let network = network(case.number_or("Z", 0.0)?, case.stations("stations")?);
    let cpu = case.limit("cpu_station")?.unwrap_or(0) as usize;
    if cpu >= network.stations.len() {
        return Err(OracleError::Other(format!(
            "station {cpu} of {}, counted from 0",
            network.stations.len()
        )));
    }
    network.check(1)?;
    Ok(
        match network.largest_users(cpu, case.number("target")?, POPULATION_MAX) {
            LargestUsers::Users {
                users,
                utilization_at,
                utilization_next,
            } => values([
                ("N", json!(users)),
                ("U_at_N", json!(utilization_at)),
                ("U_at_N_plus_1", json!(utilization_next)),
            ]),
            LargestUsers::Never { limit } => {
                values([("N", Value::Null), ("U_limit", json!(limit))])
            }
            LargestUsers::Beyond { .. } => values([("N", Value::Null)]),
        },
    )
}

pub(super) fn finite_source(case: &Case) -> Solved {
    let source = FiniteSource {
        users: case.count("N")?,
        think_s: case.number("Z")?,
        service_s: case.number("S")?,
        servers: case.count("c")?,
        room: case.limit("K")?,
    };
    source.check()?;
    let found = source.solve();
    Ok(values([
        ("X", json!(found.throughput_per_s)),
        ("R", json!(found.response_time_s)),
        ("L", json!(found.present)),
        ("util", json!(found.utilization)),
        (
            "attempt_rate",
            json!(found.throughput_per_s + found.refused_per_s),
        ),
        ("reject_rate", json!(found.refused_per_s)),
        ("reject_fraction", json!(found.refused_share)),
    ]))
}

/// Threads around CPU and pool, as the case describes them.
pub(crate) fn pooled_server(case: &Case) -> Result<PooledServer, OracleError> {
    Ok(PooledServer {
        users: case.count("users")?,
        think_s: case.number("think")?,
        threads: case.limit("threads")?.unwrap_or(u32::MAX),
        pool: case.limit("pool")?.unwrap_or(u32::MAX),
        servers: case.count("cores")?,
        cpu_before_s: case.number_or("cpu_before", 0.0)?,
        hold_s: case.number_or("db_hold", 0.0)?,
        cpu_holding_s: case.number_or("cpu_holding_conn", 0.0)?,
        room: case.limit("max_in_system")?,
    })
}

pub(super) fn threads_pool_cpu(case: &Case) -> Solved {
    let found = pooled_server(case)?.solve_exact()?;
    Ok(values([
        ("X", json!(found.throughput_per_s)),
        ("R", json!(found.response_time_s)),
        ("cpu_util", json!(found.utilization)),
        ("threads_busy", json!(found.threads_busy)),
        ("thread_queue", json!(found.queued)),
        ("conn_busy", json!(found.connections_busy)),
        ("conn_waiting", json!(found.connections_waiting)),
        ("conn_wait_time", json!(found.connection_wait_s)),
        ("reject_fraction", json!(found.refused_share)),
        (
            "attempt_rate",
            json!(found.throughput_per_s + found.refused_per_s),
        ),
    ]))
}

pub(super) fn bounds(case: &Case) -> Solved {
    let (users, think_s) = (case.count("N")?, case.number_or("Z", 0.0)?);
    let demands = case.numbers("D")?;
    let bounds = bounds_checked(users, think_s, &demands)?;
    let exact: Values = solved(
        &network(think_s, demands.iter().map(|&demand| (demand, 1))),
        users,
    )?;
    Ok(values([
        ("X_upper_asym", json!(bounds.throughput_max)),
        ("R_lower_asym", json!(bounds.response_time_min_s)),
        ("X_lower", json!(bounds.throughput_min)),
        ("X_exact", exact["X"].clone()),
        ("X_bjb_upper", json!(bounds.balanced_throughput_max)),
        ("X_bjb_lower", json!(bounds.balanced_throughput_min)),
        ("Nstar", json!(bounds.knee_users)),
    ]))
}
