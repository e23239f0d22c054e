//! One server's funnel against exact values, published figures and the solvers of `weir-queueing`.
//!
//! Runs are long enough for the tolerances to be several standard errors; the seeds are fixed.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use weir_queueing::{ClosedCpu, LargestThreads, LargestUsers, ThreadLimited};
use weir_sim::{Distribution, Network, Step, Totals};

use crate::cases::{Case, cases};
use crate::funnel::{CPU, Funnel, StressRequest, hold, pool};
use crate::played::played;

fn exponential(mean_s: f64) -> Distribution {
    Distribution::exponential(mean_s)
}

fn run(network: &Network, warm_up_s: f64, seconds: f64) -> Totals {
    played(network, 1, warm_up_s, seconds)
}

/// Answers per second, whatever the class.
fn throughput_per_s(found: &Totals) -> f64 {
    (0..found.classes.len())
        .map(|class| found.throughput_per_s(class))
        .sum()
}

fn refused_per_s(found: &Totals) -> f64 {
    let refused = found.classes.iter().map(|class| class.refused);
    refused.sum::<u64>() as f64 / found.seconds
}

/// Mean number inside a center.
fn inside(found: &Totals, center: usize) -> f64 {
    found.number(center) - found.waiting(center)
}

/// Relative tolerance of the case for queues, or a hundredth of a request for queues that are
/// hardly there.
#[track_caller]
fn check_queue(case: &Case, name: &str, found: f64) {
    let expected = case.expected(name).as_f64().unwrap();
    let allowed = (case.tolerance("sim_rel_queue_lengths") * expected).max(0.01);
    assert!(
        (found - expected).abs() <= allowed,
        "{} {name}: {found} against {expected}",
        case.name()
    );
}

#[test]
fn threads_around_cpu_and_pool() {
    for case in cases("tpc") {
        let time = |name: &str| exponential(case.number(name));
        let request = vec![
            Step::Use(CPU, time("cpu_before")),
            Step::Acquire(pool(0)),
            Step::Sleep(time("db_hold")),
            Step::Use(CPU, time("cpu_holding_conn")),
            Step::Release(pool(0)),
        ];
        let room = case.parameters()["max_in_system"].as_u64();
        let server = Funnel {
            cores: case.count("cores"),
            threads: Some(case.count("threads")),
            pools: vec![case.count("pool")],
            connections: room.map(|limit| (limit as u32, false)),
            ..Funnel::default()
        };
        let users = server.class(case.count("users"), time("think"), request);
        let found = run(&server.network(vec![users]), 50.0, 5000.0);
        let threads = server.threads_at();
        let simulated = case.tolerance("sim_rel");
        case.check_within("X", throughput_per_s(&found), simulated);
        case.check_within("R", found.response_s(0).unwrap(), simulated);
        case.check_within("cpu_util", found.utilization(CPU).unwrap(), simulated);
        case.check_within("threads_busy", inside(&found, threads), simulated);
        check_queue(&case, "thread_queue", found.waiting(threads));
        check_queue(&case, "conn_busy", inside(&found, pool(0)));
        check_queue(&case, "conn_waiting", found.waiting(pool(0)));
        check_queue(&case, "conn_wait_time", found.wait_s(pool(0)).unwrap());
        let refused = refused_per_s(&found);
        let share = refused / (refused + throughput_per_s(&found));
        check_queue(&case, "reject_fraction", share);
    }
}

