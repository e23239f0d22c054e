//! What is sent again, left out or summed up is counted in JSON, and stands on one page.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::{Place, SampleServer, assert_valid, json_file, names_in, repository_file};

/// The ids of the schema, which is made from the code.
fn known() -> BTreeSet<String> {
    let schema = repository_file("docs/schemas/trial.schema.json");
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let kinds = schema["$defs"]["AdjustmentKind"]["oneOf"]
        .as_array()
        .unwrap();
    let id = |kind: &Value| kind["const"].as_str().unwrap().to_owned();
    kinds.iter().map(id).collect()
}

/// The adjustments of a trial, each with its count; each is told in a note as well.
fn counted(trial: &Value) -> Vec<(String, u64)> {
    let notes: Vec<&str> = trial["notes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let Some(adjustments) = trial["adjustments"].as_array() else {
        return Vec::new();
    };
    let one = |one: &Value| {
        let says = one["says"].as_str().unwrap();
        assert!(notes.contains(&says), "{says}: {notes:?}");
        let id = one["id"].as_str().unwrap().to_owned();
        (id, one["count"].as_u64().unwrap())
    };
    adjustments.iter().map(one).collect()
}

/// The trial of a run whose result is printed as JSON.
fn run(place: &Place, words: &[&str]) -> Vec<(String, u64)> {
    let words = [&["run"], words, &["--json", "-"]].concat();
    let result = place.weir(&words).json();
    assert_valid("docs/schemas/run.schema.json", &result);
    counted(&result["trial"])
}

/// The trial of a file that is taken in.
fn taken_in(place: &Place, words: &[&str]) -> Vec<(String, u64)> {
    let before = place.names().contains(&"weir-runs".to_owned());
    assert!(!before, "one file for each place");
    place
        .weir(&[&["explain"], words].concat())
        .ends_one_of(&[0, 3]);
    let runs = place.path("weir-runs");
    let result = runs.join(&names_in(&runs)[0]).join("result.json");
    let result = json_file(&result);
    assert_valid("docs/schemas/result.schema.json", &result);
    counted(&result["trials"][0])
}

fn of(id: &str, count: u64) -> Vec<(String, u64)> {
    vec![(id.to_owned(), count)]
}

/// A server that answers after this time, and a connection that is older than `until` never.
fn server(after: Duration, until: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for stream in listener.incoming().take(100) {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let begun = Instant::now();
                let mut request = [0; 4096];
                while stream.read(&mut request).is_ok_and(|read| read > 0) {
                    if begun.elapsed() < until {
                        thread::sleep(after);
                        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
                        // Whoever has gone needs no answer.
                        let _ = stream.write_all(answer);
                    }
                }
            });
        }
    });
    format!("http://{address}/")
}

const HEAD: &str =
    "timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,allThreads\n";

fn row(second: u64, label: &str) -> String {
    let at = 1_715_691_600_000 + second * 1_000;
    format!("{at},100,{label},200,OK,g 1-1,true,1\n")
}

fn rows(seconds: std::ops::Range<u64>) -> String {
    seconds.map(|second| row(second, "home")).collect()
}

#[test]
fn the_page_has_each_kind_and_no_other() {
    let page = repository_file("docs/reference/adjustments.md");
    let told: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(id, _)| id.to_owned())
        .filter(|id| id != "id")
        .collect();
    assert_eq!(told, known());
}

#[test]
fn samples_that_are_cut_off_at_the_end_are_counted() {
    let place = Place::new();
    let url = server(Duration::from_millis(20), Duration::from_secs(1));
    let words = [
        "run",
        &url,
        "--connections",
        "3",
        "--duration",
        "2s",
        "--json",
        "run.json",
    ];
    let running = place.start(&words);
    thread::sleep(Duration::from_secs(4));
    // Samples that run may finish, for some ten seconds.
    running.signal(rustix::process::Signal::INT);
    running.done(Duration::from_secs(60));
    let result = json_file(&place.path("run.json"));
    assert_valid("docs/schemas/run.schema.json", &result);
    assert_eq!(counted(&result["trial"]), of("cut-off", 3));
}

