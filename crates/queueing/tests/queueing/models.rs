//! Properties of the solvers: order, conservation, and agreement between them.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use proptest::prelude::*;
use weir_queueing::bounds::bounds;
use weir_queueing::{
    ClosedCpu, ClosedNetwork, CpuPoint, LargestUsers, Pool, Station, ThreadLimited, laws,
};

prop_compose! {
    fn stations()(
        pairs in prop::collection::vec((0.001..0.5_f64, 1..9_u32), 1..4)
    ) -> Vec<Station> {
        pairs.into_iter().map(|(demand_s, servers)| Station { demand_s, servers }).collect()
    }
}

proptest! {
    #[test]
    fn users_are_conserved_and_little_holds(stations in stations(), think_s in 0.0..5.0_f64, users in 1..120_u32) {
        let network = ClosedNetwork { think_s, stations };
        let solved = network.solve(users);
        let present: f64 = solved.stations.iter().map(|station| station.present).sum();
        let thinking = solved.throughput_per_s * think_s;
        prop_assert!((present + thinking - f64::from(users)).abs() < 1e-6);
        prop_assert!((laws::number_present(solved.throughput_per_s, solved.response_time_s) - present).abs() < 1e-6);
        prop_assert!(solved.stations.iter().all(|station| station.utilization <= 1.0 + 1e-9));
    }

    #[test]
    fn throughput_rises_and_stays_within_the_bounds(
        demands in prop::collection::vec(0.001..0.5_f64, 1..4), think_s in 0.0..5.0_f64, users in 2..100_u32
    ) {
        let stations = demands.iter().map(|&demand_s| Station { demand_s, servers: 1 }).collect();
        let throughputs = ClosedNetwork { think_s, stations }.throughputs(users);
        prop_assert!(throughputs.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-12)));
        let found = throughputs[users as usize];
        let limits = bounds(users, think_s, &demands);
        let slack = 1.0 + 1e-9;
        prop_assert!(found <= limits.balanced_throughput_max * slack && found <= limits.throughput_max * slack);
        prop_assert!(found * slack >= limits.balanced_throughput_min && found * slack >= limits.throughput_min);
    }

    #[test]
    fn the_small_model_is_the_network_with_one_station(
        think_s in 0.01..5.0_f64, demand_s in 0.001..0.5_f64, servers in 1..9_u32, users in 1..150_u32
    ) {
        let small = ClosedCpu { think_s, demand_s, servers }.solve(users);
        let large = ClosedNetwork { think_s, stations: vec![Station { demand_s, servers }] }.solve(users);
        prop_assert!((small.throughput_per_s / large.throughput_per_s - 1.0).abs() < 1e-9);
        prop_assert!((small.response_time_s / large.response_time_s - 1.0).abs() < 1e-7);
    }

    /// The approximation is a search's first guess. Where users think for at least five times the
    /// CPU time of a request and the CPU is busy for at most 85 %, its root is off by less than 15
    /// %. Nearer to saturation it is not: at 90 % and one CPU it has been seen two users off.
    #[test]
    fn the_approximation_inverts_itself_and_comes_close(
        ratio in 5.0..100.0_f64, demand_s in 0.002..0.2_f64, servers in 1..9_u32, target in 0.3..0.85_f64
    ) {
        let model = ClosedCpu { think_s: ratio * demand_s, demand_s, servers };
        let root = model.users_approximate(target);
        prop_assert!((model.utilization_approximate(root) - target).abs() < 1e-9);
        let exact = model.users_exact(target).unwrap();
        prop_assert!((root - exact).abs() <= 0.15 * exact, "{root} {exact}");
    }

    #[test]
    fn the_largest_population_is_the_largest(
        think_s in 0.05..5.0_f64, demand_s in 0.002..0.2_f64, servers in 1..9_u32, target in 0.1..0.95_f64
    ) {
        let model = ClosedCpu { think_s, demand_s, servers };
        let LargestUsers::Users { users, utilization_at, utilization_next } = model.largest_users(target) else {
            panic!("the CPU can be filled");
        };
        prop_assert!(utilization_at <= target && utilization_next > target);
        prop_assert!(users == 0 || (model.solve(users).utilization - utilization_at).abs() < 1e-12);
    }

    #[test]
    fn the_think_time_is_found_again(
        think_s in 0.05..5.0_f64, demand_s in 0.002..0.2_f64, servers in 1..9_u32
    ) {
        let truth = ClosedCpu { think_s, demand_s, servers };
        let middle = truth.users_approximate(0.6).ceil() as u32 + 1;
        let point = |users: u32| CpuPoint { users, utilization: truth.solve(users).utilization, weight: 1e4 };
        let fit = ClosedCpu::fit_think(demand_s, servers, &[point(1), point(middle), point(2 * middle)]).unwrap();
        prop_assert!((fit.model.think_s / think_s - 1.0).abs() < 1e-3, "{} {think_s}", fit.model.think_s);
        prop_assert!(fit.chi_squared < 1e-6);
    }

    /// With ample threads the thread-limited server is the plain network; a thread less never
    /// helps.
    #[test]
    fn threads_only_limit(
        users in 2..60_u32, think_s in 0.1..3.0_f64, cpu_demand_s in 0.005..0.1_f64, hold_s in 0.005..0.5_f64,
        limit in 1..12_u32, servers in 1..5_u32
    ) {
        let pool = Some(Pool { limit, hold_s });
        let ample = ThreadLimited {
            users, think_s, threads: users, cpu_demand_s, servers, delay_in_thread_s: 0.0, pool, room: None,
        };
        let stations = vec![
            Station { demand_s: cpu_demand_s, servers },
            Station { demand_s: hold_s, servers: limit },
        ];
        let plain = ClosedNetwork { think_s, stations }.solve(users);
        let solved = ample.solve();
        prop_assert!((solved.throughput_per_s / plain.throughput_per_s - 1.0).abs() < 1e-8);
        prop_assert!(solved.queued.abs() < 1e-9);
        let fewer = ThreadLimited { threads: users - 1, ..ample }.solve();
        prop_assert!(fewer.throughput_per_s <= solved.throughput_per_s * (1.0 + 1e-9));
        let conserved = fewer.thinking + fewer.threads_busy + fewer.queued;
        prop_assert!((conserved - f64::from(users)).abs() < 1e-6);
    }
}

/// Many users close to saturation: the case in which subtraction loses all digits.
#[test]
fn no_digit_is_lost_near_saturation() {
    let model = ClosedCpu {
        think_s: 1.0,
        demand_s: 0.02,
        servers: 16,
    };
    // 1/(D/c) = 800 per second; at 20,000 users the queue is deep and the response-time law must
    // still hold.
    let solved = model.solve(20_000);
    assert!((solved.throughput_per_s - 800.0).abs() < 1e-7);
    let by_law = laws::response_time_s(20_000.0, 800.0, 1.0);
    assert!(
        (solved.response_time_s / by_law - 1.0).abs() < 1e-9,
        "{} {by_law}",
        solved.response_time_s
    );
}

/// Twenty and thirty users at 39 and 59 %: with a think time of milliseconds both saturate the
/// model, and any such time fits as badly as the next.
#[test]
fn a_think_time_is_found_where_short_ones_saturate_every_point() {
    let points = [(20, 0.393_172_7), (30, 0.585_259)].map(|(users, utilization)| CpuPoint {
        users,
        utilization,
        weight: 1.0,
    });
    let fit = ClosedCpu::fit_think(0.056_940_7, 1, &points).expect("there are points");
    assert!((2.7..2.9).contains(&fit.model.think_s), "{:?}", fit.model);
}
