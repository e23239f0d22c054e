//! `weir watch` on the sample server: what is shown, what is kept, how it ends.

use crate::support::{PATIENCE, Place, Running, SampleServer, assert_valid, json_file, signal_to};
use rustix::process::Signal;
use serde_json::Value;

/// The only run of a place: its directory's name, and what was seen.
fn only_run(place: &Place) -> (String, Value) {
    let names = crate::support::names_in(&place.path("weir-runs"));
    assert_eq!(names.len(), 1, "{names:?}");
    let run = format!("weir-runs/{}", names[0]);
    let seen = json_file(&place.path(&format!("{run}/watch.json")));
    assert_valid("docs/schemas/watch.schema.json", &seen);
    (run, seen)
}

#[test]
fn a_url_is_watched_for_a_time_and_reported() {
    let server = SampleServer::start();
    let place = Place::new();
    let (url, metrics) = (server.url("/"), server.admin_url("/metrics"));
    place
        .weir(&["watch", &url, "--metrics", &metrics, "--for", "3s"])
        .ends(0)
        .prints(&[
            "3 s",
            "threads 0/50",
            "established 0",
            "weir-runs/watch-127.0.0.1-",
            "threads.limit",
        ])
        .says(&[&format!("watching {url} (process {})", server.pid())]);
    let (run, seen) = only_run(&place);
    assert_eq!(seen["running"], false);
    assert_eq!(seen["seconds"], 3);
    let signals = &seen["signals"];
    assert_eq!(signals["threads.limit"]["max"], 50);
    let origin = signals["threads.limit"]["origin"].as_str().unwrap();
    assert_eq!(origin, format!("{metrics} weir_stage_limit"));
    let established = format!("tcp.{}.established", server.port());
    assert!(signals[&established]["read"].as_u64() >= Some(1));
    assert!(signals["target.memory.rss"]["min"].as_f64() > Some(1e6));
    assert!(
        signals.get("load.cpu").is_none(),
        "there is no load generator"
    );
    let rows = place.read(&format!("{run}/trials/001/timeline.csv"));
    assert_eq!(rows.lines().count(), 4, "{rows}");

    place
        .weir(&["report", "last"])
        .ends(0)
        .prints(&["report.html"]);
    let page = place.read(&format!("{run}/report.html"));
    for part in [
        "Watched without load",
        "second-stages",
        "<code>threads.limit</code>",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let line = format!("| {metrics} weir_stage_limit |");
    place
        .weir(&["report", "last", "--markdown"])
        .ends(0)
        .prints(&["# Watch of http://", "3 s watched", &line]);
}

/// Begins to watch and waits for the first second.
fn watching(place: &Place, target: &str) -> Running {
    let mut watch = place.start(&["watch", target]);
    watch.wait_for("the first second", PATIENCE, |watch| {
        watch.printed().contains("1 s  ").then_some(())
    });
    watch
}

#[test]
fn an_interrupt_ends_a_watch_and_keeps_it() {
    let server = SampleServer::start();
    let place = Place::new();
    let watch = watching(&place, &server.pid().to_string());
    watch.signal(Signal::INT);
    watch
        .done(PATIENCE)
        .ends(0)
        .prints(&["weir-runs/watch-weir-"]);
    let (_, seen) = only_run(&place);
    assert_eq!(seen["running"], false);
    assert!(seen["seconds"].as_u64() >= Some(1));
    let signals = seen["signals"].as_object().unwrap();
    assert!(
        signals.keys().any(|name| name.starts_with("census.")),
        "{signals:?}"
    );
}

#[test]
fn a_process_that_ends_ends_its_watch() {
    let server = SampleServer::start();
    let place = Place::new();
    let watch = watching(&place, &server.pid().to_string());
    // Whoever started it has to take notice, or it stays as a process that has ended.
    let pid = server.pid();
    signal_to(pid, Signal::KILL);
    drop(server);
    watch.done(PATIENCE).ends(3).says(&["has ended", "saved"]);
    let (_, seen) = only_run(&place);
    assert_eq!(seen["running"], false);
}

#[test]
fn the_server_of_a_study_is_started_watched_and_stopped() {
    let place = Place::with_plan();
    place.write(
        "study.toml",
        &crate::support::repository_file("studies/default.toml"),
    );
    place
        .weir(&["watch", "study.toml", "--for", "2s"])
        .ends(0)
        .prints(&["2 s", "pool.db 0/100", "weir-runs/watch-study-"])
        .says(&["watching sample server of study.toml"]);
    let (run, seen) = only_run(&place);
    assert_eq!(seen["seconds"], 2);
    assert!(
        place
            .read(&format!("{run}/run.toml"))
            .contains("[target.builtin]")
    );
}

#[test]
fn what_cannot_be_watched_says_why() {
    let place = Place::new();
    for (words, why) in [
        (vec!["watch", "4000000000"], "no process 4000000000"),
        (vec!["watch", "no.toml"], "no.toml"),
        (vec!["watch", "http://10.1.2.3/"], "--metrics URL"),
        (vec!["watch", "1", "--for", "30"], "30m"),
        (
            vec!["watch", "1", "--metrics", "http://8.8.8.8/"],
            "loopback nor private",
        ),
    ] {
        place.weir(&words).ends(2).says(&[why]);
    }
    assert!(place.names().is_empty(), "nothing was begun");
}
