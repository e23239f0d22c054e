//! What makes a trial count, and what its figures rest on.
#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::time::Duration;

use super::*;
use crate::decide::{Decision, WindowProgress, decide};
use crate::load_second::{ClassSecond, LoadSecond};
use crate::response_histogram::response_histogram;
use crate::timeline::Reading;
use crate::treatment::{Levels, Role, Window};

/// One second in which `answered` samples took `response_us` each.
fn load_second(second: u64, answered: u64, failed: u64, response_us: u64) -> LoadSecond {
    let mut histogram = response_histogram();
    histogram.record_n(response_us, answered).unwrap();
    let mut lateness_us = response_histogram();
    lateness_us.record_n(30, answered.max(1)).unwrap();
    LoadSecond {
        second,
        classes: vec![ClassSecond {
            label: "request".to_owned(),
            succeeded: answered - failed,
            failed,
            succeeded_by_code: BTreeMap::new(),
            failed_by_code: if failed > 0 {
                BTreeMap::from([("503".to_owned(), failed)])
            } else {
                BTreeMap::new()
            },
            response_us: histogram,
        }],
        users: 10,
        in_flight: Some(2),
        sockets: Some(10),
        lateness_us,
        redirected: None,
        resent: None,
        connects: None,
        open: None,
    }
}

fn signals(pairs: &[(&str, f64)]) -> Reading {
    pairs.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect()
}

fn cpu(total: f64, steal: f64) -> Reading {
    signals(&[
        ("cpu", total),
        ("cpu.user", total * 0.8),
        ("cpu.system", total * 0.2),
        ("cpu.steal", steal),
        ("load.cpu", 0.2),
    ])
}

/// Throughput 100 ± a few that do not depend on each other, after `slow` slower seconds.
fn recording(seconds: u64, slow: u64) -> Recording {
    let mut recording = Recording::new();
    for second in 0..seconds {
        let wiggle = (second * 7919 + 13) % 5;
        let answered = if second < slow { 40 } else { 98 + wiggle };
        recording
            .add_load(&load_second(second, answered, 0, 20_000))
            .unwrap();
        recording.add_signals(second, cpu(answered as f64 / 200.0, 0.0));
    }
    recording
}

fn window(min: u64, max: u64) -> Window {
    Window {
        requests: None,
        warm_up_min: Duration::from_secs(5),
        min: Duration::from_secs(min),
        max: Duration::from_secs(max),
        precision: 0.02,
    }
}

fn treatment() -> Treatment {
    Treatment {
        id: 3,
        role: Role::Search,
        case: None,
        block: None,
        levels: Levels::new(),
        window: window(15, 30),
        seed: 1,
    }
}

fn context(treatment: &Treatment) -> Context<'_> {
    Context {
        treatment,
        population: 10,
        target_cpus: 1,
        load: Some(LoadCpus {
            cpus: 1,
            of_target: 0,
        }),
        repeats: 0,
        ended_after: None,
        against: Vec::new(),
    }
}

#[test]
fn a_steady_trial_ends_as_soon_as_it_is_precise() {
    let early = decide(&recording(19, 0), &window(15, 30), 0.1).unwrap();
    assert_eq!(early, Decision::Continue(WindowProgress { remaining_s: 1 }));
    let done = decide(&recording(20, 0), &window(15, 30), 0.1).unwrap();
    assert_eq!(done, Decision::Done(5..20));
}

#[test]
fn the_warm_up_is_left_out() {
    let Decision::Done(measured) = decide(&recording(35, 9), &window(15, 30), 0.1).unwrap() else {
        panic!("35 s are the most");
    };
    assert!(measured.start >= 9, "{measured:?}");
    let treatment = treatment();
    let record = evaluate(&recording(35, 9), measured, &context(&treatment)).unwrap();
    assert!((record.throughput_per_s - 100.0).abs() < 1.0);
}

