//! The simulator against exact values, most of them from closed forms or Markov chains solved
//! elsewhere.
//!
//! Runs are long enough for the tolerances to be several standard errors; the seeds are fixed. The
//! whole file of cases is the business of `weir-oracle`; here is one of each mechanism.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use weir_sim::{
    AbandonedWork, Breakdowns, Center, CenterKind, Class, Crowding, Distribution, Gate, Gateway,
    Happening, Network, Planned, Profile, Simulation, Source, Spacing, Step, Timeout, Totals,
    WhenFull,
};

use crate::played::{close, played};

fn queue(name: &str, servers: u32) -> Center {
    Center::new(name, CenterKind::Queue { servers })
}

fn limit(name: &str, capacity: u32) -> Center {
    Center::new(name, CenterKind::Limit { capacity })
}

fn shared(name: &str, cores: u32) -> Center {
    Center::new(name, CenterKind::Shared { cores })
}

fn exponential(mean_s: f64) -> Distribution {
    Distribution::exponential(mean_s)
}

fn poisson(rate_per_s: f64) -> Source {
    Source::Arrivals {
        rate: Profile::constant(rate_per_s),
        spacing: Spacing::Poisson,
    }
}

fn users(users: u32, think: Distribution) -> Source {
    Source::Users {
        users,
        think,
        ramp_s: 0.0,
    }
}

/// One class at these places.
fn network(centers: Vec<Center>, source: Source, route: Vec<Step>) -> Network {
    Network {
        centers,
        classes: vec![Class::new("request", source, route)],
        ..Network::default()
    }
}

/// One station and Poisson arrivals.
fn open(center: Center, rate_per_s: f64, service: Distribution) -> Network {
    network(
        vec![center],
        poisson(rate_per_s),
        vec![Step::Use(0, service)],
    )
}

fn run(network: &Network, warm_up_s: f64, seconds: f64) -> Totals {
    played(network, 1, warm_up_s, seconds)
}

/// Kleinrock 1975: rho 0.8, W 5, 95th percentiles of wait and response 13.86 and 14.98.
#[test]
fn one_server_with_poisson_arrivals() {
    let found = run(
        &open(queue("server", 1), 0.8, exponential(1.0)),
        1000.0,
        1e6,
    );
    close("utilization", found.utilization(0).unwrap(), 0.8, 0.01);
    close("W", found.response_s(0).unwrap(), 5.0, 0.03);
    close("Wq", found.wait_s(0).unwrap(), 4.0, 0.04);
    close("Lq", found.waiting(0), 3.2, 0.04);
    close("L", found.number(0), 4.0, 0.04);
    close(
        "W p95",
        found.response_quantile_s(0, 0.95).unwrap(),
        14.9787,
        0.04,
    );
    close(
        "Wq p95",
        found.wait_quantile_s(0, 0.95).unwrap(),
        13.8629,
        0.05,
    );
}

/// Pollaczek and Khinchine: rho 0.8, Wq = rho (1 + scv) / (2 (1 - rho)) service times.
#[test]
fn general_services() {
    for (service, wait) in [
        (Distribution::constant(1.0), 2.0),
        (Distribution::erlang(1.0, 2), 3.0),
        (Distribution::hyperexponential(1.0, 4.0), 10.0),
    ] {
        let found = run(&open(queue("server", 1), 0.8, service), 1000.0, 1e6);
        close("Wq", found.wait_s(0).unwrap(), wait, 0.06);
    }
}

/// Processor sharing does not ask how services vary: W = 5 for any of them.
#[test]
fn processor_sharing_is_insensitive() {
    for service in [
        Distribution::constant(1.0),
        exponential(1.0),
        Distribution::hyperexponential(1.0, 4.0),
    ] {
        let found = run(&open(shared("cpu", 1), 0.8, service), 1000.0, 5e5);
        close("W", found.response_s(0).unwrap(), 5.0, 0.05);
        close("utilization", found.utilization(0).unwrap(), 0.8, 0.02);
    }
}

