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
    // One of twenty requests that a busy machine sends late makes it invalid.
    done.ends_one_of(&[0, 4])
        .says(&["20 requests/s of all users together"]);
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

#[test]
fn a_load_is_kept_with_its_report() {
    let server = CaseServer::start();
    let place = Place::new();
    let url = |path: &str| format!("http://127.0.0.1:{}{path}", server.port);
    let (one, other) = (url("/ok"), url("/nowhere"));
    place
        .weir(&["run", &one, &other, "-c", "2", "-d", "2s"])
        .says(&["report: weir-runs/run-"]);
    let run = place.names().into_iter().find(|name| name == "weir-runs");
    assert!(run.is_some(), "{:?}", place.names());
    let done = place.weir(&["report", "last", "--markdown"]).ends(0);
    let done = done.prints(&["| p99 |", "| /ok |", "| /nowhere |", "failed: 404"]);
    assert!(
        done.stdout.starts_with("# Load of http://127.0.0.1"),
        "{done}"
    );
    let page = place.weir(&["report", "last"]).ends(0).stdout;
    let page = place.read(page.trim());
    for part in [
        "requests/s, p99",
        "Distribution",
        "MB/s received",
        "/nowhere",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let explained = place.weir(&["explain", "last"]).ends(0);
    explained.prints(&["requests/s, mean"]);
    place
        .weir(&["compare", "last", "last"])
        .prints(&["throughput"]);
}

#[test]
fn no_report_shows_what_is_secret() {
    let server = CaseServer::start();
    let place = Place::new();
    let url = format!(
        "http://me:hunter2@127.0.0.1:{}/ok?token=hunter2",
        server.port
    );
    let words = ["run", &url, "-c", "1", "-d", "1s", "--json", "run.json"];
    let secret = ["-H", "X-Api-Key: hunter2", "-H", "iban: hunter2"];
    place.configure("secret-names = [\"iban\"]\n");
    let done = place.weir(&[&words[..], &secret].concat());
    let page = place.weir(&["report", "last"]).ends(0).stdout;
    for (what, text) in [
        ("what it says", done.stdout + &done.stderr),
        ("JSON", place.read("run.json")),
        ("the page", place.read(page.trim())),
        (
            "Markdown",
            place.weir(&["report", "last", "--markdown"]).stdout,
        ),
        ("explain", place.weir(&["explain", "last", "--all"]).stdout),
    ] {
        let line = text.lines().find(|line| line.contains("hunter2"));
        assert_eq!(line, None, "{what}");
    }
    assert!(place.read(page.trim()).contains("X-Api-Key: ***"));

    // Of a study the same: it stands in the report as it was read.
    let place = Place::with_recorded_run("tomcat-users");
    place.write(
        "weir-runs/recorded/run.toml",
        "schema = \"weir/manifest/1\"\nweir = \"0\"\nstarted = \"2026-11-30T12:00:00Z\"\nseed = 1\n\
         command = [\"weir\", \"sweep\", \"--token\", \"hunter2\"]\nbase = \"/srv/work\"\n\
         study = \"\"\"\n# In /srv/work, of http://shop.example.com:8080/.\n[load.properties]\nDB_PASSWORD = 'hunter2'\nUSERS = 3\n\"\"\"\n[machine]\n",
    );
    let page = place.weir(&["report", "recorded"]).ends(0).stdout;
    let page = place.read(page.trim());
    assert!(page.contains("DB_PASSWORD") && page.contains("USERS = 3"));
    assert!(!page.contains("hunter2") && page.contains("shop.example.com"));
    let share = ["report", "recorded", "--share", "copy.html"];
    place.weir(&share).ends(0).prints(&["copy.html"]);
    let copy = place.read("copy.html");
    assert!(copy.contains("# In DIR, of http://host-1:8080/."));
    for secret in ["hunter2", "/srv/work", "shop.example.com"] {
        assert!(!copy.contains(secret), "{secret}");
    }
}

#[test]
fn nothing_is_kept_that_nobody_wants_or_that_was_not_sent() {
    let server = CaseServer::start();
    let place = Place::new();
    let url = format!("http://127.0.0.1:{}/ok", server.port);
    place.weir(&["run", &url, "-n", "4", "--discard"]).ends(0);
    place.weir(&["run", "127.0.0.1:1", "-n", "4"]).ends(3);
    assert_eq!(place.names(), Vec::<String>::new());
    // What cannot be kept is run and told all the same.
    place.write("file", "");
    let words = ["run", &url, "-n", "4", "--runs", "file"];
    let done = place.weir(&words).ends(0).prints(&["/ok"]);
    done.says(&["nothing of this run is kept", "--discard"]);
}

#[test]
fn a_part_of_a_load_has_its_own_means() {
    let server = CaseServer::start();
    let place = Place::new();
    let url = format!("http://127.0.0.1:{}/ok", server.port);
    place
        .weir(&["run", &url, "-c", "2", "--rate", "20/2s,60/3s"])
        .ends(0);
    // The first two seconds have a third of the rate of the others.
    let early = place.weir(&["report", "last", "--to", "2s"]).ends(0);
    let early = early.prints(&["trial 1, from", "2 s, 0 of them missed", "responses: mean"]);
    let late = place
        .weir(&["report", "last", "--from", "2s", "--to", "4s"])
        .ends(0);
    let rate = |done: &str| {
        let line = done.lines().find(|line| line.starts_with("throughput "));
        let mean = line
            .and_then(|line| line.split_whitespace().nth(1))
            .unwrap();
        mean.parse::<f64>().unwrap()
    };
    let (early, late) = (rate(&early.stdout), rate(&late.stdout));
    assert!(
        (18.0..=22.0).contains(&early) && (57.0..=63.0).contains(&late),
        "{early} {late}"
    );
    let beyond = place.weir(&["report", "last", "--from", "10min"]).ends(2);
    beyond.says(&["no second of the run", "it has seconds from"]);
    let turned = place
        .weir(&["report", "last", "--from", "4s", "--to", "2s"])
        .ends(2);
    turned.says(&["--from lies behind --to"]);
    place
        .weir(&["report", "last", "--from", "soon"])
        .ends(2)
        .says(&["10:00:30"]);
}