#[test]
fn a_trial_that_never_settles_says_so() {
    let mut rising = Recording::new();
    for second in 0..35 {
        rising
            .add_load(&load_second(second, 50 + 5 * second, 0, 20_000))
            .unwrap();
    }
    let decision = decide(&rising, &window(15, 30), 0.1).unwrap();
    let Decision::NotSteady { window, why } = decision else {
        panic!("{decision:?}");
    };
    let treatment = treatment();
    let mut context = context(&treatment);
    context.against = vec![InvalidReason::NotSteady { why }];
    let record = evaluate(&rising, window, &context).unwrap();
    assert!(!record.valid && record.invalid_because[0].starts_with("not steady"));
}

#[test]
fn a_fixed_window_is_exactly_that() {
    let fixed = Window::fixed(Duration::from_secs(5), Duration::from_secs(10));
    assert_eq!(
        decide(&recording(15, 0), &fixed, 99.0).unwrap(),
        Decision::Done(5..15)
    );
}

#[test]
fn figures_carry_intervals_and_failures_their_codes() {
    let mut recording = recording(40, 0);
    recording
        .add_load(&load_second(40, 100, 25, 80_000))
        .unwrap();
    recording.add_signals(40, cpu(0.5, 0.0));
    let treatment = treatment();
    let record = evaluate(&recording, 5..41, &context(&treatment)).unwrap();
    assert!(record.valid, "{:?}", record.invalid_because);
    assert_eq!(record.errors.count, 25);
    assert_eq!(record.errors.by_code["503"], 25);
    for name in [
        "throughput_per_s",
        "cpu",
        "response_time_ms.p50",
        "errors.share",
    ] {
        let estimate = &record.intervals[name];
        assert!(
            estimate.low <= estimate.value && estimate.value <= estimate.high,
            "{name}"
        );
        assert!(estimate.count > 0, "{name}");
    }
    // 20 ms for 35 seconds, 80 ms for one: the maximum comes from the merged histogram.
    assert!((record.response_time_ms.p50 - 20.0).abs() < 0.1);
    assert!((record.response_time_ms.max - 80.0).abs() < 0.1);
    assert!((record.cpu.unwrap().total - 0.5).abs() < 0.01);
}

#[test]
fn waits_are_weighted_by_how_many_ended() {
    let mut recording = recording(10, 0);
    for second in 0..10 {
        let (wait, entries) = if second == 3 { (9.0, 1.0) } else { (1.0, 9.0) };
        let read = signals(&[
            ("pool.db.wait", wait),
            ("pool.db.entries", entries),
            ("pool.db.waiting", 4.0),
        ]);
        recording.add_signals(second, read);
    }
    let treatment = treatment();
    let record = evaluate(&recording, 0..10, &context(&treatment)).unwrap();
    let expected = (9.0 + 81.0) / (1.0 + 81.0);
    assert!((record.wait_s("pool.db").unwrap() - expected).abs() < 1e-9);
    assert_eq!(record.waiting("pool.db"), Some(4.0));
    assert_eq!(record.waiting("threads"), None);
}

#[test]
fn a_load_tool_that_was_the_limit_makes_the_trial_invalid() {
    let treatment = treatment();
    let mut busy = recording(20, 0);
    for second in 0..20 {
        busy.add_signals(second, signals(&[("load.cpu", 0.93)]));
    }
    let record = evaluate(&busy, 5..20, &context(&treatment)).unwrap();
    assert!(!record.valid && record.invalid_because[0].contains("93 % of its 1 CPU"));

    let mut late = recording(20, 0);
    let mut second = load_second(20, 100, 0, 20_000);
    second.lateness_us.record_n(50_000, 900).unwrap();
    late.add_load(&second).unwrap();
    late.add_signals(20, cpu(0.5, 0.0));
    let record = evaluate(&late, 5..21, &context(&treatment)).unwrap();
    assert!(!record.valid && record.invalid_because[0].contains("late"));
}

