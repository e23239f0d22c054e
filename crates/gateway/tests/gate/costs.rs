//! Classes by what routes have cost.

use std::thread;
use std::time::Duration;

use weir_gateway::Gateway;

use crate::client::Client;
use crate::recorder::{Recorder, ok};
use crate::support::{front, gate, stands, status};

/// Slow under `/slow`, whatever comes after it.
fn backend() -> Recorder {
    Recorder::start(|arrived, stream| {
        if arrived.target().starts_with("/slow") {
            thread::sleep(Duration::from_millis(30));
        }
        ok(stream);
    })
}

/// A class for what costs so much, and one with a promise for all the rest.
fn classes(cost: &str) -> String {
    format!(
        "[[class]]\nname = \"heavy\"\nmatch = {{ cost = \">= {cost}\" }}\n[[class]]\nname = \"light\"\npromise = \"p99 <= 10 s\"\n"
    )
}

/// Requests of a class that have ended.
fn finished(gate: &Gateway, class: &str) -> u64 {
    let classes = status(gate).classes;
    let found = classes.iter().find(|one| one.name == class);
    found.expect("there is such a class").standing.finished
}

#[test]
fn a_route_becomes_heavy_by_what_it_has_cost() {
    let backend = backend();
    let gate = gate(&backend, &classes("20 ms"));
    let mut client = Client::connect(front(&gate));
    for n in 0..5 {
        assert_eq!(client.get(&format!("/slow/{n}")).status, 200);
    }
    stands(&gate, "the last one is over", |status| {
        status.all.in_flight == 0
    });
    assert_eq!((finished(&gate, "heavy"), finished(&gate, "light")), (0, 5));
    // Another number, another query: the same route.
    assert_eq!(client.get("/slow/4711?x=y").status, 200);
    stands(&gate, "it is over", |status| status.all.finished == 6);
    assert_eq!((finished(&gate, "heavy"), finished(&gate, "light")), (1, 5));
    let routes = status(&gate).routes.unwrap();
    assert_eq!((routes.known, routes.costliest.len()), (1, 1), "{routes:?}");
    let slow = &routes.costliest[0];
    assert_eq!(
        (slow.route.as_str(), slow.class.as_deref()),
        ("GET /slow/{n}", Some("heavy"))
    );
    assert!(slow.cost_ms >= 30.0, "{slow:?}");
    assert!(status(&gate).to_string().contains("GET /slow/{n} "));
}

/// A client that asks for ever new paths neither grows the table nor makes what is light heavy.
#[test]
fn ever_new_paths_find_no_room() {
    let backend = backend();
    let gate = gate(&backend, &classes("20 s"));
    let mut client = Client::connect(front(&gate));
    for n in 0..1200_u32 {
        let letters: String = format!("{n:05}")
            .bytes()
            .map(|digit| char::from(digit - b'0' + b'a'))
            .collect();
        assert_eq!(client.get(&format!("/{letters}")).status, 200);
    }
    let routes = status(&gate).routes.unwrap();
    assert_eq!((routes.known, routes.most), (1024, 1024));
    assert!(
        routes
            .costliest
            .iter()
            .all(|route| route.route == "everything else"),
        "{routes:?}"
    );
    stands(&gate, "all are over", |status| status.all.finished == 1200);
    assert_eq!(finished(&gate, "heavy"), 0);
}

/// What a client takes its time for is no cost of the route's, and moves no limit.
#[test]
fn a_client_that_reads_slowly_makes_nothing_costly() {
    const BYTES: usize = 32 * 1024 * 1024;
    let backend = Recorder::start(|_, stream| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {BYTES}\r\n\r\n");
        crate::recorder::send(stream, &head);
        let _ = std::io::Write::write_all(stream, &vec![b'x'; BYTES]);
    });
    let gate = gate(&backend, &classes("700 ms"));
    for _ in 0..5 {
        let request = "GET /large HTTP/1.1\r\nHost: test\r\n\r\n";
        let mut client = Client::with(front(&gate), request);
        thread::sleep(Duration::from_secs(1));
        assert_eq!(client.answer().body.len(), BYTES);
    }
    stands(&gate, "the last one is over", |status| {
        status.all.in_flight == 0
    });
    let routes = status(&gate).routes.unwrap();
    let large = &routes.costliest[0];
    assert!(large.cost_ms < 700.0, "{large:?}");
}
