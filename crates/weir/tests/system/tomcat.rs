//! A study of a real Tomcat from beginning to end: fetched, started with a database, set between
//! trials, watched, gone.

#![expect(
    clippy::unwrap_used,
    clippy::float_cmp,
    reason = "tests state what must hold; limits are whole numbers"
)]

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use crate::support::{Place, json_file, names_in, runs, skipped, tree, wait_for};
use serde_json::Value;

/// Fetching, building and two short trials on a busy machine.
const STUDY: Duration = Duration::from_secs(300);

const STARVED: &str = r#"
schema = "weir/study/1"
question = "What does a pool of 1 cost?"
[target.tomcat]
app = "stress"
java-options = ["-Xmx256m"]
[load]
plan = "plans/short.jmx"
users = "THREAD_NUMBER"
window = "8 s"
warm-up = "3 s"
[load.properties]
BIT = 64
[sweep]
design = "cases"
[[sweep.case]]
name = "pool 1"
set = { users = 20, threads = 30, "pool.db" = 1, "param.searchTime" = 50 }
[[sweep.case]]
name = "pool 20"
set = { users = 20, threads = 30, "pool.db" = 20, "param.searchTime" = 50 }
[[sweep.column]]
title = "Waiting"
signal = "pool.db.waiting"
"#;

fn signal(trial: &Value, name: &str) -> f64 {
    let value = &trial["signals"][name];
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{name} is in {}", trial["signals"]))
}

