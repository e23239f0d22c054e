//! What is held: rates, places in flight, the queue; and what is given back when somebody leaves.

use std::net::Shutdown;

use weir_gateway::Gateway;

use crate::client::Client;
use crate::recorder::{Recorder, send};
use crate::support::{front, gate, holding, in_flight, nobody, stands, status, until};

#[test]
fn beyond_the_rate_a_client_is_told_when_to_come_again() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "[limit]\nrate = \"1/min\"\nmax-wait = \"0ms\"\n");
    assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    let mut client = Client::connect(front(&gate));
    let answer = client.get("/");
    assert_eq!(answer.status, 429);
    assert_eq!(
        answer.field("content-type"),
        Some("application/problem+json")
    );
    let seconds: u64 = answer.field("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{seconds}");
    let problem: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!(problem["why"], "rate");
    assert_eq!(problem["class"], "other");
    // The connection goes on: only the request was rejected.
    assert_eq!(client.get("/").status, 429);
    assert_eq!(backend.arrived().len(), 1);
}

#[test]
fn a_request_waits_for_its_slot_and_then_goes_on() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "[limit]\nrate = \"20/s\"\nmax-wait = \"60s\"\n");
    let mut clients: Vec<Client> = (0..5)
        .map(|n| {
            Client::with(
                front(&gate),
                format!("GET /{n} HTTP/1.1\r\nHost: a\r\n\r\n"),
            )
        })
        .collect();
    for client in &mut clients {
        assert_eq!(client.answer().status, 200);
    }
    let all = status(&gate).all;
    assert_eq!((all.offered, all.admitted, all.refused.total()), (5, 5, 0));
    // Four slots of 50 ms after the first.
    assert!(all.waited == 4 && all.wait_max_s > 0.1, "{all:?}");
}

#[test]
fn beyond_places_and_queue_a_client_is_turned_away() {
    let (backend, release) = holding();
    let gate = gate(
        &backend,
        "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\nmax-queue = 1\n",
    );
    let mut first = in_flight(&gate, "/held/1");
    let mut second = Client::with(front(&gate), "GET /held/2 HTTP/1.1\r\nHost: a\r\n\r\n");
    stands(&gate, "one waits", |status| status.all.queued == 1);
    let third = Client::connect(front(&gate)).get("/held/3");
    assert_eq!(third.status, 503);
    assert!(third.field("retry-after").is_some());
    assert!(third.body.contains("queue_full"), "{}", third.body);
    release.send(()).unwrap();
    release.send(()).unwrap();
    assert_eq!(first.answer().status, 200);
    assert_eq!(second.answer().status, 200);
    assert_eq!(backend.targets(), ["/held/1", "/held/2"]);
}

#[test]
fn who_waits_too_long_is_turned_away() {
    let (backend, _release) = holding();
    let gate = gate(&backend, "[limit]\nconcurrency = 1\nmax-wait = \"30ms\"\n");
    let _first = in_flight(&gate, "/held");
    assert_eq!(Client::connect(front(&gate)).get("/").status, 503);
}

#[test]
fn a_client_that_leaves_while_it_waits_gives_its_place_back() {
    let (backend, release) = holding();
    let gate = gate(
        &backend,
        "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\nmax-queue = 1\n",
    );
    let mut first = in_flight(&gate, "/held/1");
    for (before, request) in [
        "GET /leaves HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /leaves HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody",
        "POST /leaves HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf",
    ]
    .into_iter()
    .enumerate()
    {
        let leaving = Client::with(front(&gate), request);
        stands(&gate, "one waits", |status| status.all.queued == 1);
        drop(leaving);
        stands(&gate, "its place is free", |status| {
            status.all.queued == 0 && status.all.left == before as u64 + 1
        });
    }
    let mut second = Client::with(front(&gate), "GET /held/2 HTTP/1.1\r\nHost: a\r\n\r\n");
    stands(&gate, "another waits", |status| status.all.queued == 1);
    release.send(()).unwrap();
    release.send(()).unwrap();
    assert_eq!((first.answer().status, second.answer().status), (200, 200));
    assert_eq!(backend.targets(), ["/held/1", "/held/2"]);
}

