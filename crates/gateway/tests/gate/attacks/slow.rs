//! Clients that take their time: with a head, a body, a handshake, or with taking what they asked
//! for.

use std::io::Write as _;

use weir_gateway::Gateway;

use crate::client::Client;
use crate::recorder::{Recorder, send};
use crate::support::{front, gate, stands, status};

const SHORT: &str = "[timeouts]\nhead = \"50ms\"\nidle = \"50ms\"\nbody = \"50ms\"\n";

/// A server that answers with 64 MiB.
fn much() -> Recorder {
    Recorder::start(|_, stream| {
        let body = "x".repeat(1 << 20);
        send(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: 67108864\r\n\r\n",
        );
        for _ in 0..64 {
            send(stream, &body);
        }
    })
}

#[test]
fn slow_clients_are_closed() {
    let backend = Recorder::ok();
    let gate = gate(&backend, SHORT);
    for begin in [
        "",
        "G",
        "PRI",
        "GET / HTTP/1.1\r\nHost:",
        "GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HT",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ] {
        let mut client = Client::with(front(&gate), begin);
        client.rest();
    }
    stands(&gate, "no connection is left", |status| {
        status.connections.open == 0
    });
    assert_eq!(backend.targets(), ["/a"]);
}

/// A head that grows a bit at a time does not live longer for it.
#[test]
fn a_head_has_to_be_whole_in_time() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "[timeouts]\nhead = \"100ms\"\n");
    let mut client = Client::with(front(&gate), "GET / HTTP/1.1\r\nHost: a\r\n");
    let closed = (0..3000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        client.stream.write_all(b"X: y\r\n").is_err()
    });
    assert!(closed, "the connection lives on its next field");
    assert!(backend.arrived().is_empty());
    stands(&gate, "it is counted", |status| {
        status.malformed_by["unfinished"] == 1
    });
}

#[test]
fn a_body_has_to_go_on() {
    let backend = Recorder::ok();
    let gate = gate(
        &backend,
        "[limit]\nconcurrency = 1\n[timeouts]\nbody = \"50ms\"\n",
    );
    let mut client = Client::with(
        front(&gate),
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf",
    );
    assert_eq!(client.answer().status, 408);
    assert_eq!(client.rest(), "", "the connection is closed");
    stands(&gate, "the slot is free", |status| {
        status.all.in_flight == 0
    });
    assert!(backend.arrived().is_empty());
}

/// Whoever asks for much and takes nothing holds a slot for no longer than the time-out.
#[test]
fn an_answer_has_to_be_taken() {
    let backend = much();
    let gate = gate(
        &backend,
        "[limit]\nconcurrency = 1\n[timeouts]\nbody = \"100ms\"\n",
    );
    let client = Client::with(front(&gate), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    stands(&gate, "it is admitted", |status| status.all.admitted == 1);
    stands(&gate, "the slot is free", |status| {
        status.all.in_flight == 0
    });
    drop(client);
}

/// A backend that stops in the middle of a body is no reason to wait for ever either.
#[test]
fn a_backend_has_to_go_on() {
    let backend = Recorder::start(|_, stream| {
        send(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
    });
    let gate = gate(&backend, "[timeouts]\nbody = \"50ms\"\n");
    let mut client = Client::with(front(&gate), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(client.try_answer(), None);
    assert_eq!(status(&gate).backends[0].failed, 1);
}

/// Bytes that drop one by one satisfy every bound on the time without one.
#[test]
fn a_body_has_to_come_at_a_pace() {
    let backend = Recorder::ok();
    let rest = |rate: &str| {
        format!(
            "[limit]\nconcurrency = 1\n[timeouts]\nbody = \"200ms\"\n[request]\nmin-rate = {rate}\n"
        )
    };
    let dripped = |gate: &Gateway| {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\n\r\n";
        let mut client = Client::with(front(gate), head);
        for _ in 0..40 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            if client.stream.write_all(b"x").is_err() {
                break;
            }
        }
        client.try_answer().map(|answer| answer.status)
    };
    let strict = gate(&backend, &rest("240"));
    // A client that is still sending may lose the answer.
    assert!(matches!(dripped(&strict), Some(408) | None));
    stands(&strict, "the slot is free", |status| {
        status.all.in_flight == 0 && status.all.admitted == 1
    });
    assert!(backend.arrived().is_empty());
    let patient = gate(&backend, &rest("0"));
    assert_eq!(dripped(&patient), Some(200));
}

/// 64 MiB that a client takes at a third of the pace that it has to.
#[test]
fn an_answer_has_to_be_taken_at_a_pace() {
    let backend = much();
    let gate = gate(
        &backend,
        "[limit]\nconcurrency = 1\nabandoned-work = \"stops\"\n[timeouts]\nbody = \"1s\"\n[request]\nmin-rate = 1000000\n",
    );
    let mut client = Client::with(front(&gate), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let mut taken = 0;
    while client.bytes(32 * 1024).is_some() {
        taken += 32 * 1024;
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(taken < 32 << 20, "it goes on");
    }
    stands(&gate, "the slot is free", |status| {
        status.all.in_flight == 0
    });
}
