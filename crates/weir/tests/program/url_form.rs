//! `weir run URL` as people type it who come from other tools, and where its answer goes.

use serde_json::Value;

use crate::recorded::server::CaseServer;
use crate::support::{Place, SampleServer};

/// What the server was asked, of whichever user.
fn asked(server: &CaseServer) -> Vec<String> {
    server.take_requests().into_values().flatten().collect()
}

#[test]
fn an_answer_is_data_and_the_rest_is_talk() {
    let server = SampleServer::start();
    let place = Place::new();
    let url = server.url("/light");
    let done = place.weir(&["run", &url, "-n", "20", "-c", "2"]);
    let done = done.ends(0).prints(&["label", "throughput", "/light"]);
    let done = done.says(&["load goes to"]);
    assert!(!done.stderr.contains("throughput"), "{done}");
    // With the JSON on standard output, nothing else is there.
    let done = place.weir(&["run", &url, "-n", "20", "-c", "2", "--json", "-"]);
    let result = done.ends(0).says(&["label", "throughput"]).json();
    assert_eq!(result["trial"]["errors"]["count"], 0);
}

#[test]
fn help_of_run_is_the_help_that_run_prints() {
    let place = Place::new();
    let own = place.weir(&["run", "--help"]).ends(0);
    let own = own.prints(&["-z (hey, oha)", "-t (ab; wrk; hey, oha)"]);
    assert_eq!(place.weir(&["help", "run"]).stdout, own.stdout);
}

#[test]
fn options_of_ab_become_requests() {
    let server = CaseServer::start();
    let place = Place::new();
    place.write("order.json", "{\"n\": 1}");
    let address = format!("127.0.0.1:{}/echo", server.port);
    let words = "-k -n 6 -c 2 -p order.json -T application/json -C a=b -a u:p -r";
    let words: Vec<&str> = ["run"].into_iter().chain(words.split(' ')).collect();
    let words = [&words[..], &[&address]].concat();
    place.weir(&words).ends(0).prints(&["/echo"]);
    let asked = asked(&server);
    assert_eq!(asked.len(), 6);
    for request in asked {
        for part in [
            "POST /echo HTTP/1.1",
            "Content-Type: application/json",
            "Cookie: a=b",
            "Authorization: Basic dTpw",
            "|| {\\\"n\\\": 1}",
        ] {
            assert!(request.contains(part), "{part}: {request}");
        }
    }
}

#[test]
fn a_rate_of_oha_is_a_rate_and_is_said() {
    let server = CaseServer::start();
    let place = Place::new();
    let url = format!("http://127.0.0.1:{}/ok", server.port);
    let done = place.weir(&["run", &url, "-q", "20", "-z", "1s", "-c", "4"]);
    done.ends(0).says(&["20 requests/s of all users together"]);
    let requests = asked(&server).len();
    assert!((18..=21).contains(&requests), "{requests}");
}

#[test]
fn several_urls_are_requested_in_turn() {
    let server = CaseServer::start();
    let place = Place::new();
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", server.port);
    place.write("list", &format!("# the third\n\n{}\n", url("/json")));
    let (one, other) = (url("/ok"), url("/xml?a=1"));
    let words = ["run", &one, &other, "--urls", "list", "-n", "30", "-c", "3"];
    let done = place.weir(&[&words[..], &["--json", "r.json"]].concat());
    done.ends(0).prints(&["/ok", "/xml", "/json", "all"]);
    let asked = asked(&server);
    for target in ["GET /ok ", "GET /xml?a=1 ", "GET /json "] {
        let count = asked.iter().filter(|told| told.starts_with(target)).count();
        assert!((9..=11).contains(&count), "{target}: {count}");
    }
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(result["trial"]["classes"].as_object().unwrap().len(), 3);
    place.write("list", "http://127.0.0.1/\nnonsense\n");
    let done = place.weir(&["run", "--urls", "list"]);
    done.ends(2).says(&["list:2: `nonsense`"]);
}

#[test]
fn a_request_may_have_a_time_limit() {
    let server = CaseServer::start();
    let place = Place::new();
    let url = format!("http://127.0.0.1:{}/slow", server.port);
    let words = ["run", &url, "-n", "4", "-c", "2", "--timeout", "0.1"];
    place
        .weir(&words)
        .prints(&["failed: 4 × no answer in time"]);
    let words = ["run", &url, "-n", "4", "-c", "2", "--timeout", "5s"];
    place.weir(&words).ends(0);
}

#[test]
fn a_run_ends_when_it_is_told_to() {
    let server = CaseServer::start();
    let place = Place::new();
    let url = format!("http://127.0.0.1:{}/500", server.port);
    let words = ["run", &url, "-c", "2", "-d", "60s", "--json", "r.json"];
    let done = place.weir(&[&words[..], &["--stop-when", "errors > 10 %"]].concat());
    done.ends(1)
        .says(&["errors > 10 % for 3 s one after the other"])
        .prints(&["failed: "]);
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(result["status"], "not-met");
    assert!(result["trial"]["window_s"].as_f64().unwrap() < 10.0);
}
