//! The estimates against values computed elsewhere: `known-answers.json` holds each case with its
//! formula and source.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::Value;
use weir_stats::{
    LogRatio, Margin, NoPeak, Usl, UslFit, Verdict, autocorrelation, batch_means, mser5,
    quantile_ranks,
};

fn cases(family: &str) -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(include_str!("../known-answers.json")).unwrap();
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

fn numbers(list: &Value) -> Vec<f64> {
    let list = list.as_array().unwrap();
    list.iter().map(|value| value.as_f64().unwrap()).collect()
}

/// A pair of numbers that the case expects, such as an interval.
#[track_caller]
fn check_pair(case: &Value, name: &str, found: [f64; 2]) {
    let relative = case["tolerance"]["rel"].as_f64().unwrap();
    for (found, expected) in found.iter().zip(numbers(&case["expected"][name])) {
        assert!(
            (found / expected - 1.0).abs() <= relative,
            "{} {name}: {found} against {expected}",
            case["name"]
        );
    }
}

#[test]
fn two_one_sided_tests_of_independent_trials() {
    for case in cases("tost") {
        let parameters = &case["parameters"];
        let (a, b) = (numbers(&parameters["A"]), numbers(&parameters["B"]));
        let ratio = LogRatio::of_independent(&a, &b).unwrap();
        let margin = Margin::new(parameters["margin_rel"].as_f64().unwrap()).unwrap();
        let found = ratio
            .equivalence(margin, parameters["alpha"].as_f64().unwrap())
            .unwrap();
        check(&case, "ratio", found.ratio.value);
        check(&case, "se_log", ratio.standard_error);
        check(&case, "df", ratio.freedom);
        check(&case, "p_tost", found.p_equivalence);
        check(&case, "p_diff", found.p_difference);
        check_pair(&case, "ratio_ci90", [found.ratio.low, found.ratio.high]);
        let expected = case["expected"]["equivalent"].as_bool().unwrap();
        assert_eq!(found.verdict == Verdict::Same, expected, "{}", case["name"]);
    }
}

#[test]
fn ratios_of_pairs() {
    for case in cases("duet") {
        let ratios = numbers(&case["parameters"]["ratios"]);
        let found = LogRatio::of_ratios(&ratios).unwrap().ratio(0.95).unwrap();
        check(&case, "geo_mean", found.value);
        check_pair(&case, "ci95", [found.low, found.high]);
    }
}

#[test]
fn the_universal_scalability_law() {
    for case in cases("usl") {
        let parameters = &case["parameters"];
        if parameters["N"].is_null() {
            through_three_points(&case);
            continue;
        }
        let levels = numbers(&parameters["N"]).into_iter();
        let trials: Vec<(f64, f64)> = levels.zip(numbers(&parameters["X"])).collect();
        let fit = UslFit::of(&trials, 0.95).unwrap();
        check(&case, "alpha", fit.curve.contention);
        check(&case, "beta", fit.curve.coherency);
        check(&case, "gamma", fit.curve.single);
        if !case["expected"]["sse"].is_null() {
            check(&case, "sse", fit.residual_squares);
        }
        if case["expected"]["N_peak"].is_null() {
            assert_eq!(fit.peak(), Err(NoPeak::Rises));
            check(&case, "X_limit", fit.curve.throughput_limit().unwrap());
            check(&case, "unconstrained_beta", fit.unconstrained_coherency);
        } else {
            let peak = fit.peak().unwrap();
            check(&case, "N_peak", peak.value);
            assert!(peak.low <= peak.value && peak.value <= peak.high);
        }
        if !case["expected"]["X_peak"].is_null() {
            let peak = fit.curve.peak().unwrap();
            check(&case, "X_peak", fit.curve.throughput(peak));
        }
    }
}

fn through_three_points(case: &Value) {
    let parameter = |name: &str| case["parameters"][name].as_f64().unwrap();
    let curve = Usl::through(parameter("X1"), (4.0, parameter("X4")), parameter("N_peak")).unwrap();
    check(case, "alpha", curve.contention);
    check(case, "beta", curve.coherency);
    check(case, "gamma", curve.single);
    check(case, "X_at_10", curve.throughput(10.0));
    check(case, "X_at_200", curve.throughput(200.0));
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

/// The series as the case describes it: first-order autoregressive noise about a mean, plus a
/// warm-up.
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
