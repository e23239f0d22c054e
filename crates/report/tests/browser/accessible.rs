//! Every kind of page keeps the rules that axe checks, wide and narrow, light and dark.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use weir_record::{JtlReader, RUN_SCHEMA, RunResult, WATCH_SCHEMA, WatchResult};
use weir_report::watch::{WatchInput, watch_html};
use weir_report::{
    Dashboard, DashboardSettings, OneLoadInput, gate_html, html, one_load_html, sheet_html,
};

use crate::chromium::{View, browser, look};
use crate::common::{Run, sheet, sweep, tune};

/// Rules that hold for any page: fewer were not checked.
const PASSED_MIN: usize = 10;

#[derive(Debug, Deserialize)]
struct Verdict {
    broken: Vec<String>,
    passed: usize,
    dark: bool,
    scrolls: bool,
    faults: Vec<String>,
}

/// Widths change what stands where, and colours what can be read: each is looked at once.
const VIEWS: [View; 2] = [
    View {
        width: 1400,
        is_dark: false,
    },
    View {
        width: 390,
        is_dark: true,
    },
];

fn check(name: &str, page: &str) {
    let Some(browser) = browser(name) else {
        return;
    };
    for view in VIEWS {
        check_one(&browser, (name, page), view);
    }
}

fn verdict(browser: &Path, page: (&str, &str), view: View) -> Verdict {
    let script = [
        include_str!("axe/axe.min.js"),
        include_str!("accessible.js"),
    ];
    look(browser, page, &script.join("\n"), view)
}

fn check_one(browser: &Path, page: (&str, &str), view: View) {
    let verdict = verdict(browser, page, view);
    let of = format!("{} {view:?}", page.0);
    assert_eq!(verdict.faults, Vec::<String>::new(), "{of}");
    assert_eq!(verdict.dark, view.is_dark, "{of}");
    assert_eq!(verdict.broken, Vec::<String>::new(), "{of}");
    assert!(verdict.passed >= PASSED_MIN, "{of}: {verdict:?}");
    assert!(!verdict.scrolls, "{of} is too wide");
}

fn one_load(run: &Run) -> String {
    let trial = run.result.trials[0].clone();
    one_load_html(&OneLoadInput {
        timeline: &run.timelines[&trial.id],
        manifest: &run.manifest,
        response_us: &[(900, 10), (1_500, 400), (2_100, 80), (40_000, 5)],
        result: &RunResult {
            schema: RUN_SCHEMA.to_owned(),
            weir: "0.1.0".to_owned(),
            run: None,
            exit_code: 0,
            status: run.result.status,
            requirements: Vec::new(),
            trial,
        },
    })
    .unwrap()
}

fn watch(run: &Run) -> String {
    let timeline = &run.timelines[&1];
    let mut watch = WatchResult {
        schema: WATCH_SCHEMA.to_owned(),
        weir: "0.1.0".to_owned(),
        run: "watch-20260203-102030".to_owned(),
        target: "127.0.0.1:8080".to_owned(),
        seconds: 0,
        missed: 0,
        running: false,
        signals: BTreeMap::new(),
        not_read: BTreeMap::new(),
    };
    for second in 0..timeline.len() {
        watch.add(timeline.second(second));
    }
    watch_html(&WatchInput {
        watch: &watch,
        manifest: &run.manifest,
        timeline,
    })
    .unwrap()
}

fn dashboard() -> String {
    let mut dashboard = Dashboard::new(DashboardSettings {
        source: "run.jtl".to_owned(),
        ..DashboardSettings::default()
    });
    let file = include_bytes!("../jmeter/run.jtl");
    for row in JtlReader::new(&file[..]).unwrap() {
        dashboard.add(&row.unwrap());
    }
    dashboard.html().unwrap()
}

#[test]
fn what_cannot_be_read_is_found() {
    let Some(browser) = browser("what_cannot_be_read_is_found") else {
        return;
    };
    let page = "<!DOCTYPE html><html lang=\"en\"><head><title>t</title><style>\
        @media (prefers-color-scheme: dark) { body { background: #111; } p { color: #333; } }\
        </style></head><body><main><h1>one</h1><p>dark on dark</p></main></body></html>";
    let broken = VIEWS.map(|view| verdict(&browser, ("axe-unreadable", page), view).broken);
    assert_eq!(broken[0], Vec::<String>::new());
    assert!(
        matches!(&broken[1][..], [one] if one.starts_with("color-contrast: ")),
        "{:?}",
        broken[1]
    );
}

#[test]
fn the_report_of_a_tune() {
    check("axe-tune", &html(&tune().input()).unwrap());
}

#[test]
fn the_report_of_a_sweep() {
    check("axe-sweep", &html(&sweep().input()).unwrap());
}

#[test]
fn the_page_of_one_load() {
    check("axe-one-load", &one_load(&tune()));
}

#[test]
fn the_page_of_a_watch() {
    check("axe-watch", &watch(&tune()));
}

#[test]
fn jmeters_dashboard() {
    check("axe-dashboard", &dashboard());
}

#[test]
fn a_sheet_of_drawings() {
    check("axe-sheet", &sheet_html(&sheet()).unwrap());
}

#[test]
fn the_page_of_the_gate() {
    check("axe-gate", &gate_html().unwrap());
}