/// M/M/c/K with 40 servers and 20 places to wait, and Erlang's loss formula with 10 servers at 7
/// erlangs.
#[test]
fn bounded_queues_refuse() {
    let mut server = queue("server", 40);
    server.queue = Some(20);
    let found = run(&open(server, 45.0, exponential(1.0)), 200.0, 10_000.0);
    let refused =
        |totals: &Totals| totals.classes[0].refused as f64 / totals.classes[0].fresh as f64;
    close("p_block", refused(&found), 0.115_468_838, 0.03);
    close("X", found.throughput_per_s(0), 39.803_902, 0.01);
    close("Lq", found.waiting(0), 13.259_035, 0.03);
    let mut lines = queue("lines", 10);
    lines.queue = Some(0);
    let found = run(&open(lines, 7.0, exponential(1.0)), 200.0, 50_000.0);
    close("p_block", refused(&found), 0.078_740_883, 0.03);
    close("carried", found.number(0), 6.448_814, 0.01);
}

/// Erlang A: 50/s at 40 servers of 1 s, patience of 5 s.
#[test]
fn impatient_requests_leave() {
    let mut server = queue("server", 40);
    server.patience = Some(exponential(5.0));
    let found = run(&open(server, 50.0, exponential(1.0)), 200.0, 10_000.0);
    let abandoned = found.classes[0].abandoned as f64 / found.classes[0].fresh as f64;
    close("p_abandon", abandoned, 0.200_026, 0.03);
    close("Lq", found.waiting(0), 50.006_532, 0.03);
    close("X", found.throughput_per_s(0), 39.998_694, 0.01);
}

/// Exact MVA: 90 users, think time 1 s, two CPUs of 20 ms and a station of 5 ms.
#[test]
fn closed_networks() {
    for first in [queue("cpu", 2), shared("cpu", 2)] {
        let route = vec![
            Step::Use(0, exponential(0.02)),
            Step::Use(1, exponential(0.005)),
        ];
        let source = users(90, exponential(1.0));
        let found = run(
            &network(vec![first, queue("disk", 1)], source, route),
            100.0,
            5000.0,
        );
        close("X", found.throughput_per_s(0), 84.449_084, 0.01);
        close("R", found.response_s(0).unwrap(), 0.065_730_9, 0.02);
        close("Q", found.number(0), 4.828_569, 0.03);
        close("U", found.utilization(0).unwrap(), 0.844_490_8, 0.01);
    }
}

/// Two classes at two stations under processor sharing, exact MVA.
#[test]
fn two_classes() {
    let route = |first: f64, second: f64| {
        vec![
            Step::Use(0, exponential(first)),
            Step::Use(1, exponential(second)),
        ]
    };
    let class = |name: &str, first, second| {
        Class::new(name, users(13, exponential(0.5)), route(first, second))
    };
    let network = Network {
        centers: vec![shared("a", 1), shared("b", 1)],
        classes: vec![class("one", 0.04, 0.2), class("two", 0.5, 0.02)],
        ..Network::default()
    };
    let found = run(&network, 500.0, 50_000.0);
    close("X1", found.throughput_per_s(0), 4.815_000, 0.02);
    close("X2", found.throughput_per_s(1), 1.614_800, 0.02);
    close("Q1", found.number(0), 14.981_386, 0.05);
}

/// Threads around CPU and pool, the exact chain: 40 users, 8 threads, 4 connections, 4 cores.
#[test]
fn limits_are_held_over_several_steps() {
    let route = vec![
        Step::Acquire(0),
        Step::Use(2, exponential(0.01)),
        Step::Acquire(1),
        Step::Sleep(exponential(0.02)),
        Step::Use(2, exponential(0.01)),
        Step::Release(1),
        Step::Release(0),
    ];
    let centers = vec![limit("threads", 8), limit("pool", 4), shared("cpu", 4)];
    let found = run(
        &network(centers, users(40, exponential(0.2)), route),
        50.0,
        4000.0,
    );
    close("X", found.throughput_per_s(0), 129.891_257, 0.01);
    close("R", found.response_s(0).unwrap(), 0.107_949_9, 0.02);
    close("CPU", found.utilization(2).unwrap(), 0.649_456, 0.01);
    close("thread queue", found.waiting(0), 6.167_922, 0.03);
    close(
        "connections",
        found.utilization(1).unwrap() * 4.0,
        3.963_384,
        0.01,
    );
    close("wait for one", found.wait_s(1).unwrap(), 0.019_249_3, 0.03);
}

