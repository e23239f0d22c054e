//! `weir explain --jtl` and `weir compare`: files of other tools in, an answer with an exit code
//! out.

use std::fmt::Write as _;

use crate::support::{Place, assert_valid, json_file};
use serde_json::Value;

/// 2026-11-22 00:10:00 UTC.
const START_MS: u64 = 1_795_306_200_000;
const HEADER: &str = "timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,\
                      bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n";

/// A load that somebody ran with JMeter.
#[derive(Clone, Copy)]
struct Load {
    users: u32,
    per_second: f64,
    /// Times are exponential with this mean, and 5 ms more.
    scale_ms: f64,
    /// One sample in so many fails; 0: none.
    fails_every: u64,
    seconds: u64,
    seed: u64,
}

const USUAL: Load = Load {
    users: 20,
    per_second: 40.0,
    scale_ms: 100.0,
    fails_every: 0,
    seconds: 240,
    seed: 1,
};

impl Load {
    fn jtl(self) -> String {
        let mut dice = self.seed;
        let mut next = move || {
            dice = dice
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (dice >> 33) as f64 / (1_u64 << 31) as f64
        };
        let mut text = HEADER.to_owned();
        let mut number = 0;
        for second in 0..self.seconds {
            let share = ((second + 1) as f64 / 20.0).min(1.0);
            let count = (self.per_second * share * (0.95 + 0.1 * next())).round() as u64;
            for place in 0..count {
                number += 1;
                let start = START_MS + second * 1_000 + place * 900 / count.max(1);
                let elapsed = 5.0 - self.scale_ms * (1.0 - next()).ln();
                let label = if number % 2 == 0 { "home" } else { "cart" };
                let fails = self.fails_every > 0 && number % self.fails_every == 0;
                let (code, success) = if fails {
                    ("503", "false")
                } else {
                    ("200", "true")
                };
                let users = (f64::from(self.users) * share).ceil();
                let thread = number % u64::from(self.users);
                let _ = writeln!(
                    text,
                    "{start},{elapsed:.0},{label},{code},,U 1-{thread},text,{success},,40,20,{users},{users},null,1,0,0"
                );
            }
        }
        text
    }
}

/// What `sadf -dU` would have written beside it.
fn sadf(busy: f64) -> String {
    let mut text =
        "# hostname;interval;timestamp;CPU;%user;%nice;%system;%iowait;%steal;%idle\n".to_owned();
    for second in 1..=240 {
        let user = busy + f64::from(second % 7) - 3.0;
        let _ = writeln!(
            text,
            "app1;1;{};-1;{user};0;0;0;0;{}",
            START_MS / 1_000 + second as u64,
            100.0 - user
        );
    }
    text
}

fn figure<'a>(comparison: &'a Value, name: &str) -> &'a Value {
    let figures = comparison["figures"].as_array().unwrap();
    figures
        .iter()
        .find(|figure| figure["figure"] == name)
        .unwrap()
}

/// Compares, and gives the stored answer.
fn compared(place: &Place, words: &[&str], code: i32) -> Value {
    let mut all = vec!["compare"];
    all.extend(words);
    all.extend(["--json", "answer.json"]);
    place.weir(&all).ends(code);
    let answer = json_file(&place.path("answer.json"));
    assert_valid("docs/schemas/compare.schema.json", &answer);
    assert_eq!(answer["exit_code"], code);
    answer
}

#[test]
fn a_test_against_itself_is_never_different() {
    let place = Place::new();
    place.write("a.jtl", &USUAL.jtl());
    place.write("again.jtl", &Load { seed: 99, ..USUAL }.jtl());
    for other in ["a.jtl", "again.jtl"] {
        let answer = compared(&place, &["a.jtl", other, "--margin", "15 %"], 0);
        assert_eq!(answer["status"], "same", "{other}: {answer}");
        assert_eq!(answer["basis"], "within-trial");
        let note = answer["notes"][0].as_str().unwrap();
        assert!(
            note.contains("nothing here shows how much two trials"),
            "{note}"
        );
    }
    // What JMeter itself recorded is far too short to tell anything.
    let recorded = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../record/tests/jmeter/struct.jtl"
    );
    let answer = compared(&place, &[recorded, recorded], 4);
    assert_eq!(answer["outcome"], "undecided");
    assert!(
        figure(&answer, "throughput_per_s")["why"]
            .as_str()
            .unwrap()
            .contains("at least")
    );
}

