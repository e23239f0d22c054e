//! Every figure has one unit, one number of digits and one direction, wherever it is shown.
//!
//! Each is measured in a sweep of two cases, and then looked for in the table, the sentences,
//! `result.json`, the end of the terminal's run, the Markdown, the page and the reference.

use std::collections::BTreeMap;
use std::time::Duration;
use std::{env, fs};

use weir_metric::{Better, Signal, SignalUnit, catalogue, load_figures, record_figures};
use weir_record::{
    CpuRecord, CpuScope, Errors, Levels, NoObserver, ResponseTime, RunManifest, StudyResult,
    TargetFacts, Treatment, TrialError, TrialObserver, TrialRecord, TrialRunner,
};
use weir_report::ReportInput;
use weir_study::{
    Across, CaseSpec, ColumnSpec, CompareSpec, Design, SweepSpec, auto_window, sweep,
};

/// Names of a second's figures that mean another figure in a study: `throughput` is the record's
/// `throughput_per_s`, `errors` its `errors.share`.
const OF_SECONDS_ONLY: [&str; 2] = ["throughput", "errors"];
/// Small and large values, so that each scale of a unit is met.
const VALUES: [f64; 3] = [0.000_678, 0.0724, 71_234.5];
/// What the second case has as a multiple of the first.
const TIMES: f64 = 12.0;

#[test]
fn every_figure_has_one_unit_one_precision_and_one_direction() {
    let reference = reference();
    let all = catalogue()
        .iter()
        .chain(load_figures())
        .chain(record_figures());
    let mut checked = 0;
    for signal in all.filter(|signal| !OF_SECONDS_ONLY.contains(&signal.name)) {
        assert_eq!(reference[signal.name], row(signal), "{}", signal.name);
        for value in VALUES {
            if signal.unit != SignalUnit::Share || value * TIMES < 1.0 {
                check(signal, value);
                checked += 1;
            }
        }
    }
    assert!(checked > 300, "{checked}");
}

/// The unit and the direction as the reference has them.
fn row(signal: &Signal) -> [String; 2] {
    [signal.unit.ucum(), signal.better.word().to_owned()]
}

fn reference() -> BTreeMap<String, [String; 2]> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap();
    let text = fs::read_to_string(root.join("docs/reference/signals.md")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let plain = |cell: &str| cell.trim_matches('`').to_owned();
        let [name, unit, _, better, _] = cells[..] else {
            return None;
        };
        Some((plain(name), [plain(unit), better.to_owned()]))
    };
    text.lines().filter_map(row).collect()
}

fn check(signal: &Signal, value: f64) {
    let name = signal
        .name
        .replace("PORT", "8080")
        .replace("STAGE", "pool.db")
        .replace("GROUP", "http-nio")
        .replace("OWN", "orders");
    let unit = signal.unit;
    let result = measured(&name, value);
    let says = format!("{name} at {value}");

    let stored = serde_json::to_string(&result).unwrap();
    let stored: serde_json::Value = serde_json::from_str(&stored).unwrap();
    let column = &stored["table"]["columns"][0];
    assert_eq!(column["unit"], unit.symbol(), "{says}");
    assert_eq!(column["better"], signal.better.word(), "{says}");

    let input = ReportInput {
        result: &result,
        manifest: &manifest(),
        timelines: &BTreeMap::new(),
    };
    let text = weir_report::text::summary(&result, 200);
    let markdown = weir_report::markdown(&input);
    let html = weir_report::html(&input).unwrap().replace("&#60;", "<");
    for case in stored["table"]["rows"].as_array().unwrap() {
        let cell = &case["cells"][0];
        let of = |end: &str| cell["interval"][end].as_f64().unwrap();
        let value = cell["value"].as_f64().unwrap();
        let shown = unit.with_interval(value, of("low"), of("high"));
        let of_case = |line: &&str| {
            line.trim_start_matches(['|', ' '])
                .starts_with(case["case"].as_str().unwrap())
        };
        for page in [&text, &markdown] {
            let mut lines = page.lines().filter(of_case);
            assert!(
                lines.any(|line| line.contains(&shown)),
                "{says}: {shown} in {page}"
            );
        }
        let shown = unit.text(value);
        assert!(
            html.contains(&format!(">{shown}<")),
            "{says}: {shown} on the page"
        );
    }

    let (best, of_best) = match signal.better {
        Better::More => ("high", TIMES * value),
        Better::Less | Better::Neither => ("low", value),
    };
    // The typical value of two blocks is their geometric mean.
    let typical = unit.text(of_best * shaken(1).sqrt() * shaken(2).sqrt());
    let best = format!(": {best} ({typical})");
    assert!(
        result.summary.contains(&best),
        "{says}: {best} in {}",
        result.summary
    );
}

