//! What is written of requests, and by which marks they are found again.

use std::path::PathBuf;

use serde_json::Value;
use weir_gateway::Gateway;

use crate::client::{Answer, Client};
use crate::recorder::{Recorder, send};
use crate::support::{admin, front, gate, stands, status};

/// A gateway that writes a log in a folder of its own.
struct Logging {
    gate: Gateway,
    log: PathBuf,
    _folder: tempfile::TempDir,
}

impl Logging {
    fn start(backend: &Recorder, rest: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let file = format!("access-log = \"{}\"\n{rest}", log.display());
        Self {
            gate: gate(backend, &file),
            log,
            _folder: folder,
        }
    }

    fn asks(&self, request: &str) -> Answer {
        Client::with(front(&self.gate), request).answer()
    }

    /// Every line, once the gateway has ended.
    fn lines(self) -> Vec<Value> {
        assert!(self.gate.drain().has_ended());
        let text = std::fs::read_to_string(self.log).unwrap();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }
}

#[test]
fn a_line_says_who_asked_for_what_and_how_it_went() {
    let backend = Recorder::ok();
    let logging = Logging::start(&backend, "");
    let agent = "a".repeat(300);
    logging.asks(&format!(
        "POST /orders HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: {agent}\r\nContent-Length: 5\r\n\r\nabcde"
    ));
    let lines = logging.lines();
    let line = &lines[0];
    assert_eq!(line["host"], "shop.example");
    assert_eq!(line["user_agent"], format!("{}…", "a".repeat(256)));
    assert_eq!(
        (&line["received_bytes"], &line["sent_bytes"]),
        (&5.into(), &2.into())
    );
    let time = |name: &str| line[name].as_f64().unwrap();
    assert!(time("first_byte_ms") <= time("service_ms"));
    for absent in ["tls", "request_id", "trace_id", "stands_for", "proxy"] {
        assert_eq!(line.get(absent), None, "{absent}");
    }
}

#[test]
fn a_request_is_found_by_its_id_and_its_trace() {
    let backend = Recorder::ok();
    let rest = "[log]\nrequest-id = \"X-Request-Id\"\ntrace-context = true\n\
                [[class]]\nname = \"none\"\nmatch = { path = \"/none\" }\nconcurrency = 1\nrate = \"1/min\"\n";
    let logging = Logging::start(&backend, rest);
    let traced = "GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: made-up\r\n\
                  traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\ntracestate: x=1\r\n\r\n";
    let answer = logging.asks(traced);
    let id = answer.field("x-request-id").unwrap().to_owned();
    assert_eq!(id.len(), 32, "nobody here is trusted to give ids");
    let arrived = &backend.arrived()[0];
    assert_eq!(arrived.fields("x-request-id"), [id.as_str()]);
    assert_eq!(arrived.fields("tracestate"), ["x=1"]);
    let parent = arrived.fields("traceparent")[0].to_owned();
    // Also of what is rejected and of what is no request.
    logging.asks("GET /none HTTP/1.1\r\nHost: a\r\n\r\n");
    let refused = logging.asks("GET /none HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(refused.status, 429);
    let malformed = logging.asks("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    assert_eq!(malformed.status, 400);
    let lines = logging.lines();
    assert_eq!(lines[0]["request_id"], id);
    assert_eq!(lines[0]["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(lines[0]["parent_span_id"], "00f067aa0ba902b7");
    let span = lines[0]["span_id"].as_str().unwrap();
    let expected = format!("00-4bf92f3577b34da6a3ce929d0e0e4736-{span}-01");
    assert_eq!(parent, expected);
    for (line, answer) in [(&lines[2], &refused), (&lines[3], &malformed)] {
        assert_eq!(line["request_id"], answer.field("x-request-id").unwrap());
    }
}

/// Also of what the parser of heads does not take.
#[test]
fn what_is_no_request_is_written_and_counted_by_why() {
    let backend = Recorder::ok();
    let logging = Logging::start(&backend, "");
    for request in [
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent_Length: 1\r\n\r\n",
        "no head\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n folded: b\r\n\r\n",
    ] {
        assert_eq!(logging.asks(request).status, 400, "{request:?}");
    }
    // What the parser refuses is counted once the connection has ended.
    stands(&logging.gate, "all are counted", |status| {
        status.malformed == 4
    });
    let found = status(&logging.gate);
    assert_eq!(found.malformed_by["head"], 2);
    assert_eq!(found.malformed_by["host"], 1);
    assert_eq!(found.malformed_by["framing"], 1);
    let metrics = Client::connect(admin(&logging.gate)).get_of("127.0.0.1", "/metrics");
    let expected = "weir_gate_requests_malformed_total{why=\"head\"} 2";
    assert!(metrics.body.contains(expected), "{}", metrics.body);
    let lines = logging.lines();
    let why: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["why"].as_str())
        .collect();
    assert_eq!(why, ["host", "framing", "head", "head"]);
    assert!(lines.iter().all(|line| line["decision"] == "malformed"));
    assert_eq!(lines[2].get("method"), None);
}

#[test]
fn an_id_of_a_trusted_proxy_stays() {
    let backend = Recorder::ok();
    let rest = "trusted-proxies = [\"127.0.0.1\"]\n[log]\nrequest-id = \"X-Request-Id\"\n";
    let logging = Logging::start(&backend, rest);
    let answer = logging.asks("GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: its-own\r\n\r\n");
    assert_eq!(answer.field("x-request-id"), Some("its-own"));
    assert_eq!(logging.lines()[0]["request_id"], "its-own");
}

#[test]
fn of_what_went_well_one_in_so_many_is_written_and_all_else() {
    let backend = Recorder::start(|arrived, stream| {
        let status = if arrived.target() == "/bad" {
            "500 Bad"
        } else {
            "200 OK"
        };
        send(
            stream,
            &format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n"),
        );
    });
    let logging = Logging::start(&backend, "[log]\none-in = 10\n");
    let mut client = Client::connect(front(&logging.gate));
    for number in 0..40 {
        client.get(if number % 8 == 0 { "/bad" } else { "/good" });
    }
    drop(client);
    let lines = logging.lines();
    let of = |status: u16| lines.iter().filter(move |line| line["status"] == status);
    assert_eq!(of(500).count(), 5);
    assert!(of(500).all(|line| line.get("stands_for").is_none()));
    assert_eq!(of(200).count(), 4, "of 35, the first and each tenth");
    assert!(of(200).all(|line| line["stands_for"] == 10));
}