/// A client leaves when its request, the first, is with the backend.
fn leave_in_flight(gate: &Gateway, backend: &Recorder, target: &str) {
    let client = in_flight(gate, target);
    until("it has arrived", || backend.arrived().len() == 1);
    drop(client);
}

/// Sixty clients that left at once made 52 of their requests run beside each other at a cap of 1.
#[test]
fn a_slot_stays_with_the_backend_when_its_client_leaves() {
    let (backend, release) = holding();
    let gate = gate(&backend, "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\n");
    leave_in_flight(&gate, &backend, "/held");
    stands(&gate, "nobody waits for it", |status| {
        status.in_flight_without_client == 1
    });
    for left in 1..=5 {
        let leaving = Client::with(front(&gate), "GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
        stands(&gate, "one waits", |status| status.all.queued == 1);
        drop(leaving);
        stands(&gate, "it has left", |status| status.all.left == left);
    }
    let mut next = Client::with(front(&gate), "GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    stands(&gate, "the next one waits", |status| status.all.queued == 1);
    assert_eq!(status(&gate).all.in_flight, 1);
    assert_eq!(backend.targets(), ["/held"]);
    release.send(()).unwrap();
    assert_eq!(next.answer().status, 200);
    stands(&gate, "all slots are free", |status| {
        let is_free = status.all.in_flight == 0 && status.in_flight_without_client == 0;
        is_free && status.all.finished == 2
    });
    assert_eq!(backend.connections(), 1, "it is kept for the next one");
}

/// `nc -N` and other programs say in this way that their request is whole.
#[test]
fn a_client_that_closes_its_side_alone_gets_its_answer() {
    let (release, released) = std::sync::mpsc::channel();
    let released = std::sync::Mutex::new(released);
    let long = "x".repeat(3 << 20);
    let backend = Recorder::start(move |arrived, stream| {
        if arrived.target() == "/held" {
            let _ = released.lock().unwrap().recv();
        }
        let (length, half) = (long.len(), long.len() / 2);
        send(
            stream,
            &format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n"),
        );
        send(stream, &long[..half]);
        std::thread::sleep(std::time::Duration::from_millis(50));
        send(stream, &long[half..]);
    });
    let gate = gate(&backend, "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\n");
    for (target, is_held) in [("/", false), ("/held", true)] {
        let request = format!("POST {target} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody");
        let mut client = Client::with(front(&gate), request);
        client.stream.shutdown(Shutdown::Write).unwrap();
        if is_held {
            stands(&gate, "whether it has left is not known", |status| {
                status.in_flight_without_client == 1 && status.all.in_flight == 1
            });
            release.send(()).unwrap();
        }
        let answer = client.answer();
        assert_eq!(
            (answer.status, answer.body.len()),
            (200, 3 << 20),
            "{target}"
        );
        assert_eq!(client.rest(), "");
        stands(&gate, "its slot is free", |status| {
            status.in_flight_without_client == 0 && status.all.in_flight == 0
        });
    }
    // What has no end is not sent to somebody who has left, perhaps.
    let backend = Recorder::start(|_, stream| {
        send(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n",
        );
        std::thread::sleep(std::time::Duration::from_secs(60));
    });
    let gate = self::gate(&backend, "");
    let mut client = Client::with(front(&gate), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert!(client.until(b"data: 1").is_some());
    client.stream.shutdown(Shutdown::Write).unwrap();
    assert!(client.rest().ends_with("\r\n"), "its connection is closed");
}

/// The head of the answer is out, and the work is not done.
#[test]
fn a_slot_stays_until_the_end_of_the_body() {
    let (release, released) = std::sync::mpsc::channel();
    let released = std::sync::Mutex::new(released);
    let backend = Recorder::start(move |_, stream| {
        send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha");
        let _ = released.lock().unwrap().recv();
        send(stream, "lf");
    });
    let gate = gate(&backend, "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\n");
    leave_in_flight(&gate, &backend, "/half");
    stands(&gate, "nobody waits for it", |status| {
        status.in_flight_without_client == 1
    });
    let mut next = Client::with(front(&gate), "GET /half HTTP/1.1\r\nHost: a\r\n\r\n");
    stands(&gate, "the next one waits", |status| status.all.queued == 1);
    assert_eq!(backend.targets().len(), 1);
    release.send(()).unwrap();
    release.send(()).unwrap();
    assert_eq!(next.answer().body, "half");
}

/// A server that writes on is told by its connection, and is not listened to for ever.
#[test]
fn an_endless_body_is_not_taken_for_nobody() {
    let backend = Recorder::start(|_, stream| {
        send(stream, "HTTP/1.1 200 OK\r\n\r\n");
        let piece = vec![b'x'; 64 * 1024];
        while std::io::Write::write_all(stream, &piece).is_ok() {}
    });
    let gate = gate(&backend, "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\n");
    leave_in_flight(&gate, &backend, "/endless");
    stands(&gate, "its slot is free", |status| {
        status.all.in_flight == 0 && status.all.finished == 1
    });
}

/// What never answers has the time that any request has.
#[test]
fn a_backend_that_never_answers_does_not_keep_a_slot_for_ever() {
    let (backend, _release) = holding();
    let limit = "[limit]\nconcurrency = 1\n[timeouts]\nresponse = \"300ms\"\n";
    let gate = gate(&backend, limit);
    leave_in_flight(&gate, &backend, "/held");
    stands(&gate, "its slot is free", |status| {
        status.all.in_flight == 0 && status.in_flight_without_client == 0
    });
}

#[test]
fn a_slot_may_be_given_back_when_its_client_leaves() {
    let (backend, _release) = holding();
    let limit = "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\nabandoned-work = \"stops\"\n";
    let gate = gate(&backend, limit);
    let leaving = Client::with(front(&gate), "GET /held HTTP/1.1\r\nHost: a\r\n\r\n");
    until("it has arrived", || backend.arrived().len() == 1);
    drop(leaving);
    assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    stands(&gate, "all slots are free", |status| {
        status.all.in_flight == 0 && status.all.finished == 2
    });
}

/// A client gets what there was of the body, and no end of it that there was not.
#[test]
fn a_backend_that_dies_in_the_middle_of_a_body_gives_its_slot_back() {
    let backend = Recorder::start(|arrived, stream| {
        match arrived.target() {
            "/length" => send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"),
            _ => send(
                stream,
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
            ),
        }
        let _ = stream.shutdown(Shutdown::Both);
    });
    let gate = gate(&backend, "[limit]\nconcurrency = 1\n");
    for path in ["/length", "/chunks"] {
        let mut client = Client::with(
            front(&gate),
            format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"),
        );
        assert_eq!(client.try_answer(), None, "{path}");
        stands(&gate, "the slot is free", |status| {
            status.all.in_flight == 0
        });
    }
    let told = status(&gate);
    assert_eq!(told.backends[0].failed, 2);
    assert_eq!((told.all.admitted, told.all.finished), (2, 2));
}

/// What a client sends badly says nothing of the backend.
#[test]
fn a_bad_chunk_of_a_client_is_no_failure_of_the_backend() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "[limit]\nconcurrency = 1\n");
    let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut client = Client::with(front(&gate), format!("{head}4\r\nbody\r\nnone\r\n"));
    let told = client.rest();
    assert!(
        told.is_empty() || told.starts_with("HTTP/1.1 400"),
        "{told}"
    );
    stands(&gate, "it is over", |status| {
        status.all.finished == 1 && status.all.in_flight == 0
    });
    assert_eq!(status(&gate).backends[0].failed, 0);
}

/// Every permit comes back, whatever becomes of its request: those in are those out.
#[test]
fn permits_in_are_permits_out() {
    let backend = Recorder::start(|arrived, stream| match arrived.target() {
        "/0" => send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
        "/1" => send(stream, "HTTP/1.1 204 No Content\r\n\r\n"),
        "/2" => send(
            stream,
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ),
        "/3" => {
            send(stream, "HTTP/1.1 200 OK\r\n\r\nto the end");
            let _ = stream.shutdown(Shutdown::Both);
        }
        "/4" => drop(stream.shutdown(Shutdown::Both)),
        _ => send(
            stream,
            "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
        ),
    });
    let gate = gate(&backend, "[limit]\nconcurrency = 3\nmax-wait = \"60s\"\n");
    let clients: Vec<Client> = (0..60)
        .map(|n| {
            let method = if n % 7 == 0 { "HEAD" } else { "GET" };
            let close = "Connection: close\r\n";
            let request = format!("{method} /{} HTTP/1.1\r\nHost: a\r\n{close}\r\n", n % 6);
            Client::with(front(&gate), request)
        })
        .collect();
    for (n, mut client) in clients.into_iter().enumerate() {
        // Some read, some leave.
        if n % 3 != 0 {
            client.rest();
        }
    }
    stands(&gate, "all are over", |status| {
        let all = &status.all;
        all.in_flight == 0 && all.queued == 0 && all.admitted == all.finished
    });
    let all = status(&gate).all;
    assert_eq!(all.offered, all.admitted + all.left + all.refused.total());
}

#[test]
fn classes_have_limits_of_their_own() {
    let (backend, release) = holding();
    let gate = gate(
        &backend,
        "[limit]\nmax-wait = \"0ms\"\n[[class]]\nname = \"heavy\"\nconcurrency = 1\nmatch = { path = \"/held*\" }\n",
    );
    let mut first = in_flight(&gate, "/held");
    let refused = Client::connect(front(&gate)).get("/%68eld/again");
    assert_eq!(refused.status, 503);
    assert!(refused.body.contains("\"heavy\""), "{}", refused.body);
    assert_eq!(Client::connect(front(&gate)).get("/light").status, 200);
    release.send(()).unwrap();
    assert_eq!(first.answer().status, 200);
    let classes = status(&gate).classes;
    let counts: Vec<(&str, u64, u64)> = classes
        .iter()
        .map(|class| {
            let standing = &class.standing;
            (
                class.name.as_str(),
                standing.admitted,
                standing.refused.total(),
            )
        })
        .collect();
    assert_eq!(counts, [("heavy", 1, 1), ("other", 1, 0)]);
}

/// The health check of a balancer must not be rejected in overload.
#[test]
fn an_exempt_class_passes_by_a_full_gate() {
    let (backend, release) = holding();
    let limit = "[limit]\nconcurrency = 1\nrate = \"1/min\"\nmax-wait = \"0ms\"\n";
    let class = "[[class]]\nname = \"health\"\nexempt = true\nmatch = { path = \"/health\" }\n";
    let gate = gate(&backend, &format!("{limit}{class}"));
    let mut held = in_flight(&gate, "/held");
    assert_eq!(Client::connect(front(&gate)).get("/").status, 429);
    for _ in 0..5 {
        assert_eq!(Client::connect(front(&gate)).get("/health").status, 200);
    }
    release.send(()).unwrap();
    assert_eq!(held.answer().status, 200);
    let told = status(&gate);
    assert_eq!(
        (told.exempt, told.all.offered, told.all.in_flight),
        (5, 2, 0)
    );
}

#[test]
fn the_gateway_says_itself_how_it_is() {
    let (backend, _release) = holding();
    let file = "monitor = \"/gate-health\"\n[limit]\nconcurrency = 1\nmax-wait = \"0ms\"\n";
    let up = gate(&backend, file);
    let _held = in_flight(&up, "/held");
    until("it has arrived", || backend.arrived().len() == 1);
    let told = Client::connect(front(&up)).get("/gate-health?x=y");
    assert_eq!((told.status, told.body.as_str()), (200, "ok\n"));
    assert_eq!(backend.targets(), ["/held"], "no backend sees it");
    let address = nobody();
    let health = "monitor = \"/gate-health\"\n[health]\npath = \"/\"\nevery = \"10ms\"\n";
    let down = crate::support::gate_to(&[address], health);
    stands(&down, "it is down", |status| !status.backends[0].up);
    assert_eq!(
        Client::connect(front(&down)).get("/gate-health").status,
        503
    );
}
