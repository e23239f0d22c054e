//! `weir explain RUN`: a watch, a load, a study, two runs; what is asked wrongly.

use crate::support::{Place, SampleServer, assert_valid, json_file};
use serde_json::Value;

/// The explanation in a file, which is as its schema says.
fn explanation(place: &Place, file: &str) -> Value {
    let explanation = json_file(&place.path(file));
    assert_valid("docs/schemas/explain.schema.json", &explanation);
    explanation
}

/// A hypothesis of the first run.
fn hypothesis<'e>(explanation: &'e Value, id: &str) -> &'e Value {
    let hypotheses = explanation["runs"][0]["hypotheses"].as_array().unwrap();
    hypotheses.iter().find(|found| found["id"] == id).unwrap()
}

#[test]
fn a_watch_is_explained_as_far_as_it_tells() {
    let server = SampleServer::start();
    let place = Place::new();
    let metrics = server.admin_url("/metrics");
    let words = [
        "watch",
        &server.url("/"),
        "--metrics",
        &metrics,
        "--for",
        "3s",
    ];
    place.weir(&words).ends(0);
    place
        .weir(&[
            "explain", "last", "--all", "--json", "why.json", "--html", "why.html",
        ])
        .ends(0)
        .prints(&[
            "load-tool: not supported",
            "this is a watch",
            "garbage-collection: not measured",
        ]);
    place.weir(&["explain"]).ends(0).prints(&[
        "○ not supported: load-tool, ",
        "? not measured: ",
        "Every test with its figures: --all",
    ]);
    let why = explanation(&place, "why.json");
    assert_eq!(why["runs"][0]["trial"], Value::Null);
    // An idle server whose threads nobody waits for.
    let limit = hypothesis(&why, "limit");
    assert_eq!(limit["verdict"], "not-supported", "{limit:#}");
    let waits = &hypothesis(&why, "scheduler")["tests"][0];
    assert!(waits["figure"].is_number(), "{waits:#}");
    assert!(
        place
            .read("why.html")
            .contains("Threads that could run wait for a CPU")
    );
}

#[test]
fn a_load_is_explained_from_its_file_and_beside_another() {
    let server = SampleServer::start();
    let place = Place::new();
    let (url, pid) = (server.url("/light"), server.pid().to_string());
    for file in ["a.json", "b.json"] {
        place
            .weir(&[
                "run",
                &url,
                "-c",
                "2",
                "-d",
                "3s",
                "--target-pid",
                &pid,
                "--json",
                file,
            ])
            .ends_one_of(&[0, 4]);
    }
    place
        .weir(&["explain", "a.json", "b.json", "--json", "why.json"])
        .ends(0);
    let why = explanation(&place, "why.json");
    assert_eq!(why["runs"].as_array().unwrap().len(), 2);
    assert!(why["difference"]["summary"].is_string());
    for signal in ["cpu", "neighbour", "scheduler"] {
        let verdict = &hypothesis(&why, signal)["verdict"];
        assert_ne!(verdict, "not-measured", "{signal}: its process was named");
    }
    let stages = hypothesis(&why, "limit");
    assert_eq!(
        stages["verdict"], "not-measured",
        "no page of metrics was read"
    );
    // A load without a study cannot be sent again; what can be typed instead is said.
    let words = ["explain", "a.json", "--run", "--hypothesis", "scheduler"];
    place
        .weir(&[&words[..], &["--json", "why.json"]].concat())
        .ends(0)
        .prints(&["not run: `batch` for `scheduler`: this run is a load without a study"]);
    let not_run = explanation(&place, "why.json")["not_run"].clone();
    let why = |at: usize| not_run[at]["why"].as_str().unwrap().to_owned();
    assert!(why(0).contains("chrt --all-tasks --batch"), "{not_run}");
    assert!(why(1).contains("`weir explain a.json last`"), "{not_run}");
}

#[test]
fn the_trial_of_a_study_with_the_most_requests_in_flight_is_explained() {
    let place = Place::with_recorded_run("sample-server");
    let result = json_file(&place.path("weir-runs/recorded/result.json"));
    let trials = result["trials"].as_array().unwrap();
    let in_flight = |trial: &Value| {
        trial["throughput_per_s"].as_f64().unwrap()
            * trial["response_time_ms"]["mean"].as_f64().unwrap()
    };
    let most = trials
        .iter()
        .max_by(|a, b| in_flight(a).total_cmp(&in_flight(b)))
        .unwrap();
    place
        .weir(&["explain", "recorded", "--json", "why.json"])
        .ends(0);
    let why = explanation(&place, "why.json");
    assert_eq!(why["runs"][0]["trial"], most["id"]);
    let first = trials[0]["id"].to_string();
    place
        .weir(&[
            "explain", "recorded", "--trial", &first, "--json", "why.json",
        ])
        .ends(0);
    assert_eq!(
        explanation(&place, "why.json")["runs"][0]["trial"],
        trials[0]["id"]
    );
    place
        .weir(&["explain", "recorded", "--trial", "999"])
        .ends(2)
        .says(&["trial 999 is not in the run; there are 1"]);
}

