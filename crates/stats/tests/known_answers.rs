//! The estimates against values computed elsewhere: `known-answers.json` holds each case with its formula and source.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::Value;
use weir_stats::{autocorrelation, batch_means, mser5, quantile_ranks};

fn cases(family: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(include_str!("known-answers.json")).unwrap();
    let found: Vec<Value> = all
        .into_iter()
        .filter(|case| case["family"] == family)
        .collect();
    assert!(!found.is_empty(), "no case of {family}");
    found
}

#[track_caller]
fn check(case: &Value, name: &str, found: f64) {
    let expected = case["expected"][name].as_f64().unwrap();
    let relative = case["tolerance"]["rel"].as_f64().unwrap();
    let absolute = case["tolerance"]["abs"].as_f64().unwrap();
    let allowed = absolute + relative * expected.abs();
    assert!(
        (found - expected).abs() <= allowed,
        "{} {name}: {found} against {expected}",
        case["name"]
    );
}

#[test]
fn quantile_ranks_and_their_coverage() {
    for case in cases("quantile_ci") {
        let parameter = |name: &str| case["parameters"][name].as_f64().unwrap();
        let ranks =
            quantile_ranks(parameter("n") as u64, parameter("q"), parameter("conf")).unwrap();
        check(&case, "lower_rank", ranks.lower as f64);
        check(&case, "upper_rank", ranks.upper as f64);
        check(&case, "coverage", ranks.coverage);
    }
}

#[test]
fn warm_up_and_batch_means_of_generated_series() {
    for case in cases("series_stats") {
        let series = generate(&case["parameters"]);
        for (value, expected) in series
            .iter()
            .zip(case["parameters"]["first5"].as_array().unwrap())
        {
            assert!(
                (value - expected.as_f64().unwrap()).abs() < 1e-9,
                "the generator differs"
            );
        }
        let warm_up = mser5(&series).unwrap();
        check(&case, "mser5_truncation", warm_up.truncation as f64);
        check(&case, "mser5_stat", warm_up.statistic);
        let kept = &series[warm_up.truncation..];
        check(
            &case,
            "mean_after_truncation",
            kept.iter().sum::<f64>() / kept.len() as f64,
        );
        check(
            &case,
            "lag1_autocorr_after_truncation",
            autocorrelation(kept, 1),
        );
        let batched = batch_means(kept, 20, 0.95).unwrap();
        check(&case, "batch_mean_20", batched.estimate.value);
        check(&case, "batch_ci95_halfwidth", batched.estimate.half_width());
    }
}

/// The series as the case describes it: first-order autoregressive noise about a mean, plus a warm-up.
fn generate(parameters: &Value) -> Vec<f64> {
    let number = |name: &str| parameters[name].as_f64().unwrap();
    let trend: fn(f64) -> f64 = match parameters["trend"].as_str().unwrap() {
        "-40*exp(-i/30)" => |i| -40.0 * (-i / 30.0).exp(),
        "25*exp(-i/60)" => |i| 25.0 * (-i / 60.0).exp(),
        other => panic!("unknown trend {other}"),
    };
    let (phi, innovation) = (
        number("phi"),
        number("sd") * (1.0 - number("phi").powi(2)).sqrt(),
    );
    let mut state = parameters["seed"].as_u64().unwrap();
    let mut uniform = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / 2_f64.powi(53)
    };
    let mut noise = 0.0;
    (0..parameters["n"].as_u64().unwrap())
        .map(|i| {
            let z = (-2.0 * uniform().ln()).sqrt() * (std::f64::consts::TAU * uniform()).cos();
            noise = phi * noise + innovation * z;
            number("mu") + noise + trend(i as f64)
        })
        .collect()
}
