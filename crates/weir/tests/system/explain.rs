//! `weir explain` on servers that are slow for a reason that is known. The bench `explain` has more
//! of them, with time enough for the reason to come first; these say that the figures a verdict
//! rests on are recorded and read.

use std::time::Duration;

use crate::support::{Place, assert_valid, json_file, names_in, repository_file, skipped};
use serde_json::Value;

/// How long a short case may take on a busy machine.
const CASE: Duration = Duration::from_secs(120);

/// The study of a case of `bench/explain`, with a window that is too short for anything but this.
fn short_study(case: &str) -> String {
    let study = repository_file(&format!("bench/explain/{case}.toml"));
    let short = study
        .lines()
        .map(|line| match line.split(" = ").next() {
            Some("warm-up") => "warm-up = \"1 s\"",
            Some("window") => "window = \"5 s\"",
            _ => line,
        })
        .collect::<Vec<_>>();
    short.join("\n")
}

/// What is said of such a case.
fn explained(case: &str) -> Value {
    let place = Place::new();
    place.write(
        "MadeSlow.java",
        &repository_file("bench/explain/MadeSlow.java"),
    );
    place.write("case.toml", &short_study(case));
    sweep(&place, "case.toml");
    place
        .weir(&["explain", "last", "--json", "why.json"])
        .ends(0);
    let why: Value = serde_json::from_str(&place.read("why.json")).unwrap();
    assert_valid("docs/schemas/explain.schema.json", &why);
    why["runs"][0].clone()
}

/// A machine that is busy otherwise spoils the trial, which is explained all the same.
fn sweep(place: &Place, study: &str) {
    let done = place.start(&["sweep", study]).done(CASE);
    done.ends_one_of(&[0, 4]);
}

fn hypothesis<'r>(run: &'r Value, id: &str) -> &'r Value {
    let hypotheses = run["hypotheses"].as_array().unwrap();
    hypotheses.iter().find(|found| found["id"] == id).unwrap()
}

/// The figure of the test whose words hold these.
fn figure(hypothesis: &Value, words: &str) -> f64 {
    let tests = hypothesis["tests"].as_array().unwrap();
    let test = tests
        .iter()
        .find(|test| test["what"].as_str().unwrap().contains(words));
    let figure = test.and_then(|test| test["figure"].as_f64());
    figure.unwrap_or_else(|| panic!("{words}: {hypothesis:#}"))
}

#[test]
fn a_pool_that_is_too_small_is_found() {
    if skipped("a server with a pool too small") {
        return;
    }
    let run = explained("pool");
    let limit = hypothesis(&run, "limit");
    // Twenty users and two connections: whatever else the machine does, most of them wait for one.
    assert!(figure(limit, "waiting for `pool.db`") > 0.5, "{limit:#}");
    let busy = figure(hypothesis(&run, "cpu"), "busy share");
    if busy < 0.9 {
        assert_eq!(limit["verdict"], "supported", "{limit:#}");
    }
}

#[test]
fn a_pool_that_was_made_smaller_is_the_difference_and_twice_of_it_decides() {
    if skipped("two runs of a server with pools of two sizes") {
        return;
    }
    let place = Place::new();
    let study = short_study("pool");
    assert!(study.contains("\"pool.db\" = 2 "), "{study}");
    place.write("small.toml", &study);
    place.write(
        "large.toml",
        &study.replace("\"pool.db\" = 2 ", "\"pool.db\" = 20 "),
    );
    sweep(&place, "large.toml");
    sweep(&place, "small.toml");
    let runs = names_in(&place.path("weir-runs"));
    let run = |of: &str| {
        let run = runs.iter().find(|run| run.starts_with(of));
        run.unwrap().as_str()
    };
    let words = ["explain", run("large"), run("small"), "--json", "why.json"];
    place.weir(&words).ends(0);
    let why = json_file(&place.path("why.json"));
    assert_valid("docs/schemas/explain.schema.json", &why);
    if figure(hypothesis(&why["runs"][1], "cpu"), "busy share") >= 0.9 {
        return;
    }
    let difference = &why["difference"];
    assert_eq!(difference["first"], "limit", "{difference:#}");
    assert!(
        difference["response_mean_grew_ms"].as_f64().unwrap() > 50.0,
        "{difference:#}"
    );
    let decide = ["explain", run("small"), "--run", "--hypothesis", "limit"];
    let more = ["--replicates", "2", "--json", "why.json"];
    place
        .start(&[&decide[..], &more].concat())
        .done(CASE)
        .ends(0);
    let decision = json_file(&place.path("why.json"))["decisions"][0].clone();
    assert_eq!(decision["levels"], serde_json::json!([2, 4]));
    // Trials that others spoil do not count, and on a machine that is busy otherwise it may stay
    // open.
    if decision["trials"] == serde_json::json!([2, 2]) {
        assert_ne!(decision["holds"], false, "{decision:#}");
        let ratio = decision["ratio"]["value"].as_f64().unwrap();
        assert!(ratio < 0.75, "{decision:#}");
    }
}

