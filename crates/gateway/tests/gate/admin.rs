//! The admin port.

use std::net::SocketAddr;

use weir_gateway::{GateFile, Gateway, Reload};

use crate::client::{Answer, Client};
use crate::recorder::Recorder;
use crate::support::{admin, file, front, gate, holding, in_flight, stands, status};

fn ask(gate: &Gateway, request: &str) -> Answer {
    let admin: SocketAddr = admin(gate);
    Client::with(admin, request).answer()
}

fn post(gate: &Gateway, path: &str, json: &str) -> Answer {
    ask(
        gate,
        &format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{json}",
            json.len()
        ),
    )
}

fn change(gate: &Gateway, json: &str) -> Answer {
    post(gate, "/limits", json)
}

fn reload(gate: &Gateway) -> (u16, Reload) {
    let answer = post(gate, "/reload", "");
    (answer.status, serde_json::from_str(&answer.body).unwrap())
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
    for nothing in [
        "[]",
        "[null, 5]",
        "{}",
        r#"{"class": "other"}"#,
        "5",
        "null",
    ] {
        let said = change(&gate, nothing);
        assert_eq!(said.status, 400, "{nothing}: {}", said.body);
    }
    assert_eq!(status(&gate).all.limit, Some(2.0), "it stays as it was");
}

fn metrics_of(gate: &Gateway) -> String {
    ask(gate, "GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").body
}

/// Each of these is a line of the metrics.
fn tells(metrics: &str, lines: &[&str]) {
    for line in lines {
        assert!(
            metrics.lines().any(|told| told == *line),
            "{line} in\n{metrics}"
        );
    }
}

#[test]
fn prometheus_is_told_what_happened() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "[limit]\nrate = \"1/min\"\nmax-wait = \"0ms\"\n");
    let mut client = Client::connect(front(&gate));
    client.get("/");
    client.get("/");
    stands(&gate, "one is over", |status| status.all.finished == 1);
    let metrics = metrics_of(&gate);
    let backend = format!("backend=\"http://{}\"", backend.address);
    let lines = [
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
    ];
    tells(&metrics, &lines);
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
fn codes_and_times_are_told_of_each_class() {
    let backend = Recorder::start(|arrived, stream| {
        let code = &arrived.target()[1..];
        if code == "200" {
            std::thread::sleep(std::time::Duration::from_millis(60));
        }
        let text = format!("HTTP/1.1 {code} Some\r\nContent-Length: 0\r\n\r\n");
        crate::recorder::send(stream, &text);
    });
    let class = "[[class]]\nname = \"none\"\nrate = \"1/min\"\nmatch = { path = \"/404\" }\n";
    let limit = "[limit]\nmax-wait = \"0ms\"\n";
    let gate = gate(&backend, &format!("{limit}{class}"));
    let mut client = Client::connect(front(&gate));
    for path in ["/200", "/200", "/500", "/404", "/404"] {
        client.get(path);
    }
    stands(&gate, "all are over", |status| status.all.finished == 4);
    let told = status(&gate);
    let codes = |at: usize| told.classes[at].codes.clone();
    assert_eq!(codes(0), [(404, 1), (429, 1)].into());
    assert_eq!(codes(1), [(200, 2), (500, 1)].into());
    let metrics = metrics_of(&gate);
    let lines = [
        "weir_gate_responses_total{class=\"other\",code=\"200\"} 2",
        "weir_gate_responses_total{class=\"none\",code=\"429\"} 1",
        "# TYPE weir_gate_response_time_seconds histogram",
        "weir_gate_response_time_seconds_count{class=\"other\"} 3",
        "weir_gate_response_time_seconds_bucket{le=\"0.05\",class=\"other\"} 1",
        "weir_gate_response_time_seconds_bucket{le=\"+Inf\",class=\"other\"} 3",
        "weir_gate_backend_time_seconds_count{class=\"none\"} 1",
        "weir_gate_wait_time_seconds_count{class=\"none\"} 1",
    ];
    tells(&metrics, &lines);
}

#[test]
fn each_class_is_a_part_of_the_stage() {
    let backend = Recorder::ok();
    let heavy = "[[class]]\nname = \"heavy\"\nconcurrency = 3\nmatch = { path = \"/heavy\" }\n";
    let gate = gate(&backend, heavy);
    let mut client = Client::connect(front(&gate));
    client.get("/heavy");
    client.get("/light");
    stands(&gate, "both are over", |status| status.all.finished == 2);
    let metrics = metrics_of(&gate);
    let lines = [
        "weir_stage_limit{stage=\"gate.heavy\"} 3.0",
        "weir_stage_entries_total{stage=\"gate\"} 2",
        "weir_stage_entries_total{stage=\"gate.heavy\"} 1",
        "weir_stage_entries_total{stage=\"gate.other\"} 1",
    ];
    tells(&metrics, &lines);
    let spent_s = |stage: &str| {
        let name = format!("weir_stage_occupancy_seconds_total{{stage=\"{stage}\"}} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&name));
        line.unwrap().parse::<f64>().unwrap()
    };
    let of_classes = spent_s("gate.heavy") + spent_s("gate.other");
    assert!(spent_s("gate.heavy") > 0.0, "{metrics}");
    assert!((of_classes - spent_s("gate")).abs() < 1e-6, "{metrics}");
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
    let asked = |path: &str, extra: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: any.example\r\n{extra}\r\n");
        ask(&gate, &request).status
    };
    assert_eq!(asked("/status", ""), 401);
    assert_eq!(asked("/metrics?token=0123456789abcdef", ""), 401);
    let token = "Authorization: Bearer 0123456789abcdef\r\n";
    assert_eq!(asked("/status", token), 200);
    // It holds no figures, and asks whoever reads it for the token.
    assert_eq!(asked("/", ""), 200);
}

