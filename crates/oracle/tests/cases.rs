//! The cases that Weir is held to, and files that are none.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use weir_oracle::{Case, CaseResult, Effort, read};
use weir_sim::Unwatched;

const CASES: &str = include_str!("queueing-and-statistics.json");

/// A few seconds for all cases in a debug build. The whole effort is that of `weir simulate
/// --oracle`.
const EVENTS: f64 = 1e6;

fn run(case: &Case, events: f64) -> CaseResult {
    let effort = Effort {
        events,
        threads: 2,
        watcher: &Unwatched,
    };
    weir_oracle::run(case, &effort)
}

fn named(name: &str) -> Case {
    let cases = read(CASES).unwrap();
    cases.into_iter().find(|case| case.name == name).unwrap()
}

fn changed(name: &str, parameter: &str, value: serde_json::Value) -> Case {
    let mut case = named(name);
    case.parameters.insert(parameter.to_owned(), value);
    case
}

#[test]
fn all_cases_are_within_their_tolerances() {
    let cases = read(CASES).unwrap();
    assert_eq!(cases.len(), 83);
    let results: Vec<_> = cases.iter().map(|case| run(case, EVENTS)).collect();
    for result in &results {
        assert!(
            result.passed || result.skipped,
            "{}: {:?}",
            result.name,
            result.because
        );
        assert!(
            result.simulated.is_empty() != result.not_simulated.is_none(),
            "{}: simulated, or with a reason why not",
            result.name
        );
    }
    let skipped: Vec<&str> = results
        .iter()
        .filter(|result| result.skipped)
        .map(|result| result.name.as_str())
        .collect();
    assert_eq!(
        skipped,
        ["reality/seed000_fig_pool10", "reality/seed001_usl_shape"],
        "more events than there are here, and observed without a tolerance"
    );
    let simulated = results.iter().filter(|result| !result.simulated.is_empty());
    let simulated = simulated.count();
    let within: usize = results.iter().map(|result| result.within).sum();
    assert!(
        simulated > 30 && within > 100,
        "{simulated} cases simulated, {within} values within"
    );
}

/// The published experiment has no solution but the simulator's.
#[test]
fn what_nothing_solves_is_simulated() {
    let case = named("reality/seed000_fig_pool10");
    let result = run(&case, 1e7);
    assert!(result.passed, "{:?}", result.because);
    assert_eq!(result.within, 5);
    assert_eq!(result.got, result.simulated);
}

/// The values do not depend on the number of threads.
#[test]
fn the_number_of_threads_does_not_matter() {
    for name in ["erlang_a/lam9_c10_theta0.5", "mm1_transient/lam0.8_mu1_t5"] {
        let on = |threads| {
            let effort = Effort {
                events: EVENTS,
                threads,
                watcher: &Unwatched,
            };
            let result = weir_oracle::run(&named(name), &effort);
            (result.simulated, result.half_width)
        };
        let one = on(1);
        assert!(!one.0.is_empty(), "{name}");
        assert_eq!(one, on(3), "{name}");
    }
}

/// A solution and an expectation that agree and are wrong together: the simulator does not agree.
#[test]
fn the_simulator_sees_what_the_solution_does_not() {
    let mut case = named("reality/seed000_fig_pool10");
    case.expected.insert("X".to_owned(), serde_json::json!(3.8));
    let result = run(&case, 1e7);
    assert!(!result.passed && !result.skipped);
    let says = "simulated: X: 2.";
    assert!(
        result
            .because
            .iter()
            .any(|because| because.starts_with(says)),
        "{:?}",
        result.because
    );
}

/// A case by its name, and parameters that are changed in it.
type Edge = (&'static str, Vec<(&'static str, serde_json::Value)>);

