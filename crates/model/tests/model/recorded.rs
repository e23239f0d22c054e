//! Models of runs on real servers, recorded here: `recorded/` holds their trials with the signals
//! that a model reads.
//!
//! * `sample-server`: Weir's own server on one CPU, 1 to 143 users, the last trials behind 52
//!   threads;
//! * `tomcat-users`: Tomcat on one CPU with requests of two kinds, 1 s and 10 s; checks behind 40
//!   to 50 threads shift their mix;
//! * `sample-server-disturbed`: the sample server while something else used its CPU.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use serde::Deserialize;
use weir_model::{FittedModel, Limits, Question, TrialSet};
use weir_record::{TargetFacts, TrialRecord};

#[derive(Deserialize)]
struct Recorded {
    target: TargetFacts,
    trials: Vec<TrialRecord>,
}

fn recorded(text: &str) -> Recorded {
    serde_json::from_str(text).unwrap()
}

fn model(recorded: &Recorded) -> FittedModel {
    FittedModel::fit(TrialSet::of(&recorded.trials, &recorded.target)).unwrap()
}

const SAMPLE_SERVER: &str = include_str!("../recorded/sample-server.json");
const TOMCAT: &str = include_str!("../recorded/tomcat-users.json");
const DISTURBED: &str = include_str!("../recorded/sample-server-disturbed.json");

/// Throughput and CPU of trials left out within 5 %, response time within 15 %; at twice the users
/// within 10 % and 30 %.
#[test]
fn trials_left_out_are_predicted() {
    for text in [SAMPLE_SERVER, TOMCAT] {
        let model = model(&recorded(text));
        assert_eq!(model.validation.disagreements, []);
        let errors = model.validation.held_out;
        assert!(errors.throughput.mean < 0.05, "{errors:?}");
        assert!(errors.cpu.mean < 0.05, "{errors:?}");
        assert!(errors.response_time.mean < 0.15, "{errors:?}");
        let twice = model.validation.at_twice_the_users.unwrap();
        assert!(twice.throughput.worst < 0.1, "{twice:?}");
        assert!(twice.response_time.worst < 0.3, "{twice:?}");
    }
}

/// The mix of the two kinds shifts behind a full thread limit: such trials are left out, and no
/// such prediction is made.
#[test]
fn a_shifted_mix_is_no_ground_for_a_model() {
    let model = model(&recorded(TOMCAT));
    let left_out: Vec<u32> = model.set.left_out.iter().map(|left| left.trial).collect();
    assert_eq!(left_out, [9, 10, 11, 12]);
    let held = Question {
        population: 76,
        limits: Limits {
            threads: Some(40),
            pool: Some(200),
        },
    };
    let error = model.predict(held).unwrap_err().to_string();
    assert!(error.contains("`DB-heavy transaction` 10.16 s"), "{error}");
}

#[test]
fn a_disturbed_run_is_refused() {
    let model = model(&recorded(DISTURBED));
    assert_ne!(model.validation.disagreements, []);
}
