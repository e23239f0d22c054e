//! Servers behind a balancer, scaling, loss, retries, and what holds in every run.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use weir_sim::{
    AbandonedWork, Balancer, Center, CenterKind, Class, Distribution, Group, Happening, Jitter,
    Network, Plan, Planned, Profile, Replication, Retry, Scaling, ScalingBy, Simulation, Source,
    Spacing, Step, Timeout, Totals, Unwatched, replicate,
};

use crate::played::{close, played};

fn exponential(mean_s: f64) -> Distribution {
    Distribution::exponential(mean_s)
}

fn poisson(rate_per_s: f64) -> Source {
    Source::Arrivals {
        rate: Profile::constant(rate_per_s),
        spacing: Spacing::Poisson,
    }
}

/// `servers` servers of one core of 10 ms behind a balancer.
fn fleet(servers: u32, balancer: Balancer, source: Source) -> Network {
    let mut cpu = Center::new("web.cpu", CenterKind::Queue { servers: 1 });
    cpu.group = Some(0);
    Network {
        centers: vec![cpu],
        groups: vec![Group {
            name: "web".to_owned(),
            servers,
            balancer,
            scaling: None,
        }],
        classes: vec![Class::new(
            "request",
            source,
            vec![
                Step::Enter(0),
                Step::Use(0, exponential(0.01)),
                Step::Leave(0),
            ],
        )],
        ..Network::default()
    }
}

fn run(network: &Network, warm_up_s: f64, seconds: f64) -> Totals {
    played(network, 3, warm_up_s, seconds)
}

/// Ten servers at 0.8 each. Random: ten M/M/1, W = 5 services. One after the other: E10/M/1, whose
/// W follows from the root of s = (8 / (8 + 1 - s))^10, W = 1 / (1 - s). Better balancers are
/// better, and none beats one common queue (M/M/10: 1.2046).
#[test]
fn balancers_in_their_order() {
    let response = |balancer| {
        let found = run(&fleet(10, balancer, poisson(800.0)), 20.0, 600.0);
        found.response_s(0).unwrap() / 0.01
    };
    let random = response(Balancer::Random);
    let in_turn = response(Balancer::RoundRobin);
    let two = response(Balancer::TwoChoices);
    let least = response(Balancer::LeastConnections);
    close("random", random, 5.0, 0.05);
    let mut root = 0.5_f64;
    for _ in 0..200 {
        root = (8.0 / (9.0 - root)).powi(10);
    }
    close("round robin", in_turn, 1.0 / (1.0 - root), 0.05);
    assert!(
        least < two && two < in_turn && in_turn < random,
        "{least} {two} {in_turn} {random}"
    );
    assert!(least > 1.2046, "{least}");
}

/// A server dies with what is in it, and its share goes to the others until it is back.
#[test]
fn lost_servers_take_their_requests_along() {
    let mut network = fleet(4, Balancer::RoundRobin, poisson(360.0));
    network.planned.push(Planned {
        at_s: 100.0,
        what: Happening::Lose {
            group: 0,
            servers: 2,
            back_after_s: Some(50.0),
        },
    });
    let mut simulation = Simulation::new(&network, 5);
    simulation.watch_seconds();
    let mut servers = Vec::new();
    for second in 1..=200 {
        simulation.run_until(f64::from(second));
        servers.push(simulation.take_second().unwrap().servers[0]);
    }
    assert_eq!(
        (servers[98], servers[100], servers[148], servers[150]),
        (4, 2, 2, 4)
    );
    let totals = simulation.totals();
    let class = &totals.classes[0];
    assert!(class.lost > 0);
    assert_eq!(
        class.fresh,
        class.answered + class.failed + u64::from(class.in_flight)
    );
    close("paid", totals.groups[0].paid_s, 4.0 * 200.0, 1e-9);
    close("up", totals.groups[0].up_s, 4.0 * 200.0 - 2.0 * 50.0, 1e-9);
}

