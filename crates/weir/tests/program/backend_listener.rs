//! Backend Listeners send what JMeter sends, and say what did not arrive.
//!
//! The lines that JMeter 5.6.3 wrote for the same plan are recorded. Left out of both are dates,
//! response times and what was sent, which has the program's name in it.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::recorded::files::lines_as_recorded;
use crate::recorded::jmeter;
use crate::recorded::native::Native;
use crate::recorded::server::{CaseServer, Requests};

fn case(extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recorded/cases/backend-listeners")
        .with_extension(extension)
}

/// The lines of all writes, each with the database that it was written to.
fn lines(requests: &Requests) -> Vec<String> {
    let mut lines = Vec::new();
    for request in requests.values().flatten() {
        let Some((head, body)) = request.split_once(" || ") else {
            continue;
        };
        let Some(database) = head
            .split(['=', ' '])
            .nth(2)
            .filter(|_| head.contains("?db="))
        else {
            continue;
        };
        let said = unescaped(body);
        let lasting = said.lines().filter(|line| !line.contains("maxAT=0"));
        lines.extend(lasting.map(|line| format!("{database} {}", without_values(line))));
    }
    lines.sort();
    lines
}

/// What [`CaseServer`] escaped.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        out.push(match (letter, letter == '\\') {
            (_, true) => match letters.next().unwrap() {
                'n' => '\n',
                't' => '\t',
                other => other,
            },
            (letter, false) => letter,
        });
    }
    out
}

/// A line without its date and its times; the fields in the order of their names.
fn without_values(line: &str) -> String {
    let (line, _date) = line.rsplit_once(' ').unwrap();
    if line.starts_with("events,") {
        return line.to_owned();
    }
    let (tags, fields) = line.rsplit_once(' ').unwrap();
    let is_lasting = |name: &str| {
        let differs = ["avg", "min", "max", "sb"].contains(&name) || name.starts_with("pct");
        !differs
    };
    let mut fields: Vec<&str> = fields
        .split(',')
        .map(|field| {
            let name = field.split('=').next().unwrap();
            if is_lasting(name) { field } else { name }
        })
        .collect();
    fields.sort_unstable();
    format!("{tags} {}", fields.join(","))
}

/// All is sent at the end, so that what it says does not depend on time.
const AT_THE_END: (&str, &str) = ("backend_influxdb.send_interval", "60");

#[test]
fn figures_go_where_a_plan_sends_them_as_jmeter_writes_them() {
    let server = CaseServer::start();
    let port = server.port.to_string();
    let properties = [AT_THE_END, ("port", &*port)];
    let plan = case("jmx");
    if let Some(home) = jmeter::home() {
        jmeter::in_jmeter(&home, &plan, &properties, &server);
        let theirs = lines(&server.requests());
        return lines_as_recorded(&theirs, &case("lines"), true);
    }
    let native = Native {
        plan: &plan,
        properties: &properties,
        port: None,
        stop_after: None,
    };
    native.run();
    let here = lines(&server.requests());
    lines_as_recorded(&here, &case("lines"), false);
}

#[test]
fn figures_that_do_not_arrive_are_counted_and_the_run_is_right() {
    let server = CaseServer::start();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.jmx");
    let text = std::fs::read_to_string(case("jmx")).unwrap();
    // The first database is gone, the second refuses, the third is public (RFC 5737; nothing is
    // sent there), the fourth has no address that Weir could send to.
    let text = text
        .replace(
            "http://127.0.0.1:${__P(port)}/204?db=all",
            "http://127.0.0.1:1/write",
        )
        .replace("/204?db=some", "/500?db=some")
        .replace(
            "http://127.0.0.1:${__P(port)}/204?db=group",
            "${__P(nowhere)}",
        );
    let text = text.replace("127.0.0.1:${__P(port)}/204?db=sum", "203.0.113.7/write");
    std::fs::write(&plan, text).unwrap();
    let port = server.port.to_string();
    let ran = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args([
            "run",
            "plan.jmx",
            "--json",
            "result.json",
            "-Jbackend_influxdb.send_interval=60",
        ])
        .arg(format!("-Jport={port}"))
        .current_dir(folder.path())
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&ran.stderr).into_owned();
    assert!(shown.contains("lost 2 of its 2 write(s)"), "{shown}");
    let result = std::fs::read(folder.path().join("result.json")).unwrap();
    let result: Value = serde_json::from_slice(&result).unwrap();
    let adjustments = result["trial"]["adjustments"].as_array().unwrap();
    let lost: Vec<(u64, &str)> = adjustments
        .iter()
        .filter(|one| one["id"] == "figures-lost")
        .map(|one| {
            (
                one["count"].as_u64().unwrap(),
                one["says"].as_str().unwrap(),
            )
        })
        .collect();
    let whys = [
        "refused",
        "the status is 500",
        "203.0.113.7 and is not allowed",
        "only http:// is supported",
    ];
    assert_eq!(lost.len(), whys.len(), "{lost:#?}");
    for ((count, says), why) in lost.iter().zip(whys) {
        assert!(says.contains(why), "{says}");
        assert!((1..=2).contains(count), "{says}");
    }
    assert_eq!(result["status"], "answered");
}