#[test]
fn requests_that_wait_for_a_monitor_are_found() {
    if skipped("a server whose requests need one lock") {
        return;
    }
    let run = explained("lock");
    let locks = hypothesis(&run, "locks");
    // Sixteen users, each of whom finds the monitor taken nearly every time.
    assert!(figure(locks, "waits for a monitor") > 0.1, "{locks:#}");
    // And seen standing there: one holds it, the others wait.
    assert!(figure(locks, "wait for a lock") > 0.5, "{locks:#}");
    assert_eq!(locks["verdict"], "supported", "{locks:#}");
    assert!(hypothesis(&run, "garbage-collection")["verdict"] != "not-measured");
}

const TOMCAT: &str = r#"
schema = "weir/study/1"
question = "What does a load of light requests take?"
[target.tomcat]
app = "stress"
ready = "/light"
java-options = ["-Xmx128m", "-XX:TieredStopAtLevel=1"]
[load]
url = "/light"
requests = 300
[sweep]
design = "cases"
[[sweep.case]]
name = "light"
set = { users = 8 }
"#;

#[test]
fn a_policy_of_the_scheduler_is_tried_on_a_tomcat() {
    if skipped("a_policy_of_the_scheduler_is_tried_on_a_tomcat") {
        return;
    }
    let place = Place::new();
    place.write("light.toml", TOMCAT);
    sweep(&place, "light.toml");
    let words = [
        "explain",
        "last",
        "--run",
        "--hypothesis",
        "scheduler",
        "--replicates",
        "2",
        "--json",
        "why.json",
    ];
    let done = place.start(&words).done(CASE);
    done.ends(0);
    let why = json_file(&place.path("why.json"));
    assert_valid("docs/schemas/explain.schema.json", &why);
    let runs = names_in(&place.path("weir-runs"));
    let decided = runs.iter().find(|run| run.starts_with("explain-batch"));
    let decided = format!("weir-runs/{}/result.json", decided.unwrap());
    let trials = json_file(&place.path(&decided))["trials"].clone();
    let policies = |case: &str| -> Vec<Value> {
        let own = trials.as_array().unwrap().iter();
        let own = own.filter(|trial| trial["case"] == case && trial["valid"] == true);
        own.map(|trial| {
            assert_eq!(trial["levels"]["start.each"], "trial");
            trial["levels"]["start.scheduling"].clone()
        })
        .collect()
    };
    let (was, batch) = (policies("as it was"), policies("batch"));
    assert!(was.iter().all(Value::is_null), "{was:?}");
    assert!(batch.iter().all(|policy| policy == "batch"), "{batch:?}");
    let not_run = why["not_run"].as_array().unwrap();
    let pinned = not_run.iter().find(|one| one["idea"] == "pinned").unwrap();
    assert!(pinned["why"].as_str().unwrap().contains("CPU"), "{pinned}");
    // A machine that is busy otherwise spoils trials; with any of each case there is a decision.
    let decision = &why["decisions"][0];
    if was.is_empty() || batch.is_empty() {
        assert!(decision.is_null(), "{decision}");
        return;
    }
    assert_eq!(
        decision["trials"],
        serde_json::json!([was.len(), batch.len()])
    );
    assert_eq!(decision["levels"], serde_json::json!(["other", "batch"]));
    let says = decision["says"].as_str().unwrap();
    assert!(
        says.contains("start.scheduling batch instead of other"),
        "{says}"
    );
    if was.len() > 1 && batch.len() > 1 {
        let ratio = &decision["ratio"];
        let end = |name: &str| ratio[name].as_f64().unwrap();
        assert!(
            end("low") <= end("value") && end("value") <= end("high"),
            "{ratio}"
        );
    }
}