/// Ends of what a family may be: full at once, nobody, one user, a station that takes no time,
/// nearly saturated.
fn edges() -> Vec<Edge> {
    use serde_json::json;
    vec![
        ("mmck/lam45_mu1_c40_K60", vec![("K", json!(40))]),
        ("mmck/lam45_mu1_c40_K60", vec![("K", json!(10))]),
        (
            "mmck/lam1_mu1_c1_K5",
            vec![("K", json!(null)), ("lam", json!(0.5))],
        ),
        ("mmcc/a7_c10", vec![("c", json!(1))]),
        ("mmcc/a7_c10", vec![("a", json!(0))]),
        ("mm1/lam0.8_mu1", vec![("lam", json!(0.999_999))]),
        (
            "mm1/lam0.8_mu1",
            vec![("lam", json!(8e5)), ("mu", json!(1e6))],
        ),
        (
            "mg1/lam0.8_s1_scv4",
            vec![("scv", json!(0)), ("dist", json!("D"))],
        ),
        (
            "mg1/lam0.8_s1_scv4",
            vec![("scv", json!(1)), ("dist", json!("M"))],
        ),
        (
            "mg1/lam0.8_s1_scv4",
            vec![("scv", json!(0.3)), ("dist", json!(null))],
        ),
        (
            "mva/N1_Z1_K3_0.005-0.010-0.002",
            vec![("D", json!([0.0, 0.2]))],
        ),
        (
            "mva/N1_Z1_K3_0.005-0.010-0.002",
            vec![("Z", json!(0)), ("N", json!(3))],
        ),
        ("mva/N25_Z0_K2_0.2-0.1", vec![("D", json!([0.1, 0.1]))]),
        ("mva/N25_Z0_K2_0.2-0.1", vec![("N", json!(0))]),
        ("mva/N25_Z0_K2_0.2-0.1", vec![("N", json!(1_000_000))]),
        (
            "mva_multiserver/N40_Z0.5_0.06x2_1.0x40",
            vec![("N", json!(1))],
        ),
        ("mva_multiclass/N13-13_2st", vec![("N", json!([4, 0]))]),
        ("mva_multiclass/N13-13_2st", vec![("N", json!([0, 0]))]),
        (
            "finite_source/N10_Z10_S1_c2_KNone",
            vec![("N", json!(1)), ("c", json!(3))],
        ),
        ("finite_source/N10_Z10_S1_c2_KNone", vec![("K", json!(1))]),
        (
            "tpc/N40_Z0.2_T8_P4_c4_a0.01_b0.02_c20.01_KNone",
            vec![("users", json!(1))],
        ),
        (
            "tpc/N40_Z0.2_T8_P4_c4_a0.01_b0.02_c20.01_KNone",
            vec![("max_in_system", json!(3))],
        ),
        (
            "tpc/N40_Z0.2_T8_P4_c4_a0.01_b0.02_c20.01_KNone",
            vec![("pool", json!(null))],
        ),
        ("tandem_bas/m1_1_m2_1_B1", vec![("buffer", json!(0))]),
        (
            "tandem_bas/m1_1_m2_1_B1",
            vec![("buffer", json!(4_000_000_000_u32))],
        ),
        ("erlang_a/lam9_c10_theta0.5", vec![("theta", json!(0))]),
        (
            "mm1_transient/lam0.8_mu1_t5",
            vec![("t", json!(0)), ("n0", json!(3))],
        ),
        (
            "mm1_transient/lam0.8_mu1_t5",
            vec![("t", json!(2)), ("n0", json!(3))],
        ),
        (
            "mm1_breakdown/lam0.5_mu1.0_up100.0_down10.0",
            vec![("mean_down", json!(1e-3))],
        ),
        (
            "fluid_scaleout/90.0to210.0_n1_d45.0_k2",
            vec![("rate_after", json!(80))],
        ),
        (
            "fluid_scaleout/90.0to210.0_n1_d45.0_k2",
            vec![("servers_added", json!(0))],
        ),
        (
            "fluid_scaleout/90.0to210.0_n1_d45.0_k2",
            vec![("rate_before", json!(150)), ("t_step", json!(20))],
        ),
    ]
}

#[test]
fn cases_at_the_edge_neither_fail_nor_panic() {
    for (name, changes) in edges() {
        let mut case = named(name);
        for (parameter, value) in changes {
            case.parameters.insert(parameter.to_owned(), value);
        }
        // What is expected follows from the solution; the simulator has to agree with it.
        let mut solved = case.clone();
        solved.expected.retain(|name, _| name.contains("_p"));
        let got = run(&solved, 0.0).got;
        let wanted = case.expected.keys().filter(|name| got.contains_key(*name));
        let wanted: Vec<String> = wanted.cloned().collect();
        case.expected.clear();
        for name in wanted {
            case.expected.insert(name.clone(), got[&name].clone());
        }
        let result = run(&case, EVENTS);
        let off: Vec<_> = result
            .because
            .iter()
            .filter(|off| off.contains("simulated"))
            .collect();
        assert!(off.is_empty(), "{name} {:?}: {off:?}", case.parameters);
    }
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
        let result = run(&changed(name, parameter, value), 0.0);
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
        let result = run(&changed(name, parameter, value), 0.0);
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
    let result = run(&case, EVENTS);
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

/// The largest of twenty values is below their 95th percentile too often (0.95^20 = 0.36): the
/// lower end is the 17th, there is no upper one.
#[test]
fn a_quantile_that_few_values_do_not_bound_has_one_end() {
    let mut case = changed(
        "quantile_ci/n100_q0.95_conf0.95",
        "n",
        serde_json::json!(20),
    );
    case.parameters
        .insert("q".to_owned(), serde_json::json!(0.95));
    let result = run(&case, 0.0);
    assert_eq!(result.got["lower_rank"], 17);
    assert!(result.got["upper_rank"].is_null());
    let coverage = result.got["coverage"].as_f64().unwrap();
    // 1 - P(at most 16 of 20 below), with P(at most 16) = 0.015 901 5.
    assert!((coverage - 0.984_098_5).abs() < 1e-6, "{coverage}");
}
