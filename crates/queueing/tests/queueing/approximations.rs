//! How far the approximations are from the exact solutions: never further than the largest errors
//! that a search could find, and mostly much less.
//!
//! Three searches of each kind drew 42,000 systems and 60,000 networks evenly from the ranges below
//! and went 3,000 steps uphill from each of their eight worst; all ended at the same errors.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use weir_queueing::{ClassOfUsers, MulticlassNetwork, PooledServer};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The flow-equivalent server against the chain, with CPU used while a connection is held.
    #[test]
    fn the_flow_equivalent_server_comes_close(server in pooled_server()) {
        let [throughput, response] = flow_equivalent_errors(&server);
        prop_assert!(throughput < 0.072 && response < 0.121, "{throughput} {response}");
    }

    /// Bard and Schweitzer with Seidmann against the exact solution of two classes.
    #[test]
    fn the_approximation_of_classes_comes_close(network in two_classes()) {
        let off = error_of_classes(&network);
        prop_assert!(off < 0.17, "{off}");
    }
}

fn pooled_server() -> impl Strategy<Value = PooledServer> {
    let limits = (4..16_u32, 2..8_u32, 1..6_u32, 1..4_u32);
    let times = (
        0.05..1.0_f64,
        0.005..0.05_f64,
        0.005..0.2_f64,
        0.0..0.05_f64,
    );
    (limits, times).prop_map(|((users, threads, pool, servers), times)| {
        let (think_s, cpu_before_s, hold_s, cpu_holding_s) = times;
        PooledServer {
            users,
            think_s,
            threads,
            pool,
            servers,
            cpu_before_s,
            hold_s,
            cpu_holding_s,
            room: None,
        }
    })
}

fn two_classes() -> impl Strategy<Value = MulticlassNetwork> {
    let demands_s = || prop::collection::vec(0.01..0.3_f64, 2);
    let class = || {
        (2..12_u32, 0.2..2.0_f64, demands_s()).prop_map(|(users, think_s, demands_s)| {
            ClassOfUsers {
                users,
                think_s,
                demands_s,
            }
        })
    };
    (class(), class()).prop_map(|(first, second)| MulticlassNetwork {
        classes: vec![first, second],
        servers: vec![1, 1],
    })
}

/// How far the flow-equivalent server is from the chain: throughput and response time, as shares.
fn flow_equivalent_errors(server: &PooledServer) -> [f64; 2] {
    let exact = server.solve_exact().unwrap();
    let approximate = server.solve_flow_equivalent().unwrap();
    [
        (approximate.throughput_per_s / exact.throughput_per_s - 1.0).abs(),
        (approximate.response_time_s / exact.response_time_s - 1.0).abs(),
    ]
}

/// How far the approximation is from the exact throughput, as a share, for the class that it misses
/// most.
fn error_of_classes(network: &MulticlassNetwork) -> f64 {
    let exact = network.solve().unwrap().throughput_per_s;
    let approximate = network.solve_approximate().unwrap().throughput_per_s;
    let pairs = approximate.iter().zip(&exact);
    pairs.fold(0.0, |worst: f64, (found, wanted)| {
        worst.max((found / wanted - 1.0).abs())
    })
}

/// The median and the 99th percentile of an error over 400 networks, the same ones every time.
fn spread<Network>(
    networks: &impl Strategy<Value = Network>,
    error: impl Fn(&Network) -> f64,
) -> (f64, f64) {
    let mut runner = TestRunner::deterministic();
    let mut draw = || networks.new_tree(&mut runner).unwrap().current();
    let mut errors: Vec<f64> = (0..400).map(|_| error(&draw())).collect();
    errors.sort_by(f64::total_cmp);
    (errors[200], errors[396])
}

#[test]
fn the_flow_equivalent_server_is_mostly_much_closer() {
    let (half, nearly_all) = spread(&pooled_server(), |server| flow_equivalent_errors(server)[0]);
    assert!(
        half < 0.002 && nearly_all < 0.025,
        "throughput: {half} {nearly_all}"
    );
    let (half, nearly_all) = spread(&pooled_server(), |server| flow_equivalent_errors(server)[1]);
    assert!(
        half < 0.005 && nearly_all < 0.08,
        "response time: {half} {nearly_all}"
    );
}

#[test]
fn the_approximation_of_classes_is_mostly_closer() {
    let (half, nearly_all) = spread(&two_classes(), error_of_classes);
    assert!(half < 0.05 && nearly_all < 0.11, "{half} {nearly_all}");
}

#[test]
fn the_largest_errors_of_the_flow_equivalent_server() {
    // As many threads as users: one CPU and one connection, each used for about as long as the
    // other.
    let throughput = PooledServer {
        users: 7,
        think_s: 0.139_515_7,
        threads: 7,
        pool: 1,
        servers: 1,
        cpu_before_s: 0.028_389_7,
        hold_s: 0.024_099_8,
        cpu_holding_s: 0.042_665_4,
        room: None,
    };
    let [off, _] = flow_equivalent_errors(&throughput);
    assert!((off - 0.0706).abs() < 1e-4, "{off}");
    // Two threads that are short, most of the time with the one connection.
    let response = PooledServer {
        users: 15,
        think_s: 1.0,
        threads: 2,
        servers: 3,
        cpu_before_s: 0.005,
        hold_s: 0.026_402,
        cpu_holding_s: 0.026_428,
        ..throughput
    };
    let [_, off] = flow_equivalent_errors(&response);
    assert!((off - 0.1194).abs() < 1e-4, "{off}");
}

/// Two users who hardly think beside eleven who hardly work.
#[test]
fn the_largest_error_of_the_approximation_of_classes() {
    let class = |users, think_s, demands_s: [f64; 2]| ClassOfUsers {
        users,
        think_s,
        demands_s: demands_s.to_vec(),
    };
    let network = MulticlassNetwork {
        classes: vec![
            class(2, 0.2, [0.3, 0.01]),
            class(11, 2.0, [0.120_848, 0.01]),
        ],
        servers: vec![1, 1],
    };
    let off = error_of_classes(&network);
    assert!((off - 0.1684).abs() < 1e-4, "{off}");
}