/// A saturated station before one with 5 places to wait: blocked one time in eight.
#[test]
fn a_full_station_blocks_the_one_before_it() {
    let mut second = queue("second", 1);
    second.queue = Some(5);
    second.when_full = WhenFull::Block;
    let route = vec![
        Step::Use(0, exponential(1.0)),
        Step::Use(1, exponential(1.0)),
    ];
    let found = run(
        &network(
            vec![queue("first", 1), second],
            users(30, Distribution::ZERO),
            route,
        ),
        1000.0,
        200_000.0,
    );
    close("X", found.throughput_per_s(0), 0.875, 0.01);
    close(
        "blocked",
        found.centers[0].blocked_s / found.seconds,
        0.125,
        0.05,
    );
    close("mean at the second", found.number(1), 3.375, 0.03);
}

/// M/M/1 with breakdowns, preemptive resume: up 60 s, down 3 s, L = 12.39.
#[test]
fn breakdowns_interrupt_services() {
    for kind in [
        CenterKind::Queue { servers: 1 },
        CenterKind::Shared { cores: 1 },
    ] {
        let mut server = Center::new("server", kind);
        server.breakdowns = Some(Breakdowns {
            up: exponential(60.0),
            down: exponential(3.0),
        });
        let found = run(&open(server, 8.0, exponential(0.1)), 1000.0, 200_000.0);
        close("L", found.number(0), 12.392_857, 0.07);
        close("W", found.response_s(0).unwrap(), 1.549_107, 0.07);
    }
}

/// Mean number in M/M/1 at t = 5 from an empty start, over 20,000 replications.
#[test]
fn from_an_empty_start() {
    let network = open(queue("server", 1), 0.8, exponential(1.0));
    let replications = 20_000;
    let mut number = 0;
    let mut empty = 0;
    for seed in 0..replications {
        let mut simulation = Simulation::new(&network, seed);
        simulation.run_until(5.0);
        let present = simulation.totals().centers[0].number;
        number += present;
        empty += u32::from(present == 0);
    }
    close("mean number", f64::from(number) / 2e4, 1.469_460_8, 0.03);
    close("p0", f64::from(empty) / 2e4, 0.348_967_9, 0.03);
}

/// Evenly spaced arrivals jump from 90 to 210/s at a station of 100/s that becomes three of them
/// after 45 s: the fluid limit has a backlog of 4,950 then, which is gone after another 55 s.
#[test]
fn servers_come_when_it_is_planned() {
    let mut network = network(
        vec![queue("server", 1)],
        Source::Arrivals {
            rate: Profile::new(vec![(0.0, 90.0), (100.0, 90.0), (100.0, 210.0)]).unwrap(),
            spacing: Spacing::Even,
        },
        vec![Step::Use(0, Distribution::constant(0.01))],
    );
    network.planned.push(Planned {
        at_s: 145.0,
        what: Happening::Servers {
            center: 0,
            servers: 3,
        },
    });
    let mut simulation = Simulation::new(&network, 1);
    simulation.run_until(145.0);
    close(
        "backlog",
        f64::from(simulation.totals().centers[0].number),
        4950.0,
        0.01,
    );
    let mut at = 145.0;
    while simulation.totals().centers[0].number > 10 {
        at += 0.1;
        simulation.run_until(at);
    }
    close("recovered", at - 100.0, 100.0, 0.01);
}

/// A gate of 50/s with bursts of 10 under 200/s: what may pass passes, the rest is refused.
#[test]
fn a_gate_lets_pass_what_it_may() {
    let mut network = open(queue("server", 1), 200.0, Distribution::constant(0.001));
    network.gates.push(Gate {
        name: "gate".to_owned(),
        rate_per_s: 50.0,
        burst: 10,
        max_wait_s: 0.2,
    });
    network.classes[0].route.insert(0, Step::Pass(0));
    let found = run(&network, 10.0, 1000.0);
    close("passed", found.gates[0].passed as f64 / 1000.0, 50.0, 0.001);
    close(
        "refused",
        found.gates[0].refused as f64 / 1000.0,
        150.0,
        0.02,
    );
    // Nearly always ten intervals ahead: it waits for 0.2 s, less what is left of the interval.
    let wait = found.gates[0].wait_s / found.gates[0].passed as f64;
    assert!((0.18..=0.2).contains(&wait), "{wait}");
}