#[test]
fn missed_seconds_and_steal_are_told() {
    let treatment = treatment();
    let mut gaps = recording(20, 0);
    for second in [6, 9, 12] {
        gaps.miss_signals(second);
    }
    let record = evaluate(&gaps, 5..20, &context(&treatment)).unwrap();
    assert_eq!(
        record.invalid_because,
        ["3 of 15 seconds were missed by the watch"]
    );

    let mut stolen = recording(20, 0);
    for second in 0..20 {
        stolen.add_signals(second, cpu(0.5, 0.08));
    }
    let record = evaluate(&stolen, 5..20, &context(&treatment)).unwrap();
    assert!(record.valid);
    assert!(record.notes[0].contains("8.0 %"), "{:?}", record.notes);

    let mut shared = recording(20, 0);
    for second in 0..20 {
        shared.add_signals(
            second,
            signals(&[("target.cpu.user", 0.3), ("target.cpu.system", 0.05)]),
        );
    }
    let record = evaluate(&shared, 5..20, &context(&treatment)).unwrap();
    assert!(record.valid);
    assert_eq!(
        record.notes,
        ["other processes used 15.0 % of the target's CPUs"]
    );

    // It is the load generator's, where that may run on the same CPU.
    let beside = Context {
        load: Some(LoadCpus {
            cpus: 1,
            of_target: 1,
        }),
        ..context(&treatment)
    };
    let record = evaluate(&shared, 5..20, &beside).unwrap();
    assert_eq!(record.notes, [""; 0]);

    // Under a quota of 0.7 CPUs the same seconds are half of that, and all of it its own.
    let mut within_quota = recording(20, 0);
    for second in 0..20 {
        within_quota.add_signals(
            second,
            signals(&[
                ("target.cpu.user", 0.3),
                ("target.cpu.system", 0.05),
                ("target.cpus", 0.7),
            ]),
        );
    }
    let record = evaluate(&within_quota, 5..20, &context(&treatment)).unwrap();
    assert_eq!(record.notes, [""; 0]);

    // So is what another process of the group uses of the quota.
    let mut sidecar = recording(20, 0);
    for second in 0..20 {
        sidecar.add_signals(
            second,
            signals(&[
                ("target.cpu.user", 0.1),
                ("target.cpu.system", 0.0),
                ("target.cpus", 0.7),
                ("target.group.cpu", 0.35),
            ]),
        );
    }
    let record = evaluate(&sidecar, 5..20, &context(&treatment)).unwrap();
    assert_eq!(record.notes, [""; 0]);
}

#[test]
fn a_trial_without_answers_is_no_trial() {
    let mut silent = Recording::new();
    for second in 0..10 {
        silent.add_load(&load_second(second, 0, 0, 1)).unwrap();
    }
    let treatment = treatment();
    let record = evaluate(&silent, 0..10, &context(&treatment)).unwrap();
    assert!(!record.valid);
    assert!(matches!(
        evaluate(&Recording::new(), 0..5, &context(&treatment)),
        Err(EvaluateError::NoSeconds)
    ));
}

#[test]
fn a_last_second_that_was_cut_short_counts_for_as_long_as_it_was() {
    let mut ended = recording(10, 0);
    ended.add_load(&load_second(10, 3, 0, 20_000)).unwrap();
    let treatment = treatment();
    let mut context = context(&treatment);
    context.ended_after = Some(Duration::from_millis(10_030));
    let record = evaluate(&ended, 0..11, &context).unwrap();
    assert!((record.window_s - 10.03).abs() < 1e-9);
    assert!((record.throughput_per_s - 100.0).abs() < 1.5);
    assert!(record.intervals["throughput_per_s"].low > 95.0);
}

