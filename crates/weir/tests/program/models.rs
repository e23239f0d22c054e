//! Models on the command line: fitted to recorded runs, and held to cases with known answers.
use serde_json::{Value, json};

use crate::support::{Place, assert_valid};

#[test]
fn a_run_has_a_model_that_is_tested_and_asked() {
    let place = Place::with_recorded_run("sample-server");
    place
        .weir(&[
            "model",
            "recorded",
            "--users",
            "60",
            "--users",
            "200",
            "--set",
            "threads=52",
            "--json",
            "model.json",
            "--write",
            "net.toml",
            "--html",
            "model.html",
        ])
        .ends(0)
        .prints(&[
            "10 of 10 trials, 1 CPU",
            "CPU of a request",
            "Errors of trials left out",
            "60 users, 52 threads",
            "1.4 times the users that were measured",
            "requests in front of them",
        ]);
    let model: Value = serde_json::from_str(&place.read("model.json")).unwrap();
    assert_eq!(model["schema"], "weir/model/1");
    assert_valid("docs/schemas/model.schema.json", &model);
    let curve = model["curve"].as_array().unwrap();
    let last = curve.last().unwrap()["question"]["population"].as_f64();
    assert!(curve.len() >= 30 && last.unwrap() > 143.0, "{last:?}");
    let page = place.read("model.html");
    assert!(page.contains("Response time") && page.contains("<polyline"));
    // Ten trials in four drawings.
    assert_eq!(page.matches("<circle").count(), 40);
    let network = place.read("net.toml");
    assert!(
        network.contains("[limit.threads]\ncapacity = 52\n"),
        "{network}"
    );
    assert!(network.contains("users = 200\n"), "{network}");
    assert_eq!(model["refused"], json!([]));
    let predicted = &model["predictions"][1];
    let figure = |end: &str| predicted[end]["throughput_per_s"].as_f64().unwrap();
    assert!(figure("low") < figure("figures") && figure("figures") < figure("high"));
    assert_eq!(predicted["question"]["limits"]["threads"], 52);
}

#[test]
fn a_model_that_does_not_hold_is_refused_with_the_figure() {
    Place::with_recorded_run("sample-server-disturbed")
        .weir(&["model", "recorded", "--users", "60"])
        .ends(4)
        .prints(&["Refused: throughput of trials left out is predicted"])
        .says(&["the model is refused, because throughput"]);
}

#[test]
fn what_a_model_cannot_be_asked_is_said() {
    let place = Place::with_recorded_run("sample-server");
    for (words, says) in [
        (["--users", "0"], "a prediction needs at least one user"),
        (
            ["--set", "threads"],
            "limits that are set like `threads=40` or `pool.db=20`",
        ),
        (["--set", "backlog=3"], "limits that are set like"),
        (["--set", "threads=0"], "limits that are set like"),
        (["--users", "100000000"], "kept in memory"),
    ] {
        let done = place.weir(&["model", "recorded", words[0], words[1]]);
        done.ends_one_of(&[2, 4]).says(&[says]);
    }
    place
        .weir(&["model", "nothing"])
        .ends(2)
        .says(&["find the run `nothing`"]);
}

const CASES: &str = r#"{"cases": [
    {"name": "queue", "family": "mm1", "parameters": {"lam": 0.5, "mu": 1}, "expected": {"W": 2, "L": 1},
     "tolerance": {"rel": 1e-9, "sim_rel": 0.03}},
    {"name": "strange", "family": "unheard-of", "parameters": {}, "expected": {"W": 2}}
]}"#;

#[test]
fn cases_are_solved_and_written_down() {
    let place = Place::new();
    place.write("cases.json", CASES);
    place
        .weir(&["simulate", "--oracle", "cases.json", "--json", "out.json"])
        .ends(0)
        .prints(&["2 cases: 1 passed, 0 failed, 1 skipped; 1 simulated, 2 values within"]);
    let out: Value = serde_json::from_str(&place.read("out.json")).unwrap();
    let first = out["cases"][0].as_object().unwrap();
    let mut keys: Vec<&str> = first.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "expected",
            "got",
            "half_width",
            "name",
            "passed",
            "simulated",
            "skipped"
        ]
    );
    assert_eq!(out["cases"][0]["passed"], true);
    let simulated = out["cases"][0]["simulated"]["W"].as_f64().unwrap();
    let half_width = out["cases"][0]["half_width"]["W"].as_f64().unwrap();
    assert!(
        (simulated - 2.0).abs() < 0.06 && half_width < 0.06,
        "{simulated} {half_width}"
    );
    assert_eq!(out["cases"][1]["not_simulated"], "the family is not known");
    assert_eq!(out["cases"][1]["skipped"], true);
}

#[test]
fn a_case_that_fails_ends_with_one() {
    let place = Place::new();
    place.write(
        "cases.json",
        &CASES.replace("\"W\": 2, \"L\"", "\"W\": 2.1, \"L\""),
    );
    place
        .weir(&["simulate", "--oracle", "cases.json"])
        .ends(1)
        .prints(&["failed queue: W: 2 instead of 2.1"]);
    place.write("cases.json", "{\"cases\": 3}");
    place
        .weir(&["simulate", "--oracle", "cases.json"])
        .ends(2)
        .says(&["failed to read the cases", "line 1"]);
    place
        .weir(&["simulate", "--oracle", "none.json"])
        .ends(2)
        .says(&["none.json"]);
}
