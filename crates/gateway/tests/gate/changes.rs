//! Changes while requests run: new settings, the end, the log.

use std::net::TcpStream;

use weir_gateway::GatewayError;

use crate::client::Client;
use crate::recorder::Recorder;
use crate::support::{front, gate, holding, in_flight, settings, stands, until};

#[test]
fn new_settings_drop_no_request() {
    let (backend, release) = holding();
    let one = "[limit]\nconcurrency = 1\nmax-wait = \"60s\"\n";
    let gate = gate(&backend, one);
    let mut running = in_flight(&gate, "/held/1");
    let mut waiting = Client::with(front(&gate), "GET /2 HTTP/1.1\r\nHost: a\r\n\r\n");
    stands(&gate, "one waits", |status| status.all.queued == 1);
    let two = "[limit]\nconcurrency = 2\nmax-wait = \"60s\"\n[[class]]\nname = \"all\"\n";
    gate.reload(settings(&[backend.address], two)).unwrap();
    assert_eq!(waiting.answer().status, 200, "there is room for it now");
    release.send(()).unwrap();
    assert_eq!(running.answer().status, 200);
    // A connection from before has the new classes too.
    assert_eq!(running.get("/").status, 200);
    stands(&gate, "the new class is counted", |status| {
        status
            .classes
            .iter()
            .any(|class| class.name == "all" && class.standing.admitted >= 1)
    });
    let other = Recorder::ok();
    gate.reload(settings(&[other.address], "")).unwrap();
    assert_eq!(running.get("/other").status, 200);
    assert_eq!(other.targets(), ["/other"]);
}

#[test]
fn what_cannot_change_is_named_and_all_stays() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "[limit]\nrate = \"1/min\"\nmax-wait = \"0ms\"\n");
    let refused = gate.reload(settings(&[backend.address], "max-connections = 5\n"));
    assert!(
        matches!(refused, Err(GatewayError::Fixed("max-connections"))),
        "{refused:?}"
    );
    let mut client = Client::connect(front(&gate));
    assert_eq!([client.get("/").status, client.get("/").status], [200, 429]);
}

#[test]
fn a_drain_lets_requests_end_and_takes_no_more() {
    let (backend, release) = holding();
    let gate = gate(&backend, "[timeouts]\ndrain = \"30s\"\n");
    let at = front(&gate);
    let mut idle = Client::connect(at);
    assert_eq!(idle.get("/").status, 200);
    let mut running = in_flight(&gate, "/held");
    let draining = std::thread::spawn(move || gate.drain());
    assert_eq!(idle.rest(), "", "a connection without a request is closed");
    until("nobody is let in", || TcpStream::connect(at).is_err());
    release.send(()).unwrap();
    assert_eq!(running.answer().status, 200);
    assert_eq!(running.rest(), "", "its connection is closed");
    assert!(draining.join().unwrap().has_ended());
}

#[test]
fn a_drain_ends_in_time() {
    let (backend, _release) = holding();
    let gate = gate(&backend, "[timeouts]\ndrain = \"20ms\"\n");
    let mut running = in_flight(&gate, "/held");
    let drained = gate.drain();
    assert_eq!(running.try_answer(), None);
    // Whether its slot came back in the same moment is not what matters here; that this line is
    // reached, is.
    let _ = drained;
}

#[test]
fn each_request_has_a_line_in_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("access.log");
    let backend = Recorder::ok();
    let rest = format!(
        "access-log = \"{}\"\n[limit]\nrate = \"1/min\"\nmax-wait = \"0ms\"\n[[class]]\nname = \"all\"\n",
        path.display()
    );
    let gate = gate(&backend, &rest);
    let mut client = Client::connect(front(&gate));
    assert_eq!(client.get("/one?x").status, 200);
    assert_eq!(client.get("/two").status, 429);
    client.send("GET /three HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    assert_eq!(client.answer().status, 400);
    assert!(gate.drain().has_ended());
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<String> = lines
        .iter()
        .map(|line| {
            let part = |key: &str| line[key].to_string().replace('"', "");
            [
                "target",
                "class",
                "decision",
                "why",
                "status",
                "end",
                "sent_bytes",
            ]
            .map(part)
            .join(" ")
        })
        .collect();
    assert_eq!(
        told,
        [
            "/one?x all admitted null 200 completed 2",
            "/two all refused rate 429 null null",
            "/three null malformed host 400 null null",
        ]
    );
    assert!(
        lines[0]["service_ms"].as_f64().unwrap() >= 0.0,
        "{}",
        lines[0]
    );
    assert_eq!(lines[0]["backend"], format!("http://{}", backend.address));
}