#[test]
fn redirects_are_a_share_of_the_samples_of_the_same_seconds() {
    let mut recording = Recording::new();
    for (second, answered) in [(0, 100), (1, 100), (2, 7)] {
        let load = LoadSecond {
            redirected: Some(answered),
            ..load_second(second, answered, 0, 20_000)
        };
        recording.add_load(&load).unwrap();
    }
    let treatment = treatment();
    let mut context = context(&treatment);
    context.ended_after = Some(Duration::from_millis(2_070));
    let mut record = evaluate(&recording, 0..3, &context).unwrap();
    let (share, count) = record.redirected().unwrap();
    assert!((share - 1.0).abs() < 1e-9, "{share}");
    assert!((count - 207.0).abs() < 0.5, "{count}");
    record.note_redirects(0.01);
    let noted = record.notes.last().unwrap();
    assert!(
        noted.starts_with("100 % of the responses (about 207)"),
        "{noted}"
    );
}

#[test]
fn arrivals_of_requests_are_counted_and_their_percentiles_merged() {
    let mut recording = recording(20, 0);
    for (second, sampled, wait_s) in [(2, 90.0, 0.001), (3, 10.0, 0.011)] {
        recording.add_signals(
            second,
            signals(&[
                ("target.arrival.sampled", sampled),
                ("target.arrival.unread", 1.0),
                ("target.arrival.cpu-wait", wait_s),
                ("target.arrival.to-read.p50", wait_s),
            ]),
        );
        let ns = (wait_s * 1e9) as u64;
        recording.add_arrivals(second, std::iter::repeat_n(ns, sampled as usize));
    }
    for signal in ["other", "target.arrival.unread"] {
        recording.note_not_read(signal, "why".to_owned());
    }
    let record = evaluate(&recording, 0..20, &context(&treatment())).unwrap();
    let signal = |name: &str| record.signals[&format!("target.arrival.{name}")];
    assert!((signal("sampled") - 100.0).abs() < 1e-9);
    assert!((signal("unread") - 2.0).abs() < 1e-9);
    assert!((signal("cpu-wait") - 0.002).abs() < 1e-9, "by requests");
    assert!((signal("to-read.p50") / 0.001 - 1.0).abs() < 1e-3);
    assert!((signal("to-read.p99") / 0.011 - 1.0).abs() < 1e-3);
    assert_eq!(record.not_read["other"], "why");
    assert_eq!(record.not_read.len(), 1, "the other one was read");
}

/// A second in which all samples were refused, or none was tried.
fn refused_second(second: u64, refused: u64) -> LoadSecond {
    let mut of = load_second(second, refused, refused, 100);
    let code = "Non HTTP response code: org.apache.http.conn.HttpHostConnectException";
    of.classes[0].failed_by_code = BTreeMap::from([(code.to_owned(), refused)]);
    of
}

#[test]
fn a_server_that_is_gone_is_told_from_one_that_refuses_some() {
    let since = |refused: &[u64]| {
        let mut recording = Recording::new();
        for second in 0..10 {
            recording
                .add_load(&load_second(second, 100, 0, 900))
                .unwrap();
        }
        for (second, refused) in (10..).zip(refused) {
            let of = match refused {
                // Somebody still gets in.
                1000 => load_second(second, 1000, 999, 900),
                refused => refused_second(second, *refused),
            };
            recording.add_load(&of).unwrap();
        }
        let end = 10 + refused.len();
        gone::nobody_answers(&recording, 0..end)
    };
    let gone = |since_s, refused| Some(InvalidReason::NobodyAnswers { since_s, refused });
    assert_eq!(since(&[]), None);
    assert_eq!(since(&[40, 10]), None, "a restart");
    assert_eq!(since(&[40, 10, 4]), gone(10, 54));
    assert_eq!(since(&[40, 0, 0, 4, 0]), gone(10, 44));
    assert_eq!(since(&[40, 10, 4, 1000]), None);
    assert_eq!(since(&[1000, 1000, 1000, 1000]), None);
    let mut recording = Recording::new();
    recording.add_load(&refused_second(0, 7)).unwrap();
    assert_eq!(gone::nobody_answers(&recording, 0..1), gone(0, 7));
}