#[test]
fn a_known_difference_is_found_where_it_is() {
    let place = Place::new();
    place.write("a.jtl", &USUAL.jtl());
    let slower = Load {
        scale_ms: 150.0,
        fails_every: 50,
        seed: 7,
        ..USUAL
    };
    place.write("b.jtl", &slower.jtl());
    let answer = compared(&place, &["a.jtl", "b.jtl"], 0);
    assert_eq!(
        (&answer["status"], &answer["outcome"]),
        (&"answered".into(), &"different".into())
    );
    assert_eq!(figure(&answer, "throughput_per_s")["outcome"], "same");
    // Exponential times above 5 ms: the median is 5 ms and 0.693 of their mean, the 99th percentile
    // 5 ms and 4.605 of it.
    for (name, truth) in [("p50", 108.97 / 74.31 - 1.0), ("p99", 695.8 / 465.5 - 1.0)] {
        let compared = figure(&answer, &format!("response_time_ms.{name}"));
        assert_eq!(compared["outcome"], "different", "{compared}");
        let end = |end: &str| compared["change"][end].as_f64().unwrap();
        assert!(
            end("low") < truth && truth < end("high"),
            "{name} {truth}: {compared}"
        );
    }
    let errors = figure(&answer, "errors.share");
    assert_eq!(
        (&errors["outcome"], &errors["change"]["scale"]),
        (&"different".into(), &"points".into())
    );
    assert_eq!(answer["labels"].as_object().unwrap().len(), 2, "{answer}");

    place
        .weir(&["compare", "a.jtl", "b.jtl", "--html", "page.html"])
        .ends(0)
        .prints(&[
            "b.jtl differs from a.jtl: ",
            "DIFFERENT",
            "By label",
            "cart: ",
        ]);
    let page = place.read("page.html");
    assert!(page.contains("b.jtl differs from a.jtl: "), "{page}");
    // Throughput, mean, p50, p90, p95 and p99 on one scale, errors on another.
    assert_eq!(page.matches("class=\"at\"").count(), 7, "{page}");
}

#[test]
fn requirements_decide_the_exit_code() {
    let place = Place::new();
    place.write("a.jtl", &USUAL.jtl());
    place.write(
        "b.jtl",
        &Load {
            scale_ms: 150.0,
            seed: 7,
            ..USUAL
        }
        .jtl(),
    );
    let with = |required: &str, code: i32, part: &str| {
        let done = place.weir(&["compare", "a.jtl", "b.jtl", "--require", required]);
        done.ends(code).prints(&[part]);
    };
    with("p99 <= 800 ms", 0, "met p99 <= 800 ms: found");
    with("p99 <= 300 ms", 1, "NOT MET p99 <= 300 ms: found");
    with(
        "throughput >= 95 % of A",
        0,
        "met throughput >= 95 % of A: found",
    );
    with("p50 <= 110 % of A", 1, "NOT MET p50 <= 110 % of A: found");
    with("cpu <= 80 %", 1, "NOT MET cpu <= 80 %: found not read");
    for (wrong, part) in [
        ("p75 <= 1 ms", "not recorded"),
        ("p75 <= 95 % of A", "not recorded"),
        ("throughput >= 95 of A", "95 % of A"),
    ] {
        let words = ["compare", "a.jtl", "b.jtl", "--require", wrong];
        place.weir(&words).ends(2).says(&[part]);
    }
}

