//! Answers of a backend that would end in the next client's.

use crate::client::Client;
use crate::recorder::{Recorder, send};
use crate::support::{front, gate};

#[test]
fn what_comes_after_an_answer_is_nobodys() {
    let backend = Recorder::start(|arrived, stream| {
        let extra = match arrived.target() {
            "/poison" => "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\npoisoned",
            _ => "",
        };
        send(
            stream,
            &format!("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfine{extra}"),
        );
    });
    let gate = gate(&backend, "");
    for _ in 0..10 {
        assert_eq!(Client::connect(front(&gate)).get("/poison").body, "fine");
        let next = Client::connect(front(&gate)).get("/next");
        assert_eq!((next.status, next.body.as_str()), (200, "fine"));
    }
}

/// Of both lengths of an answer the chunks count, and the other length goes no further.
#[test]
fn an_answer_has_one_end() {
    let backend = Recorder::start(|_, stream| {
        send(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n",
        );
    });
    let gate = gate(&backend, "");
    let mut client = Client::connect(front(&gate));
    for _ in 0..2 {
        let answer = client.get("/");
        assert_eq!((answer.status, answer.body.as_str()), (200, "whole"));
        assert_eq!(answer.field("content-length"), None);
    }
}

/// A refused request with a body that nobody reads is not taken for the next request.
#[test]
fn the_body_of_a_refused_request_is_no_request() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "[limit]\nrate = \"1/min\"\nmax-wait = \"0ms\"\n");
    let mut client = Client::connect(front(&gate));
    assert_eq!(client.get("/").status, 200);
    let hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
    client.send(format!(
        "POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{hidden}",
        hidden.len()
    ));
    assert_eq!(client.answer().status, 429);
    client.send("GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    let rest = client.rest();
    assert!(rest.matches("HTTP/1.1 ").count() <= 1, "{rest}");
    assert_eq!(backend.targets(), ["/"]);
}
