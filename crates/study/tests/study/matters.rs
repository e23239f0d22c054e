//! Whether a setting matters, asked of simulated servers on which it does and on which it does not.

use std::time::Duration as Time;

use weir_record::{Level, Levels, NoObserver, Role, Status, Window};
use weir_sim::{
    Center, CenterKind, Class, Distribution, Disturbances, Network, SimulatedServer, Source, Step,
};
use weir_stats::{PAIRS_MAX, Verdict};
use weir_study::{MattersSpec, Outcome, matters};

/// Two CPUs, 200 threads, 500 connections; a request takes 5 ms of CPU and 50 ms of waiting, users
/// think for 200 ms.
fn server(between_trials: f64) -> SimulatedServer {
    let limit = |name: &str, capacity| Center::new(name, CenterKind::Limit { capacity });
    // One more connection than there may be is closed at once.
    let connections = Center {
        queue: Some(0),
        ..limit("connections", 500)
    };
    let (cpu, of_connections, of_threads) = (2, 0, 1);
    let route = vec![
        Step::Acquire(of_connections),
        Step::Acquire(of_threads),
        Step::Use(cpu, Distribution::exponential(0.005)),
        Step::Sleep(Distribution::exponential(0.05)),
        Step::Release(of_threads),
        Step::Release(of_connections),
    ];
    let source = Source::Users {
        users: 20,
        think: Distribution::exponential(0.2),
        ramp_s: 1.0,
    };
    let network = Network {
        centers: vec![
            connections,
            limit("threads", 200),
            Center::new("cpu", CenterKind::Shared { cores: 2 }),
        ],
        classes: vec![Class::new("request", source, route)],
        ..Network::default()
    };
    let disturbances = Disturbances {
        between_trials,
        ..Disturbances::default()
    };
    SimulatedServer::new(network, disturbances)
}

fn users(users: f64) -> Levels {
    Levels::from([("users".to_owned(), users.into())])
}

fn spec(vary: &str, levels: [Option<f64>; 2], users_in_all: f64) -> MattersSpec {
    MattersSpec {
        question: "Does it matter?".to_owned(),
        vary: vary.to_owned(),
        levels: levels.map(|level| level.map(Level::Number)),
        set: users(users_in_all),
        of: "throughput".to_owned(),
        margin: 0.05,
        binds_at: Levels::new(),
        window: Window::fixed(Time::from_secs(3), Time::from_secs(20)),
        budget: None,
        seed: 1,
    }
}

fn asked(spec: &MattersSpec) -> Outcome {
    matters(spec, &mut server(0.01), &mut NoObserver)
}

#[test]
fn a_setting_that_was_not_reached_did_not_matter_at_this_load() {
    let outcome = asked(&spec("connections", [Some(100.0), None], 20.0));
    assert_eq!(outcome.status, Status::Same, "{}", outcome.summary);
    assert!(
        outcome
            .summary
            .starts_with("connections did not matter at this load. Whether it matters at another"),
        "{}",
        outcome.summary
    );
    assert!(outcome.summary.contains("of 100 were in connections"));
    let difference = outcome.difference.unwrap();
    assert_eq!(difference.verdict, Verdict::Same);
    assert_eq!(difference.levels[1], Level::Text("as-found".to_owned()));
    assert_eq!(difference.binds, None);
    let change = &difference.figures[0].change;
    assert!(change.low > -0.05 && change.high < 0.05, "{change:?}");
    assert_eq!(change.count, u64::from(difference.pairs));
    assert_eq!(outcome.trials.len(), 2 * difference.pairs as usize);
}

#[test]
fn the_trial_that_makes_it_bind_is_named() {
    let spec = MattersSpec {
        binds_at: users(300.0),
        ..spec("connections", [Some(100.0), Some(400.0)], 20.0)
    };
    let outcome = asked(&spec);
    assert_eq!(outcome.status, Status::Same, "{}", outcome.summary);
    let binding = outcome.difference.unwrap().binds.unwrap();
    assert_eq!(binding.levels["users"], Level::Number(300.0));
    assert_eq!(binding.levels["connections"], Level::Number(100.0));
    let trial = &outcome.trials[binding.trial as usize - 1];
    assert_eq!(trial.role, Role::Check);
    assert!(
        outcome.summary.starts_with(
            "connections does not matter at this load. It is not without effect: with users 300"
        ),
        "{}",
        outcome.summary
    );
    let rows: Vec<String> = outcome
        .table
        .unwrap()
        .rows
        .iter()
        .map(|row| row.case.clone())
        .collect();
    assert_eq!(
        rows,
        [
            "connections 100",
            "connections 400",
            "connections 100, made to bind",
            "connections 400, made to bind"
        ]
    );
}

