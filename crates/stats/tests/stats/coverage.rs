//! Intervals have to cover the truth as often as they say. Every test draws from fixed seeds, so it
//! gives the same result each time; the bounds are wide enough that a right method fails for fewer
//! than one choice of seeds in a thousand (a share of 2,000 runs has a standard error of 0.5 points
//! at 95 %).
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use crate::series::Noise;
use weir_stats::{
    BinShare, Crossing, Drift, NotSteady, Observation, Point, Signals, Spread, Support, WarmUp,
    between_trial_spread, effective_responses, guard_bins, mean_of_series, quantile_of_sorted,
    warm_up,
};

const RUNS: u64 = 2000;

/// Share of the runs, one per seed, for which `holds`.
fn share(holds: impl Fn(u64) -> bool) -> f64 {
    share_of(RUNS, holds)
}

fn share_of(runs: u64, holds: impl Fn(u64) -> bool) -> f64 {
    (0..runs).filter(|&seed| holds(seed)).count() as f64 / runs as f64
}

#[test]
fn the_mean_of_a_series_is_covered() {
    // Lag-1 correlation, bins, least share: the measured shares in the docs of `batch_means`, minus
    // 1.5 points.
    for (phi, bins, least) in [
        (0.0, 20, 0.94),
        (0.0, 300, 0.94),
        (0.3, 30, 0.915),
        (0.5, 60, 0.92),
        (0.5, 120, 0.93),
        (0.8, 300, 0.915),
    ] {
        let covered = share(|seed| {
            let series = Noise::new(seed + 10_000, phi, 5.0).series(bins, 100.0);
            mean_of_series(&series, 0.95)
                .unwrap()
                .estimate
                .contains(100.0)
        });
        assert!(
            (least..0.98).contains(&covered),
            "phi {phi}, {bins} bins: {covered}"
        );
    }
}

#[test]
fn a_series_that_is_worth_little_is_refused() {
    let refused = |phi, bins| {
        share(|seed| {
            let series = Noise::new(seed, phi, 5.0).series(bins, 100.0);
            mean_of_series(&series, 0.95).unwrap().support == Support::Refused
        })
    };
    assert!(refused(0.0, 30) < 0.01);
    assert!(refused(0.5, 300) < 0.01);
    assert!(refused(0.95, 300) > 0.97);
}

#[test]
fn a_steady_trial_is_rarely_called_unsteady() {
    let unsteady = share(|seed| {
        let throughput = Noise::new(2 * seed, 0.3, 5.0).series(60, 100.0);
        let cpu = Noise::new(2 * seed + 1, 0.3, 0.04).series(60, 0.8);
        let signals = Signals {
            throughput: &throughput,
            response_time: None,
            cpu: Some(&cpu),
        };
        !matches!(
            warm_up(&signals, guard_bins(60, 5, 1.0)).unwrap(),
            WarmUp::Steady { .. }
        )
    });
    assert!(unsteady < 0.045, "{unsteady}");
}

#[test]
fn a_drift_through_the_whole_trial_is_found() {
    let found = share(|seed| {
        let mut cpu = Noise::new(seed, 0.3, 0.02).series(120, 0.8);
        for (second, value) in cpu.iter_mut().enumerate() {
            *value -= 0.001 * second as f64;
        }
        let throughput = Noise::new(seed + RUNS, 0.0, 1.0).series(120, 100.0);
        let signals = Signals {
            throughput: &throughput,
            response_time: None,
            cpu: Some(&cpu),
        };
        matches!(
            warm_up(&signals, guard_bins(120, 5, 1.0)).unwrap(),
            WarmUp::NotSteady {
                why: NotSteady::Drifting { .. } | NotSteady::WarmingUp { .. }
            }
        )
    });
    // Measured: 93 %. What MSER-5 cuts off leaves about 60 bins, over which the drift is three
    // standard deviations of a bin.
    assert!(found > 0.91, "{found}");
}

#[test]
fn a_quantile_is_covered() {
    // Exponential values by the inverse of their distribution; the true 95 % quantile is ln 20.
    let covered = share(|seed| {
        let mut sample: Vec<f64> = Noise::new(seed, 0.0, 1.0)
            .series(400, 0.0)
            .chunks_exact(2)
            .map(|pair| f64::midpoint(pair[0].powi(2), pair[1].powi(2)))
            .collect();
        sample.sort_by(f64::total_cmp);
        quantile_of_sorted(&sample, 200.0, 0.95, 0.95)
            .unwrap()
            .contains(20_f64.ln())
    });
    assert!((0.94..0.985).contains(&covered), "{covered}");
}

