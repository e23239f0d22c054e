//! The simulator against exact values, published figures and the solvers of this crate.
//!
//! Runs are long enough for the tolerances to be several standard errors; the seeds are fixed.
use super::cases::{Case, cases};
use weir_queueing::sim::{
    Averages, ConnectionLimit, Discipline, Disturbances, Duration, Pauses, Phase, PoolLimit, Ramp,
    Scenario, ServerModel, Simulation, StressRequest, UserClass, WhenConnectionsFull, simulate,
};
use weir_queueing::{ClosedCpu, LargestThreads, LargestUsers, ThreadLimited};

fn server(cores: u32, threads: Option<u32>, pools: &[u32]) -> ServerModel {
    ServerModel {
        cores,
        discipline: Discipline::ProcessorSharing,
        connections: None,
        threads,
        pools: pools
            .iter()
            .map(|&limit| PoolLimit {
                name: Some("db".to_owned()),
                limit,
            })
            .collect(),
    }
}

fn scenario(server: ServerModel, classes: Vec<UserClass>) -> Scenario {
    Scenario {
        server,
        classes,
        ramp: Ramp { seconds: 1.0 },
        disturbances: Disturbances::default(),
    }
}

fn class(users: u32, think: Duration, request: Vec<Phase>) -> UserClass {
    UserClass {
        label: "request".to_owned(),
        users,
        think,
        request,
    }
}

/// Averages over `seconds` after `dropped` seconds of warm-up.
fn run(scenario: &Scenario, dropped: u32, seconds: u32) -> Averages {
    let all = simulate(scenario, dropped + seconds, 1);
    Averages::of(&all[dropped as usize..])
}

/// Relative tolerance of the case for queues, or a hundredth of a request for queues that are hardly there.
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
        let exponential = |name: &str| Duration::Exponential(case.number(name));
        let request = vec![
            Phase::Cpu(exponential("cpu_before")),
            Phase::Acquire(0),
            Phase::Sleep(exponential("db_hold")),
            Phase::Cpu(exponential("cpu_holding_conn")),
            Phase::Release(0),
        ];
        let mut server = server(
            case.count("cores"),
            Some(case.count("threads")),
            &[case.count("pool")],
        );
        server.connections =
            case.parameters()["max_in_system"]
                .as_u64()
                .map(|limit| ConnectionLimit {
                    limit: limit as u32,
                    when_full: WhenConnectionsFull::Close,
                });
        let users = class(case.count("users"), exponential("think"), request);
        let found = run(&scenario(server, vec![users]), 50, 5000);
        let simulated = case.tolerance("sim_rel");
        case.check_within("X", found.throughput_per_s, simulated);
        case.check_within("R", found.response_time_s, simulated);
        case.check_within("cpu_util", found.cpu, simulated);
        case.check_within("threads_busy", found.threads_busy, simulated);
        check_queue(&case, "thread_queue", found.queued);
        check_queue(&case, "conn_busy", found.pools[0].busy);
        check_queue(&case, "conn_waiting", found.pools[0].waiting);
        check_queue(&case, "conn_wait_time", found.pools[0].wait_s);
        let refused = found.refused_per_s / (found.refused_per_s + found.throughput_per_s);
        check_queue(&case, "reject_fraction", refused);
    }
}

/// The first station is the CPU, the others are pools that are held for an exponential time.
#[test]
fn closed_networks_with_both_disciplines() {
    for case in cases("mva_multiserver") {
        for discipline in [
            Discipline::ProcessorSharing,
            Discipline::FirstComeFirstServed,
        ] {
            let stations: Vec<(f64, u32)> = case.parameters()["stations"]
                .as_array()
                .unwrap()
                .iter()
                .map(|station| {
                    (
                        station["D"].as_f64().unwrap(),
                        station["servers"].as_u64().unwrap() as u32,
                    )
                })
                .collect();
            let pools: Vec<u32> = stations[1..].iter().map(|&(_, servers)| servers).collect();
            let mut request = vec![Phase::Cpu(Duration::Exponential(stations[0].0))];
            for (pool, &(demand, _)) in stations[1..].iter().enumerate() {
                request.extend(Phase::hold(pool, Duration::Exponential(demand)));
            }
            let mut server = server(stations[0].1, None, &pools);
            server.discipline = discipline;
            let users = class(
                case.count("N"),
                Duration::Exponential(case.number("Z")),
                request,
            );
            let found = run(&scenario(server, vec![users]), 200, 5000);
            case.check_within("X", found.throughput_per_s, case.tolerance("sim_rel"));
            case.check_within("R", found.response_time_s, case.tolerance("sim_rel"));
            let utilization = case.expected("U")[0].as_f64().unwrap();
            assert!(
                (found.cpu / utilization - 1.0).abs() < case.tolerance("sim_rel"),
                "{}",
                case.name()
            );
        }
    }
}

