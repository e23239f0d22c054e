//! Studies on a real Apache httpd, from beginning to end with the real program.
//!
//! They run only in the *system* profile: `WEIR_SYSTEM_TESTS=1 cargo test -p weir --test system_httpd
//! -- --test-threads=1`, in about half a minute. They need an Apache httpd: the installed one (package
//! `apache2-bin`), or one that `HTTPD_HOME` names.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

mod support;

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use support::{
    Place, assert_valid, children, json_file, names_in, repository_file, runs, skipped, wait_for,
};

/// How long a whole short study may take on a busy machine.
const STUDY: Duration = Duration::from_secs(180);
/// How long an httpd may take to notice that Weir is gone, and to end its processes.
const LEAVE: Duration = Duration::from_secs(15);

fn place(study: &str) -> Place {
    let place = Place::new();
    place.write("plans/file.jmx", &repository_file("studies/plans/file.jmx"));
    let home = std::env::var("HTTPD_HOME")
        .map(|home| format!("home = \"{home}\""))
        .unwrap_or_default();
    place.write("study.toml", &study.replace("HOME", &home));
    place
}

/// The result of the one run of a place.
fn result(place: &Place) -> Value {
    let runs = place.path("weir-runs");
    let names = names_in(&runs);
    assert_eq!(names.len(), 1, "{names:?}");
    let result = json_file(&runs.join(&names[0]).join("result.json"));
    assert_valid("docs/schemas/result.schema.json", &result);
    result
}

fn trial<'a>(result: &'a Value, case: &str) -> &'a Value {
    let trials = result["trials"].as_array().unwrap();
    let last = trials.iter().rfind(|trial| trial["case"] == case);
    last.unwrap_or_else(|| panic!("no trial of {case}: {result:#}"))
}

const PREFORK: &str = r#"
schema = "weir/study/1"
[target.httpd]
HOME
mpm = "prefork"
[target.httpd.settings]
threads = 20
native = { StartServers = 20, MinSpareServers = 20, MaxSpareServers = 20, ServerLimit = 40 }
LOAD
[sweep]
design = "cases"
CASES
[[sweep.column]]
signal = "throughput"
[[sweep.column]]
signal = "threads.spawned"
"#;

/// A load of so many requests, of which the first case is the published one.
const COUNTED: [(&str, &str); 2] = [
    (
        "LOAD",
        "[load]\nplan = \"plans/file.jmx\"\nusers = \"CLIENTS\"\nrequests = 120",
    ),
    (
        "CASES",
        "[[sweep.case]]\nname = \"one each\"\n\
         set = { users = 60, native.MaxConnectionsPerChild = 1, property.KIB = 16 }",
    ),
];

/// A load of so many seconds, under limits that need a restart and a new start.
const TIMED: [(&str, &str); 2] = [
    (
        "LOAD",
        "[load]\nplan = \"plans/file.jmx\"\nusers = \"CLIENTS\"\nwindow = \"5 s\"\nwarm-up = \"1 s\"",
    ),
    (
        "CASES",
        "[[sweep.case]]\nname = \"more processes\"\n\
         set = { users = 8, threads = 40, native.StartServers = 40, native.MaxSpareServers = 40, property.KIB = 2 }\n\
         [[sweep.case]]\nname = \"short queue\"\nset = { users = 8, backlog = 16, property.KIB = 2 }",
    ),
];

fn prefork(parts: [(&str, &str); 2]) -> Place {
    let filled = |study: String, (name, text): (&str, &str)| study.replace(name, text);
    place(&parts.into_iter().fold(PREFORK.to_owned(), filled))
}

#[test]
fn a_capped_prefork_server_is_recognised() {
    if skipped("an httpd whose processes serve one connection each") {
        return;
    }
    let place = prefork(COUNTED);
    let done = place.start(&["sweep", "study.toml"]).done(STUDY);
    done.ends(0).says(&["threads.spawned"]);
    let result = result(&place);
    let target = &result["target"];
    assert_eq!(target["kind"], "httpd");
    assert!(
        target["name"].as_str().unwrap().ends_with("(prefork)"),
        "{target}"
    );
    let trial = trial(&result, "one each");
    assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
    // 20 processes serve at once, then at most 32 are started in a second.
    let rate = trial["throughput_per_s"].as_f64().unwrap();
    assert!(rate < 40.0, "{trial:#}");
    let signals = &trial["signals"];
    assert_eq!(signals["threads.lifetime"], 1.0);
    let spawned = signals["threads.spawned"].as_f64().unwrap();
    assert!((4.0..=33.0).contains(&spawned), "{spawned}");
}