/// A sweep of two cases of which one has a multiple of what the other has.
fn measured(name: &str, value: f64) -> StudyResult {
    let case = |case: &str, level: f64| CaseSpec {
        name: case.to_owned(),
        set: [("level".to_owned(), level.into())].into(),
        published: BTreeMap::new(),
        window: None,
        replicates: None,
        only_in: None,
    };
    let spec = SweepSpec {
        question: "What do they differ in?".to_owned(),
        design: Design::Cases(vec![case("low", value), case("high", TIMES * value)]),
        replicates: 2,
        columns: vec![ColumnSpec::new("It", name)],
        compare: Some(CompareSpec {
            signal: name.to_owned(),
            matters: 0.05,
        }),
        across: Across::default(),
        window: auto_window(),
        seed: 1,
    };
    let mut server = Server {
        figure: name.to_owned(),
        facts: TargetFacts {
            name: "made".to_owned(),
            kind: "made".to_owned(),
            recognised: None,
            cpus: 1,
            cpu_scope: CpuScope::Unknown,
            stages: Vec::new(),
        },
    };
    let outcome = sweep(&spec, &mut server, &mut NoObserver);
    let (result, stopped) = outcome.into_result(
        "made-1".to_owned(),
        "0.1.0".to_owned(),
        Vec::new(),
        Duration::ZERO,
    );
    assert!(stopped.is_none());
    result
}

/// What differs from block to block.
fn shaken(block: u32) -> f64 {
    1.0 + 0.01 * f64::from(block)
}

/// A server of which one figure is what the level says.
struct Server {
    figure: String,
    facts: TargetFacts,
}

impl TrialRunner for Server {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, _: &Levels) -> u32 {
        1_000
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        _: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let level = treatment.levels["level"].number().unwrap();
        let value = level * shaken(treatment.block.unwrap());
        let mut trial = valid(treatment);
        let times = &mut trial.response_time_ms;
        match self.figure.as_str() {
            "cpu" => {
                trial.cpu = Some(CpuRecord {
                    total: value,
                    ..CpuRecord::default()
                });
            }
            "throughput_per_s" => trial.throughput_per_s = value,
            "errors.share" => trial.errors.share = value,
            "response_time_ms.mean" => times.mean = value,
            "response_time_ms.p50" => times.p50 = value,
            "response_time_ms.p90" => times.p90 = value,
            "response_time_ms.p95" => times.p95 = value,
            "response_time_ms.p99" => times.p99 = value,
            "response_time_ms.p99.9" => times.p999 = value,
            "response_time_ms.max" => times.max = value,
            // As many milliseconds that so many users ask for this much a second.
            "users.ceiling" => times.mean = 1e3 * f64::from(trial.population) / value,
            "gc.pause" => {
                trial.signals.insert("gc.time".to_owned(), value);
                trial.signals.insert("gc.count".to_owned(), 1.0);
            }
            signal => {
                trial.signals.insert(signal.to_owned(), value);
            }
        }
        Ok(trial)
    }
}

fn valid(treatment: &Treatment) -> TrialRecord {
    TrialRecord {
        id: treatment.id,
        role: treatment.role,
        case: treatment.case.clone(),
        block: treatment.block,
        levels: treatment.levels.clone(),
        population: 1_000,
        warm_up_s: 1.0,
        window_s: 30.0,
        repeats: 0,
        valid: true,
        invalid_because: Vec::new(),
        invalid: Vec::new(),
        notes: Vec::new(),
        adjustments: Vec::new(),
        throughput_per_s: 100.0,
        response_time_ms: ResponseTime::default(),
        errors: Errors::default(),
        succeeded_by_code: BTreeMap::new(),
        cpu: None,
        signals: BTreeMap::new(),
        signal_origins: BTreeMap::new(),
        own_units: BTreeMap::new(),
        not_read: BTreeMap::new(),
        classes: BTreeMap::new(),
        open: None,
        intervals: BTreeMap::new(),
    }
}

fn manifest() -> RunManifest {
    RunManifest {
        schema: "weir/manifest/1".to_owned(),
        weir: "0.1.0".to_owned(),
        started: "2026-02-03T10:20:30Z".to_owned(),
        seed: 1,
        command: Vec::new(),
        base: ".".into(),
        study: String::new(),
        title: None,
        machine: BTreeMap::new(),
    }
}
