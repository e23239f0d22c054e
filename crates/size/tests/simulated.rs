//! Fleets of simulated servers: what one of them needs is known, and so is how many it takes.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use weir_model::{FittedModel, TrialSet};
use weir_record::{Level, TrialRecord};
use weir_sim::{
    Balancer, Center, CenterKind, Class, Distribution, Group, Network, Plan, Simulation, Source,
    Step, replicate,
};
use weir_size::{Ask, Effort, Pair, SizeError, Sizing, Unwatched, Variation, size};

const CPU_S: f64 = 0.02;
const THINK_S: f64 = 1.0;

/// What one request needs besides CPU and thinking.
#[derive(Clone, Copy, Default)]
struct Needs {
    sleep_s: f64,
    hold_s: f64,
}

/// `servers` servers of one CPU with 200 threads and 20 connections each, behind a random balancer.
fn fleet(servers: u32, users: u32, needs: Needs) -> Network {
    let mut centers = vec![
        Center::new("cpu", CenterKind::Shared { cores: 1 }),
        Center::new("threads", CenterKind::Limit { capacity: 200 }),
    ];
    let mut route = vec![
        Step::Enter(0),
        Step::Acquire(1),
        Step::Use(0, Distribution::exponential(CPU_S)),
    ];
    if needs.sleep_s > 0.0 {
        route.push(Step::Sleep(Distribution::constant(needs.sleep_s)));
    }
    if needs.hold_s > 0.0 {
        centers.push(Center::new("db", CenterKind::Limit { capacity: 20 }));
        let held = Step::Sleep(Distribution::constant(needs.hold_s));
        route.extend([Step::Acquire(2), held, Step::Release(2)]);
    }
    route.extend([Step::Release(1), Step::Leave(0)]);
    for center in &mut centers {
        center.group = Some(0);
    }
    let source = Source::Users {
        users,
        think: Distribution::exponential(THINK_S),
        ramp_s: 0.0,
    };
    Network {
        centers,
        groups: vec![Group {
            name: "web".to_owned(),
            servers,
            balancer: Balancer::Random,
            scaling: None,
        }],
        classes: vec![Class::new("request", source, route)],
        ..Network::default()
    }
}

/// Trials of one server at these levels of users, and the model of them.
fn measured(users: &[u32], needs: Needs) -> (FittedModel, Vec<TrialRecord>) {
    let records: Vec<TrialRecord> = users
        .iter()
        .enumerate()
        .map(|(index, &users)| trial(index as u32 + 1, users, needs))
        .collect();
    let facts = weir_sim::facts("simulated", &fleet(1, 1, needs));
    let model = FittedModel::fit(TrialSet::of(&records, &facts)).unwrap();
    assert_eq!(model.validation.disagreements, []);
    (model, records)
}

fn trial(id: u32, users: u32, needs: Needs) -> TrialRecord {
    let network = fleet(1, users, needs);
    let plan = Plan {
        seconds: 300.0,
        warm_up_s: 30.0,
        replications: 1,
        seed: u64::from(id) * 7 + 3,
        timelines: 1,
    };
    let finish = |replication| weir_sim::trial(&network, &plan, &replication);
    let mut trials = replicate(&network, &plan, 1, &finish, &weir_sim::Unwatched).unwrap();
    let mut record = trials.remove(0).unwrap().record;
    record.id = id;
    record
        .levels
        .insert("users".to_owned(), Level::Number(f64::from(users)));
    record
}

fn ask(population: u32, requirements: &[&str]) -> Ask {
    Ask {
        run: "simulated".to_owned(),
        weir: "0".to_owned(),
        users: population,
        population,
        requirements: requirements
            .iter()
            .map(|text| text.parse().unwrap())
            .collect(),
        balancer: Balancer::Random,
        database_connections: None,
        seed: 1,
        effort: Effort {
            draws: 20,
            requests: 6_000,
        },
    }
}

fn answer(measured: &(FittedModel, Vec<TrialRecord>), ask: &Ask) -> Result<Sizing, SizeError> {
    size(&measured.0, &measured.1, ask, 2, &Unwatched)
}

/// Random requests make each server an M/M/1 queue: R = D/(1 - rho) is 60 ms at rho = 2/3, where a
/// server has 2/3/D (Z + R) users.
#[test]
fn the_number_is_the_one_of_the_formula() {
    let measured = measured(&[10, 20, 30, 38, 45], Needs::default());
    let ask = ask(10_000, &["mean <= 60 ms"]);
    let found = answer(&measured, &ask).unwrap();
    let truth = 10_000.0 / (2.0 / 3.0 / CPU_S * (THINK_S + 0.06));
    let range = found.servers_range;
    assert!(
        (range.value / truth - 1.0).abs() < 0.03,
        "{truth} {range:?}"
    );
    assert!(
        range.low <= truth && truth <= range.high,
        "{truth} {range:?}"
    );
    let servers = f64::from(found.servers);
    assert!(range.value <= servers && servers <= range.high, "{found:?}");
    assert!(found.at.holds_share >= 0.95, "{:?}", found.at);
    // One less is one too few, by the definition of the smallest number.
    let left = found.lost.at.unwrap();
    assert!(left.holds_share < 0.95 && left.servers + 1 == found.servers);
    assert_eq!(found.lost.servers_needed, found.servers + 1);
    // The calibration is about percentiles, and none is asked for.
    assert_eq!(found.calibration, None);
}

