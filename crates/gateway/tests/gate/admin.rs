//! The admin port.

use std::net::SocketAddr;

use weir_gateway::Gateway;

use crate::client::{Answer, Client};
use crate::recorder::Recorder;
use crate::support::{front, gate, holding, in_flight, stands, status};

fn ask(gate: &Gateway, request: &str) -> Answer {
    let admin: SocketAddr = gate.addresses().admin.unwrap();
    Client::with(admin, request).answer()
}

fn change(gate: &Gateway, json: &str) -> Answer {
    ask(
        gate,
        &format!(
            "POST /limits HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{json}",
            json.len()
        ),
    )
}

#[test]
fn limits_change_while_requests_wait() {
    let (backend, release) = holding();
    let gate = gate(&backend, "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\n");
    let mut first = in_flight(&gate, "/held");
    let mut second = Client::with(front(&gate), "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    stands(&gate, "one waits", |status| status.all.queued == 1);
    assert_eq!(status(&gate).all.limit, Some(1.0));
    let changed = change(&gate, r#"{"concurrency": 2}"#);
    assert_eq!((changed.status, changed.body.as_str()), (200, "changed\n"));
    assert_eq!(second.answer().status, 200, "there is room for it now");
    assert_eq!(status(&gate).all.limit, Some(2.0));
    release.send(()).unwrap();
    assert_eq!(first.answer().status, 200);
    let wrong = change(&gate, r#"{"concurrency": -1}"#);
    assert_eq!(wrong.status, 400);
    assert!(wrong.body.contains("above 0"), "{}", wrong.body);
    assert_eq!(status(&gate).all.limit, Some(2.0), "it stays as it was");
}

#[test]
fn prometheus_is_told_what_happened() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "[limit]\nrate = \"1/min\"\nmax-wait = \"0ms\"\n");
    let mut client = Client::connect(front(&gate));
    client.get("/");
    client.get("/");
    stands(&gate, "one is over", |status| status.all.finished == 1);
    let metrics = ask(&gate, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").body;
    let backend = format!("backend=\"http://{}\"", backend.address);
    for line in [
        "weir_gate_requests_offered_total{class=\"other\"} 2",
        "weir_gate_requests_admitted_total{class=\"other\"} 1",
        "weir_gate_requests_refused_total{class=\"other\",why=\"rate\"} 1",
        "weir_gate_requests_in_flight{class=\"other\"} 0",
        &format!("weir_gate_backend_requests_total{{{backend}}} 1"),
        &format!("weir_gate_backend_up{{{backend}}} 1"),
        "# TYPE weir_gate_wait_seconds counter",
        "weir_stage_entries_total{stage=\"gate\"} 1",
        "weir_stage_refused_total{stage=\"gate\"} 1",
        "weir_stage_waiting_seconds_total{stage=\"gate\"} 0.0",
        "# TYPE weir_stage_occupancy_seconds counter",
    ] {
        assert!(
            metrics.lines().any(|told| told == line),
            "{line} in\n{metrics}"
        );
    }
    assert!(
        metrics.contains("weir_gate_rate_limit 0.01666"),
        "{metrics}"
    );
    assert!(
        !metrics.contains("weir_gate_limit "),
        "no limit is no figure"
    );
    assert!(metrics.ends_with("# EOF\n"));
}

#[test]
fn only_what_is_there_is_answered() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let host = "HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    for (request, status, part) in [
        (format!("GET / {host}"), 200, "the page"),
        (format!("GET /nothing {host}"), 404, "POST /limits"),
        (format!("DELETE /limits {host}"), 405, "method"),
        (
            "GET /status HTTP/1.1\r\nHost: evil.example\r\n\r\n".to_owned(),
            403,
            "address",
        ),
    ] {
        let answer = ask(&gate, &request);
        assert_eq!(answer.status, status, "{request}");
        assert!(answer.body.contains(part), "{request}: {}", answer.body);
    }
}

#[test]
fn a_token_is_asked_for() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "admin-token = \"0123456789abcdef\"\n");
    let asked = |extra: &str| {
        let request = format!("GET /status HTTP/1.1\r\nHost: any.example\r\n{extra}\r\n");
        ask(&gate, &request).status
    };
    assert_eq!(asked(""), 401);
    assert_eq!(asked("Authorization: Bearer 0123456789abcdef\r\n"), 200);
}
