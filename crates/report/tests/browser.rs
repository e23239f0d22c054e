//! The page in a real browser: every chart drew its data, and nothing reaches beyond the page.
//!
//! A copy of the report with `looks.js` inside stands in a frame of the wanted width; the frame's
//! verdict is read from what the browser prints.

#![expect(clippy::unwrap_used, reason = "tests state what must hold")]
#![expect(clippy::print_stderr, reason = "a skipped test says so")]

mod common;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Run, sweep, tune};
use serde::Deserialize;
use weir_report::html;

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

/// The browser: what `CHROME` names, else the first of the usual names in the path.
fn chromium() -> Option<PathBuf> {
    if let Some(named) = env::var_os("CHROME") {
        return Some(PathBuf::from(named));
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .flat_map(|directory| {
            ["chromium", "chromium-browser", "google-chrome"].map(|name| directory.join(name))
        })
        .find(|candidate| candidate.is_file())
}

/// The browser in the system profile, where there has to be one; otherwise a plain word that it is
/// not asked.
fn browser(test: &str) -> Option<PathBuf> {
    if env::var_os("WEIR_SYSTEM_TESTS").is_none_or(|value| value != "1") {
        eprintln!("skipped: {test} needs Chromium; WEIR_SYSTEM_TESTS=1 runs it");
        return None;
    }
    let found = chromium();
    assert!(
        found.is_some(),
        "the system tests need Chromium in the path, or CHROME=/path/to/it"
    );
    found
}

/// The page's text for a frame: the check first, so that it hears of every fault.
fn with_check(page: &str) -> String {
    let script = format!("<head><script>{}</script>", include_str!("looks.js"));
    page.replacen("<head>", &script, 1)
}

fn frame(page_file: &str, width: u32) -> String {
    format!(
        "<!DOCTYPE html><body style='margin:0'><iframe src='{page_file}' width='{width}' height='900' style='border:0'></iframe>\
         <pre id='verdict'></pre><script>addEventListener('message', (event) => {{\
         document.getElementById('verdict').textContent = `BEGIN${{event.data}}END`; }});</script></body>"
    )
}

fn look(browser: &Path, run: &Run, name: &str, width: u32) -> Verdict {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-pages");
    fs::create_dir_all(&directory).unwrap();
    let page = html(&run.input()).unwrap();
    fs::write(directory.join(format!("{name}.html")), &page).unwrap();
    let checked = format!("{name}-checked-{width}.html");
    fs::write(directory.join(&checked), with_check(&page)).unwrap();
    let framed = directory.join(format!("{name}-frame-{width}.html"));
    fs::write(&framed, frame(&checked, width)).unwrap();
    let printed = dump(browser, &framed);
    let from = printed
        .find(">BEGIN")
        .unwrap_or_else(|| panic!("no verdict in {printed}"))
        + ">BEGIN".len();
    let until = from + printed[from..].find("END<").unwrap();
    let verdict = printed[from..until]
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&");
    serde_json::from_str(&verdict).unwrap_or_else(|error| panic!("{error} in {verdict}"))
}

/// What the browser makes of a file, as text; virtual time, so a busy machine changes nothing.
fn dump(browser: &Path, file: &Path) -> String {
    let profile = tempfile::tempdir().unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--force-device-scale-factor=2",
            "--window-size=1500,1000",
            "--virtual-time-budget=20000",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg(format!("file://{}", file.display()))
        .stderr(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{} failed: {}",
        browser.display(),
        output.status
    );
    String::from_utf8(output.stdout).unwrap()
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
        let verdict = look(&browser, &run, "tune", width);
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
        let verdict = look(&browser, &run, "sweep", width);
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
    check(&look(&browser, &run, "evil", 420), 420);
}