/// The whole fleet, simulated with the truth: its 99th percentile is within the bound with the
/// servers of the answer, and not with a seventh less than the fitted numbers ask for.
#[test]
fn the_whole_fleet_does_what_its_share_said() {
    let needs = Needs {
        sleep_s: 0.05,
        hold_s: 0.0,
    };
    let measured = measured(&[10, 20, 30, 38, 45], needs);
    let found = answer(&measured, &ask(2_000, &["p99 <= 300 ms", "cpu <= 90 %"])).unwrap();
    assert_eq!(found.binding, "p99 <= 300 ms");
    let p99_s = |servers: u32| {
        let network = fleet(servers, 2_000, needs);
        let mut simulation = Simulation::new(&network, 9);
        simulation.run_until(20.0);
        simulation.forget();
        simulation.run_until(80.0);
        simulation.totals().response_quantile_s(0, 0.99).unwrap()
    };
    let (enough, too_few) = (
        p99_s(found.servers),
        p99_s((found.servers_range.value * 6.0 / 7.0) as u32),
    );
    assert!(
        enough <= 0.3 && too_few > 0.3,
        "{enough} {too_few} {found:?}"
    );
    let p99 = found.at.goals[0].value;
    assert!(p99.low <= enough && enough <= p99.high, "{enough} {p99:?}");
    // The distributions are found again.
    let calibration = found.calibration.unwrap();
    let truth = Pair {
        cpu: Variation::Exponential,
        delay: Variation::Constant,
    };
    assert_eq!(calibration.variation, truth);
    let p99_error = calibration.error(99.0).unwrap().mean_error;
    assert!(p99_error < 0.15, "{p99_error}");
    // Half as many users again: as many servers again, or a queue.
    assert!(!found.surge.let_in.holds && found.surge.scaled_out.holds);
    assert!(found.surge.held.wait_s > found.surge.scaled_out.wait_s);
    // A stop makes clients give up, and those that may try again do.
    let [patient, eager, frugal] = &found.storm.cases[..] else {
        panic!("{:?}", found.storm);
    };
    assert!((patient.attempts_per_request - 1.0).abs() < 1e-12);
    assert!(eager.attempts_per_request > frugal.attempts_per_request);
    // A tenth of what was sent since the start, of which a quarter lies before the stop.
    assert!(frugal.attempts_per_request <= 1.15, "{frugal:?}");
}

/// Connections of all servers together against what the database takes.
#[test]
fn connections_are_counted_over_all_servers() {
    let needs = Needs {
        sleep_s: 0.0,
        hold_s: 0.1,
    };
    let measured = measured(&[10, 20, 30, 40, 48], needs);
    let mut ask = ask(5_000, &["mean <= 250 ms"]);
    let free = answer(&measured, &ask).unwrap();
    assert_eq!(free.connections_capped, None);
    let pool = free
        .settings
        .iter()
        .find(|setting| setting.stage == "pool.db");
    let pool = pool.unwrap();
    assert_eq!(pool.total, u64::from(pool.limit) * u64::from(free.servers));
    assert!(
        f64::from(pool.limit) > pool.busy && pool.limit <= 20,
        "{pool:?}"
    );
    // Two connections answer 20 requests/s, and a server's share is more than that.
    ask.database_connections = Some(2 * free.servers + 1);
    let capped = answer(&measured, &ask).unwrap().connections_capped.unwrap();
    assert_eq!((capped.per_server, capped.wanted), (2, pool.total));
    assert!(capped.at.unwrap().holds_share < 0.05);
    ask.database_connections = Some(3);
    let capped = answer(&measured, &ask).unwrap().connections_capped.unwrap();
    assert_eq!((capped.per_server, capped.at), (0, None));
}

#[test]
fn the_number_of_cores_changes_nothing() {
    let measured = measured(&[10, 25, 40], Needs::default());
    let ask = ask(500, &["mean <= 50 ms"]);
    let on = |cores| size(&measured.0, &measured.1, &ask, cores, &Unwatched).unwrap();
    assert_eq!(on(1), on(3));
}

#[test]
fn what_no_number_of_servers_can_do_is_said() {
    let measured = measured(&[10, 25, 40], Needs::default());
    let refused = |requirement| {
        let error = answer(&measured, &ask(1_000, &[requirement])).unwrap_err();
        (error.to_string(), error)
    };
    let (text, error) = refused("mean <= 15 ms");
    assert!(matches!(error, SizeError::Alone { .. }), "{text}");
    assert!(text.contains("mean 2"), "{text}");
    for requirement in [
        "errors <= 1 %",
        "p99(light) <= 1 s",
        "mean >= 1 s",
        "p98 <= 1 s",
    ] {
        let (text, error) = refused(requirement);
        assert!(matches!(error, SizeError::Requirement { .. }), "{text}");
        assert!(text.contains(requirement), "{text}");
    }
}