#[test]
fn the_limits_of_a_prefork_server_are_set_and_read() {
    if skipped("an httpd with prefork") {
        return;
    }
    let place = prefork(TIMED);
    place.start(&["sweep", "study.toml"]).done(STUDY).ends(0);
    let result = result(&place);
    for (case, threads, backlog) in [("more processes", 40.0, 511.0), ("short queue", 20.0, 16.0)] {
        let trial = trial(&result, case);
        assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
        let signals = &trial["signals"];
        assert_eq!(signals["threads.limit"], threads, "{case}");
        assert_eq!(
            signals["backlog.limit"], backlog,
            "{case}: as the kernel has it"
        );
        let processes = signals["threads.total"].as_f64().unwrap();
        assert!((processes - threads).abs() <= 1.0, "{case}: {processes}");
        let busy = signals["threads.occupancy"].as_f64().unwrap();
        assert!((0.0..=threads).contains(&busy), "{case}: {busy}");
        assert!(
            signals["threads.spawned"].is_null(),
            "{case}: processes stay"
        );
    }
}

const EVENT: &str = r#"
schema = "weir/study/1"
[target.httpd]
HOME
[load]
plan = "plans/file.jmx"
users = "CLIENTS"
window = "5 s"
warm-up = "1 s"
[sweep]
design = "cases"
[[sweep.case]]
name = "37 threads"
set = { users = 3, threads = 37, native.KeepAliveTimeout = 1 }
"#;

#[test]
fn an_event_server_is_set_and_leaves_nothing_behind() {
    if skipped("an httpd with event") {
        return;
    }
    let place = place(EVENT);
    place
        .start(&["sweep", "study.toml"])
        .done(STUDY)
        .ends(0)
        .says(&["37 threads"]);
    let result = result(&place);
    assert!(
        result["target"]["name"]
            .as_str()
            .unwrap()
            .ends_with("(event)")
    );
    let trial = trial(&result, "37 threads");
    assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
    assert!(trial["signals"]["connections.occupancy"].is_number());
    assert!(
        trial["signals"]["threads.occupancy"].is_null(),
        "nobody was asked"
    );
    let runs = place.path("weir-runs");
    let run = runs.join(&names_in(&runs)[0]);
    let written = fs::read_to_string(run.join("httpd/httpd.conf")).unwrap();
    for line in [
        "ThreadsPerChild 37",
        "MaxRequestWorkers 37",
        "KeepAliveTimeout 1",
    ] {
        assert!(
            written.lines().any(|written| written == line),
            "{line}: {written}"
        );
    }
    assert!(
        !run.join("httpd/httpd.pid").exists(),
        "it was stopped in order"
    );
}

#[test]
fn an_httpd_does_not_outlive_a_weir_that_is_killed() {
    if skipped("SIGKILL of weir with an httpd") {
        return;
    }
    let place = prefork(TIMED);
    let mut weir = place.start(&["sweep", "study.toml"]);
    let port: u16 = weir.wait_for("the port of the server", STUDY, |weir| {
        let talk = weir.talk();
        let (_, rest) = talk.split_once("load goes to 127.0.0.1:")?;
        rest.split_once('\n')?.0.parse().ok()
    });
    let of_weir = children(weir.pid());
    let [parent] = of_weir[..] else {
        panic!("weir has one child, the httpd: {of_weir:?}");
    };
    let workers = wait_for("its processes", LEAVE, || {
        Some(children(parent)).filter(|workers| !workers.is_empty())
    });
    weir.signal(Signal::KILL);
    wait_for("the end of the httpd", LEAVE, || {
        let all = workers.iter().chain(&of_weir);
        (!all.into_iter().any(|pid| runs(*pid))).then_some(())
    });
    TcpListener::bind(("127.0.0.1", port)).expect("the port is free");
}
