//! `weir explain` on servers that are slow for a reason that is known. The bench `explain` has more of them, with time
//! enough for the reason to come first; these say that the figures a verdict rests on are recorded and read.

use std::time::Duration;

use crate::support::{Place, assert_valid, json_file, names_in, repository_file, skipped};
use serde_json::Value;

/// How long a short case may take on a busy machine.
const CASE: Duration = Duration::from_secs(120);

/// What is said of a case of `bench/explain`, with a window that is too short for anything but this.
fn explained(case: &str) -> Value {
    let place = Place::new();
    place.write(
        "MadeSlow.java",
        &repository_file("bench/explain/MadeSlow.java"),
    );
    let study = repository_file(&format!("bench/explain/{case}.toml"));
    let short = study
        .lines()
        .map(|line| match line.split(" = ").next() {
            Some("warm-up") => "warm-up = \"1 s\"",
            Some("window") => "window = \"5 s\"",
            _ => line,
        })
        .collect::<Vec<_>>();
    place.write("case.toml", &short.join("\n"));
    let done = place.start(&["sweep", "case.toml"]).done(CASE);
    // A machine that is busy otherwise spoils the trial, which is explained all the same.
    done.ends_one_of(&[0, 4]);
    place
        .weir(&["explain", "last", "--json", "why.json"])
        .ends(0);
    let why: Value = serde_json::from_str(&place.read("why.json")).unwrap();
    assert_valid("docs/schemas/explain.schema.json", &why);
    why["runs"][0].clone()
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
fn requests_that_wait_for_a_monitor_are_found() {
    if skipped("a server whose requests need one lock") {
        return;
    }
    let run = explained("lock");
    let locks = hypothesis(&run, "locks");
    // Sixteen users, each of whom finds the monitor taken nearly every time.
    assert!(figure(locks, "waits for a monitor") > 0.1, "{locks:#}");
    let rest = figure(locks, "neither work nor a wait");
    if rest >= 0.1 {
        assert_eq!(locks["verdict"], "supported", "{locks:#}");
    }
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
    place
        .start(&["sweep", "light.toml"])
        .done(CASE)
        .ends_one_of(&[0, 4]);
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