#[test]
fn labels_beyond_the_most_are_counted() {
    let place = Place::new();
    let server = SampleServer::start();
    place.write(
        "p.jmx",
        &format!(
            "<jmeterTestPlan><hashTree><TestPlan testname=\"P\"/><hashTree>\
             <ThreadGroup testname=\"g\"><stringProp name=\"ThreadGroup.num_threads\">1</stringProp>\
             <elementProp name=\"ThreadGroup.main_controller\" elementType=\"LoopController\">\
             <boolProp name=\"LoopController.continue_forever\">false</boolProp>\
             <stringProp name=\"LoopController.loops\">3000</stringProp></elementProp></ThreadGroup><hashTree>\
             <HTTPSamplerProxy testname=\"r ${{__counter(FALSE)}}\">\
             <stringProp name=\"HTTPSampler.domain\">127.0.0.1</stringProp>\
             <stringProp name=\"HTTPSampler.port\">{}</stringProp>\
             <stringProp name=\"HTTPSampler.path\">/light</stringProp></HTTPSamplerProxy><hashTree/>\
             </hashTree></hashTree></hashTree></jmeterTestPlan>",
            server.port()
        ),
    );
    let found = run(&place, &["p.jmx"]);
    assert_eq!(found.len(), 1, "{found:?}");
    let (id, count) = &found[0];
    // All but the first thousand, less what ended before the measured window.
    assert!(
        id == "other-labels" && (1..=2_000).contains(count),
        "{found:?}"
    );
}

#[test]
fn requests_that_did_not_start_are_counted() {
    let place = Place::new();
    let url = server(Duration::from_millis(500), Duration::from_secs(60));
    let words = [
        &*url,
        "--rate",
        "50",
        "--connections",
        "2",
        "--duration",
        "3s",
    ];
    let found = run(&place, &words);
    let not_started = found.iter().find(|(id, _)| id == "not-started");
    assert!(
        not_started.is_some_and(|(_, count)| *count >= 90),
        "{found:?}"
    );
}

#[test]
fn rows_that_stand_twice_are_counted() {
    let place = Place::new();
    place.write("a.jtl", &format!("{HEAD}{}{}", rows(0..60), rows(30..40)));
    assert_eq!(taken_in(&place, &["--jtl", "a.jtl"]), of("rows-twice", 10));
}

#[test]
fn lines_that_cannot_be_read_are_counted() {
    let place = Place::new();
    let broken = "17156916nonsense\n";
    place.write(
        "a.jtl",
        &format!("{HEAD}{}{broken}{}", rows(0..30), rows(30..60)),
    );
    assert_eq!(
        taken_in(&place, &["--jtl", "a.jtl"]),
        of("rows-unreadable", 1)
    );
}

#[test]
fn tests_beside_the_one_that_is_taken_are_counted() {
    let place = Place::new();
    place.write(
        "a.jtl",
        &format!("{HEAD}{}{}", rows(0..60), rows(90_000..90_020)),
    );
    let found = taken_in(&place, &["--jtl", "a.jtl"]);
    assert_eq!(found, of("rows-of-other-tests", 20));
}

#[test]
fn rows_of_a_monitor_outside_of_the_load_are_counted() {
    let place = Place::new();
    place.write("a.jtl", &format!("{HEAD}{}", rows(0..60)));
    let mut csv = "\"pcp-dstat 5.0.3 CSV Output\"\n\
         \"Author:\",\"PCP team\",,,,\"URL:\",\"https://pcp.io/\"\n\
         \"Host:\",\"app1\",,,,\"User:\",\"me\"\n\
         \"Cmdline:\",\"dstat --epoch -c\",,,,\"Date:\",\"14 May 2024 13:00:00 UTC\"\n\
         \"epoch\",\"total usage\",,,\"moon\"\n\
         \"epoch\",\"total usage:usr\",\"total usage:sys\",\"total usage:idl\",\"phase\"\n"
        .to_owned();
    for second in 0..70 {
        let at = 1_715_691_600 + second;
        writeln!(csv, "{at},40.000,10.000,50.000,1").unwrap();
    }
    place.write("m.csv", &csv);
    let found = taken_in(&place, &["--jtl", "a.jtl", "--csv", "m.csv"]);
    let counts = |id: &str| found.iter().any(|(found, count)| found == id && *count > 0);
    assert!(
        counts("rows-outside") && counts("columns-left-out"),
        "{found:?}"
    );
}