#[test]
fn the_spread_between_trials_is_covered() {
    let covered = share(|seed| {
        let values = Noise::new(seed, 0.0, 0.03).series(6, 1.0);
        let group = |part: &[f64]| {
            part.iter()
                .map(|&value| Observation {
                    value,
                    half_width: 0.0,
                })
                .collect()
        };
        let groups: Vec<Vec<Observation>> = vec![group(&values[..3]), group(&values[3..])];
        between_trial_spread(&groups, 0.95)
            .unwrap()
            .estimate
            .unwrap()
            .contains(0.03)
    });
    assert!((0.93..0.97).contains(&covered), "{covered}");
}

/// The curve that trials follow in the tests of the crossing: utilisation that bends towards 1, 0.8
/// at 40 users.
fn cpu_at(users: f64) -> f64 {
    1.0 - (-users * 5_f64.ln() / 40.0).exp()
}

fn points(seed: u64, levels: &[f64], sigma: f64) -> Vec<Point> {
    let noise = Noise::new(seed, 0.0, sigma).series(levels.len(), 1.0);
    levels
        .iter()
        .zip(noise)
        .map(|(&level, factor)| Point {
            level,
            value: cpu_at(level) * factor,
            half_width: 0.0,
        })
        .collect()
}

#[test]
fn the_crossing_is_covered() {
    let levels = [44.8, 35.2, 45.0, 36.0, 41.0];
    for (sigma, measured) in [(0.01, true), (0.03, true), (0.03, false), (0.06, true)] {
        let covered = share(|seed| {
            let mut spread = Spread::assumed(sigma);
            if measured {
                let repeats = Noise::new(seed + RUNS, 0.0, sigma).series(3, 1.0);
                let group = repeats
                    .iter()
                    .map(|&value| Observation {
                        value,
                        half_width: 0.0,
                    })
                    .collect();
                spread = between_trial_spread(&[group], 0.95).unwrap();
            }
            let crossing =
                Crossing::fit(&points(seed, &levels, sigma), 40.0, 0.8, &spread).unwrap();
            // Where the slope could be 0 the interval is open: no claim, so none that could be
            // false.
            crossing
                .estimate(0.95)
                .map_or(true, |interval| interval.contains(40.0))
        });
        assert!(
            (0.93..=1.0).contains(&covered),
            "sigma {sigma}, measured {measured}: {covered}"
        );
    }
}

/// Forty responses a second, slower together in slow seconds: the interval has to take them for
/// fewer than they are.
#[test]
fn a_quantile_of_seconds_that_differ_is_covered() {
    let covered = share_of(600, |seed| {
        let seconds = Noise::new(seed, 0.5, 0.3).series(120, 0.0);
        let own = Noise::new(seed + RUNS, 0.0, 0.4).series(120 * 40, 0.0);
        let responses: Vec<f64> = own
            .iter()
            .enumerate()
            .map(|(at, own)| (seconds[at / 40] + own).exp())
            .collect();
        let mut sorted = responses.clone();
        sorted.sort_by(f64::total_cmp);
        let quantile = sorted[sorted.len() * 9 / 10];
        let bins: Vec<BinShare> = responses
            .chunks_exact(40)
            .map(|second| BinShare {
                below: second.iter().filter(|r| **r <= quantile).count() as u64,
                of: 40,
            })
            .collect();
        let effective = effective_responses(&bins);
        // The 90 % quantile of a standard normal value is 1.28155; the two parts together scatter
        // by 0.5.
        quantile_of_sorted(&sorted, effective, 0.9, 0.95)
            .unwrap()
            .contains((1.281_551_565_5_f64 * 0.5).exp())
    });
    assert!((0.91..0.985).contains(&covered), "{covered}");
}

/// A machine that changes evenly, and one that does not.
#[test]
fn a_drift_is_covered_and_seldom_seen_where_there_is_none() {
    let references = |seed, change: f64| -> Vec<(f64, f64)> {
        let noise = Noise::new(seed, 0.0, 0.02).series(8, 0.0);
        let each = noise.iter().enumerate();
        each.map(|(at, noise)| {
            let hours = at as f64 / 7.0;
            (3600.0 * hours, 100.0 * (change * hours + noise).exp())
        })
        .collect()
    };
    let covered = share(|seed| {
        let drift = Drift::of(&references(seed, -0.05), 0.95).unwrap();
        drift.over_study.contains((-0.05_f64).exp_m1())
    });
    assert!((0.935..0.965).contains(&covered), "{covered}");
    let seen = |change| {
        share(|seed| {
            Drift::of(&references(seed, change), 0.95)
                .unwrap()
                .matters()
        })
    };
    assert!(seen(0.0) < 0.065, "{}", seen(0.0));
    assert!(seen(-0.1) > 0.95, "{}", seen(-0.1));
}
