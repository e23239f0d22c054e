//! Rates of arrivals in trials: what was due, and what of it was missed.

use crate::support::Place;

/// 114 ms a request on two threads: 17 a second are answered at most.
const STUDY: &str = r#"
schema = "weir/study/1"

[target.builtin]
[target.builtin.settings]
threads = 2

[load]
url = "/stress?searchTime=5&updateTime=5&interval=50&duration=2&bit=64"
arrivals = "constant"
window = "5 s"
warm-up = "1 s"

[sweep]
design = "cases"

[[sweep.case]]
name = "kept"
set = { rate = 8, users = 20 }

[[sweep.case]]
name = "missed"
set = { rate = 60, users = 20 }
"#;

#[test]
fn what_is_due_is_counted_whether_it_is_answered_or_not() {
    let place = Place::new();
    place.write("study.toml", STUDY);
    let done = place.weir(&["sweep", "study.toml", "--json", "result.json"]);
    done.ends(0).prints(&["kept", "missed"]);
    let result: serde_json::Value = serde_json::from_str(&place.read("result.json")).unwrap();
    let of_case = |case: &str| {
        let trials = result["trials"].as_array().unwrap().iter();
        let trial = trials
            .into_iter()
            .find(|trial| trial["case"] == case)
            .unwrap();
        let figure = |value: &serde_json::Value| value.as_f64().unwrap();
        (
            figure(&trial["open"]["due"]),
            figure(&trial["signals"]["load.missed"]),
            figure(&trial["throughput_per_s"]),
        )
    };
    // Evenly: as many as the rate makes, give or take the one at the edge.
    let (due, missed, answered) = of_case("kept");
    assert!((39.0..=41.0).contains(&due), "{due}");
    assert!(
        missed < 0.02 && (7.0..=9.0).contains(&answered),
        "{missed} {answered}"
    );
    let (due, missed, answered) = of_case("missed");
    assert!((299.0..=301.0).contains(&due), "{due}");
    assert!(missed > 0.5 && answered < 25.0, "{missed} {answered}");
}
