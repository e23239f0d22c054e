//! What models do at their edges: too large, not stable, not a number; and how long that takes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use weir_queueing::open::OpenQueue;
use weir_queueing::{
    BreakdownQueue, ClassOfUsers, ClosedCpu, ClosedNetwork, FiniteSource, GeneralQueue,
    ImpatientQueue, LargestUsers, ModelError, MulticlassNetwork, POPULATION_MAX, Pool,
    PooledServer, ScaleOut, Station, ThreadLimited, TransientQueue, laws,
};

/// A demand of next to nothing asks for billions of users: 34 GB of states, before the search had a
/// bound.
#[test]
fn a_search_for_users_stays_in_memory() {
    let model = ClosedCpu {
        think_s: 1e6,
        demand_s: 1e-6,
        servers: 1,
    };
    assert_eq!(
        model.largest_users(0.8),
        LargestUsers::Beyond {
            users_max: POPULATION_MAX
        }
    );
}

#[test]
fn three_hundred_users_and_two_hundred_threads_take_no_time() {
    // Every number of threads and many pools: 1,600 solutions.
    for threads in 1..=200 {
        for limit in [1, 2, 5, 10, 50, 100, 199, 1000] {
            let server = ThreadLimited {
                users: 300,
                think_s: 0.5,
                threads,
                cpu_demand_s: 0.06,
                servers: 2,
                delay_in_thread_s: 1.0,
                pool: Some(Pool { limit, hold_s: 0.4 }),
                room: None,
            };
            server.check().unwrap();
            let found = server.solve();
            let cap = (2.0 / 0.06_f64).min(f64::from(limit) / 0.4);
            assert!(found.throughput_per_s <= cap * (1.0 + 1e-9));
            let present = found.threads_busy + found.queued + found.thinking;
            assert!(
                (present - 300.0).abs() < 1e-6,
                "{threads} {limit} {present}"
            );
        }
    }
}

/// A hundred thousand users, exact: the response-time law must hold to the last digits that the
/// throughput has.
#[test]
fn a_hundred_thousand_users_keep_their_digits() {
    let network = ClosedNetwork {
        think_s: 10.0,
        stations: vec![
            Station {
                demand_s: 0.001,
                servers: 16,
            },
            Station {
                demand_s: 0.000_2,
                servers: 1,
            },
            Station {
                demand_s: 0.05,
                servers: 100_000,
            },
        ],
    };
    network.check(100_000).unwrap();
    let found = network.solve(100_000);
    assert!((found.throughput_per_s / 5_000.0 - 1.0).abs() < 1e-9);
    let by_law = laws::response_time_s(1e5, found.throughput_per_s, 10.0);
    assert!(
        (found.response_time_s / by_law - 1.0).abs() < 1e-8,
        "{} {by_law}",
        found.response_time_s
    );
}

#[track_caller]
fn says<T: std::fmt::Debug>(result: Result<T, ModelError>, words: &str) {
    let error = result.expect_err("there is no solution");
    let text = error.to_string();
    assert!(text.contains(words), "{text}");
}

#[test]
fn what_cannot_be_stable_is_said() {
    let queue = OpenQueue {
        arrivals_per_s: 21.0,
        services_per_s: 10.0,
        servers: 2,
    };
    says(
        queue.solve_checked(),
        "21 arrivals/s meet a capacity of 20/s",
    );
    let general = GeneralQueue {
        arrivals_per_s: 1.0,
        service_s: 1.0,
    };
    says(general.in_order(1.0), "the queue grows without end");
    says(general.shared(), "the queue grows without end");
    let fails = BreakdownQueue {
        arrivals_per_s: 0.95,
        services_per_s: 1.0,
        up_s: 9.0,
        down_s: 1.0,
    };
    says(fails.solve(), "a capacity of 0.9/s");
    let patient = ImpatientQueue {
        queue,
        give_up_per_s: 0.0,
    };
    says(patient.solve(), "the queue grows without end");
    let step = ScaleOut {
        arrivals_per_s: 300.0,
        per_server_per_s: 100.0,
        servers: 1,
        added: 2,
        delay_s: 60.0,
    };
    says(step.solve(), "a capacity of 300/s");
}

#[test]
fn what_nothing_can_be_is_said() {
    let network = |demand_s: f64| ClosedNetwork {
        think_s: 1.0,
        stations: vec![Station {
            demand_s,
            servers: 1,
        }],
    };
    says(network(-0.1).check(10), "the demand at station 1 is -0.1");
    says(
        network(f64::NAN).check(10),
        "the demand at station 1 is NaN",
    );
    says(network(0.0).check(10), "no demand at any station");
    says(network(0.1).check(POPULATION_MAX + 1), "kept in memory");
    let source = FiniteSource {
        users: 10,
        think_s: 0.0,
        service_s: 1.0,
        servers: 1,
        room: None,
    };
    says(source.check(), "the think time is 0");
    let classes = |second: Vec<f64>| MulticlassNetwork {
        classes: vec![
            ClassOfUsers {
                users: 3,
                think_s: 1.0,
                demands_s: vec![0.1, 0.2],
            },
            ClassOfUsers {
                users: 2,
                think_s: 1.0,
                demands_s: second,
            },
        ],
        servers: vec![1, 1],
    };
    says(
        classes(vec![0.0, 0.0]).solve(),
        "class 2 has users, but no demand",
    );
    says(
        classes(vec![0.0]).solve_approximate(),
        "the number of demands of class 2 is 1",
    );
    says(
        classes(vec![0.1, f64::INFINITY]).solve(),
        "station 2 is inf",
    );
    let late = TransientQueue {
        arrivals_per_s: 1e6,
        services_per_s: 1e6,
        present_at_start: 0,
    };
    says(late.at(1e6), "kept in memory");
    let mut large = PooledServer {
        users: 5_000,
        think_s: 1.0,
        threads: 2_000,
        pool: 200,
        servers: 2,
        cpu_before_s: 0.01,
        hold_s: 0.01,
        cpu_holding_s: 0.01,
        room: None,
    };
    says(large.solve_exact(), "states");
    large.pool = 0;
    says(large.solve_exact(), "the pool's limit is 0");
}
