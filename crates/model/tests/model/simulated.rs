//! Models of simulated servers: what they must find is known.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration as Time;

use weir_model::{FitError, FittedModel, Limits, Parameters, Question, TrialSet};
use weir_record::{Level, NoObserver, Role, Treatment, TrialRecord, TrialRunner as _, Window};
use weir_sim::{
    Center, CenterKind, Class, Distribution, Disturbances, Network, NetworkFile, SimulatedServer,
    Simulation, Source, Step,
};

type Of = fn(&Parameters) -> f64;

const CPU_S: f64 = 0.02;
const DELAY_S: f64 = 0.1;
const HOLD_S: f64 = 0.05;
const THINK_S: f64 = 0.4;

/// Where the places of the network are.
const THREADS: usize = 0;
const CPU: usize = 1;
const POOL: usize = 2;

fn network() -> Network {
    let limit = |name: &str, capacity| Center::new(name, CenterKind::Limit { capacity });
    Network {
        centers: vec![
            limit("threads", 60),
            Center::new("cpu", CenterKind::Shared { cores: 2 }),
            limit("db", 40),
        ],
        classes: vec![class("request", Distribution::constant(HOLD_S))],
        ..Network::default()
    }
}

fn class(name: &str, hold: Distribution) -> Class {
    let source = Source::Users {
        users: 1,
        think: Distribution::exponential(THINK_S),
        ramp_s: 1.0,
    };
    let route = vec![
        Step::Acquire(THREADS),
        Step::Use(CPU, Distribution::exponential(CPU_S)),
        Step::Sleep(Distribution::constant(DELAY_S)),
        Step::Acquire(POOL),
        Step::Sleep(hold),
        Step::Release(POOL),
        Step::Release(THREADS),
    ];
    Class::new(name, source, route)
}

fn server(network: &Network) -> SimulatedServer {
    let disturbances = Disturbances {
        between_trials: 0.02,
        ..Disturbances::default()
    };
    SimulatedServer::new(network.clone(), disturbances)
}

/// Trials at these levels of users, with this limit of threads.
fn trials(network: &Network, users: &[u32], threads: Option<u32>) -> Vec<TrialRecord> {
    let mut server = server(network);
    users
        .iter()
        .enumerate()
        .map(|(index, &users)| {
            let mut levels = [("users".to_owned(), Level::Number(f64::from(users)))]
                .into_iter()
                .collect::<std::collections::BTreeMap<_, _>>();
            if let Some(threads) = threads {
                levels.insert("threads".to_owned(), Level::Number(f64::from(threads)));
            }
            let treatment = Treatment {
                id: index as u32 + 1,
                role: Role::Case,
                case: None,
                block: None,
                levels,
                window: Window::fixed(Time::from_secs(30), Time::from_secs(300)),
                seed: u64::from(users) + 17,
            };
            server.run(&treatment, &mut NoObserver).unwrap()
        })
        .collect()
}

fn fit(network: &Network, records: &[TrialRecord]) -> Result<FittedModel, FitError> {
    let server = server(network);
    FittedModel::fit(TrialSet::of(records, server.facts()))
}

fn limits(threads: u32) -> Limits {
    Limits {
        threads: Some(threads),
        pool: Some(40),
    }
}

#[test]
fn the_truth_is_found_and_what_was_not_measured_predicted() {
    let network = network();
    let model = fit(&network, &trials(&network, &[10, 20, 30, 40, 50], None)).unwrap();
    assert_eq!(model.validation.disagreements, []);
    let parameters: [(Of, f64); 4] = [
        (|found| found.cpu_s, CPU_S),
        (|found| found.delay_s, DELAY_S),
        (|found| found.hold_s, HOLD_S),
        (|found| found.think_s, THINK_S),
    ];
    for (of, truth) in parameters {
        let found = model.interval(of);
        assert!(
            (found.value / truth - 1.0).abs() < 0.05 && found.low < found.value,
            "{found:?} {truth}"
        );
    }
    let errors = model.validation.held_out;
    assert!(errors.throughput.mean < 0.05, "{errors:?}");
    assert!(errors.cpu.mean < 0.05, "{errors:?}");
    assert!(errors.response_time.mean < 0.15, "{errors:?}");
    // Twice the users, and a limit of threads that binds: neither was measured.
    for (users, threads) in [(100, 60), (50, 8), (100, 12)] {
        let question = Question {
            population: users,
            limits: limits(threads),
        };
        let predicted = model.predict(question).unwrap();
        let server = server(&network);
        let levels = [("users", users), ("threads", threads)]
            .map(|(factor, level)| (factor.to_owned(), Level::Number(f64::from(level))));
        let truth = server.truth_at(&levels.into_iter().collect()).unwrap();
        let threads_busy = truth.number(THREADS) - truth.waiting(THREADS);
        let near = |found: f64, truth: f64, share: f64| (found / truth - 1.0).abs() < share;
        let found = &predicted.figures;
        assert!(
            near(found.throughput_per_s, truth.throughput_per_s(0), 0.05),
            "{predicted:?}"
        );
        assert!(
            near(found.cpu, truth.utilization(CPU).unwrap(), 0.05),
            "{predicted:?}"
        );
        assert!(near(found.threads_busy, threads_busy, 0.1), "{predicted:?}");
        let (low, high) = (
            predicted.low.throughput_per_s,
            predicted.high.throughput_per_s,
        );
        assert!(
            (low..=high).contains(&truth.throughput_per_s(0)),
            "{predicted:?} {truth:?}"
        );
    }
}

