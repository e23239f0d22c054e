//! The study of a run with other cases: its trial as it was, and with one thing changed in each of
//! the others.

use std::time::Duration;

use toml::{Table, Value};
use weir_explain::Planned;
use weir_metric::parse_duration;
use weir_record::{Level, Levels, TrialRecord};

/// The case in which nothing is changed; the others have the names of their trials.
pub(super) const AS_IT_WAS: &str = "as it was";
/// What every case sets where one of them starts the server otherwise.
const EACH: &str = "start.each";
/// Window of trials that each begin with a start: a heap that is used once has to last for it, and
/// a shorter one saves nothing.
const WINDOW_S: f64 = 10.0;
/// Warm-up after a start where the study names none: a virtual machine compiles during its first
/// seconds what runs often.
const WARM_UP: Duration = Duration::from_secs(15);

/// What the cases are made of.
pub(super) struct Cases<'a> {
    /// The study's text.
    pub(super) study: &'a str,
    /// The trial that is explained.
    pub(super) trial: &'a TrialRecord,
    /// The trials that decide.
    pub(super) planned: &'a [Planned<'a>],
    /// How often each case is run.
    pub(super) replicates: u32,
}

impl Cases<'_> {
    /// The text of the study, or why there can be none.
    pub(super) fn text(&self) -> Result<String, String> {
        let mut study: Table = self
            .study
            .parse()
            .map_err(|error: toml::de::Error| error.to_string())?;
        let is_heap_used_once = self.planned.iter().any(uses_heap_once);
        let warm_up = warm_up(&study, is_heap_used_once);
        study.remove("find");
        study.remove("sweep");
        let starts = self.planned.iter().any(Planned::starts_server);
        let load = study.get_mut("load").and_then(Value::as_table_mut);
        let has_window = load
            .as_ref()
            .is_some_and(|load| !load.contains_key("requests"));
        if let Some(load) = load.filter(|_| starts && has_window) {
            let warm_up = format!("{} s", warm_up.as_secs_f64());
            load.insert("first-warm-up".to_owned(), Value::from(warm_up));
        }
        let case = |name: &str, changed: &Levels| {
            let mut levels = self.trial.levels.clone();
            if starts {
                levels.insert(EACH.to_owned(), Level::Text("trial".to_owned()));
            }
            levels.extend(changed.clone());
            let set = levels
                .iter()
                .map(|(name, level)| (name.clone(), value(level)));
            let mut case = Table::from_iter([
                ("name".to_owned(), Value::from(name)),
                ("set".to_owned(), Value::Table(set.collect())),
            ]);
            if starts && has_window && !(is_heap_used_once && self.trial.window_s <= WINDOW_S) {
                case.insert("window".to_owned(), Value::from(format!("{WINDOW_S} s")));
            }
            Value::Table(case)
        };
        let changed = self
            .planned
            .iter()
            .map(|one| case(&one.decisive.idea.id, &one.set));
        let cases = std::iter::once(case(AS_IT_WAS, &Levels::new())).chain(changed);
        let sweep = Table::from_iter([
            ("design".to_owned(), Value::from("cases")),
            (
                "replicates".to_owned(),
                Value::from(i64::from(self.replicates)),
            ),
            ("case".to_owned(), Value::Array(cases.collect())),
        ]);
        study.insert("sweep".to_owned(), Value::Table(sweep));
        toml::to_string(&study).map_err(|error| error.to_string())
    }
}

fn uses_heap_once(planned: &Planned<'_>) -> bool {
    let collector = planned.set.get("start.collector");
    collector.is_some_and(|collector| *collector == Level::Text("epsilon".to_owned()))
}

/// How long the study warms up a server that was just started: by its first trial's warm-up, and by
/// a load before that, for which a heap that is used once does not last.
fn warm_up(study: &Table, is_heap_used_once: bool) -> Duration {
    let written = |section: &str, key: &str| {
        let text = study.get(section)?.get(key)?.as_str()?;
        parse_duration(text).ok()
    };
    let before = written("sweep", "warm-up-window").filter(|_| !is_heap_used_once);
    [written("load", "first-warm-up"), before]
        .into_iter()
        .flatten()
        .reduce(|first, second| first + second)
        .unwrap_or(WARM_UP)
}