/// The number of users that fills the threads is worked out from how many of them were busy.
#[test]
fn the_load_that_binds_is_worked_out() {
    let outcome = asked(&spec("threads", [Some(20.0), Some(200.0)], 20.0));
    assert_eq!(outcome.status, Status::Same, "{}", outcome.summary);
    let binding = outcome.difference.unwrap().binds.unwrap();
    let users = binding.levels["users"].number().unwrap();
    assert!((60.0..=400.0).contains(&users), "{users}");
}

#[test]
fn a_limit_that_is_full_and_changes_nothing_does_not_matter() {
    // The CPUs hold the flow; requests wait for a thread instead of for a CPU.
    let outcome = asked(&spec("threads", [Some(60.0), Some(200.0)], 250.0));
    assert_eq!(outcome.status, Status::Same, "{}", outcome.summary);
    assert!(
        outcome.summary.contains("although it acts as a limit"),
        "{}",
        outcome.summary
    );
    assert!(
        outcome
            .trials
            .iter()
            .all(|trial| trial.role == Role::Search)
    );
}

#[test]
fn threads_that_are_too_few_matter() {
    let outcome = asked(&spec("threads", [Some(2.0), Some(50.0)], 60.0));
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    assert_eq!(outcome.exit_code(), 0);
    let difference = outcome.difference.unwrap();
    assert_eq!(
        (difference.verdict, difference.pairs),
        (Verdict::Different, 4)
    );
    assert!(difference.figures[0].change.low > 1.0);
    assert!(
        outcome
            .summary
            .starts_with("threads matters: throughput_per_s and response_time_ms.mean differ."),
        "{}",
        outcome.summary
    );
}

/// Refusals come back at once: as many samples a second, but failed ones.
#[test]
fn errors_make_a_difference_where_throughput_does_not() {
    let spec = MattersSpec {
        margin: 0.3,
        ..spec("connections", [Some(5.0), Some(400.0)], 25.0)
    };
    let outcome = asked(&spec);
    assert_eq!(outcome.status, Status::Answered, "{}", outcome.summary);
    let difference = outcome.difference.unwrap();
    let errors = difference
        .figures
        .iter()
        .find(|figure| figure.figure == "errors.share");
    let errors = errors.unwrap();
    assert_eq!(errors.verdict, Verdict::Different);
    assert!(
        errors.means[0] > 0.01 && errors.means[1] == 0.0,
        "{errors:?}"
    );
    assert!(errors.change.high < 0.0);
}

#[test]
fn noise_is_undecided_after_the_last_pair() {
    let outcome = matters(
        &spec("connections", [Some(100.0), Some(400.0)], 90.0),
        &mut server(0.4),
        &mut NoObserver,
    );
    assert_eq!(outcome.status, Status::Undecided, "{}", outcome.summary);
    assert_eq!(outcome.exit_code(), 4);
    let difference = outcome.difference.unwrap();
    assert_eq!(difference.pairs as usize, PAIRS_MAX);
    assert!(difference.noise > 0.05, "{}", difference.noise);
    assert!(
        outcome.summary.starts_with("Not decided: "),
        "{}",
        outcome.summary
    );
}

#[test]
fn a_budget_that_ends_is_said() {
    let spec = MattersSpec {
        budget: Some(Time::from_secs(180)),
        ..spec("connections", [Some(100.0), Some(400.0)], 20.0)
    };
    let outcome = asked(&spec);
    assert_eq!(outcome.status, Status::Undecided, "{}", outcome.summary);
    assert!(
        outcome.summary.contains("The budget of load ended"),
        "{}",
        outcome.summary
    );
}

/// Half of the pairs begin with each level, by chance.
#[test]
fn the_order_within_pairs_is_random() {
    let outcome = matters(
        &spec("connections", [Some(100.0), Some(400.0)], 90.0),
        &mut server(0.4),
        &mut NoObserver,
    );
    let first_is_first = outcome
        .trials
        .chunks_exact(2)
        .filter(|pair| pair[0].level("connections") == Some(100.0))
        .count();
    assert!((6..=18).contains(&first_is_first), "{first_is_first}");
}
