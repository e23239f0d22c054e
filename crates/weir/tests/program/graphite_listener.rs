//! Backend Listeners for Graphite send what JMeter sends, in both of its forms.
//!
//! What JMeter 5.6.3 wrote for the same plan is recorded. Left out of both are dates, response
//! times and what was sent, which has the program's name in it.

use std::fmt::Write as _;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::Value;

use crate::recorded::files::lines_as_recorded;
use crate::recorded::jmeter;
use crate::recorded::native::Native;
use crate::recorded::server::CaseServer;

fn case(extension: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/recorded/cases/graphite-listeners")
        .with_extension(extension)
}

/// A database that takes all in, and tells of a connection when it is closed.
struct Sink {
    port: String,
    closed: Receiver<Vec<u8>>,
}

impl Sink {
    fn open() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        let (told, closed) = channel();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let told = told.clone();
                std::thread::spawn(move || {
                    let mut all = Vec::new();
                    stream.read_to_end(&mut all).unwrap();
                    // The test may be over.
                    let _ = told.send(all);
                });
            }
        });
        Self { port, closed }
    }

    /// What came over this number of connections.
    fn took(&self, connections: usize) -> Vec<Vec<u8>> {
        let wait = || self.closed.recv_timeout(Duration::from_secs(30)).unwrap();
        std::iter::repeat_with(wait).take(connections).collect()
    }
}

/// The figures of what came in pickle, one line each as in text.
fn unpickled(bytes: &[u8]) -> String {
    let mut lines = String::new();
    let mut rest = bytes;
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let (list, after) = after.split_at(u32::from_be_bytes(*length) as usize);
        let list = std::str::from_utf8(list).unwrap();
        let tuples = list
            .strip_prefix("(l")
            .and_then(|list| list.strip_suffix('.'));
        for tuple in tuples.unwrap().split_inclusive("tta") {
            let words: Vec<&str> = tuple.lines().collect();
            let [name, date, value, "tta"] = words[..] else {
                panic!("{tuple}");
            };
            let text = |word: &str, front| -> String {
                let word: Option<&str> = word.strip_prefix(front);
                word.unwrap().trim_end_matches(['\'', 'L']).to_owned()
            };
            let (name, value) = (text(name, "(S'"), text(value, "S'"));
            let _ = writeln!(lines, "{name} {value} {}", text(date, "(L"));
        }
        rest = after;
    }
    lines
}

/// Names and counts, without dates and times.
fn lasting(lines: &str) -> Vec<String> {
    let mut lasting: Vec<String> = lines
        .lines()
        .map(|line| {
            let [name, value, date] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}");
            };
            assert!(date.parse::<u64>().is_ok_and(|date| date > 1_700_000_000));
            let counts = ["count", "rb.bytes", "AT", "edT"];
            if counts.iter().any(|count| name.ends_with(count)) {
                return format!("{name} {value}");
            }
            assert!(value.parse::<f64>().is_ok(), "{line}");
            name.to_owned()
        })
        .collect();
    lasting.sort();
    lasting
}

#[test]
fn figures_are_those_that_jmeter_sends() {
    let server = CaseServer::start();
    let (text, pickle) = (Sink::open(), Sink::open());
    let port = server.port.to_string();
    // All is sent at the end, so that what it says does not depend on time.
    let properties = [
        ("backend_graphite.send_interval", "60"),
        ("port", &*port),
        ("graphite", &*text.port),
        ("pickle", &*pickle.port),
    ];
    let plan = case("jmx");
    let home = jmeter::home();
    if let Some(home) = &home {
        jmeter::in_jmeter(home, &plan, &properties, &server);
    } else {
        let native = Native {
            plan: &plan,
            properties: &properties,
            port: None,
            stop_after: None,
        };
        native.run();
    }
    let mut lines = String::new();
    for bytes in text.took(6) {
        lines += std::str::from_utf8(&bytes).unwrap();
    }
    for bytes in pickle.took(1) {
        lines += &unpickled(&bytes);
    }
    let here = lasting(&lines);
    lines_as_recorded(&here, &case("lines"), home.is_some());
}

#[test]
fn a_connection_that_was_closed_is_opened_again_and_none_is_counted() {
    let server = CaseServer::start();
    let folder = tempfile::tempdir().unwrap();
    let closes = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = closes.local_addr().unwrap().port();
    let (told, lines) = channel();
    std::thread::spawn(move || {
        for mut stream in closes.incoming().flatten() {
            let mut some = vec![0; 64 * 1_024];
            let read = stream.read(&mut some).unwrap();
            let _ = told.send(String::from_utf8(some[..read].to_vec()).unwrap());
        }
    });
    let text = std::fs::read_to_string(case("jmx")).unwrap();
    let text = text.replace("return &quot;x&quot;", "Thread.sleep(1500)");
    std::fs::write(folder.path().join("plan.jmx"), text).unwrap();
    let ran = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["run", "plan.jmx", "--json", "result.json"])
        .arg(format!("-Jport={}", server.port))
        .args([format!("-Jgraphite={port}"), "-Jpickle=1".to_owned()])
        .current_dir(folder.path())
        .output()
        .unwrap();
    let shown = String::from_utf8_lossy(&ran.stderr).into_owned();
    let result = std::fs::read(folder.path().join("result.json")).unwrap();
    let result: Value = serde_json::from_slice(&result).unwrap();
    let adjustments = result["trial"]["adjustments"].as_array().unwrap();
    let lost: Vec<&str> = adjustments
        .iter()
        .filter(|one| one["id"] == "figures-lost")
        .map(|one| one["says"].as_str().unwrap())
        .collect();
    assert_eq!(lost.len(), 1, "{lost:#?}");
    assert!(lost[0].contains("pickle"), "{lost:?}");
    assert!(lost[0].contains("refused"), "{lost:?}");
    assert!(shown.contains("pickle"), "{shown}");
    let lines: Vec<String> = lines.try_iter().collect();
    let of_sum = lines.iter().filter(|text| text.starts_with("sum."));
    assert!(of_sum.count() >= 3, "{lines:#?}");
}