#[test]
fn a_pool_that_starves_is_seen_and_named() {
    if skipped("a_pool_that_starves_is_seen_and_named") {
        return;
    }
    let place = Place::with_plan();
    place.write("starved.toml", STARVED);
    let done = place
        .start(&["sweep", "starved.toml", "--json", "result.json"])
        .done(STUDY);
    assert!([Some(0), Some(4)].contains(&done.code), "{}", done.stderr);
    let result = json_file(&place.path("result.json"));
    let trials = result["trials"].as_array().unwrap();
    let of = |case: &str| trials.iter().find(|trial| trial["case"] == case).unwrap();
    let (starved, ample) = (of("pool 1"), of("pool 20"));
    assert_eq!(signal(starved, "pool.db.limit"), 1.0);
    assert_eq!(signal(ample, "pool.db.limit"), 20.0);
    assert_eq!(signal(ample, "threads.limit"), 30.0);
    // Twenty users of whom each holds the one connection for 50 ms: most of them wait for it.
    assert!(signal(starved, "pool.db.waiting") > 5.0, "{starved}");
    assert!(signal(starved, "pool.db.wait") > 0.2, "{starved}");
    assert!(signal(ample, "pool.db.waiting") < 1.0, "{ample}");
    for name in [
        "gc.time",
        "request-queue.waiting",
        "target.memory.rss",
        "cpu",
    ] {
        signal(ample, name);
    }
    let funnel: Vec<&str> = result["target"]["stages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| stage["name"].as_str().unwrap())
        .collect();
    let stages = [
        "backlog",
        "connections",
        "request-queue",
        "threads",
        "pool.db",
        "database",
    ];
    assert_eq!(funnel, stages);
    let run = &names_in(&place.path("weir-runs"))[0];
    let configuration = place.read(&format!("weir-runs/{run}/tomcat/conf/server.xml"));
    let port = configuration
        .split("port=\"")
        .nth(2)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let address = format!("127.0.0.1:{port}");
    wait_for("the server is gone", Duration::from_secs(10), || {
        std::net::TcpStream::connect(&address)
            .is_err()
            .then_some(())
    });
}

const USERS_SERVER: &str = r#"
schema = "weir/study/1"
[target.tomcat]
home = "shop"
ready = "/page.txt"
[load]
url = "/page.txt"
window = "60 s"
[sweep]
design = "full"
[sweep.factors]
users = [2]
threads = [20]
"#;

#[test]
fn a_killed_weir_leaves_no_server_and_the_users_installation_as_it_was() {
    if skipped("a_killed_weir_leaves_no_server_and_the_users_installation_as_it_was") {
        return;
    }
    let place = Place::new();
    let installed = place.weir(&["target", "install", "tomcat-11"]).ends(0);
    let installed = PathBuf::from(installed.stdout.trim());
    place.write("study.toml", USERS_SERVER);
    place.write("shop/webapps/ROOT/page.txt", "the shop\n");
    place.write(
        "shop/conf/server.xml",
        "<Server port='8005'>\r\n<Service name='Catalina'><Connector port='80'/>\r\n\
         <Engine name='Catalina' defaultHost='localhost'><Host name='localhost'/></Engine></Service></Server>",
    );
    for name in ["context.xml", "logging.properties", "web.xml"] {
        let copied = std::fs::copy(
            installed.join("conf").join(name),
            place.path("shop/conf").join(name),
        );
        copied.unwrap();
    }
    for part in ["bin", "lib"] {
        symlink(installed.join(part), place.path("shop").join(part)).unwrap();
    }
    let before = tree(&place.path("shop"));
    let started = place
        .start(&["sweep", "study.toml"])
        .killed_in_trial(&place, STUDY);
    place.weir(&["target", "restore"]).ends(0);
    assert_eq!(started.len(), 1, "a Java virtual machine: {started:?}");
    wait_for("the end of the server", Duration::from_secs(30), || {
        (!runs(started[0])).then_some(())
    });
    assert!(tree(&place.path("shop")) == before, "as it was found");
    assert!(names_in(&place.state()).is_empty());
}

const ENVIRONMENTS: &str = r#"
schema = "weir/study/1"
[target.tomcat]
app = "stress"
ready = "/light"
java-options = [
  "-Xmx256m",
  "-Dweir.regulator.on=false",
  "-Dweir.regulator.class.light.urls=/light",
]
[load]
plan = "light-heavy.jmx"
window = "5 s"
warm-up = "2 s"
[load.properties]
LIGHT = 2
HEAVY = 4
HEAVY_PATH = "/heavy/numeric"
[sweep]
design = "cases"
reference = "off"
[[sweep.environment]]
name = "Serial"
set = { start.collector = "serial" }
[[sweep.environment]]
name = "Batch"
set = { start.scheduling = "batch", start.heap = "200m" }
[[sweep.environment]]
name = "Heavy apart"
set = { start.collector = "serial", start.heavy = "batch" }
cases = ["off"]
[[sweep.case]]
name = "off"
set = {}
[[sweep.case]]
name = "on"
set = { regulator.on = "true", regulator.promise.light = "p99 <= {0.001 * p99(light) of off} ms" }
[[sweep.column]]
title = "Heavy"
signal = "throughput(heavy)"
relative = true
"#;

#[test]
fn a_sweep_starts_the_server_for_each_environment_and_sets_its_regulator() {
    if skipped("a_sweep_starts_the_server_for_each_environment_and_sets_its_regulator") {
        return;
    }
    let place = Place::new();
    place.write(
        "light-heavy.jmx",
        &crate::support::repository_file("studies/plans/light-heavy.jmx"),
    );
    place.write("environments.toml", ENVIRONMENTS);
    let done = place
        .start(&["sweep", "environments.toml", "--json", "result.json"])
        .done(STUDY);
    assert!([Some(0), Some(4)].contains(&done.code), "{}", done.stderr);
    let result = json_file(&place.path("result.json"));
    let rows = result["table"]["rows"].as_array().unwrap();
    let names: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| {
            (
                row["environment"].as_str().unwrap(),
                row["case"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            ("Serial", "off"),
            ("Serial", "on"),
            ("Batch", "off"),
            ("Batch", "on"),
            ("Heavy apart", "off")
        ]
    );
    let trials = result["trials"].as_array().unwrap();
    let apart = trials
        .iter()
        .find(|trial| trial["case"] == "Heavy apart: off")
        .unwrap();
    assert_eq!(apart["errors"]["count"], 0, "{apart:#?}");
    let heavy = &apart["classes"]["heavy"]["throughput_per_s"];
    assert!(heavy.as_f64().unwrap() > 0.0, "{apart:#?}");
    let run = names_in(&place.path("weir-runs")).remove(0);
    let log = place.read(&format!("weir-runs/{run}/target-heavy.log"));
    assert!(log.contains("Server startup in"), "{log}");
    for environment in ["Serial", "Batch"] {
        let heavy = |case: &str| {
            let name = format!("{environment}: {case}");
            let trial = trials.iter().find(|trial| trial["case"] == name).unwrap();
            trial["classes"]["heavy"]["throughput_per_s"]
                .as_f64()
                .unwrap_or(0.0)
        };
        // Nothing is as fast as was promised, so that heavy requests keep the least share only.
        assert!(
            heavy("on") < 0.5 * heavy("off"),
            "{environment}: {trials:#?}"
        );
    }
}
