//! Settings that miss their check by less than its trials can tell.

use std::time::Duration;

use crate::support::{Altered, Analytic};
use weir_record::{
    NoObserver, Role, Treatment, TrialError, TrialObserver, TrialRecord, TrialRunner as _,
};
use weir_stats::{Estimate, Method};
use weir_study::{FindSpec, Outcome, find};

const THINK_S: f64 = 0.2;

/// The CPU under a limit, with each thread more beyond the first limit that is tried.
const UNDER_LIMIT: f64 = 0.74;

/// Tunes a server (35 users at 80 %) that does a little less under a limit than its model says, as
/// where the limit shifts the mix of requests. Its throughput is known to this share of itself.
/// Each thread more makes so much more CPU.
fn tuned(half_width: f64, cpu_of_thread: f64) -> Outcome {
    let mut first = None;
    let server = Analytic::new(1, THINK_S, 0.01, 0.2);
    let trial = move |server: &mut Analytic,
                      treatment: &Treatment,
                      observer: &mut dyn TrialObserver|
          -> Result<TrialRecord, TrialError> {
        let mut record = server.run(treatment, observer)?;
        if record.role == Role::Check {
            let threads = record.levels["threads"].number().expect("a limit");
            let more = threads - *first.get_or_insert(threads);
            let cpu_total = UNDER_LIMIT + cpu_of_thread * more;
            let less = (record.throughput_per_s - 76.0).max(0.0);
            record.throughput_per_s -= less;
            // Who does not think meanwhile waits.
            *record
                .signals
                .get_mut("request-queue.waiting")
                .expect("a queue") += less * THINK_S;
            if let Some(cpu) = &mut record.cpu {
                cpu.total = cpu_total;
            }
            for (name, value) in [
                ("throughput_per_s", record.throughput_per_s),
                ("cpu", cpu_total),
            ] {
                let known = Estimate {
                    value,
                    low: value * (1.0 - half_width),
                    high: value * (1.0 + half_width),
                    confidence: 0.95,
                    count: 30,
                    method: Method::BatchMeans,
                };
                record.intervals.insert(name.to_owned(), known);
            }
        }
        Ok(record)
    };
    let spec = FindSpec {
        budget: None,
        ..FindSpec::default()
    };
    find(&spec, &mut Altered { server, trial }, &mut NoObserver)
}

#[test]
fn what_could_hold_is_tried_until_it_has_three_trials() {
    let found = tuned(0.05, 0.0);
    let held = found.held.as_ref().expect("a check");
    assert_eq!(held.trials.len(), 3, "{held:#?}");
    let sure = tuned(0.001, 0.0);
    let held = sure.held.as_ref().expect("a check");
    assert!(held.trials.len() < 3, "{held:#?}");
    assert!(!held.passed);
}

#[test]
fn the_most_whole_threads_hold_where_one_more_exceeds_the_goal() {
    let found = tuned(0.05, 0.09);
    let held = found.held.as_ref().expect("a check");
    assert!(held.passed, "{held:#?}");
    let cpu = &held.requirements[0];
    assert!((cpu.value - UNDER_LIMIT).abs() < 1e-9, "{cpu:?}");
    assert!(
        cpu.says.contains("the most that whole threads keep: with "),
        "{cpu:?}"
    );
    assert!(cpu.says.contains("the CPU is 83.0 %"), "{cpu:?}");
    // One more that stays within the goal proves nothing.
    let within = tuned(0.05, 0.03);
    let held = within.held.as_ref().expect("a check");
    assert!(!held.passed, "{held:#?}");
}

/// The windows, shortest and longest in seconds, of a study of a server whose requests take twenty
/// seconds: 15 to 30 s would hold one.
fn windows(budget: Option<Duration>) -> Vec<(Role, u64, u64)> {
    let server = Analytic::new(1, 1.0, 0.01, 20.0);
    let mut windows = Vec::new();
    let trial = |server: &mut Analytic,
                 treatment: &Treatment,
                 observer: &mut dyn TrialObserver|
     -> Result<TrialRecord, TrialError> {
        let window = treatment.window;
        windows.push((treatment.role, window.min.as_secs(), window.max.as_secs()));
        let mut record = server.run(treatment, observer)?;
        record.response_time_ms.p99 = record.response_time_ms.mean;
        Ok(record)
    };
    let spec = FindSpec {
        budget,
        within: (1, 4000),
        ..FindSpec::default()
    };
    find(&spec, &mut Altered { server, trial }, &mut NoObserver);
    windows
}

#[test]
fn a_window_that_may_vary_follows_the_longest_requests() {
    let all = windows(None);
    let checks: Vec<_> = all
        .iter()
        .filter(|(role, ..)| *role == Role::Check)
        .collect();
    assert!(!checks.is_empty(), "{all:?}");
    for (_, min, max) in checks {
        assert!(
            (120..150).contains(min) && (240..300).contains(max),
            "{all:?}"
        );
    }
    assert!(all[0].2 <= 30, "nothing is known yet: {all:?}");
}

#[test]
fn it_leaves_enough_of_the_budget_for_a_search() {
    let all = windows(Some(Duration::from_secs(360)));
    assert!(all.len() >= 5, "{all:?}");
    assert!(all.iter().all(|(.., max)| *max <= 90), "{all:?}");
    assert!(all.iter().any(|(.., max)| *max > 30), "{all:?}");
    let is_fixed = |(_, min, max): &(Role, u64, u64)| min == max;
    assert!(
        !all.iter().any(is_fixed),
        "not tested for steadiness: {all:?}"
    );
}
