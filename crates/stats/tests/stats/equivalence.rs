//! What the comparison of two treatments claims has to be true as often as it says: studies by the
//! thousand with a truth that is known. Seeds are fixed, so that every run gives the same shares.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use crate::series::Noise;
use weir_stats::{Margin, PAIRS_MAX, Progress, Verdict, sequential_equivalence};

const RUNS: u64 = 2_000;

/// How often each verdict comes out, in shares of all runs: same, different.
fn verdicts(truth: f64, sigma: f64, margin: Margin) -> (f64, f64) {
    let (mut same, mut different) = (0, 0);
    for seed in 0..RUNS {
        let noise = Noise::new(seed, 0.0, sigma).series(2 * PAIRS_MAX, 0.0);
        let pairs: Vec<(f64, f64)> = noise
            .chunks_exact(2)
            .map(|pair| (100.0 * pair[0].exp(), 100.0 * (truth + pair[1]).exp()))
            .collect();
        let Progress::Over(found) = sequential_equivalence(&pairs, margin).unwrap() else {
            panic!("all pairs are there")
        };
        match found.verdict {
            Verdict::Same => same += 1,
            Verdict::Different => different += 1,
            Verdict::Undecided => {}
        }
    }
    (
        f64::from(same) / RUNS as f64,
        f64::from(different) / RUNS as f64,
    )
}

/// A truth right at the margin must be called "same" in at most 5 % of the studies, whatever the
/// noise; and no difference at all must be called one in at most as many.
#[test]
fn false_claims_stay_below_one_in_twenty() {
    // Two standard errors of a share of 5 % in 2,000 runs are 0.97 points.
    let most = 0.05 + 2.0 * (0.05_f64 * 0.95 / RUNS as f64).sqrt();
    for relative in [0.03, 0.05] {
        let margin = Margin::new(relative).unwrap();
        for sigma in [0.01, 0.02, 0.03, 0.04, 0.05, 0.06] {
            let (same, _) = verdicts(margin.log(), sigma, margin);
            assert!(same <= most, "{relative} {sigma}: same in {same}");
            let (_, different) = verdicts(0.0, sigma, margin);
            assert!(
                different <= most,
                "{relative} {sigma}: different in {different}"
            );
        }
    }
}

/// And it must find out what can be found out: otherwise "undecided" would always do.
#[test]
fn what_is_equal_or_far_apart_is_told() {
    let margin = Margin::new(0.03).unwrap();
    assert!(verdicts(0.0, 0.01, margin).0 > 0.99);
    assert!(verdicts(0.0, 0.02, margin).0 > 0.97);
    assert!(verdicts(2.0 * margin.log(), 0.02, margin).1 > 0.99);
    assert!(verdicts(2.0 * margin.log(), 0.04, margin).1 > 0.97);
}
