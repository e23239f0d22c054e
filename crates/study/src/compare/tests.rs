use rand_distr::{Distribution as _, Normal};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng as _;
use weir_record::{Basis, Level, Reading, Scale, names};

use super::*;
use crate::findings::made;

fn ask() -> CompareAsk {
    CompareAsk {
        margin: Margin::new(0.05).unwrap(),
        errors_margin: 0.001,
        requirements: Vec::new(),
        relative: Vec::new(),
    }
}

/// A trial with this throughput at this number of users, whose seconds are not kept.
fn trial(id: u32, users: u32, throughput: f64) -> RunTrial {
    let mut record = made::trial(id, throughput, &[]);
    record.case = None;
    record.population = users;
    record
        .levels
        .insert("users".to_owned(), Level::Number(f64::from(users)));
    RunTrial {
        record,
        timeline: None,
        histograms: None,
    }
}

fn run(name: &str, trials: Vec<RunTrial>) -> RunSide {
    RunSide {
        name: name.to_owned(),
        trials,
        target: None,
        manifest: None,
        plan: None,
    }
}

/// A run of trials of one number of users.
fn repeated(name: &str, throughputs: &[f64]) -> RunSide {
    let trials = throughputs.iter().enumerate();
    run(
        name,
        trials
            .map(|(at, value)| trial(at as u32 + 1, 20, *value))
            .collect(),
    )
}

fn throughput(comparison: &RunComparison) -> &FigureComparison {
    let found = comparison
        .figures
        .iter()
        .find(|figure| figure.figure == "throughput_per_s");
    found.unwrap()
}

/// By hand: means of the logarithms differ by ln 1.2; variances of about 1e-4 on both sides, 4
/// degrees of freedom.
#[test]
fn repeated_trials_carry_their_own_spread() {
    let a = repeated("a", &[99.0, 100.0, 101.0]);
    let same = compare(&a, &repeated("b", &[99.5, 100.5, 100.0]), &ask()).unwrap();
    assert_eq!(same.basis, Basis::Replicates);
    assert_eq!(throughput(&same).outcome, Verdict::Same);
    let more = compare(&a, &repeated("b", &[118.8, 120.0, 121.2]), &ask()).unwrap();
    let change = throughput(&more).change.unwrap();
    assert_eq!(
        (change.scale, throughput(&more).outcome),
        (Scale::Relative, Verdict::Different)
    );
    assert!((change.value - 0.2).abs() < 1e-3, "{change:?}");
    let reach = 2.776 * 0.01 * (2.0_f64 / 3.0).sqrt() * 1.2;
    assert!(
        (change.high - 0.2 - reach).abs() < 2e-3,
        "{change:?} ±{reach}"
    );
    let noisy = compare(&a, &repeated("b", &[80.0, 100.0, 130.0]), &ask()).unwrap();
    assert_eq!(throughput(&noisy).outcome, Verdict::Undecided);
}

#[test]
fn treatments_are_matched_whatever_their_order() {
    let levels = [(10, 50.0), (20, 90.0), (40, 120.0), (80, 121.0)];
    let of = |name: &str, factor: f64, turned: bool| {
        let mut trials: Vec<RunTrial> = Vec::new();
        for (at, (users, value)) in levels.iter().enumerate() {
            let wobble = 1.0 + 0.004 * (at as f64 - 1.5);
            trials.push(trial(at as u32 + 1, *users, value * factor * wobble));
        }
        if turned {
            trials.reverse();
        }
        run(name, trials)
    };
    let found = compare(&of("a", 1.0, false), &of("b", 1.1, true), &ask()).unwrap();
    assert_eq!(
        (found.basis, found.matched.len()),
        (Basis::MatchedTrials, 4)
    );
    let figure = throughput(&found);
    assert_eq!(figure.outcome, Verdict::Different);
    assert!(
        (figure.change.unwrap().value - 0.1).abs() < 1e-9,
        "{figure:?}"
    );
    assert!(
        figure.a_interval.is_none(),
        "a mean over treatments has no interval"
    );
    assert!(found.differs.is_empty(), "{:?}", found.differs);
    let apart = run("b", vec![trial(1, 11, 50.0), trial(2, 21, 90.0)]);
    let error = compare(&of("a", 1.0, false), &apart, &ask()).unwrap_err();
    assert!(error.to_string().contains("users 11 · users 21"), "{error}");
}

