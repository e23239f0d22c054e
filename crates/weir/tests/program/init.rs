//! `weir init` on servers that run already: what is written, what is said, what its plan sends.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::TcpListener;
use std::time::Duration;

use crate::support::{Place, SampleServer, names_in};

/// How long a study of one short trial may take on a busy machine.
const TRIAL: Duration = Duration::from_secs(120);

#[test]
fn a_server_that_nobody_knows_gets_a_study_that_is_accepted() {
    let server = SampleServer::start();
    let place = Place::new();
    let url = server.url("/light?n=5");
    place
        .weir(&["init", &url])
        .ends(0)
        .says(&["study.toml is written", "weir tune study.toml"])
        .prints(&[
            "a server that Weir does not know",
            &format!("process {}", server.pid()),
        ]);
    let study = place.read("study.toml");
    for part in [
        &format!("url = \"http://{}\"", server.listen),
        &format!("listens on the port, {} now", server.pid()),
        "url = \"/light?n=5\"",
        &format!("# Written by `weir init {url}` for"),
    ] {
        assert!(study.contains(part), "{part}: {study}");
    }
    place
        .weir(&["check", "study.toml"])
        .ends(0)
        .prints(&["nothing is wrong"]);
    place
        .weir(&["tune", "study.toml", "--dry-run"])
        .ends(0)
        .prints(&["users from 1 to 1000"]);
    place
        .weir(&["init", &url])
        .ends(2)
        .says(&["study.toml: there is such a file", "--force"]);
    assert_eq!(place.read("study.toml"), study);
    place.weir(&["init", &url, "--force"]).ends(0);
    place.weir(&["init", &url, "--out", "other.toml"]).ends(0);
    assert_eq!(place.names(), ["other.toml", "study.toml"]);
}

#[test]
fn what_cannot_be_looked_at_is_refused_with_the_way_out() {
    let place = Place::new();
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = closed.local_addr().unwrap().port();
    drop(closed);
    let url = format!("http://127.0.0.1:{port}/");
    place.weir(&["init", &url]).ends(3).says(&[
        &format!("nothing listens on port {port}"),
        "start the server first",
    ]);
    place
        .weir(&["init", "https://127.0.0.1/"])
        .ends(2)
        .says(&["behind the TLS"]);
    // A documentation address (RFC 5737): nothing is sent to it.
    place
        .weir(&["init", "http://203.0.113.7/"])
        .ends(2)
        .says(&["neither this machine nor a container of it"]);
    assert_eq!(place.names(), Vec::<String>::new());
}

/// A log in which requests stand in this mix, with lines that are none.
fn log() -> String {
    let mut log = String::new();
    let mut line = |second: u32, request: &str, status: u16| {
        let _ = writeln!(
            log,
            "10.0.0.{} - - [21/Nov/2026:21:{:02}:{:02} +0000] \"{request} HTTP/1.1\" {status} 512 \"-\" \"a \\\"browser\\\"\"",
            second % 250,
            second / 60 % 60,
            second % 60
        );
    };
    for second in 0..200 {
        for _ in 0..3 {
            line(second, "GET /light?n=3", 200);
        }
        line(second, &format!("GET /posts?page={}", 1 + second % 40), 200);
        if second % 2 == 0 {
            line(second, &format!("GET /light/{second}?n=2"), 200);
            line(second, "POST /posts", 201);
        }
        if second % 100 == 0 {
            line(second, "GET /gone", 404);
        }
    }
    log.push_str("this is no line of a log\n");
    log
}

/// Samples of the only trial, by name.
fn sent(place: &Place) -> BTreeMap<String, u64> {
    let run = &names_in(&place.path("weir-runs"))[0];
    let samples = place.path(&format!("weir-runs/{run}/trials/001/samples.jtl"));
    let mut rows = csv::Reader::from_path(samples).unwrap();
    let label = rows
        .headers()
        .unwrap()
        .iter()
        .position(|name| name == "label")
        .unwrap();
    let mut counts = BTreeMap::new();
    for row in rows.records() {
        *counts.entry(row.unwrap()[label].to_owned()).or_default() += 1;
    }
    counts
}

#[test]
fn the_plan_of_an_access_log_sends_its_mix() {
    let server = SampleServer::start();
    let place = Place::new();
    place.write("access.log", &log());
    let done = place
        .weir(&["init", &server.url("/"), "--access-log", "access.log"])
        .ends(0);
    let done = done.prints(&[
        "1003 lines, 1002 requests; 1 lines are no requests (line 1003)",
        "arrivals: 5.010/s in the mean over 200 s",
        "59.9 % GET /light n = 3 … 3",
        "20.0 % GET /posts page = 1 … 40 (median 20, 95 % up to 38)",
        "10.0 % GET /light/{n}",
        "the plan sends 3 endpoint(s), 89.8 % of all requests",
        "10.0 % other methods than GET and HEAD",
        "0.2 % endpoints that only gave errors",
    ]);
    drop(done);
    place
        .weir(&["check", "study.toml", "plan.jmx"])
        .ends(0)
        .prints(&["runs natively in full"]);
    // The same load as a trial of so many requests.
    let study = place.read("study.toml");
    let (head, _) = study.split_once("\n[find]\n").unwrap();
    let counted = head.replace("window = \"auto\"", "requests = 1800")
        + "\n[sweep]\ndesign = \"full\"\n[sweep.factors]\nusers = [6]\n";
    place.write("counted.toml", &counted);
    place.start(&["sweep", "counted.toml"]).done(TRIAL).ends(0);
    let sent = sent(&place);
    let all: u64 = sent.values().sum();
    assert!(all >= 1800, "{sent:?}");
    // Pearson's chi-square with 2 degrees of freedom: above 13.8 once in 1,000 if each request were
    // drawn by itself. The controllers keep closer to the shares than that.
    let shares = [
        ("GET /light", 600.0),
        ("GET /posts", 200.0),
        ("GET /light/{n}", 100.0),
    ];
    let chi_square: f64 = shares
        .iter()
        .map(|(name, share)| {
            let expected = share / 900.0 * all as f64;
            (sent[*name] as f64 - expected).powi(2) / expected
        })
        .sum();
    assert!(chi_square < 13.8, "{chi_square}: {sent:?}");
    assert_eq!(sent.len(), 3, "nothing that could change data: {sent:?}");
}

#[test]
fn a_log_without_requests_is_refused() {
    let server = SampleServer::start();
    let place = Place::new();
    place.write("access.log", "2026-11-21 21:12:00 INFO started\n");
    place
        .weir(&["init", &server.url("/"), "--access-log", "access.log"])
        .ends(2)
        .says(&["access.log: none of its 1 lines is a request"]);
    place
        .weir(&["init", &server.url("/"), "--access-log", "nowhere.log"])
        .ends(2)
        .says(&["nowhere.log", "No such file"]);
    assert_eq!(place.names(), ["access.log"]);
}
