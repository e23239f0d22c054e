//! One load: how response times lie, what failed, what each request got, and its seconds.

mod page;
mod spread;

use weir_metric::SignalUnit;
use weir_record::{ClassRecord, RunManifest, RunResult, Timeline, TrialRecord};

use crate::figures::{WithEstimate as _, number, unit_of};
use crate::text::{self, Codes, told};
use crate::words;

pub use page::one_load_html;

/// The facts of one load.
#[derive(Debug, Clone, Copy)]
pub struct OneLoadInput<'a> {
    /// Its figures.
    pub result: &'a RunResult,
    /// What was run, by which version, on which machine.
    pub manifest: &'a RunManifest,
    /// Its seconds.
    pub timeline: &'a Timeline,
    /// Its response times in microseconds, ascending, and how often each was seen; empty where
    /// they are not stored.
    pub response_us: &'a [(u64, u64)],
}

/// The figures of one load as Markdown, for a ticket.
pub fn one_load_markdown(input: &OneLoadInput<'_>) -> String {
    let trial = &input.result.trial;
    let mut lines = vec![
        format!("# Load of {}", name(input.manifest)),
        String::new(),
        lead(trial),
        String::new(),
        "| figure | value | 95 % interval |".to_owned(),
        "|:--|--:|--:|".to_owned(),
    ];
    let rows = percentiles(trial).into_iter();
    lines.extend(rows.map(|[name, value, range]| format!("| {name} | {value} | {range} |")));
    lines.push(String::new());
    lines.push(
        "| request | samples | failed | throughput | mean | p50 | p90 | p99 | longest |".to_owned(),
    );
    lines.push("|:--|--:|--:|--:|--:|--:|--:|--:|--:|".to_owned());
    let rows = by_label(trial).into_iter();
    lines.extend(rows.map(|row| {
        let cells = row.map(|cell| cell.replace('|', "\\|"));
        format!("| {} |", cells.join(" | "))
    }));
    let outcomes = outcomes(trial);
    if outcomes.len() > 1 {
        lines.push(String::new());
        lines.extend(
            outcomes
                .iter()
                .map(|(what, count, share)| format!("- {what}: {count} ({share})")),
        );
    }
    for why in trial.invalid_because.iter().chain(&trial.notes) {
        lines.push(String::new());
        lines.push(why.clone());
    }
    lines.join("\n") + "\n"
}

/// What was loaded.
fn name(manifest: &RunManifest) -> &str {
    manifest.title.as_deref().unwrap_or("a server")
}

/// What it comes to: `91.5 requests/s, p99 44.6 ms`.
fn headline(trial: &TrialRecord) -> String {
    let p99 = SignalUnit::Milliseconds.text(trial.response_time_ms.p99);
    let rate = match trial.answered_per_s() {
        Some(answered) => words::answered(answered),
        None => format!("{} requests/s", number(trial.throughput_per_s)),
    };
    format!("{rate}, p99 {p99}")
}

/// The load in one sentence.
fn lead(trial: &TrialRecord) -> String {
    let interval = |name: &str| trial.intervals.get(name);
    let throughput = words::throughput(trial);
    let p99 = SignalUnit::Milliseconds
        .with_estimate(trial.response_time_ms.p99, interval("response_time_ms.p99"));
    let failed = match trial.errors.count {
        0 => "none failed".to_owned(),
        _ => format!("{} failed", SignalUnit::Share.text(trial.errors.share)),
    };
    let users = number(f64::from(trial.population));
    format!(
        "{throughput} for {:.0} s, p99 {p99}, {failed}; at most {users} users at a time.",
        trial.window_s
    )
}

/// Every statistic of the response time with its interval.
fn percentiles(trial: &TrialRecord) -> Vec<[String; 3]> {
    let times = &trial.response_time_ms;
    let all = [
        ("mean", "mean", times.mean),
        ("median", "p50", times.p50),
        ("p90", "p90", times.p90),
        ("p95", "p95", times.p95),
        ("p99", "p99", times.p99),
        ("p99.9", "p999", times.p999),
        ("longest", "max", times.max),
    ];
    let unit = SignalUnit::Milliseconds;
    all.into_iter()
        .map(|(shown, name, value)| {
            let own = trial.intervals.get(&format!("response_time_ms.{name}"));
            let range = own.map_or_else(
                || "–".to_owned(),
                |own| unit.range(value, own.low, own.high),
            );
            [shown.to_owned(), unit.text(value), range]
        })
        .collect()
}

/// The figures of each label, and of all together where there are several.
fn by_label(trial: &TrialRecord) -> Vec<[String; 9]> {
    let all = ClassRecord {
        throughput_per_s: trial.throughput_per_s,
        response_time_ms: trial.response_time_ms,
        errors: trial.errors.clone(),
        ..ClassRecord::default()
    };
    let row = |label: &str, class: &ClassRecord| {
        let times = &class.response_time_ms;
        let [mean, p50, p90, p99, max] = [times.mean, times.p50, times.p90, times.p99, times.max]
            .map(|time| SignalUnit::Milliseconds.text(time));
        [
            label.to_owned(),
            number((class.throughput_per_s * trial.window_s).round()),
            number(class.errors.count as f64),
            SignalUnit::PerSecond.text(class.throughput_per_s),
            mean,
            p50,
            p90,
            p99,
            max,
        ]
    };
    let mut rows: Vec<[String; 9]> = trial
        .classes
        .iter()
        .map(|(label, class)| row(label, class))
        .collect();
    if rows.len() != 1 {
        rows.push(row("all", &all));
    }
    rows
}

/// How requests ended: what, how many, and their share of all.
fn outcomes(trial: &TrialRecord) -> Vec<(String, String, String)> {
    let all = (trial.throughput_per_s * trial.window_s).round();
    let failed = trial.errors.count as f64;
    let row = |what: String, count: f64| {
        let share = if all > 0.0 { count / all } else { 0.0 };
        (what, number(count), SignalUnit::Share.text(share))
    };
    let mut rows: Vec<(String, String, String)> = text::by_frequency(&trial.succeeded_by_code)
        .map(|(code, count)| row(format!("answered as expected: {code}"), count as f64))
        .collect();
    if rows.is_empty() {
        let succeeded = (all - failed).max(0.0);
        rows.push(row("answered as expected".to_owned(), succeeded));
    }
    let codes = trial.errors.by_code.iter();
    rows.extend(codes.map(|(code, count)| {
        let what = format!("failed: {}", told(code, Codes::InWords));
        row(what, *count as f64)
    }));
    rows
}

/// Bytes a second in both directions, where they were counted.
fn bytes(trial: &TrialRecord) -> Vec<(&'static str, String)> {
    let read = |name: &str| {
        let value = trial.signals.get(name)?;
        Some(unit_of(name).text(*value))
    };
    [("received", "load.received"), ("sent", "load.sent")]
        .into_iter()
        .filter_map(|(what, name)| Some((what, read(name)?)))
        .collect()
}
