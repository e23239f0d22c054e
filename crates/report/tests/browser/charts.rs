//! Every chart drew its data, and nothing reaches beyond the page: `looks.js` tells.

use std::path::Path;

use serde::Deserialize;
use weir_report::html;

use crate::chromium::{View, browser, look};
use crate::common::{Run, sweep, tune};

/// Pixels of a series' colour below which nothing was drawn: a dash or two.
const DRAWN: usize = 12;

#[derive(Debug, Deserialize)]
struct Verdict {
    width: f64,
    charts: Vec<Chart>,
    cursors: Vec<Option<usize>>,
    sorted: Vec<u32>,
    scrolls: bool,
    beyond: Vec<String>,
    rows: usize,
    faults: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Chart {
    id: String,
    trial: Option<u32>,
    width: f64,
    room: f64,
    series: Vec<Series>,
}

#[derive(Debug, Deserialize)]
struct Series {
    label: String,
    highest: f64,
    pixels: usize,
}

fn look_at(browser: &Path, run: &Run, name: &str, width: u32) -> Verdict {
    let page = html(&run.input()).unwrap();
    let script = include_str!("looks.js");
    look(browser, (name, &page), script, View::light(width))
}

fn check(verdict: &Verdict, width: u32) {
    assert_eq!(verdict.faults, Vec::<String>::new(), "the script failed");
    assert!(
        (verdict.width - f64::from(width)).abs() < 20.0,
        "asked for {width}, got {}",
        verdict.width
    );
    for chart in &verdict.charts {
        assert!(
            chart.width <= chart.room + 1.0,
            "{} is wider than its place: {chart:?}",
            chart.id
        );
        let drawn: usize = chart.series.iter().map(|series| series.pixels).sum();
        assert!(drawn >= DRAWN, "{} drew nothing: {chart:?}", chart.id);
        for series in chart.series.iter().filter(|series| series.highest > 0.0) {
            assert!(
                series.pixels >= DRAWN,
                "{} drew no {} in trial {:?}: {chart:?}",
                chart.id,
                series.label,
                chart.trial
            );
        }
    }
    assert!(
        !verdict.scrolls && verdict.beyond.is_empty(),
        "too wide at {width}: {:?}",
        verdict.beyond
    );
}

fn charts_of(verdict: &Verdict, trial: Option<u32>) -> Vec<&str> {
    let charts = verdict.charts.iter().filter(|chart| chart.trial == trial);
    charts.map(|chart| chart.id.as_str()).collect()
}

#[test]
fn every_chart_of_a_tune_draws_its_data() {
    let Some(browser) = browser("every_chart_of_a_tune_draws_its_data") else {
        return;
    };
    let run = tune();
    for width in [1400, 420] {
        let verdict = look_at(&browser, &run, "tune", width);
        check(&verdict, width);
        let first = charts_of(&verdict, None);
        for id in [
            "chart-cpu",
            "chart-throughput-per-s",
            "chart-response-time-ms-mean",
        ] {
            assert!(first.contains(&id), "{id} is missing: {first:?}");
        }
        for trial in run.timelines.keys() {
            let shown = charts_of(&verdict, Some(*trial));
            for id in [
                "second-cpu",
                "second-throughput",
                "second-response-time",
                "second-stages",
                "second-tcp",
                "second-accept-queue",
                "second-lateness",
            ] {
                assert!(
                    shown.contains(&id),
                    "{id} is missing in trial {trial}: {shown:?}"
                );
            }
        }
        assert_eq!(verdict.rows, 40, "one row a second");
        let second = verdict.cursors[0].expect("the chart that is pointed at reads a second");
        assert!(
            verdict.cursors.iter().all(|cursor| *cursor == Some(second)),
            "{:?}",
            verdict.cursors
        );
        assert_eq!(verdict.sorted.len(), run.result.trials.len());
        assert!(verdict.sorted.is_sorted(), "{:?}", verdict.sorted);
    }
}

#[test]
fn every_chart_of_a_sweep_draws_its_data() {
    let Some(browser) = browser("every_chart_of_a_sweep_draws_its_data") else {
        return;
    };
    let run = sweep();
    for width in [1400, 420] {
        let verdict = look_at(&browser, &run, "sweep", width);
        check(&verdict, width);
        assert!(charts_of(&verdict, Some(1)).contains(&"second-stages"));
    }
}

#[test]
fn a_page_full_of_markup_runs_nothing_of_it() {
    let Some(browser) = browser("a_page_full_of_markup_runs_nothing_of_it") else {
        return;
    };
    let mut run = tune();
    let evil =
        "</script><script>throw new Error('ran')</script><img src=x onerror='throw new Error(1)'>";
    run.result.question = evil.to_owned();
    run.result.summary = format!("{evil} {}", "a-very-long-word-".repeat(30));
    run.result.trials[0].case = Some(evil.to_owned());
    run.result.findings[0].says = evil.to_owned();
    run.manifest.study = evil.to_owned();
    let long = "spring.datasource.hikari.maximum-pool-size";
    run.result.target.stages[0].native = Some(long.to_owned());
    check(&look_at(&browser, &run, "evil", 420), 420);
}