/// How many servers there are each second for 900 s, and the figures at the end: 50 requests a
/// second, from some second on more, and 20 after 400 s.
fn followed((from_s, per_s): (f64, f64), scaling: Scaling) -> (Vec<u32>, Totals) {
    let profile = vec![
        (0.0, 50.0),
        (from_s, 50.0),
        (from_s, per_s),
        (400.0, per_s),
        (400.0, 20.0),
    ];
    let source = Source::Arrivals {
        rate: Profile::new(profile).unwrap(),
        spacing: Spacing::Poisson,
    };
    let mut network = fleet(1, Balancer::LeastConnections, source);
    network.groups[0].scaling = Some(scaling);
    let mut simulation = Simulation::new(&network, 2);
    simulation.watch_seconds();
    let mut servers = Vec::new();
    for second in 1..=900 {
        simulation.run_until(f64::from(second));
        servers.push(simulation.take_second().unwrap().servers[0]);
    }
    (servers, simulation.totals())
}

/// A rise from 0.5 to 1.5 servers' worth of load: the look at 120 s sees it, decides 10 s later,
/// and 30 s after that there are more servers; when the load goes, they do too.
#[test]
fn servers_follow_their_load() {
    let scaling = Scaling {
        station: 0,
        min: 1,
        max: 5,
        start_up_s: 30.0,
        by: ScalingBy::Utilization {
            above: 0.8,
            add: 1,
            below: Some(0.3),
            period_s: 60.0,
            delay_s: 10.0,
            cool_down_s: 60.0,
        },
    };
    let (servers, totals) = followed((65.0, 150.0), scaling);
    assert_eq!(servers[158], 1, "still starting");
    assert_eq!(servers[161], 2, "there at 160 s");
    assert!(servers[399] >= 2);
    assert_eq!(servers[899], 1, "gone again");
    assert!(totals.groups[0].paid_s > totals.groups[0].up_s);
}

/// A steeper rise, and a goal of 70 % instead of thresholds: what came in the last ten seconds
/// tells at once how many servers it wants, and they are asked for together.
#[test]
fn servers_follow_what_the_load_wants() {
    let scaling = Scaling {
        station: 0,
        min: 1,
        max: 10,
        start_up_s: 30.0,
        by: ScalingBy::Load {
            goal: 0.7,
            up_after_s: 15.0,
            down_after_s: 60.0,
        },
    };
    let (servers, _) = followed((100.0, 400.0), scaling);
    // 400/s of 10 ms are four servers, and 5.7 of which 70 % are busy.
    assert!(servers[..100].iter().all(|up| *up == 1), "{servers:?}");
    let there = servers.iter().position(|up| *up > 1).unwrap();
    assert!((145..165).contains(&there), "at {there} s");
    assert!((5..=7).contains(&servers[there]), "{}", servers[there]);
    let held = &servers[250..400];
    assert!(held.iter().all(|up| (6..=7).contains(up)), "{held:?}");
    assert_eq!(servers[899], 1, "gone again");
}

/// The published story of metastable failures: work that nobody waits for any more keeps the server
/// busy. A stop of 20 s under a load of 0.7 is over soon without retries, and never with eager
/// ones; a budget for them brings it back.
#[test]
fn a_retry_storm_outlives_its_trigger() {
    let answered_late = |retry: Option<Retry>| {
        let mut network = Network {
            centers: vec![Center::new("server", CenterKind::Queue { servers: 1 })],
            classes: vec![Class::new(
                "request",
                poisson(70.0),
                vec![Step::Use(0, exponential(0.01))],
            )],
            planned: vec![Planned {
                at_s: 60.0,
                what: Happening::Speed {
                    center: 0,
                    speed: 0.0,
                    for_s: Some(20.0),
                },
            }],
            ..Network::default()
        };
        network.classes[0].timeout = Some(Timeout {
            after: Distribution::constant(1.0),
            work: AbandonedWork::GoesOn,
        });
        network.classes[0].retry = retry;
        let mut simulation = Simulation::new(&network, 9);
        simulation.run_until(500.0);
        simulation.forget();
        simulation.run_until(600.0);
        let totals = simulation.totals();
        totals.classes[0].answered as f64 / totals.classes[0].fresh as f64
    };
    let eager = Retry {
        attempts: 4,
        back_off_s: 0.1,
        factor: 2.0,
        back_off_max_s: 1.0,
        jitter: Jitter::Full,
        budget: None,
    };
    assert!(answered_late(None) > 0.99);
    assert!(answered_late(Some(eager)) < 0.2);
    let careful = Retry {
        budget: Some(0.1),
        ..eager
    };
    assert!(answered_late(Some(careful)) > 0.99);
}

