//! Proxies in front: what they say of their clients, and who is believed.

use std::time::Duration;

use crate::client::Client;
use crate::recorder::Recorder;
use crate::support::{front, gate, stands};

const TRUSTING: &str = "trusted-proxies = [\"127.0.0.0/8\"]\n";
const ONE_A_MINUTE: &str = "[[key]]\nby = \"address\"\nrate = \"1/min\"\n";
const DECLARING: &str = "trusted-proxies = [\"127.0.0.0/8\"]\nproxy-protocol = true\n";
const REQUEST: &str = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn asks(fields: &str) -> String {
    format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n")
}

#[test]
fn clients_are_told_apart_by_what_a_trusted_proxy_says() {
    let backend = Recorder::ok();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let rest = format!(
        "access-log = \"{}\"\n{TRUSTING}{ONE_A_MINUTE}",
        log.display()
    );
    let gate = gate(&backend, &rest);
    let mut proxy = Client::connect(front(&gate));
    for (list, status) in [
        ("192.0.2.1", 200),
        ("192.0.2.1", 429),
        ("192.0.2.2", 200),
        // Who puts others before itself is still who it is.
        ("8.8.8.8, 192.0.2.2, 127.0.0.9", 429),
    ] {
        proxy.send(asks(&format!(
            "X-Forwarded-For: {list}\r\nX-Forwarded-Proto: https\r\nX-Real-IP: 8.8.8.8\r\n"
        )));
        assert_eq!(proxy.answer().status, status, "{list}");
    }
    let arrived = &backend.arrived()[1];
    assert_eq!(arrived.fields("x-forwarded-for"), ["192.0.2.2, 127.0.0.1"]);
    assert_eq!(arrived.fields("x-forwarded-proto"), ["https"]);
    assert_eq!(arrived.fields("x-real-ip"), [""; 0]);
    let forwarded = arrived.fields("forwarded")[0];
    assert_eq!(forwarded, "for=192.0.2.2, for=127.0.0.1;proto=http;host=a");
    drop(proxy);
    assert!(gate.drain().has_ended());
    let log = std::fs::read_to_string(log).unwrap();
    let line: serde_json::Value = serde_json::from_str(log.lines().nth(3).unwrap()).unwrap();
    assert_eq!(line["client"], "192.0.2.2");
    assert!(line["proxy"].as_str().unwrap().starts_with("127.0.0.1:"));
}

#[test]
fn nobody_else_is_believed() {
    let backend = Recorder::ok();
    let rest = format!("trusted-proxies = [\"192.0.2.9\"]\n{ONE_A_MINUTE}");
    let gate = gate(&backend, &rest);
    for (list, status) in [("192.0.2.1", 200), ("192.0.2.2", 429)] {
        let fields = format!("X-Forwarded-For: {list}\r\nX-Forwarded-Proto: https\r\n");
        let answer = Client::with(front(&gate), asks(&fields)).answer();
        assert_eq!(answer.status, status, "{list}");
    }
    let arrived = &backend.arrived()[0];
    assert_eq!(arrived.fields("x-forwarded-for"), ["127.0.0.1"]);
    assert_eq!(arrived.fields("x-forwarded-proto"), ["http"]);
}

/// Version 2 as its description has it: signature, version and command, family, length, addresses,
/// and what TLS there is.
fn version_2(command: u8, tls: &[u8]) -> Vec<u8> {
    let mut head = b"\r\n\r\n\0\r\nQUIT\n".to_vec();
    head.extend([command, 0x11, 0, 12 + tls.len() as u8]);
    head.extend([192, 0, 2, 7, 10, 0, 0, 1, 0x30, 0x39, 0x01, 0xbb]);
    head.extend(tls);
    head
}

#[test]
fn a_connection_says_for_whom_it_is() {
    let over_tls = [0x20, 0, 5, 1, 0, 0, 0, 0];
    for (head, client, proto) in [
        (
            b"PROXY TCP4 192.0.2.7 10.0.0.1 12345 443\r\n".to_vec(),
            "192.0.2.7",
            "http",
        ),
        (
            b"PROXY TCP6 2001:db8::7 2001:db8::1 12345 443\r\n".to_vec(),
            "2001:db8::7",
            "http",
        ),
        (b"PROXY UNKNOWN\r\n".to_vec(), "127.0.0.1", "http"),
        (version_2(0x21, &[]), "192.0.2.7", "http"),
        (version_2(0x21, &over_tls), "192.0.2.7", "https"),
        (version_2(0x20, &[]), "127.0.0.1", "http"),
    ] {
        let backend = Recorder::ok();
        let gate = gate(&backend, DECLARING);
        let shown = String::from_utf8_lossy(&head).into_owned();
        // In one piece with the first request, and byte by byte.
        let whole = [&head[..], REQUEST.as_bytes()].concat();
        let mut at_once = Client::with(front(&gate), &whole);
        assert_eq!(at_once.answer().status, 200, "{shown:?}");
        assert_eq!(at_once.get("/").status, 200, "{shown:?}");
        let mut slowly = Client::connect(front(&gate));
        slowly.stream.set_nodelay(true).unwrap();
        for byte in whole {
            slowly.send([byte]);
            std::thread::sleep(Duration::from_micros(200));
        }
        assert_eq!(slowly.answer().status, 200, "{shown:?}");
        for arrived in backend.arrived() {
            assert_eq!(arrived.fields("x-forwarded-for"), [client], "{shown:?}");
            assert_eq!(arrived.fields("x-forwarded-proto"), [proto], "{shown:?}");
        }
        assert_eq!(backend.arrived().len(), 3);
    }
}

#[test]
fn a_proxy_that_does_not_say_it_is_not_served() {
    let backend = Recorder::ok();
    let rest = format!("{DECLARING}[timeouts]\nhead = \"300ms\"\n");
    let gate = gate(&backend, &rest);
    for head in [
        REQUEST,
        "PROXY TCP4 192.0.2.7\r\n\r\n",
        "PROXY TCP4 192.0.2.7 10.0.0.1 1 99999\r\n",
        "PROXY ",
        "\r\n\r\n\0\r\nQUIT\n\u{11}\u{11}\0\0",
        "",
    ] {
        let mut client = Client::with(front(&gate), head);
        assert_eq!(client.rest(), "", "{head:?}");
    }
    // Somebody looks whether it listens.
    drop(Client::connect(front(&gate)));
    stands(&gate, "each is counted", |status| {
        status.malformed == 6 && status.connections.open == 0
    });
    assert_eq!(backend.arrived().len(), 0);
}

/// What a client may have is the client's, not the proxy's through which it comes.
#[test]
fn a_proxy_has_the_connections_of_all_its_clients() {
    let backend = Recorder::ok();
    let connections = "[[key]]\nby = \"address\"\nconnections = 1\n";
    let gate = gate(&backend, &format!("{DECLARING}{connections}"));
    let connect = |client: &str| {
        let head = format!("PROXY TCP4 {client} 10.0.0.1 1 443\r\n{REQUEST}");
        let mut connected = Client::with(front(&gate), head);
        let answer = connected.try_answer();
        (connected, answer.map(|answer| answer.status))
    };
    let one = connect("192.0.2.1");
    let other = connect("192.0.2.2");
    let too_many = connect("192.0.2.1");
    assert_eq!((one.1, other.1, too_many.1), (Some(200), Some(200), None));
    drop(one);
    stands(&gate, "it is gone", |status| status.connections.open == 1);
    assert_eq!(connect("192.0.2.1").1, Some(200));
}