/// A gateway of two slots without a queue in front of two CPUs is a loss system: Erlang's B for two
/// servers and an offered load of 2 is 0.4.
#[test]
fn a_gateway_without_a_queue_is_a_loss_system() {
    let mut network = open(shared("cpu", 2), 200.0, exponential(0.01));
    network.gateways.push(Gateway {
        name: "gate".to_owned(),
        rules: weir_limit::Rules {
            concurrency: Some(weir_limit::Concurrency::Fixed(2.0)),
            max_wait: std::time::Duration::ZERO,
            ..weir_limit::Rules::default()
        },
        cpu: None,
    });
    let admit = Step::Admit {
        gateway: 0,
        class: 0,
    };
    network.classes[0].route.insert(0, admit);
    let found = run(&network, 10.0, 1000.0);
    let class = &found.classes[0];
    let refused = class.refused as f64 / class.fresh as f64;
    close("refused", refused, 0.4, 0.02);
    close("answered", class.answered as f64 / 1000.0, 120.0, 0.02);
}

/// Three users without think time at one CPU: the two beyond the first cost a half each, so it
/// works at half of its speed.
#[test]
fn a_crowd_slows_a_station_down() {
    let mut cpu = shared("cpu", 1);
    cpu.crowding = Some(Crowding {
        above: 1,
        cost: 0.5,
    });
    let source = users(3, Distribution::ZERO);
    let network = network(vec![cpu], source, vec![Step::Use(0, exponential(0.01))]);
    let found = run(&network, 10.0, 1000.0);
    close(
        "answered",
        found.classes[0].answered as f64 / 1000.0,
        50.0,
        0.02,
    );
}

/// Higher priority first, without throwing anybody out: Cobham 1954 for M/M/1 at 0.4 + 0.4.
#[test]
fn priorities_are_taken_first() {
    let mut server = queue("server", 1);
    server.by_priority = true;
    let class = |name: &str, priority| {
        let mut class = Class::new(name, poisson(0.4), vec![Step::Use(0, exponential(1.0))]);
        class.priority = priority;
        class
    };
    let network = Network {
        centers: vec![server],
        classes: vec![class("low", 0), class("high", 5)],
        ..Network::default()
    };
    let found = run(&network, 1000.0, 5e5);
    // W0 = 0.8; high 0.8 / 0.6, low 0.8 / (0.6 * 0.2); a second of service in both.
    close("high", found.response_s(1).unwrap(), 1.0 + 0.8 / 0.6, 0.03);
    close("low", found.response_s(0).unwrap(), 1.0 + 0.8 / 0.12, 0.06);
}

/// A client that gives up after 2 s at M/M/1 with response times that are exponential with a mean
/// of 5 s: 1 - e^-0.4 of its requests are answered, and the server works for all of them. Where the
/// work stops, it does not.
#[test]
fn abandoned_work_goes_on_or_stops() {
    let mut network = open(queue("server", 1), 0.8, exponential(1.0));
    network.classes[0].timeout = Some(Timeout {
        after: Distribution::constant(2.0),
        work: AbandonedWork::GoesOn,
    });
    let found = run(&network, 1000.0, 3e5);
    let share =
        |totals: &Totals| totals.classes[0].answered as f64 / totals.classes[0].fresh as f64;
    close("answered", share(&found), 1.0 - (-0.4_f64).exp(), 0.04);
    close("utilization", found.utilization(0).unwrap(), 0.8, 0.01);
    close(
        "wasted",
        found.classes[0].wasted as f64,
        found.classes[0].timed_out as f64,
        0.01,
    );
    let goes_on = share(&found);
    network.classes[0].timeout = Some(Timeout {
        after: Distribution::constant(2.0),
        work: AbandonedWork::Stops,
    });
    let found = run(&network, 1000.0, 3e5);
    assert!(share(&found) > goes_on + 0.2, "{}", share(&found));
    assert_eq!(found.classes[0].wasted, 0);
}
