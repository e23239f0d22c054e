//! Heads that name two hosts, or none, or are too large; fields that are meant for the gateway
//! alone.

use weir_gateway::Status;

use crate::client::Client;
use crate::recorder::Recorder;
use crate::support::{front, gate, stands, status, until};

/// Request lines and fields, what they are answered with, and for which host they arrive.
const HEADS: &[(&str, u16, Option<&str>)] = &[
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400, None),
    ("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n", 400, None),
    ("GET / HTTP/1.1\r\nHost: a, b\r\n", 400, None),
    ("GET / HTTP/1.1\r\nHost: a/x\r\n", 400, None),
    ("GET / HTTP/1.1\r\nHost: user@a\r\n", 400, None),
    ("GET / HTTP/1.1\r\nHost: \r\n", 400, None),
    ("GET / HTTP/1.1\r\n", 400, None),
    ("GET / HTTP/1.1\r\nHost : a\r\n", 400, None),
    ("GET http://b/ HTTP/1.1\r\nHost: a\r\n", 200, Some("b")),
    (
        "GET http://b:81/ HTTP/1.1\r\nHost: b:81\r\n",
        200,
        Some("b:81"),
    ),
    ("GET http://user@b/ HTTP/1.1\r\nHost: b\r\n", 400, None),
    (
        "GET http://b/ HTTP/1.1\r\nHost: a\r\nHost: b\r\n",
        400,
        None,
    ),
    ("GET b HTTP/1.1\r\nHost: b\r\n", 400, None),
    ("CONNECT b:443 HTTP/1.1\r\nHost: b:443\r\n", 501, None),
    ("TRACE / HTTP/1.1\r\nHost: a\r\n", 405, None),
    (
        "GET / HTTP/1.1\r\nHost: a\r\nExpect: miracles\r\n",
        417,
        None,
    ),
    ("GET /\x01 HTTP/1.1\r\nHost: a\r\n", 400, None),
    ("GET / HTTP/1.1\r\nHost: a\r\nX\x01: a\r\n", 400, None),
    ("GET / HTTP/1.1\r\nHost: a\r\nX: \x7f\r\n", 400, None),
    ("GET / HTTP/9.9\r\nHost: a\r\n", 400, None),
    ("OPTIONS * HTTP/1.1\r\nHost: a\r\n", 200, Some("a")),
    ("GET / HTTP/1.0\r\nHost: a\r\n", 200, Some("a")),
];

#[test]
fn a_request_is_for_one_host() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    for (head, expected, host) in HEADS {
        let before = backend.arrived().len();
        let mut client = Client::with(front(&gate), format!("{head}Connection: close\r\n\r\n"));
        assert_eq!(client.answer().status, *expected, "{head:?}");
        let arrived = backend.arrived().split_off(before);
        let hosts: Vec<&str> = arrived.iter().flat_map(|one| one.fields("host")).collect();
        assert_eq!(hosts, Vec::from_iter(*host), "{head:?}");
    }
}

#[test]
fn heads_are_bounded() {
    let backend = Recorder::ok();
    let gate = gate(
        &backend,
        "[request]\nmax-head = \"16 KiB\"\nmax-uri = \"2 KiB\"\nmax-headers = 20\n",
    );
    let long = |count| "a".repeat(count);
    let many = |count| "X: y\r\n".repeat(count);
    for (request, expected) in [
        (
            format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", long(2000)),
            200,
        ),
        (
            format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", long(2048)),
            414,
        ),
        (
            format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", long(70_000)),
            431,
        ),
        (
            format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", long(16_000)),
            200,
        ),
        (
            format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", long(17_000)),
            431,
        ),
        (
            format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", many(19)),
            200,
        ),
        (
            format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", many(20)),
            431,
        ),
        (
            format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", many(200)),
            431,
        ),
    ] {
        let before = backend.arrived().len();
        let status = Client::with(front(&gate), &request).answer().status;
        let shown = &request[..request.len().min(40)];
        assert_eq!(status, expected, "{} bytes: {shown}", request.len());
        let arrived = backend.arrived().len() - before;
        assert_eq!(arrived, usize::from(expected == 200), "{shown}");
    }
}

/// `Connection` takes away what is named in it, and never what makes the request that request.
#[test]
fn a_field_for_the_gateway_alone_takes_no_others_with_it() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let mut client = Client::with(
        front(&gate),
        "POST / HTTP/1.1\r\nHost: a\r\nConnection: close, Host, Content-Length, X-Forwarded-For, X-One\r\n\
         X-One: 1\r\nX-Two: 2\r\nContent-Length: 3\r\n\r\nabc",
    );
    assert_eq!(client.answer().status, 200);
    let arrived = &backend.arrived()[0];
    assert_eq!(arrived.body, "abc");
    assert_eq!(arrived.fields("host"), ["a"]);
    assert_eq!(arrived.fields("x-forwarded-for"), ["127.0.0.1"]);
    assert_eq!(arrived.fields("x-two"), ["2"]);
    assert!(arrived.fields("x-one").is_empty());
}

/// hyper answers these by itself, and the gateway counts them all the same.
#[test]
fn what_is_no_head_at_all_is_counted() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let heads = [
        "GET / HTTP/1.1\r\nHost: a\r\nno field\r\n\r\n",
        "GET / and more HTTP/1.1\r\nHost: a\r\n\r\n",
        "\u{16}\u{3}\u{1}\r\n\r\n",
    ];
    for (before, head) in heads.into_iter().enumerate() {
        let told = Client::with(front(&gate), head).rest();
        assert!(told.starts_with("HTTP/1.1 400"), "{head:?}: {told}");
        stands(&gate, "it is counted", |status| {
            status.malformed == before as u64 + 1
        });
    }
    // A client that says nothing, or half of something, has done nothing wrong.
    drop(Client::with(front(&gate), "GET / HT"));
    assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    stands(&gate, "nothing more is counted", |status| {
        status.malformed == 3
    });
    assert_eq!(backend.arrived().len(), 1);
}

/// Each may be as large as a head, for as long as a head may take.
#[test]
fn heads_that_are_not_whole_are_bounded_together() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "[request]\nmax-heads = \"1 MiB\"\n");
    let begin = format!("GET /held HTTP/1.1\r\nHost: a\r\nX: {}", "x".repeat(4_000));
    let begun = || Client::with(front(&gate), &begin);
    let unfinished = |status: &Status| status.malformed_by["unfinished"];
    let mut clients: Vec<Client> = (0..200).map(|_| begun()).collect();
    // A head in one piece needs none of that room.
    assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    // 128 of them have filled it, with a buffer of 8 KiB each.
    for client in &mut clients {
        client.send("more\r\n");
    }
    stands(&gate, "those that grow are closed", |status| {
        unfinished(status) >= 72
    });
    assert_eq!(Client::connect(front(&gate)).get("/").status, 200);
    drop(clients);
    until("they have left", || status(&gate).connections.open == 0);
    let before = unfinished(&status(&gate));
    let mut client = begun();
    std::thread::sleep(std::time::Duration::from_millis(20));
    client.send("\r\n\r\n");
    assert_eq!(client.answer().status, 200, "their room is there again");
    assert_eq!(unfinished(&status(&gate)), before);
}
