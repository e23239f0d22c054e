//! The solvers against values computed elsewhere: `known-answers.json` holds each case with its
//! formula and source.
use super::cases::{Case, cases};
use weir_queueing::bounds::bounds;
use weir_queueing::open::{OpenQueue, erlang_b};
use weir_queueing::{
    ClosedCpu, ClosedNetwork, FiniteSource, LargestUsers, Pool, Station, ThreadLimited, laws,
};

fn network(case: &Case) -> ClosedNetwork {
    let stations = case.parameters()["stations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|station| Station {
            demand_s: station["D"].as_f64().unwrap(),
            servers: station["servers"].as_u64().unwrap() as u32,
        });
    ClosedNetwork {
        think_s: case.number("Z"),
        stations: stations.collect(),
    }
}

#[test]
fn single_server_networks() {
    for case in cases("mva") {
        let demands = case.numbers("D");
        let stations: Vec<Station> = demands
            .iter()
            .map(|&demand_s| Station {
                demand_s,
                servers: 1,
            })
            .collect();
        let found = ClosedNetwork {
            think_s: case.number("Z"),
            stations,
        }
        .solve(case.count("N"));
        case.check("X", found.throughput_per_s);
        case.check("R", found.response_time_s);
        case.check_all("Q", found.stations.iter().map(|station| station.present));
        case.check_all(
            "U",
            found.stations.iter().map(|station| station.utilization),
        );
        case.check_all(
            "Ri",
            found.stations.iter().map(|station| station.residence_s),
        );
        let bounds = bounds(case.count("N"), case.number("Z"), &demands);
        case.check("Nstar", bounds.knee_users);
        case.check("X_upper", bounds.throughput_max);
    }
}

#[test]
fn multi_server_networks() {
    for case in cases("mva_multiserver") {
        let found = network(&case).solve(case.count("N"));
        case.check("X", found.throughput_per_s);
        case.check("R", found.response_time_s);
        case.check_all("Q", found.stations.iter().map(|station| station.present));
        case.check_all(
            "U",
            found.stations.iter().map(|station| station.utilization),
        );
        case.check_all(
            "p0",
            found
                .stations
                .iter()
                .map(|station| station.empty_probability),
        );
    }
}

#[test]
fn finite_sources() {
    for case in cases("finite_source") {
        let source = FiniteSource {
            users: case.count("N"),
            think_s: case.number("Z"),
            service_s: case.number("S"),
            servers: case.count("c"),
            room: case.parameters()["K"].as_u64().map(|room| room as u32),
        };
        let found = source.solve();
        case.check("X", found.throughput_per_s);
        case.check("R", found.response_time_s);
        case.check("L", found.present);
        case.check("util", found.utilization);
        case.check("reject_rate", found.refused_per_s);
        case.check("reject_fraction", found.refused_share);
        case.check("attempt_rate", found.refused_per_s + found.throughput_per_s);
        if source.room.is_none() {
            let model = ClosedCpu {
                think_s: source.think_s,
                demand_s: source.service_s,
                servers: source.servers,
            };
            case.check("X", model.solve(source.users).throughput_per_s);
        }
    }
}

#[test]
fn largest_population_under_a_cpu_target() {
    for case in cases("largest_N_cpu") {
        let found = network(&case).largest_users(
            case.count("cpu_station") as usize,
            case.number("target"),
            100_000,
        );
        match found {
            LargestUsers::Users {
                users,
                utilization_at,
                utilization_next,
            } => {
                case.check("N", f64::from(users));
                case.check("U_at_N", utilization_at);
                case.check("U_at_N_plus_1", utilization_next);
            }
            LargestUsers::Never { limit } => {
                assert!(case.expected("N").is_null(), "{}", case.name());
                case.check("U_limit", limit);
            }
            LargestUsers::Beyond { .. } => panic!("{}: beyond", case.name()),
        }
    }
}

