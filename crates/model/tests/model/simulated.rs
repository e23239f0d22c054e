//! Models of simulated servers: what they must find is known.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration as Time;

use weir_model::{FitError, FittedModel, Limits, Parameters, Question, TrialSet};
use weir_queueing::SimulatedServer;
use weir_queueing::sim::{
    Discipline, Disturbances, Duration, Phase, PoolLimit, Ramp, Scenario, ServerModel, UserClass,
};
use weir_record::{Level, NoObserver, Role, Treatment, TrialRecord, TrialRunner as _, Window};
use weir_sim::{NetworkFile, Simulation};

type Of = fn(&Parameters) -> f64;

const CPU_S: f64 = 0.02;
const DELAY_S: f64 = 0.1;
const HOLD_S: f64 = 0.05;
const THINK_S: f64 = 0.4;

fn scenario() -> Scenario {
    Scenario {
        server: ServerModel {
            cores: 2,
            discipline: Discipline::ProcessorSharing,
            connections: None,
            threads: Some(60),
            pools: vec![PoolLimit {
                name: Some("db".to_owned()),
                limit: 40,
            }],
        },
        classes: vec![class("request", Duration::Constant(HOLD_S))],
        ramp: Ramp { seconds: 1.0 },
        disturbances: Disturbances {
            between_trials: 0.02,
            ..Disturbances::default()
        },
    }
}

fn class(label: &str, hold: Duration) -> UserClass {
    UserClass {
        label: label.to_owned(),
        users: 1,
        think: Duration::Exponential(THINK_S),
        request: vec![
            Phase::Cpu(Duration::Exponential(CPU_S)),
            Phase::Sleep(Duration::Constant(DELAY_S)),
            Phase::Acquire(0),
            Phase::Sleep(hold),
            Phase::Release(0),
        ],
    }
}

/// Trials at these levels of users, with this limit of threads.
fn trials(scenario: &Scenario, users: &[u32], threads: Option<u32>) -> Vec<TrialRecord> {
    let mut server = SimulatedServer::new(scenario.clone());
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
                levels,
                window: Window::fixed(Time::from_secs(30), Time::from_secs(300)),
                seed: u64::from(users) + 17,
            };
            server.run(&treatment, &mut NoObserver).unwrap()
        })
        .collect()
}

fn fit(scenario: &Scenario, records: &[TrialRecord]) -> Result<FittedModel, FitError> {
    let server = SimulatedServer::new(scenario.clone());
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
    let scenario = scenario();
    let model = fit(&scenario, &trials(&scenario, &[10, 20, 30, 40, 50], None)).unwrap();
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
        let server = SimulatedServer::new(scenario.clone());
        let levels = [("users", users), ("threads", threads)]
            .map(|(factor, level)| (factor.to_owned(), Level::Number(f64::from(level))));
        let truth = server.truth_at(&levels.into_iter().collect()).unwrap();
        let near = |found: f64, truth: f64, share: f64| (found / truth - 1.0).abs() < share;
        let found = &predicted.figures;
        assert!(
            near(found.throughput_per_s, truth.throughput_per_s, 0.05),
            "{predicted:?}"
        );
        assert!(near(found.cpu, truth.cpu, 0.05), "{predicted:?}");
        assert!(
            near(found.threads_busy, truth.threads_busy, 0.1),
            "{predicted:?}"
        );
        let (low, high) = (
            predicted.low.throughput_per_s,
            predicted.high.throughput_per_s,
        );
        assert!(
            (low..=high).contains(&truth.throughput_per_s),
            "{predicted:?} {truth:?}"
        );
    }
}

/// The simulator plays the file that a model writes, and comes to what the model says.
#[test]
fn the_network_file_is_the_model() {
    let scenario = scenario();
    let model = fit(&scenario, &trials(&scenario, &[10, 30, 50], None)).unwrap();
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
    let mut scenario = scenario();
    scenario.server.pools.push(PoolLimit {
        name: None,
        limit: 1,
    });
    let locked = [
        Phase::Acquire(1),
        Phase::Sleep(Duration::Constant(0.04)),
        Phase::Release(1),
    ];
    scenario.classes[0].request.splice(1..1, locked);
    let model = fit(&scenario, &trials(&scenario, &[5, 10, 20, 30, 50], None)).unwrap();
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
    let mut scenario = scenario();
    scenario.classes = vec![
        class("quick", Duration::Constant(0.01)),
        class("slow", Duration::Constant(0.6)),
    ];
    let model = fit(&scenario, &trials(&scenario, &[5, 10, 15, 20], None)).unwrap();
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
    let scenario = scenario();
    let mut records = trials(&scenario, &[10, 20, 30, 40, 50, 60, 70], None);
    records[3].valid = false;
    records[3].invalid_because = vec!["the load tool was late".to_owned()];
    records[4].errors.share = 0.2;
    records[5].cpu = None;
    records[6]
        .levels
        .insert("param.bit".to_owned(), Level::Number(940.0));
    let model = fit(&scenario, &records).unwrap();
    let because: Vec<&str> = model
        .set
        .left_out
        .iter()
        .map(|left| left.because.as_str())
        .collect();
    assert_eq!(
        because,
        [
            "not valid (the load tool was late)",
            "20.0 % of its samples failed",
            "the target's CPU was not read",
            "its requests are others (param.bit = 940 instead of none set)"
        ]
    );
    let error = fit(&scenario, &records[2..]).unwrap_err().to_string();
    assert!(
        error.contains("1 treatment(s) can be used, and it takes 3"),
        "{error}"
    );
    assert!(error.contains("trial 4 is left out: not valid"), "{error}");
}