/// Whole numbers as such: users are.
fn value(level: &Level) -> Value {
    match level {
        Level::Number(level) if level.fract() == 0.0 => Value::from(*level as i64),
        Level::Number(level) => Value::from(*level),
        Level::Text(text) => Value::from(text.as_str()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use serde_json::json;
    use weir_explain::{Decisive, Evidence, Started, Starter, diagnose};
    use weir_study::{Ask, CaseSpec, Design, StudyFile};

    use super::*;

    const STUDY: &str = r#"
        schema = "weir/study/1"
        [target.tomcat]
        app = "stress"
        cpus = "0"
        [load]
        url = "/light"
        window = "30 s"
        [find]
        vary = "users"
        "#;

    fn trial(levels: &serde_json::Value) -> TrialRecord {
        let times = json!({
            "mean": 20.0, "p50": 20.0, "p90": 20.0, "p95": 20.0, "p99": 20.0, "p999": 20.0, "max": 20.0
        });
        serde_json::from_value(json!({
            "id": 3, "role": "search", "case": null, "levels": levels, "population": 8, "warm_up_s": 5.0, "window_s": 30.0,
            "repeats": 0, "valid": true, "invalid_because": [], "notes": [], "throughput_per_s": 400.0,
            "response_time_ms": times, "errors": { "count": 0, "share": 0.0, "by_code": {} }, "cpu": null,
            "signals": {}, "classes": {}, "intervals": {}
        }))
        .unwrap()
    }

    /// The study that decides on these hypotheses, read again.
    fn study(text: &str, hypotheses: &[&str]) -> StudyFile {
        let trial = trial(&json!({ "users": 8.0, "pool.db": 4.0 }));
        let found = diagnose(&Evidence::of_trial("r", &trial, None, None));
        let named: Vec<String> = hypotheses.iter().map(|id| (*id).to_owned()).collect();
        let [cpus, load_cpus] = ["0-1", "1"].map(|cpus| cpus.parse().unwrap());
        let starter = Starter::Weir(Started {
            levels: &trial.levels,
            java_options: &[],
            cpus: &cpus,
            load_cpus: &load_cpus,
            free_memory_bytes: 20 << 30,
        });
        let planned: Vec<Planned<'_>> = Decisive::all(&found, &named)
            .into_iter()
            .filter_map(|one| one.plan(|factor| trial.level(factor), &starter, None).ok())
            .collect();
        let cases = Cases {
            study: text,
            trial: &trial,
            planned: &planned,
            replicates: 4,
        };
        StudyFile::parse(&cases.text().unwrap()).unwrap()
    }

    fn cases(study: &StudyFile) -> &[CaseSpec] {
        let Ask::Sweep(sweep) = &study.ask else {
            panic!("{:#?}", study.ask);
        };
        assert_eq!(sweep.replicates, 4);
        let Design::Cases(cases) = &sweep.design else {
            panic!("{:#?}", sweep.design);
        };
        cases
    }

    #[test]
    fn a_level_is_changed_and_the_server_left_as_it_is() {
        let study = study(STUDY, &["cpu", "locks"]);
        let cases = cases(&study);
        let users = |at: usize| (cases[at].name.as_str(), cases[at].set["users"].clone());
        assert_eq!(users(0), (AS_IT_WAS, Level::Number(8.0)));
        assert_eq!(users(1), ("one-user", Level::Number(1.0)));
        assert_eq!(users(2), ("fewer-users", Level::Number(4.0)));
        for case in cases {
            assert_eq!(case.set["pool.db"], Level::Number(4.0));
            assert!(!case.set.contains_key(EACH) && case.window.is_none());
        }
        assert_eq!(study.load.first_warm_up, None);
    }

    #[test]
    fn every_trial_has_a_start_and_a_short_window_where_one_of_them_starts_the_server() {
        let study = study(STUDY, &["scheduler", "garbage-collection", "cpu"]);
        let cases = cases(&study);
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        let expected = [
            AS_IT_WAS,
            "serial",
            "epsilon",
            "fewer-users",
            "batch",
            "pinned",
        ];
        assert_eq!(names, expected);
        let text = |at: usize, factor: &str| cases[at].set[factor].to_string();
        assert_eq!(text(1, "start.collector"), "serial");
        assert_eq!(
            (text(2, "start.collector"), text(2, "start.heap")),
            ("epsilon".into(), "10g".into())
        );
        assert_eq!(text(4, "start.scheduling"), "batch");
        assert_eq!(text(5, "start.cpus"), "0");
        for case in cases {
            assert_eq!(case.set[EACH], Level::Text("trial".to_owned()));
            assert_eq!(case.window.unwrap().as_secs(), 10);
        }
        assert_eq!(study.load.first_warm_up.unwrap().as_secs(), 15);
    }

    #[test]
    fn a_load_of_so_many_requests_keeps_them() {
        let text = STUDY.replace("window = \"30 s\"", "requests = 500");
        let study = study(&text, &["scheduler"]);
        assert_eq!(study.load.window.requests, Some(500));
        assert!(cases(&study).iter().all(|case| case.window.is_none()));
        let own = STUDY.replace("window =", "first-warm-up = \"3 s\"\nwindow =");
        let own = self::study(&own, &["scheduler"]);
        assert_eq!(own.load.first_warm_up.unwrap().as_secs(), 3);
    }

    #[test]
    fn a_start_is_warmed_up_for_as_long_as_the_study_does_it() {
        let text = STUDY
            .replace("window =", "first-warm-up = \"12 s\"\nwindow =")
            .replace(
                "[find]\n        vary = \"users\"",
                "[sweep]\n        warm-up-window = \"25 s\"",
            );
        let warm_up = |hypothesis: &str| study(&text, &[hypothesis]).load.first_warm_up.unwrap();
        assert_eq!(warm_up("scheduler").as_secs(), 37);
        assert_eq!(
            warm_up("garbage-collection").as_secs(),
            12,
            "Epsilon's heap has to last"
        );
    }
}
