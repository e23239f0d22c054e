//! Exact solvers against each other and against closed forms.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use weir_queueing::open::OpenQueue;
use weir_queueing::{
    BlockingTandem, ClassOfUsers, ClosedNetwork, FiniteSource, GeneralQueue, ImpatientQueue,
    MulticlassNetwork, PooledServer, Station, TransientQueue,
};

fn near(left: f64, right: f64, relative: f64) -> bool {
    (left - right).abs() <= 1e-9 + relative * right.abs()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Threads that are never short: product form, whatever the order of phases.
    #[test]
    fn ample_threads_are_the_plain_network(
        users in 2..15_u32, think_s in 0.05..1.0_f64, servers in 1..4_u32, pool in 1..6_u32,
        cpu_before_s in 0.005..0.05_f64, hold_s in 0.005..0.2_f64
    ) {
        let server = PooledServer {
            users, think_s, threads: users, pool, servers, cpu_before_s, hold_s, cpu_holding_s: 0.0, room: None,
        };
        let exact = server.solve_exact().unwrap();
        let approximate = server.solve_flow_equivalent().unwrap();
        let plain = ClosedNetwork {
            think_s,
            stations: vec![Station { demand_s: cpu_before_s, servers }, Station { demand_s: hold_s, servers: pool }],
        }.solve(users);
        for found in [exact, approximate] {
            prop_assert!(near(found.throughput_per_s, plain.throughput_per_s, 1e-8));
            prop_assert!(near(found.response_time_s, plain.response_time_s, 1e-7));
            prop_assert!(near(found.connections_busy + found.connections_waiting, plain.stations[1].present, 1e-7));
        }
    }

    /// Without a pool the chain is the finite source, its room included.
    #[test]
    fn no_pool_is_the_finite_source(
        users in 2..30_u32, think_s in 0.05..1.0_f64, servers in 1..4_u32, room in 4..20_u32, cpu_before_s in 0.005..0.2_f64
    ) {
        let server = PooledServer {
            users, think_s, threads: 4, pool: 1, servers, cpu_before_s, hold_s: 0.0, cpu_holding_s: 0.0, room: Some(room),
        };
        let chain = server.solve_exact().unwrap();
        let source = FiniteSource { users, think_s, service_s: cpu_before_s, servers, room: Some(room) }.solve();
        prop_assert!(near(chain.throughput_per_s, source.throughput_per_s, 1e-9));
        prop_assert!(near(chain.refused_share, source.refused_share, 1e-8));
    }

    /// Classes that are the same are one class; the two exact methods agree where both apply.
    #[test]
    fn equal_classes_are_one(
        first in 1..8_u32, second in 1..8_u32, think_s in 0.0..1.0_f64, demands in prop::collection::vec(0.01..0.5_f64, 2),
        servers in 1..4_u32
    ) {
        let class = |users| ClassOfUsers { users, think_s, demands_s: demands.clone() };
        let two = MulticlassNetwork { classes: vec![class(first), class(second)], servers: vec![servers, 1] }.solve().unwrap();
        let stations = vec![
            Station { demand_s: demands[0], servers }, Station { demand_s: demands[1], servers: 1 },
        ];
        let one = ClosedNetwork { think_s, stations }.solve(first + second);
        prop_assert!(near(two.throughput_per_s.iter().sum::<f64>(), one.throughput_per_s, 1e-9));
        prop_assert!(near(two.response_time_s[0], one.response_time_s, 1e-8));
        prop_assert!(near(two.present_in_all()[0], one.stations[0].present, 1e-8));
    }

    /// A queue that has settled is M/M/1 in the steady state; exponential service is M/G/1 with
    /// variation 1; nobody impatient is M/M/c.
    #[test]
    fn special_cases_are_the_plain_queue(load in 0.05..0.85_f64, servers in 1..12_u32) {
        let queue = OpenQueue { arrivals_per_s: load * f64::from(servers), services_per_s: 1.0, servers };
        let plain = queue.solve().unwrap();
        let patient = ImpatientQueue { queue, give_up_per_s: 0.0 }.solve().unwrap();
        prop_assert!(near(patient.waiting, plain.waiting, 1e-9));
        prop_assert!(near(patient.wait_probability, plain.wait_probability, 1e-9));
        let single = OpenQueue { servers: 1, arrivals_per_s: load, ..queue }.solve().unwrap();
        let general = GeneralQueue { arrivals_per_s: load, service_s: 1.0 };
        prop_assert!(near(general.in_order(1.0).unwrap().wait_s, single.wait_s, 1e-12));
        prop_assert!(near(general.shared().unwrap().response_time_s, single.response_time_s, 1e-12));
        let settled = TransientQueue { arrivals_per_s: load, services_per_s: 1.0, present_at_start: 3 };
        let settled = settled.at(3000.0).unwrap();
        prop_assert!(near(settled.present, single.present, 1e-6));
        prop_assert!(near(settled.empty_probability, 1.0 - load, 1e-8));
    }
}

/// Hunt (1956): equal rates and B places make (B + 2) / (B + 3) of the rate.
#[test]
fn equal_stages_lose_what_is_known() {
    for room in [0, 1, 5, 100] {
        let tandem = BlockingTandem {
            first_per_s: 3.0,
            second_per_s: 3.0,
            room,
        };
        let found = tandem.solve().unwrap();
        let share = (f64::from(room) + 2.0) / (f64::from(room) + 3.0);
        assert!(near(found.throughput_per_s, 3.0 * share, 1e-12));
        assert!(near(found.blocked_share, 1.0 - share, 1e-12));
    }
}

/// Phases that take no time are taken at once: the same chain without them.
#[test]
fn phases_of_no_time_are_skipped() {
    let server = PooledServer {
        users: 12,
        think_s: 0.3,
        threads: 5,
        pool: 2,
        servers: 2,
        cpu_before_s: 0.0,
        hold_s: 0.05,
        cpu_holding_s: 0.0,
        room: None,
    };
    // Only connections are held: two servers of a finite source.
    let only_hold = server.solve_exact().unwrap();
    let source = FiniteSource {
        users: 12,
        think_s: 0.3,
        service_s: 0.05,
        servers: 2,
        room: None,
    }
    .solve();
    assert!(near(
        only_hold.throughput_per_s,
        source.throughput_per_s,
        1e-9
    ));
    // The CPU while holding is the only step: the pool is the narrower of the two.
    let only_cpu = PooledServer {
        hold_s: 0.0,
        cpu_holding_s: 0.05,
        servers: 4,
        ..server
    }
    .solve_exact()
    .unwrap();
    assert!(near(
        only_cpu.throughput_per_s,
        source.throughput_per_s,
        1e-9
    ));
    // Nobody thinks: as many requests as users are always there.
    let busy = PooledServer {
        think_s: 0.0,
        cpu_before_s: 0.01,
        cpu_holding_s: 0.02,
        ..server
    }
    .solve_exact()
    .unwrap();
    assert!(near(busy.threads_busy, 5.0, 1e-12) && near(busy.queued, 7.0, 1e-12));
}