/// The first station is the CPU, the others are pools that are held for an exponential time.
#[test]
fn closed_networks_with_both_disciplines() {
    for case in cases("mva_multiserver") {
        let stations: Vec<(f64, u32)> = case.parameters()["stations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|station| {
                let servers = station["servers"].as_u64().unwrap() as u32;
                (station["D"].as_f64().unwrap(), servers)
            })
            .collect();
        for in_order in [false, true] {
            let server = Funnel {
                cores: stations[0].1,
                in_order,
                pools: stations[1..].iter().map(|&(_, servers)| servers).collect(),
                ..Funnel::default()
            };
            let mut request = vec![Step::Use(CPU, exponential(stations[0].0))];
            for (number, &(demand, _)) in stations[1..].iter().enumerate() {
                request.extend(hold(number, exponential(demand)));
            }
            let users = server.class(case.count("N"), exponential(case.number("Z")), request);
            let found = run(&server.network(vec![users]), 200.0, 5000.0);
            let simulated = case.tolerance("sim_rel");
            case.check_within("X", throughput_per_s(&found), simulated);
            case.check_within("R", found.response_s(0).unwrap(), simulated);
            let utilization = case.expected("U")[0].as_f64().unwrap();
            let cpu = found.utilization(CPU).unwrap();
            assert!(
                (cpu / utilization - 1.0).abs() < simulated,
                "{}",
                case.name()
            );
        }
    }
}

#[test]
fn refused_connections_of_a_finite_source() {
    for case in cases("finite_source") {
        let room = case.parameters()["K"].as_u64();
        let server = Funnel {
            cores: 1,
            pools: vec![case.count("c")],
            connections: room.map(|limit| (limit as u32, false)),
            ..Funnel::default()
        };
        let request = hold(0, exponential(case.number("S"))).to_vec();
        let users = server.class(case.count("N"), exponential(case.number("Z")), request);
        let found = run(&server.network(vec![users]), 100.0, 20_000.0);
        case.check_within("X", throughput_per_s(&found), case.tolerance("sim_rel"));
        case.check_within("R", found.response_s(0).unwrap(), case.tolerance("sim_rel"));
        check_queue(&case, "reject_rate", refused_per_s(&found));
    }
}

/// The published WebSphere load: users of two kinds on 2 CPUs with 50 threads and a pool of 10.
fn published(users_each: u32, connections: u32, update_s: [f64; 2]) -> Network {
    let server = Funnel {
        cores: 2,
        threads: Some(50),
        pools: vec![connections],
        ..Funnel::default()
    };
    let request = |search_s: f64, interval_s: f64, times: usize, update_s: f64| {
        StressRequest {
            search_s,
            primes: exponential(0.05),
            interval_s,
            times,
            update_s,
        }
        .steps()
    };
    let think = Distribution::folded_normal(0.5, 0.5);
    let classes = vec![
        server.class(users_each, think, request(10.0, 0.1, 1, update_s[0])),
        server.class(users_each, think, request(0.02, 0.5, 2, update_s[1])),
    ];
    server.network(classes)
}

#[test]
fn published_pool_of_ten_as_published() {
    let case = &cases("reality")[0];
    let network = published(14, 10, [0.001, 0.001]);
    let found = run(&network, 1000.0, 50_000.0);
    let (waiting, wait_s) = (found.waiting(pool(0)), found.wait_s(pool(0)).unwrap());
    assert!((14.1..=14.4).contains(&waiting), "waiting {waiting}");
    assert!((2.5..=2.6).contains(&wait_s), "wait {wait_s}");
    let threads_busy = inside(&found, pool(1));
    assert!((threads_busy - 26.4).abs() < 0.1, "busy {threads_busy}");
    case.check_within("conn_busy", inside(&found, pool(0)), 0.01);
    case.check_within("X", throughput_per_s(&found), 0.02);
    // Little's law on the pool: two acquisitions per request.
    let by_little = 2.0 * throughput_per_s(&found) * wait_s;
    assert!((waiting / by_little - 1.0).abs() < 1e-3);
}

#[test]
fn published_pool_of_ten_as_intended() {
    let found = run(&published(13, 10, [10.0, 0.02]), 1000.0, 50_000.0);
    let (waiting, wait_s) = (found.waiting(pool(0)), found.wait_s(pool(0)).unwrap());
    assert!((waiting - 13.8).abs() < 0.15, "waiting {waiting}");
    assert!((wait_s - 4.2).abs() < 0.1, "wait {wait_s}");
}