#[test]
fn refused_connections_of_a_finite_source() {
    for case in cases("finite_source") {
        let room = case.parameters()["K"].as_u64().map(|limit| limit as u32);
        let mut server = server(1, None, &[case.count("c")]);
        server.connections = room.map(|limit| ConnectionLimit {
            limit,
            when_full: WhenConnectionsFull::Close,
        });
        let request = Phase::hold(0, Duration::Exponential(case.number("S"))).to_vec();
        let users = class(
            case.count("N"),
            Duration::Exponential(case.number("Z")),
            request,
        );
        let found = run(&scenario(server, vec![users]), 100, 20_000);
        case.check_within("X", found.throughput_per_s, case.tolerance("sim_rel"));
        case.check_within("R", found.response_time_s, case.tolerance("sim_rel"));
        check_queue(&case, "reject_rate", found.refused_per_s);
    }
}

/// The published WebSphere load: users of two kinds on 2 CPUs with 50 threads and a pool of 10.
fn published(users_each: u32, pool: u32, second_hold_s: [f64; 2]) -> Scenario {
    let think = Duration::FoldedGaussian {
        mean_s: 0.5,
        deviation_s: 0.5,
    };
    let request = |search_s: f64, interval_s: f64, times: u32, update_s: f64| {
        StressRequest {
            pool: 0,
            search: Duration::Constant(search_s),
            primes: Duration::Exponential(0.05),
            interval: Duration::Constant(interval_s),
            times,
            update: Duration::Constant(update_s),
        }
        .phases()
    };
    let classes = vec![
        class(users_each, think, request(10.0, 0.1, 1, second_hold_s[0])),
        class(users_each, think, request(0.02, 0.5, 2, second_hold_s[1])),
    ];
    scenario(server(2, Some(50), &[pool]), classes)
}

#[test]
fn published_pool_of_ten_as_published() {
    let case = &cases("reality")[0];
    let found = run(&published(14, 10, [0.001, 0.001]), 1000, 50_000);
    let pool = found.pools[0];
    assert!(
        (14.1..=14.4).contains(&pool.waiting),
        "waiting {}",
        pool.waiting
    );
    assert!((2.5..=2.6).contains(&pool.wait_s), "wait {}", pool.wait_s);
    assert!(
        (found.threads_busy - 26.4).abs() < 0.1,
        "busy {}",
        found.threads_busy
    );
    case.check_within("conn_busy", pool.busy, 0.01);
    case.check_within("X", found.throughput_per_s, 0.02);
    // Little's law on the pool: two acquisitions per request.
    assert!((pool.waiting / (2.0 * found.throughput_per_s * pool.wait_s) - 1.0).abs() < 1e-3);
}

#[test]
fn published_pool_of_ten_as_intended() {
    let found = run(&published(13, 10, [10.0, 0.02]), 1000, 50_000);
    let pool = found.pools[0];
    assert!(
        (pool.waiting - 13.8).abs() < 0.15,
        "waiting {}",
        pool.waiting
    );
    assert!((pool.wait_s - 4.2).abs() < 0.1, "wait {}", pool.wait_s);
}

#[test]
fn published_pool_of_fifty_lets_nobody_wait() {
    let found = run(&published(14, 50, [0.001, 0.001]), 100, 2000);
    assert!(found.pools[0].waiting.abs() < 1e-12 && found.pools[0].wait_s.abs() < 1e-12);
}

/// The server of the worked example: 60 ms of CPU on 2 CPUs, one second in the thread without CPU, half a second of thinking.
fn worked_example(users: u32, threads: u32) -> Scenario {
    let request = vec![
        Phase::Cpu(Duration::Exponential(0.06)),
        Phase::Sleep(Duration::Exponential(1.0)),
    ];
    scenario(
        server(2, Some(threads), &[]),
        vec![class(users, Duration::Exponential(0.5), request)],
    )
}

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
    let found = run(&worked_example(66, threads), 50, 10_000);
    assert!(
        (found.cpu - solved.utilization).abs() < 0.01,
        "{} {}",
        found.cpu,
        solved.utilization
    );
    assert!((found.cpu - 0.8).abs() < 0.02, "{}", found.cpu);
    assert!(
        (found.queued / solved.queued - 1.0).abs() < 0.03,
        "{} {}",
        found.queued,
        solved.queued
    );
    // The surplus waits in front: users = thinking + busy + queued.
    assert!((found.queued + found.threads_busy + found.thinking - 66.0).abs() < 0.01);
    // The mean or the peak occupancy at the answer would be the wrong limit.
    let loose = run(&worked_example(66, 43), 50, 5_000);
    assert!(loose.cpu > 0.93, "{}", loose.cpu);
}