#[test]
fn what_people_have_becomes_a_run() {
    let place = Place::new();
    place.write("shot1.jtl", &USUAL.jtl());
    place.write(
        "shot2.jtl",
        &Load {
            users: 40,
            per_second: 60.0,
            seed: 3,
            ..USUAL
        }
        .jtl(),
    );
    place.write("app1.csv", &sadf(50.0));
    place
        .weir(&[
            "explain",
            "--jtl",
            "shot1.jtl",
            "shot2.jtl",
            "--csv",
            "app1.csv",
            "--cpus",
            "2",
        ])
        .ends(0)
        .prints(&[
            "weir-runs/shot1-",
            "shot1: 20 users",
            "its times name their zone",
            "240 lie within the load",
            "2 load test(s) taken in, 2 of them",
            "which stage holds the flow",
        ]);
    let runs = crate::support::names_in(&place.path("weir-runs"));
    let result = json_file(&place.path(&format!("weir-runs/{}/result.json", runs[0])));
    assert_valid("docs/schemas/result.schema.json", &result);
    let trial = &result["trials"][1];
    assert_eq!(
        (&trial["population"], &trial["levels"]["users"]),
        (&40.into(), &40.into())
    );
    assert!(
        (trial["cpu"]["total"].as_f64().unwrap() - 0.5).abs() < 0.01,
        "{trial}"
    );
    let origin = trial["signal_origins"]["cpu"].as_str().unwrap();
    assert_eq!(origin, "app1.csv (sadf -d of app1)");
    assert_eq!(result["target"]["cpus"], 2);

    place
        .weir(&["report", "last", "--markdown"])
        .ends(0)
        .prints(&["shot1", "shot2", "app1.csv"]);
    // Run against its own files: the same trials, matched by their users.
    let answer = compared(&place, &["last", "last"], 0);
    assert_eq!(answer["status"], "same");
    assert_eq!(answer["basis"], "matched-trials");
    assert_eq!(answer["matched"].as_array().unwrap().len(), 2);
    let answer = compared(&place, &["shot1.jtl", "shot2.jtl"], 0);
    let differs = answer["differs"].to_string();
    assert!(differs.contains("the users: 20 and 40"), "{differs}");
}

/// A real watch, of this process, and a result file of the same seconds.
#[test]
fn a_watch_lies_beside_the_load() {
    let place = Place::new();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let pid = std::process::id().to_string();
    place.weir(&["watch", &pid, "--for", "3s"]).ends(0);
    let watch = crate::support::names_in(&place.path("weir-runs")).remove(0);
    let mut text = HEADER.to_owned();
    for sample in 0..200_u128 {
        let start = now.as_millis() - 1_000 + sample * 40;
        let _ = writeln!(
            text,
            "{start},10,home,200,,U 1-1,text,true,,40,20,1,1,null,1,0,0"
        );
    }
    place.write("shot.jtl", &text);
    place
        .weir(&[
            "explain",
            "--jtl",
            "shot.jtl",
            "--watch",
            &watch,
            "--json",
            "result.json",
        ])
        .ends(0)
        .prints(&["a watch of 3 s"]);
    let result = json_file(&place.path("result.json"));
    let trial = &result["trials"][0];
    assert!(
        trial["signals"]["target.threads"].as_f64() >= Some(1.0),
        "{trial}"
    );
    let origin = trial["signal_origins"]["target.threads"].as_str().unwrap();
    assert!(origin.contains(&watch), "{origin}");
    assert_eq!(trial["population"], 1);
}

#[test]
fn bad_input_is_told() {
    let place = Place::new();
    place.write(
        "a.jtl",
        &Load {
            seconds: 40,
            ..USUAL
        }
        .jtl(),
    );
    place.write("empty.jtl", "");
    place.write("app1.csv", &sadf(50.0));
    place.write("late.csv", &sadf(50.0).replace(";179530", ";189530"));
    for (words, part) in [
        (&["explain"][..], "find the run `last`"),
        (&["explain", "--sar", "a.jtl"], "--jtl"),
        (&["explain", "--jtl", "none.jtl"], "none.jtl"),
        (&["explain", "--jtl", "empty.jtl"], "it is empty"),
        (
            &["explain", "--jtl", "app1.csv"],
            "give it with --sar or --csv",
        ),
        (
            &["explain", "--jtl", "a.jtl", "--sar", "a.jtl"],
            "give it with --jtl",
        ),
        (
            &["explain", "--jtl", "a.jtl", "--csv", "late.csv"],
            "no second in common",
        ),
        (
            &["explain", "--jtl", "a.jtl", "--time-zone", "Berlin-ish"],
            "Europe/Berlin, UTC or +02:00",
        ),
        (&["compare", "a.jtl"], "<B>"),
        (&["compare", "a.jtl", "nowhere"], "find the run `nowhere`"),
        (
            &["compare", "a.jtl", "app1.csv"],
            "give it with --sar or --csv",
        ),
        (
            &["compare", "a.jtl", "a.jtl", "--margin", "5"],
            "such as `3 %`",
        ),
    ] {
        place.weir(words).ends(2).says(&[part]);
    }
    assert!(!place.path("weir-runs").exists(), "nothing was stored");
}