#[test]
fn a_listener_that_is_told_nothing_is_named_before_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.jmx");
    let whole = std::fs::read_to_string(case("jmx")).unwrap();
    let check = |from: &str, to: &str| {
        std::fs::write(&plan, whole.replace(from, to)).unwrap();
        let checked = Command::new(env!("CARGO_BIN_EXE_weir"))
            .args(["check", "plan.jmx"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(checked.stdout).unwrap()
    };
    let said = check("nothing", "nothing");
    assert!(said.contains("runs natively in full"), "{said}");
    let cases = [
        ("http://127", "https://127", "Weir sends over http:// alone"),
        (
            ".InfluxdbBackendListenerClient",
            ".OwnBackendListenerClient",
            "InfluxDB and Graphite alone",
        ),
        (".HttpMetricsSender", ".OwnSender", "none of JMeter's"),
    ];
    for (from, to, why) in cases {
        let said = check(from, to);
        assert!(said.contains(why), "{said}");
        assert!(!said.contains("natively in full"), "{said}");
        assert!(said.contains("plan.jmx:"), "{said}");
    }
}

#[test]
fn datagrams_and_tokens_are_sent_too() {
    let server = CaseServer::start();
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket
        .set_read_timeout(Some(std::time::Duration::from_secs(20)))
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.jmx");
    let token = "<elementProp name=\"influxdbToken\" elementType=\"Argument\"><stringProp \
                 name=\"Argument.name\">influxdbToken</stringProp><stringProp \
                 name=\"Argument.value\">abc==</stringProp></elementProp><elementProp \
                 name=\"influxdbUrl\"";
    // The last element is the one of a group.
    let text = std::fs::read_to_string(case("jmx")).unwrap();
    let (others, last) = text.rsplit_once("<BackendListener ").unwrap();
    let last = last
        .replace(".HttpMetricsSender", ".UdpMetricsSender")
        .replace(
            "http://127.0.0.1:${__P(port)}/204?db=group",
            &socket.local_addr().unwrap().to_string(),
        );
    let others = others.replace("<elementProp name=\"influxdbUrl\"", token);
    std::fs::write(&plan, format!("{others}<BackendListener {last}")).unwrap();
    let port = server.port.to_string();
    let native = Native {
        plan: &plan,
        properties: &[AT_THE_END, ("port", &*port)],
        port: None,
        stop_after: None,
    };
    native.run();
    let mut datagram = [0; 9_000];
    let mut received = String::new();
    for _ in 0..2 {
        let length = socket.recv(&mut datagram).unwrap();
        received += std::str::from_utf8(&datagram[..length]).unwrap();
    }
    assert!(received.contains("transaction=ok,statut=ok"), "{received}");
    assert!(received.contains(" ended\""), "{received}");
    let requests = server.requests();
    let writes = requests.values().flatten();
    let writes: Vec<_> = writes
        .filter(|request| request.contains("/204?db="))
        .collect();
    assert!(writes.len() >= 6, "two writes of three listeners");
    for write in writes {
        assert!(write.contains("Authorization: Token abc=="), "{write}");
    }
}