#[test]
fn published_pool_of_fifty_lets_nobody_wait() {
    let found = run(&published(14, 50, [0.001, 0.001]), 100.0, 2000.0);
    assert!(found.waiting(pool(0)).abs() < 1e-12);
    assert!(found.wait_s(pool(0)).unwrap().abs() < 1e-12);
}

/// The server of the worked example: 60 ms of CPU on 2 CPUs, one second in the thread without CPU,
/// half a second of thinking.
fn worked_example(users: u32, threads: u32, connections: Option<(u32, bool)>) -> Network {
    let server = Funnel {
        cores: 2,
        threads: Some(threads),
        connections,
        ..Funnel::default()
    };
    let request = vec![
        Step::Use(CPU, exponential(0.06)),
        Step::Sleep(exponential(1.0)),
    ];
    server.network(vec![server.class(users, exponential(0.5), request)])
}

/// Where the threads are in it, and the connections.
const THREADS: usize = CPU + 1;
const CONNECTIONS: usize = THREADS + 1;

#[test]
fn a_thread_limit_for_all_threads_busy_holds_under_a_surplus_of_users() {
    let model = ThreadLimited {
        users: 66,
        think_s: 0.5,
        threads: 43,
        cpu_demand_s: 0.06,
        servers: 2,
        delay_in_thread_s: 1.0,
        pool: None,
        room: None,
    };
    let LargestThreads::Threads {
        threads,
        utilization_at,
        utilization_next,
    } = model.largest_threads(0.8, 1000)
    else {
        panic!("the CPU can be filled");
    };
    assert!(utilization_at <= 0.8 && utilization_next > 0.8);
    let solved = ThreadLimited { threads, ..model }.solve();
    let found = run(&worked_example(66, threads, None), 50.0, 10_000.0);
    let cpu = found.utilization(CPU).unwrap();
    assert!(
        (cpu - solved.utilization).abs() < 0.01,
        "{cpu} {}",
        solved.utilization
    );
    assert!((cpu - 0.8).abs() < 0.02, "{cpu}");
    let queued = found.waiting(THREADS);
    assert!(
        (queued / solved.queued - 1.0).abs() < 0.03,
        "{queued} {}",
        solved.queued
    );
    // The surplus waits in front: users = thinking + busy + queued, thinking by Little's law.
    let thinking = throughput_per_s(&found) * 0.5;
    let all = queued + inside(&found, THREADS) + thinking;
    assert!((all - 66.0).abs() < 0.5, "{all}");
    // The mean or the peak occupancy at the answer would be the wrong limit.
    let loose = run(&worked_example(66, 43, None), 50.0, 5_000.0);
    assert!(loose.utilization(CPU).unwrap() > 0.93);
}

#[test]
fn waiting_connections_are_served_in_the_end() {
    let waits = worked_example(60, 100, Some((40, true)));
    let found = run(&waits, 50.0, 5_000.0);
    let as_threads = run(&worked_example(60, 40, None), 50.0, 5_000.0);
    assert!(refused_per_s(&found).abs() < 1e-12);
    let (backlog, queued) = (found.waiting(CONNECTIONS), as_threads.waiting(THREADS));
    assert!((backlog / queued - 1.0).abs() < 0.05, "{backlog} {queued}");
}

#[test]
fn the_small_model_answers_like_a_long_run() {
    let model = ClosedCpu {
        think_s: 1.5,
        demand_s: 0.06,
        servers: 2,
    };
    let LargestUsers::Users {
        users,
        utilization_at,
        ..
    } = model.largest_users(0.8)
    else {
        panic!("the CPU can be filled");
    };
    assert_eq!(users, 43);
    let found = run(&worked_example(users, 1000, None), 100.0, 10_000.0);
    let cpu = found.utilization(CPU).unwrap();
    assert!(
        (cpu - utilization_at).abs() < 0.005,
        "{cpu} {utilization_at}"
    );
}
