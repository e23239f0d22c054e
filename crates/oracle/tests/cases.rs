//! The cases that Weir is held to, and files that are none.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use weir_oracle::{Case, Halves, read, run};

const CASES: &str = include_str!("queueing-and-statistics.json");

fn changed(name: &str, parameter: &str, value: serde_json::Value) -> Case {
    let cases = read(CASES).unwrap();
    let mut case = cases.into_iter().find(|case| case.name == name).unwrap();
    case.parameters.insert(parameter.to_owned(), value);
    case
}

#[test]
fn all_cases_are_within_their_tolerances() {
    let cases = read(CASES).unwrap();
    assert_eq!(cases.len(), 83);
    let results: Vec<_> = cases.iter().map(|case| run(case, Halves::Solved)).collect();
    for result in &results {
        assert!(
            result.passed || result.skipped,
            "{}: {:?}",
            result.name,
            result.because
        );
    }
    let skipped: Vec<&str> = results
        .iter()
        .filter(|result| result.skipped)
        .map(|result| result.name.as_str())
        .collect();
    assert_eq!(
        skipped,
        ["reality/seed001_usl_shape"],
        "observed, without a tolerance"
    );
}

/// A judge that lets everything pass is none.
#[test]
fn a_wrong_value_is_seen() {
    for (name, parameter, value) in [
        ("mm1/lam0.8_mu1", "lam", serde_json::json!(0.800_001)),
        ("mva/N25_Z0_K2_0.2-0.1", "N", serde_json::json!(24)),
        (
            "quantile_ci/n100_q0.95_conf0.95",
            "q",
            serde_json::json!(0.94),
        ),
    ] {
        let result = run(&changed(name, parameter, value), Halves::Solved);
        assert!(!result.passed && !result.skipped, "{name}");
        assert!(!result.because.is_empty(), "{name}");
    }
}

#[test]
fn what_has_no_solution_says_why() {
    for (name, parameter, value, says) in [
        (
            "mm1/lam0.8_mu1",
            "lam",
            serde_json::json!(1.2),
            "the queue grows without end",
        ),
        (
            "mva/N25_Z0_K2_0.2-0.1",
            "D",
            serde_json::json!([0.2, -0.1]),
            "the demand at station 2 is -0.1",
        ),
        (
            "mva/N25_Z0_K2_0.2-0.1",
            "D",
            serde_json::json!([0, 0]),
            "no demand at any station",
        ),
        (
            "mva/N25_Z0_K2_0.2-0.1",
            "N",
            serde_json::json!(4_000_000_000_u32),
            "kept in memory",
        ),
        (
            "mva_multiclass/N13-13_2st",
            "N",
            serde_json::json!([13_000, 13_000]),
            "kept in memory",
        ),
        (
            "mva_multiclass/N13-13_2st",
            "D",
            serde_json::json!([[0, 0], [0.5, 0.02]]),
            "class 1 has users, but no demand",
        ),
        (
            "tpc/N40_Z0.2_T8_P4_c4_a0.01_b0.02_c20.01_KNone",
            "cores",
            serde_json::json!(0),
            "the number of CPUs is 0",
        ),
        (
            "tpc/N40_Z0.2_T8_P4_c4_a0.01_b0.02_c20.01_KNone",
            "think",
            serde_json::json!("soon"),
            "take parameter `think`",
        ),
        (
            "erlang_a/lam9_c10_theta0.5",
            "theta",
            serde_json::json!(-1),
            "the rate of giving up is -1",
        ),
        (
            "series_stats/ar1_seed3_phi0.5",
            "seed",
            serde_json::json!(4),
            "the generator makes",
        ),
        (
            "mm1_transient/lam0.8_mu1_t5",
            "t",
            serde_json::json!(1e9),
            "kept in memory",
        ),
    ] {
        let result = run(&changed(name, parameter, value), Halves::Solved);
        assert!(!result.passed && !result.skipped, "{name}");
        assert!(
            result.because.iter().any(|because| because.contains(says)),
            "{name}: {:?}",
            result.because
        );
    }
}

#[test]
fn families_that_are_not_known_are_skipped() {
    let mut case = changed("mm1/lam0.8_mu1", "lam", serde_json::json!(0.8));
    case.family = "mh2".to_owned();
    let result = run(&case, Halves::Both);
    assert!(result.skipped && !result.passed);
}

#[test]
fn a_file_that_is_none_says_where() {
    for text in ["", "{}", "[1]", "{\"cases\": [{\"name\": 1}]}"] {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains("line 1"), "{text}: {error}");
    }
    assert!(read("[]").unwrap().is_empty());
}

/// The largest of twenty values is below their 95th percentile too often (0.95^20 = 0.36): the lower end is the 17th, there is no upper one.
#[test]
fn a_quantile_that_few_values_do_not_bound_has_one_end() {
    let mut case = changed(
        "quantile_ci/n100_q0.95_conf0.95",
        "n",
        serde_json::json!(20),
    );
    case.parameters
        .insert("q".to_owned(), serde_json::json!(0.95));
    let result = run(&case, Halves::Solved);
    assert_eq!(result.got["lower_rank"], 17);
    assert!(result.got["upper_rank"].is_null());
    let coverage = result.got["coverage"].as_f64().unwrap();
    // 1 - P(at most 16 of 20 below), with P(at most 16) = 0.015 901 5.
    assert!((coverage - 0.984_098_5).abs() < 1e-6, "{coverage}");
}
