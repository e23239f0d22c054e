//! The integration server of the study of idle threads, end to end with the real program.
//!
//! Runs in the *system* profile only (`WEIR_SYSTEM_TESTS=1`). It needs a JDK and Maven.

use std::time::Duration;

use serde_json::Value;

use crate::support::{Place, assert_valid, json_file, names_in, repository_file, skipped};

/// How long fetching, building and two short trials may take on a busy machine.
const STUDY: Duration = Duration::from_secs(500);
/// Threads left over: two flows, of which one is not full.
const IDLE: f64 = 130.0;

/// The shipped study with two cases and trials that are far too short for a good answer.
fn short() -> String {
    let study = repository_file("studies/e3-idle-threads.toml");
    let (head, _) = study.split_once("[[sweep.case]]").unwrap();
    let columns = study.find("[[sweep.column]]").unwrap();
    let pictures = study.find("[[sweep.picture]]").unwrap();
    let changed = [
        ("java = 21", "java = 17"),
        ("-Xms1g -Xmx1g", "-Xmx256m"),
        ("native.beforehand = 12000", "native.beforehand = 300"),
        ("window = \"15 s\"", "window = \"5 s\""),
        ("\nwarm-up = \"5 s\"", "\nwarm-up = \"1 s\""),
        ("first-warm-up = \"10 s\"", "first-warm-up = \"2 s\""),
        ("replicates = 3", "replicates = 1"),
    ];
    let head = changed.iter().fold(head.to_owned(), |head, (from, to)| {
        assert!(head.contains(from), "{from}");
        head.replace(from, to)
    });
    let cases = format!(
        "[[sweep.case]]\nname = \"none\"\nset = {{ rate = 40 }}\n\
         [[sweep.case]]\nname = \"some\"\nset = {{ rate = 40, native.idle = {IDLE} }}\n"
    );
    format!("{head}{cases}{}", &study[columns..pictures])
}

#[test]
fn flows_with_idle_threads_beside_them_are_measured() {
    if skipped("a sweep of an integration server with idle threads") {
        return;
    }
    let place = Place::new();
    place.write(
        "plans/orders.jmx",
        &repository_file("studies/plans/orders.jmx"),
    );
    place.write("short.toml", &short());
    let done = place.start(&["sweep", "short.toml"]).done(STUDY);
    // A machine that is busy otherwise leaves trials that may not be used.
    let done = done.ends_one_of(&[0, 4]);
    let runs = place.path("weir-runs");
    let result = json_file(&runs.join(&names_in(&runs)[0]).join("result.json"));
    assert_valid("docs/schemas/result.schema.json", &result);
    let trials = result["trials"].as_array().unwrap();
    let of = |case: &str| {
        let found = trials.iter().find(|trial| trial["case"] == case);
        found.unwrap_or_else(|| panic!("no trial of {case}: {done}"))
    };
    let signal = |trial: &Value, name: &str| {
        let value = trial["signals"][name].as_f64();
        value.unwrap_or_else(|| panic!("{name} is absent: {trial:#}"))
    };
    let (none, some) = (of("none"), of("some"));
    for trial in [none, some] {
        assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
        let in_flow_ms = signal(trial, "app.flow.mean") * 1e3;
        let at_client_ms = trial["response_time_ms"]["mean"].as_f64().unwrap();
        assert!(in_flow_ms > 0.0 && in_flow_ms < at_client_ms, "{trial:#}");
        // The provider runs elsewhere, and its counters are not mixed in.
        assert!(signal(trial, "gc.time") < 1.0);
    }
    for (trial, idle) in [(none, 0.0), (some, IDLE)] {
        let told = signal(trial, "app.idle");
        assert!((told - idle).abs() < 0.5, "{told} idle threads");
    }
    let more = signal(some, "target.threads") - signal(none, "target.threads");
    assert!((more - IDLE).abs() < 40.0, "{more} threads more");
}