#[test]
fn a_run_without_a_valid_trial_is_refused() {
    let mut spoilt = repeated("b", &[100.0]);
    spoilt.trials[0].record.valid = false;
    spoilt.trials[0].record.invalid_because = vec!["the load generator was late".to_owned()];
    let error = compare(&repeated("a", &[100.0]), &spoilt, &ask()).unwrap_err();
    assert!(
        error.to_string().contains("the load generator was late"),
        "{error}"
    );
}

#[test]
fn requirements_are_asked_of_b_and_of_its_share_of_a() {
    let ask = CompareAsk {
        requirements: vec![
            "throughput >= 95 /s".parse().unwrap(),
            "cpu <= 80 %".parse().unwrap(),
        ],
        relative: vec!["throughput >= 95 % of A".parse().unwrap()],
        ..ask()
    };
    let found = compare(
        &repeated("a", &[99.0, 101.0]),
        &repeated("b", &[94.0, 97.0]),
        &ask,
    )
    .unwrap();
    let met: Vec<bool> = found.requirements.iter().map(|check| check.met).collect();
    // 95.5 /s on the mean; 95.5 % of 100 by the ratio; no CPU was read.
    assert_eq!(met, [true, false, true]);
    assert_eq!((found.status, found.exit_code), (Status::NotMet, 1));
}

/// One trial of 120 s with this mean; neighbouring seconds resemble each other.
fn made_by_chance(dice: &mut Xoshiro256PlusPlus, mean: f64) -> RunTrial {
    let noise = Normal::new(0.0, 0.05).unwrap();
    let mut timeline = Timeline::new();
    let (mut last, mut sum) = (0.0, 0.0);
    for second in 0..120 {
        last = 0.4 * last + noise.sample(dice);
        let value = mean * (1.0 + last);
        sum += value;
        timeline.add(
            second,
            Reading::from([(names::THROUGHPUT.to_owned(), value)]),
        );
    }
    let mut made = trial(1, 20, sum / 120.0);
    made.record.window_s = 120.0;
    made.timeline = Some(timeline);
    made
}

/// Over 600 pairs of trials each; an honest 5 % would be at most 6.8 % with two standard errors.
#[test]
fn chance_is_rarely_taken_for_a_difference_or_for_none() {
    const PAIRS: u32 = 600;
    let outcomes = |ratio: f64, seed: u64| {
        let mut dice = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut count = (0, 0);
        for _ in 0..PAIRS {
            let a = run("a", vec![made_by_chance(&mut dice, 100.0)]);
            let b = run("b", vec![made_by_chance(&mut dice, 100.0 * ratio)]);
            match throughput(&compare(&a, &b, &ask()).unwrap()).outcome {
                Verdict::Same => count.0 += 1,
                Verdict::Different => count.1 += 1,
                Verdict::Undecided => {}
            }
        }
        count
    };
    let (same, different) = outcomes(1.0, 1);
    assert!(
        different * 1000 <= PAIRS * 5,
        "nothing differs: {different}"
    );
    assert!(same * 100 >= PAIRS * 60, "nothing differs: shown in {same}");
    let (same, _) = outcomes(1.05, 2);
    assert!(same * 1000 <= PAIRS * 68, "at the margin: {same} the same");
    let (_, different) = outcomes(1.15, 3);
    assert!(
        different * 100 >= PAIRS * 85,
        "15 % more: seen in {different}"
    );
}