#[test]
fn the_file_is_read_again_on_request() {
    let backend = Recorder::ok();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("gate.toml");
    let write = |rest: &str| {
        std::fs::write(&path, file(&[backend.address], rest)).unwrap();
    };
    write("[limit]\nconcurrency = 4\n");
    let (read, settings) = GateFile::read(&path).unwrap();
    let gate = Gateway::start_from(Some(read), settings, String::new(), |_| {}).unwrap();
    assert_eq!(change(&gate, r#"{"concurrency": 9}"#).status, 200);
    write("[limit]\nconcurrency = 5\nrate = \"50/s\"\n");
    let (code, told) = reload(&gate);
    let changed: Vec<String> = told.changed.iter().map(ToString::to_string).collect();
    assert_eq!((code, told.reloaded), (200, true));
    assert_eq!(
        changed,
        [
            "limit.concurrency: 4 → 5",
            "limit.rate: not there → \"50/s\""
        ]
    );
    assert_eq!(told.undone, ["limit.concurrency"]);
    assert_eq!(status(&gate).all.limit, Some(5.0));
    assert_eq!(reload(&gate).1.changed, [], "nothing was written since");
    for (rest, line, says, help) in [
        ("[limit]\nrat = 5\n", 6, "`rat`", "`rate`"),
        ("max-connections = 5\n", 5, "cannot change", "anew"),
    ] {
        write(rest);
        let (code, told) = reload(&gate);
        assert_eq!((code, told.reloaded), (422, false), "{rest}");
        let [mistake] = told.mistakes.as_slice() else {
            panic!("{rest}: {:?}", told.mistakes)
        };
        assert_eq!((mistake.line, mistake.column), (Some(line), Some(1)));
        assert!(mistake.says.contains(says), "{}", mistake.says);
        let told = mistake.help.as_deref().unwrap_or_default();
        assert!(told.contains(help), "{told}");
        assert_eq!(status(&gate).all.limit, Some(5.0), "it stays as it was");
    }
    std::fs::remove_file(&path).unwrap();
    let (code, told) = reload(&gate);
    assert_eq!(code, 500);
    assert!(told.mistakes[0].says.contains("gate.toml"));
}

#[test]
fn settings_without_a_file_cannot_be_read_again() {
    let backend = Recorder::ok();
    let gate = gate(&backend, "");
    let (code, told) = reload(&gate);
    assert_eq!((code, told.reloaded), (409, false));
    assert!(told.mistakes[0].says.contains("came from no file"));
}

/// Every metric that a panel asks for is one that a gateway tells.
#[test]
fn the_dashboard_asks_for_what_there_is() {
    let text = include_str!("../../../../docs/dashboards/gate.json");
    let dashboard: serde_json::Value = serde_json::from_str(text).unwrap();
    let backend = Recorder::ok();
    let goal = "[limit.adaptive]\ngoal = \"cpu <= 80 %\"\ncpu-from = { cpus = \"0\" }\n";
    let mut told = String::new();
    for limit in ["[limit]\nconcurrency = 4\n", goal] {
        let gate = gate(&backend, limit);
        Client::connect(front(&gate)).get("/");
        stands(&gate, "its CPU is read, if it has a goal", |status| {
            status.cpu.as_ref().is_none_or(|cpu| cpu.busy.is_some()) && status.all.finished == 1
        });
        told += &metrics_of(&gate);
    }
    let known: Vec<&str> = told
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    let panels = dashboard["panels"].as_array().unwrap();
    assert!(panels.len() >= 10);
    let targets = panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut asked = 0;
    for target in targets {
        let expression = target["expr"].as_str().unwrap();
        let words = expression.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        for metric in words.filter(|word| word.starts_with("weir_")) {
            let family = ["_total", "_bucket"]
                .iter()
                .find_map(|end| metric.strip_suffix(end))
                .unwrap_or(metric);
            assert!(known.contains(&family), "{metric} in\n{known:#?}");
            asked += 1;
        }
    }
    assert!(asked >= 20, "{asked}");
}