/// Everything at once: a network that uses every mechanism keeps its books.
fn busy() -> Network {
    let own = |name: &str, kind| {
        let mut center = Center::new(name, kind);
        center.group = Some(0);
        center
    };
    let mut threads = own("web.threads", CenterKind::Limit { capacity: 10 });
    threads.queue = Some(20);
    threads.by_priority = true;
    let mut pool = own("web.pool", CenterKind::Limit { capacity: 3 });
    pool.patience = Some(exponential(0.05));
    let route = vec![
        Step::Enter(0),
        Step::Acquire(0),
        Step::Use(2, Distribution::lognormal(0.005, 2.0)),
        Step::Acquire(1),
        Step::Use(3, exponential(0.01)),
        Step::Release(1),
        Step::Sleep(Distribution::uniform(0.001, 0.01)),
        Step::Release(0),
        Step::Leave(0),
    ];
    let retry = Retry {
        attempts: 3,
        back_off_s: 0.05,
        factor: 2.0,
        back_off_max_s: 1.0,
        jitter: Jitter::Half,
        budget: Some(0.2),
    };
    let class = |name: &str, source, priority, work| {
        let mut class = Class::new(name, source, route.clone());
        class.priority = priority;
        class.retry = Some(retry);
        class.timeout = Some(Timeout {
            after: exponential(0.3),
            work,
        });
        class
    };
    let think = Source::Users {
        users: 60,
        think: exponential(0.2),
        ramp_s: 5.0,
    };
    Network {
        centers: vec![
            threads,
            pool,
            own("web.cpu", CenterKind::Shared { cores: 2 }),
            Center::new("db", CenterKind::Queue { servers: 4 }),
        ],
        groups: vec![Group {
            name: "web".to_owned(),
            servers: 2,
            balancer: Balancer::TwoChoices,
            scaling: Some(Scaling {
                station: 2,
                min: 1,
                max: 6,
                start_up_s: 7.0,
                by: ScalingBy::Utilization {
                    above: 0.5,
                    add: 2,
                    below: Some(0.1),
                    period_s: 5.0,
                    delay_s: 2.0,
                    cool_down_s: 10.0,
                },
            }),
        }],
        classes: vec![
            class("users", think, 1, AbandonedWork::GoesOn),
            class("arrivals", poisson(150.0), 0, AbandonedWork::Stops),
        ],
        planned: vec![
            Planned {
                at_s: 30.0,
                what: Happening::Lose {
                    group: 0,
                    servers: 1,
                    back_after_s: Some(10.0),
                },
            },
            Planned {
                at_s: 50.0,
                what: Happening::Speed {
                    center: 3,
                    speed: 0.3,
                    for_s: Some(5.0),
                },
            },
        ],
        ..Network::default()
    }
}

#[test]
fn every_request_is_accounted_for() {
    let mut lost = 0;
    for seed in 0..20 {
        let network = busy();
        assert!(weir_sim::check(&network).is_empty());
        let mut simulation = Simulation::new(&network, seed);
        simulation.run_until(100.0);
        let totals = simulation.totals();
        for class in &totals.classes {
            assert_eq!(
                class.fresh,
                class.answered + class.failed + u64::from(class.in_flight),
                "seed {seed}: class of {} requests",
                class.fresh
            );
            let attempts =
                class.answered + class.refused + class.abandoned + class.timed_out + class.lost;
            assert!(
                attempts <= class.fresh + class.retries,
                "seed {seed}: class of {} requests",
                class.fresh
            );
            lost += class.lost;
            assert!(class.retries > 0, "seed {seed}");
        }
        for center in &totals.centers {
            assert!(
                center.exits <= center.entries,
                "seed {seed}: place with {} entries",
                center.entries
            );
            assert!(
                center.busy_s <= center.capacity_s.unwrap() * (1.0 + 1e-9),
                "seed {seed}: place with {} entries",
                center.entries
            );
        }
    }
    assert!(lost > 0);
}

/// One seed gives equal figures to the last bit, on any number of threads and however time
/// is cut.
#[test]
fn the_seed_decides_everything() {
    let network = busy();
    let on = |threads, timelines| {
        let plan = Plan {
            seconds: 20.0,
            warm_up_s: 5.0,
            replications: 5,
            seed: 42,
            timelines,
        };
        let totals = |replication: Replication| replication.totals;
        replicate(&network, &plan, threads, &totals, &Unwatched).unwrap()
    };
    let one = on(1, 0);
    assert!(one == on(4, 0));
    assert!(one == on(2, 5));
    assert!(one[0] != one[1]);
}
