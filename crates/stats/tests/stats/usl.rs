//! When the universal scalability law may be asked for its peak, and when it must not.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use crate::series::Noise;
use weir_stats::{NoPeak, StatsError, Usl, UslFit};

const CURVE: Usl = Usl {
    contention: 0.03,
    coherency: 0.0004,
    single: 40.0,
};
const LEVELS: [f64; 8] = [1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 80.0, 120.0];

/// Two trials at each level, with noise of 1 %.
fn trials(curve: impl Fn(f64) -> f64, seed: u64) -> Vec<(f64, f64)> {
    let noise = Noise::new(seed, 0.0, 0.01).series(2 * LEVELS.len(), 1.0);
    let levels = LEVELS.iter().chain(&LEVELS);
    levels
        .zip(noise)
        .map(|(&level, factor)| (level, factor * curve(level)))
        .collect()
}

/// A server of the law: its peak is covered, and seldom refused.
#[test]
fn the_peak_of_such_a_server_is_covered() {
    let truth = CURVE.peak().unwrap();
    let (mut given, mut covered) = (0, 0);
    for seed in 0..1_000 {
        let fit = UslFit::of(&trials(|level| CURVE.throughput(level), seed), 0.95).unwrap();
        if let Ok(peak) = fit.peak() {
            given += 1;
            covered += u32::from(peak.contains(truth));
        }
    }
    assert!(given > 970, "{given} of 1000 given");
    let share = f64::from(covered) / f64::from(given);
    assert!((0.92..0.99).contains(&share), "{share}");
}

/// A pool of 12 connections: throughput rises in a line and stays. The law would have a peak; the
/// replicates object.
#[test]
fn a_hard_plateau_has_no_peak() {
    let refused = (0..200)
        .filter(|&seed| {
            let fit = UslFit::of(&trials(|level| 40.0 * level.min(12.0), seed), 0.95).unwrap();
            matches!(fit.peak(), Err(NoPeak::LackOfFit { .. }))
        })
        .count();
    assert!(refused >= 199, "{refused} of 200");
}

#[test]
fn a_peak_behind_the_measured_levels_is_not_told() {
    let measured: Vec<(f64, f64)> = LEVELS[..5]
        .iter()
        .map(|&level| (level, CURVE.throughput(level)))
        .collect();
    let refused = UslFit::of(&measured, 0.95).unwrap().peak();
    assert!(
        matches!(refused, Err(NoPeak::Beyond { peak, largest }) if (peak - 49.2).abs() < 0.1 && (largest - 20.0).abs() < 0.1),
        "{refused:?}"
    );
}

#[test]
fn more_than_one_for_one_is_not_the_laws() {
    let curve = Usl {
        contention: -0.01,
        ..CURVE
    };
    let measured: Vec<(f64, f64)> = LEVELS
        .iter()
        .map(|&level| (level, curve.throughput(level)))
        .collect();
    let refused = UslFit::of(&measured, 0.95).unwrap().peak();
    assert!(
        matches!(refused, Err(NoPeak::Superlinear { .. })),
        "{refused:?}"
    );
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let three = [(1.0, 10.0), (2.0, 18.0), (4.0, 30.0), (4.0, 31.0)];
    assert_eq!(
        UslFit::of(&three, 0.95),
        Err(StatsError::TooFew {
            count: 3,
            needed: 4
        })
    );
    UslFit::of(&[(1.0, 10.0), (2.0, 0.0), (3.0, 5.0), (4.0, 6.0)], 0.95).unwrap_err();
}