/// The simulator plays the file that a model writes, and comes to what the model says.
#[test]
fn the_network_file_is_the_model() {
    let network = network();
    let model = fit(&network, &trials(&network, &[10, 30, 50], None)).unwrap();
    let question = Question {
        population: 60,
        limits: limits(10),
    };
    let text = model.network_file(question);
    let file = NetworkFile::parse(&text).unwrap_or_else(|problems| panic!("{problems:?}\n{text}"));
    let mut simulation = Simulation::new(&file.network, 1);
    simulation.run_until(50.0);
    simulation.forget();
    simulation.run_until(2050.0);
    let found = simulation.totals().throughput_per_s(0);
    let predicted = model.predict(question).unwrap().figures.throughput_per_s;
    assert!(
        (found / predicted - 1.0).abs() < 0.02,
        "{found} {predicted}\n{text}"
    );
}

/// A lock that nothing shows: throughput stops where no stage is full.
#[test]
fn a_model_that_does_not_fit_is_refused() {
    let mut network = network();
    let lock = network.centers.len();
    let one = CenterKind::Queue { servers: 1 };
    network.centers.push(Center::new("lock", one));
    let locked = Step::Use(lock, Distribution::constant(0.04));
    network.classes[0].route.insert(2, locked);
    let model = fit(&network, &trials(&network, &[5, 10, 20, 30, 50], None)).unwrap();
    let says: Vec<&str> = model
        .validation
        .disagreements
        .iter()
        .map(|disagreement| disagreement.figure.as_str())
        .collect();
    assert!(says.contains(&"throughput"), "{says:?}");
}

#[test]
fn what_a_full_limit_would_shift_is_not_predicted() {
    let mut network = network();
    network.classes = vec![
        class("quick", Distribution::constant(0.01)),
        class("slow", Distribution::constant(0.6)),
    ];
    let model = fit(&network, &trials(&network, &[5, 10, 15, 20], None)).unwrap();
    let ample = Question {
        population: 30,
        limits: limits(60),
    };
    model.predict(ample).unwrap();
    let held = Question {
        limits: limits(4),
        ..ample
    };
    let error = model.predict(held).unwrap_err().to_string();
    assert!(error.contains("shifts their mix"), "{error}");
}

#[test]
fn trials_that_must_not_be_used_are_left_out_with_the_reason() {
    let network = network();
    let mut records = trials(&network, &[10, 20, 30, 40, 50, 60, 70], None);
    records[3].valid = false;
    records[3].invalid_because = vec!["the load generator was late".to_owned()];
    records[4].errors.share = 0.2;
    records[5].cpu = None;
    records[6]
        .levels
        .insert("param.bit".to_owned(), Level::Number(940.0));
    let model = fit(&network, &records).unwrap();
    let because: Vec<&str> = model
        .set
        .left_out
        .iter()
        .map(|left| left.because.as_str())
        .collect();
    assert_eq!(
        because,
        [
            "not valid (the load generator was late)",
            "20.0 % of its samples failed",
            "the target's CPU was not read",
            "its requests are others (param.bit = 940 instead of none set)"
        ]
    );
    let error = fit(&network, &records[2..]).unwrap_err().to_string();
    assert!(
        error.contains("1 treatment(s) can be used, and it takes 3"),
        "{error}"
    );
    assert!(error.contains("trial 4 is left out: not valid"), "{error}");
}
