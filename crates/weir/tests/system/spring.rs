//! A Spring Boot application with PostgreSQL behind it, end to end with the real program.
//!
//! Runs in the *system* profile only (`WEIR_SYSTEM_TESTS=1`). It needs a JDK, Maven and PostgreSQL.

use std::path::PathBuf;
use std::time::Duration;

use crate::support::{
    Place, Running, children, json_file, names_in, repository_file, runs, skipped, wait_for,
};
use serde_json::Value;

/// How long fetching, building, starting and two short trials may take on a busy machine.
const STUDY: Duration = Duration::from_secs(400);
/// How long the servers may take to notice that Weir is gone.
const LEAVE: Duration = Duration::from_secs(40);

/// The first case sets everything that can be set, the second the rest back.
const SHORT: &str = r#"
schema = "weir/study/1"
question = "Does what is set arrive?"
[target.spring-boot]
app = "posts"
java-options = ["-Xmx256m"]
[target.spring-boot.database]
posts = 5_000
connections = 50
[load]
plan = "plans/board.jmx"
users = "THREAD_NUMBER"
properties = { PAGES = 40 }
window = "5 s"
warm-up = "2 s"
[sweep]
design = "cases"
[[sweep.case]]
name = "few"
set = { users = 12, threads = 2, "native.min-spare" = 1, "native.connection-timeout" = 3_000, "pool.db" = 4, connections = 500, backlog = 7 }
[[sweep.case]]
name = "more"
set = { users = 12, threads = 8, "pool.db" = 3 }
[[sweep.column]]
title = "TPS"
signal = "throughput"
"#;

fn place() -> Place {
    let place = Place::new();
    place.write(
        "plans/board.jmx",
        &repository_file("studies/plans/board.jmx"),
    );
    place.write("short.toml", SHORT);
    place
}

/// The one run that lies in the directory of runs.
fn run(place: &Place) -> Option<PathBuf> {
    let runs = place.path("weir-runs");
    let names = names_in(&runs);
    assert!(names.len() <= 1, "{names:?}");
    names.first().map(|name| runs.join(name))
}

/// Starts the study, waits until its first trial sends its load; the servers by then.
fn in_trial(place: &Place) -> (Running, Vec<u32>) {
    let mut weir = place.start(&["sweep", "short.toml"]);
    weir.wait_for("a running trial", STUDY, |_| {
        let samples = run(place)?.join("trials/001/samples.jtl");
        samples.is_file().then_some(())
    });
    let servers = children(weir.pid());
    assert!(
        servers.len() >= 2,
        "an application and a database: {servers:?}"
    );
    (weir, servers)
}

fn signal(trial: &Value, name: &str) -> f64 {
    let value = trial["signals"][name].as_f64();
    value.unwrap_or_else(|| panic!("{name} of {:#}", trial["signals"]))
}

#[test]
fn what_is_set_arrives_and_is_watched() {
    if skipped("what_is_set_arrives_and_is_watched") {
        return;
    }
    let place = place();
    let (weir, servers) = in_trial(&place);
    // On a machine that disturbs both trials 4: what was set arrived all the same.
    let done = weir.done(STUDY).ends_one_of(&[0, 4]);
    for server in servers {
        assert!(!runs(server), "{server} still runs\n{done}");
    }
    let run = run(&place).unwrap();
    let result = json_file(&run.join("result.json"));
    let trials = result["trials"].as_array().unwrap();
    let case = |name: &str| {
        let found = trials.iter().find(|trial| trial["case"] == name);
        found.unwrap_or_else(|| panic!("{name}: {result:#}"))
    };
    let (_, rest) = done.stderr.split_once("load goes to 127.0.0.1:").unwrap();
    let port = rest.lines().next().unwrap();
    let backlog = format!("tcp.{port}.accept-queue.limit");
    // As set; then as Spring Boot has them when nobody sets them.
    for (name, limits) in [
        ("few", [2.0, 4.0, 500.0, 7.0]),
        ("more", [8.0, 3.0, 8_192.0, 100.0]),
    ] {
        let trial = case(name);
        let [threads, pool, connections, accept] = limits;
        let read = [
            ("threads.limit", threads),
            ("pool.db.limit", pool),
            ("connections.limit", connections),
            (&backlog, accept),
        ];
        for (figure, limit) in read {
            let found = signal(trial, figure);
            assert!((found - limit).abs() < 1e-9, "{name}: {figure} {found}");
        }
        assert!(signal(trial, "threads.occupancy") <= threads);
        assert!(signal(trial, "pool.db.occupancy") <= pool);
        assert!(signal(trial, "pool.db.entries") > 0.0);
        assert!(signal(trial, "jvm.threads") > 0.0);
        assert_eq!(trial["errors"]["count"], 0, "{trial:#}");
    }
    // On a full CPU the database may not answer in time in any second of a trial this short.
    let databases = trials.iter().filter_map(|trial| {
        let limit = trial["signals"]["database.limit"].as_f64()?;
        let entries = trial["signals"]["database.entries"].as_f64()?;
        Some((limit.round(), entries > 0.0))
    });
    let databases: Vec<_> = databases.collect();
    assert!(databases.contains(&(50.0, true)), "{databases:?}");
    let stages = result["target"]["stages"].as_array().unwrap();
    let natives: Vec<&str> = stages
        .iter()
        .filter_map(|stage| stage["native"].as_str())
        .collect();
    assert_eq!(
        natives,
        [
            "server.tomcat.accept-count",
            "server.tomcat.max-connections",
            "server.tomcat.threads.max",
            "spring.datasource.hikari.maximum-pool-size",
            "max_connections"
        ]
    );
}

#[test]
fn no_server_outlives_a_weir_that_is_killed() {
    if skipped("no_server_outlives_a_weir_that_is_killed") {
        return;
    }
    let place = place();
    place.write("application.yml", "server:\r\n  port: 1");
    let weir = place.start(&["sweep", "short.toml"]);
    let clusters = format!("weir-postgresql-{}-", weir.pid());
    let clusters = || {
        let mut names = names_in(&std::env::temp_dir());
        names.retain(|name| name.starts_with(&clusters));
        names
    };
    let servers = weir.killed_in_trial(&place, STUDY);
    assert!(servers.len() >= 2, "an application and a database");
    place.weir(&["target", "restore"]).ends(0);
    wait_for("the end of all servers", LEAVE, || {
        (!servers.iter().any(|server| runs(*server))).then_some(())
    });
    assert_eq!(clusters(), [""; 0], "the database's directory");
    assert!(names_in(&place.state()).is_empty());
    assert_eq!(place.read("application.yml"), "server:\r\n  port: 1");
}
