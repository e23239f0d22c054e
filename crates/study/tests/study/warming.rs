//! A server that still warms up when its study begins.

use crate::support::{Altered, Analytic};
use weir_record::{
    Invalid, InvalidReason, NoObserver, Status, Treatment, TrialError, TrialObserver, TrialRecord,
    TrialRunner as _,
};
use weir_stats::{NotSteady, Signal};
use weir_study::{FindSpec, Outcome, find};

/// Tunes a server (35 users at 80 %) whose trials of these numbers are not steady.
fn tuned(unsteady: &'static [u32]) -> Outcome {
    let server = Analytic::new(1, 0.2, 0.01, 0.2);
    let trial = move |server: &mut Analytic,
                      treatment: &Treatment,
                      observer: &mut dyn TrialObserver|
          -> Result<TrialRecord, TrialError> {
        let mut record = server.run(treatment, observer)?;
        if unsteady.contains(&record.id) {
            let invalid = Invalid::from(InvalidReason::NotSteady {
                why: NotSteady::WarmingUp {
                    signal: Signal::Throughput,
                },
            });
            record.valid = false;
            record.invalid_because.push(invalid.says.clone());
            record.invalid.push(invalid);
        }
        Ok(record)
    };
    find(
        &FindSpec::default(),
        &mut Altered { server, trial },
        &mut NoObserver,
    )
}

#[test]
fn a_server_that_warms_up_is_given_a_third_trial_at_the_beginning() {
    let found = tuned(&[1, 2]);
    assert_eq!(found.status, Status::Answered, "{}", found.summary);
    assert!(
        found
            .answer
            .is_some_and(|answer| (answer.value - 35.0).abs() < 1e-9),
        "{}",
        found.summary
    );
    let never = tuned(&[1, 2, 3]);
    assert_eq!(never.status, Status::Invalid, "{}", never.summary);
    assert!(
        never.summary.contains("Trial 3 cannot be used"),
        "{}",
        never.summary
    );
    let later = tuned(&[3, 4]);
    assert_eq!(
        later.status,
        Status::Invalid,
        "it had warmed up: {}",
        later.summary
    );
}