/// The exact values come from the full Markov chain; the flow-equivalent server is exact when
/// threads are ample and close otherwise. Cases that use CPU while they hold a connection are
/// outside this model.
#[test]
fn threads_around_cpu_and_pool() {
    let mut solved = 0;
    for case in cases("tpc")
        .into_iter()
        .filter(|case| case.number("cpu_holding_conn") == 0.0)
    {
        let server = ThreadLimited {
            users: case.count("users"),
            think_s: case.number("think"),
            threads: case.count("threads"),
            cpu_demand_s: case.number("cpu_before"),
            servers: case.count("cores"),
            delay_in_thread_s: 0.0,
            pool: Some(Pool {
                limit: case.count("pool"),
                hold_s: case.number("db_hold"),
            }),
            room: case.parameters()["max_in_system"]
                .as_u64()
                .map(|room| room as u32),
        };
        let found = server.solve();
        let pool = found.pool.unwrap();
        let ample = server.threads >= server.users.min(server.room.unwrap_or(u32::MAX));
        let (of_throughput, of_time, of_queues) = if ample {
            (1e-8, 1e-8, 1e-8)
        } else {
            (6e-4, 9e-4, 9e-3)
        };
        case.check_within("X", found.throughput_per_s, of_throughput);
        case.check_within("cpu_util", found.utilization, of_throughput);
        case.check_within("R", found.response_time_s, of_time);
        case.check_within("threads_busy", found.threads_busy, of_time);
        case.check_within("thread_queue", found.queued, of_queues);
        case.check_within("conn_busy", pool.busy, of_throughput);
        case.check_within("conn_waiting", pool.waiting, of_queues);
        case.check_within("conn_wait_time", pool.wait_s, of_queues);
        let refused = case.expected("reject_fraction").as_f64().unwrap();
        assert!(
            (found.refused_share - refused).abs() < 3e-4,
            "{} {}",
            case.name(),
            found.refused_share
        );
        solved += 1;
    }
    assert_eq!(solved, 6);
}

#[test]
fn laws_on_published_figures() {
    for case in cases("little") {
        let (throughput, response, threads) = (
            case.number("throughput"),
            case.number("response"),
            case.number("threads"),
        );
        let busy = laws::number_present(throughput, response);
        case.check("concurrency", busy);
        case.check(
            "thread_util",
            laws::utilization(throughput, response, threads as u32),
        );
        case.check(
            "max_throughput_by_threads",
            threads / laws::time_spent_s(busy, throughput),
        );
    }
}

#[test]
fn bounds_of_closed_networks() {
    for case in cases("bounds") {
        let found = bounds(case.count("N"), case.number("Z"), &case.numbers("D"));
        case.check("X_upper_asym", found.throughput_max);
        case.check("R_lower_asym", found.response_time_min_s);
        case.check("X_lower", found.throughput_min);
        case.check("X_bjb_upper", found.balanced_throughput_max);
        case.check("X_bjb_lower", found.balanced_throughput_min);
    }
}

#[test]
fn open_queues() {
    for case in cases("mm1").into_iter().chain(cases("mmc")) {
        let servers = case.parameters()["c"].as_u64().map_or(1, |c| c as u32);
        let queue = OpenQueue {
            arrivals_per_s: case.number("lam"),
            services_per_s: case.number("mu"),
            servers,
        };
        let found = queue.solve().unwrap();
        case.check("rho", found.utilization);
        case.check("p_wait", found.wait_probability);
        case.check("Wq", found.wait_s);
        case.check("W", found.response_time_s);
        case.check("Lq", found.waiting);
        case.check("L", found.present);
        case.check("Wq_p95", found.wait_quantile_s(0.95));
        case.check("Wq_p99", found.wait_quantile_s(0.99));
        case.check("W_p95", found.response_time_quantile_s(0.95));
        case.check("W_p99", found.response_time_quantile_s(0.99));
    }
}

#[test]
fn queues_with_bounded_room() {
    for case in cases("mmck") {
        let queue = OpenQueue {
            arrivals_per_s: case.number("lam"),
            services_per_s: case.number("mu"),
            servers: case.count("c"),
        };
        let found = queue.solve_bounded(case.count("K"));
        case.check("p_block", found.refused_share);
        case.check("X", found.throughput_per_s);
        case.check("L", found.present);
        case.check("Lq", found.waiting);
        case.check("W", found.response_time_s);
        case.check("Wq", found.wait_s);
        case.check("util", found.utilization);
        case.check("p0", found.empty_probability);
    }
    for case in cases("mmcc") {
        let blocked = erlang_b(case.number("a"), case.count("c"));
        case.check("p_block", blocked);
        case.check("carried", case.number("a") * (1.0 - blocked));
    }
}