/// Settings that hold let requests wait in the trials of their check: that is no fault to explain.
#[test]
fn the_check_of_settings_that_hold_is_explained_when_asked_for() {
    let place = Place::with_recorded_run("sample-server");
    let file = "weir-runs/recorded/result.json";
    let mut result = json_file(&place.path(file));
    let explained = || {
        let words = ["explain", "recorded", "--json", "why.json"];
        let done = place.weir(&words).ends(0);
        (
            done,
            explanation(&place, "why.json")["runs"][0]["trial"].clone(),
        )
    };
    let (_, most) = explained();
    let trials = result["trials"].as_array_mut().unwrap();
    let check = trials.iter_mut().find(|trial| trial["id"] == most).unwrap();
    check["role"] = "check".into();
    for (passed, is_left_out) in [(false, false), (true, true)] {
        result["held"] = serde_json::json!({
            "population": 60, "passed": passed, "trials": [most], "requirements": [], "waiting": {},
            "wait_ms": {}, "cost_at_answer": null,
        });
        place.write(file, &result.to_string());
        let (done, trial) = explained();
        assert_eq!(trial != most, is_left_out, "{trial}");
        if is_left_out {
            done.says(&[&format!("--trial {most} explains one")]);
        }
    }
}

#[test]
fn what_is_asked_wrongly_is_said() {
    let place = Place::with_recorded_run("sample-server");
    place.write("a.jtl", "timeStamp,elapsed\n");
    place.write("b.json", "{}");
    for (words, part) in [
        (&["explain", "nowhere"][..], "find the run `nowhere`"),
        (&["explain", "a.jtl"], "weir explain --jtl a.jtl"),
        (
            &["explain", "b.json"],
            "it is not what `weir run --json` writes",
        ),
        (
            &["explain", "recorded", "--trial", "1", "--trial", "2"],
            "--trial is given 2 times",
        ),
        (&["explain", "recorded", "--hypothesis", "cpu"], "--run"),
        (
            &["explain", "recorded", "--run", "--hypothesis", "luck"],
            "--hypothesis luck: there is no such hypothesis; there are load-tool, network",
        ),
        (
            &["explain", "recorded", "--jtl", "a.jtl"],
            "cannot be used with",
        ),
        (
            &["explain", "recorded", "--cpus", "2"],
            "cannot be used with",
        ),
    ] {
        place.weir(words).ends(2).says(&[part]);
    }
}

/// A result file of four users: each request takes 20 ms, so many of them to connect.
fn result_file(connect_ms: u32) -> String {
    let head = "timeStamp,elapsed,label,responseCode,threadName,success,grpThreads,allThreads,Latency,Connect\n";
    let row = |at: u64| {
        let (start_ms, user) = (1_700_000_000_000 + at / 4 * 20, at % 4 + 1);
        format!("{start_ms},20,home,200,Users 1-{user},true,4,4,20,{connect_ms}\n")
    };
    let rows = std::iter::once(head.to_owned()).chain((0..6_000).map(row));
    rows.collect()
}

#[test]
fn a_result_file_tells_that_connections_are_not_kept() {
    let place = Place::new();
    for (file, connect_ms, first) in [
        ("tls.jtl", 15, "connects"),
        ("near.jtl", 1, ""),
        ("untold.jtl", 0, ""),
    ] {
        place.write(file, &result_file(connect_ms));
        place.weir(&["explain", "--jtl", file]).ends(0);
        place
            .weir(&["explain", "last", "--json", "why.json"])
            .ends(0);
        let why = explanation(&place, "why.json");
        assert_eq!(
            why["runs"][0]["first"].as_str().unwrap_or_default(),
            first,
            "{why:#}"
        );
        let hypotheses = why["runs"][0]["hypotheses"].as_array().unwrap();
        let connects = hypotheses.iter().find(|found| found["id"] == "connects");
        let share = connects.and_then(|found| found["share"].as_f64());
        let told = (connect_ms > 0).then(|| f64::from(connect_ms) / 20.0);
        match (share, told) {
            (Some(share), Some(told)) => assert!((share - told).abs() < 0.02, "{share} {told}"),
            (share, told) => assert_eq!(share, told, "a file without the column says nothing"),
        }
    }
}