#[test]
fn waiting_connections_are_served_in_the_end() {
    let mut waits = worked_example(60, 100);
    waits.server.connections = Some(ConnectionLimit {
        limit: 40,
        when_full: WhenConnectionsFull::Wait,
    });
    let found = run(&waits, 50, 5_000);
    let as_threads = run(&worked_example(60, 40), 50, 5_000);
    assert!(found.refused_per_s.abs() < 1e-12);
    assert!(
        (found.backlog / as_threads.queued - 1.0).abs() < 0.05,
        "{} {}",
        found.backlog,
        as_threads.queued
    );
}

#[test]
fn the_same_seed_gives_the_same_trial_and_another_one_another() {
    let scenario = worked_example(40, 30);
    let trial = |seed| {
        let mut simulation = Simulation::new(&scenario, seed);
        let mut responses = Vec::new();
        let seconds: Vec<_> = (0..60)
            .map(|_| {
                let second = simulation.next_second();
                responses.extend_from_slice(simulation.responses());
                second
            })
            .collect();
        (seconds, responses)
    };
    assert_eq!(trial(5), trial(5));
    assert_ne!(trial(5), trial(6));
    let (seconds, responses) = trial(5);
    assert_eq!(seconds.len(), 60);
    assert_eq!(
        responses.len() as u32,
        seconds.iter().map(|second| second.answered).sum::<u32>()
    );
}

#[test]
fn disturbances_do_what_they_say() {
    let mut disturbed = worked_example(20, 50);
    let plain = run(&disturbed, 100, 3000);
    let with = |disturbances: Disturbances, dropped, seconds| {
        let mut scenario = worked_example(20, 50);
        scenario.disturbances = disturbances;
        run(&scenario, dropped, seconds)
    };
    // Steal takes time from the CPUs: the share of what is left that is busy rises by 1/(1 - steal).
    let stolen = with(
        Disturbances {
            steal: 0.2,
            ..Disturbances::default()
        },
        100,
        3000,
    );
    assert!(
        (stolen.cpu / (plain.cpu / 0.8) - 1.0).abs() < 0.03,
        "{} {}",
        stolen.cpu,
        plain.cpu
    );
    let warm_up = Disturbances {
        warm_up: 1.0,
        warm_up_s: 20.0,
        ..Disturbances::default()
    };
    assert!(with(warm_up, 0, 20).cpu > 1.3 * plain.cpu);
    assert!((with(warm_up, 200, 3000).cpu / plain.cpu - 1.0).abs() < 0.03);
    let drift = Disturbances {
        drift_per_hour: 1.0,
        ..Disturbances::default()
    };
    let doubled = ClosedCpu {
        think_s: 1.5,
        demand_s: 0.12,
        servers: 2,
    }
    .solve(20)
    .utilization;
    let drifted = with(drift, 3500, 200).cpu;
    assert!(
        (drifted / doubled - 1.0).abs() < 0.05,
        "{drifted} {doubled}"
    );
    // 50 ms with all CPUs busy after every 20 requests: X/20 pauses a second, each adding 50 ms of the idle share.
    let pauses = Some(Pauses {
        every_requests: 20,
        pause_s: 0.05,
    });
    let collected = with(
        Disturbances {
            pauses,
            ..Disturbances::default()
        },
        100,
        3000,
    );
    assert!(
        collected.cpu > plain.cpu + 0.01,
        "{} {}",
        collected.cpu,
        plain.cpu
    );
    // Another demand in each trial, the same one throughout a trial.
    disturbed.disturbances.between_trials = 0.05;
    let cpus: Vec<f64> = (0..200)
        .map(|seed| {
            let seconds = simulate(&disturbed, 120, seed);
            Averages::of(&seconds[20..]).cpu
        })
        .collect();
    let mean = cpus.iter().sum::<f64>() / 200.0;
    let spread = (cpus
        .iter()
        .map(|cpu| (cpu / mean - 1.0).powi(2))
        .sum::<f64>()
        / 199.0)
        .sqrt();
    // 5 % between trials, and about 2.5 % from windows of 100 s.
    assert!((0.045..0.07).contains(&spread), "{spread}");
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
    let found = run(&worked_example(users, 1000), 100, 10_000);
    assert!(
        (found.cpu - utilization_at).abs() < 0.005,
        "{} {utilization_at}",
        found.cpu
    );
}
