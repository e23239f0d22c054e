//! The page: tables for reading, charts for looking.

use askama::Template;
use serde::Serialize;

use super::graphs::Chart;
use super::statistics::Figures;
use super::{Dashboard, LabelSums, TOTAL};
use crate::ReportError;
use crate::assets::Assets;
use crate::html::embed;

/// Kinds of errors beside each label.
const TOP: usize = 5;
/// Rows of the table of errors.
const ERRORS_MAX: usize = 100;

#[derive(Debug, Template)]
#[template(path = "dashboard.html")]
struct Page<'a> {
    title: &'a str,
    source: &'a str,
    weir: &'a str,
    unread: Option<String>,
    /// Start and end, in milliseconds since 1970; the script writes them in the reader's time.
    span: Option<(u64, u64)>,
    duration: String,
    facts: Vec<Fact>,
    shares: Vec<Share>,
    apdex: Vec<ApdexRow>,
    rows: Vec<Row>,
    errors: Vec<ErrorRow>,
    errors_left_out: usize,
    top: Vec<TopRow>,
    charts: &'a [Chart],
    data: String,
    assets: Assets,
}

#[derive(Debug)]
struct Fact {
    value: String,
    unit: &'static str,
    says: String,
}

/// One part of the bar that shows how all samples went.
#[derive(Debug)]
struct Share {
    name: &'static str,
    says: String,
    count: u64,
    percent: String,
}

#[derive(Debug)]
struct ApdexRow {
    label: String,
    transaction: bool,
    index: String,
    sort: f64,
    satisfied_ms: u64,
    tolerated_ms: u64,
}

/// A number for people and for sorting.
#[derive(Debug)]
struct Number {
    text: String,
    sort: f64,
}

#[derive(Debug)]
struct Row {
    label: String,
    transaction: bool,
    failed: bool,
    numbers: Vec<Number>,
}

#[derive(Debug)]
struct ErrorRow {
    kind: String,
    count: u64,
    of_errors: String,
    of_all: String,
}

#[derive(Debug)]
struct TopRow {
    label: String,
    samples: u64,
    failed: u64,
    kinds: Vec<(String, u64)>,
}

#[derive(Debug, Serialize)]
struct Data<'a> {
    charts: &'a [Chart],
}

impl Dashboard {
    /// The page; nothing can be added afterwards without making it again.
    pub fn html(&mut self) -> Result<String, ReportError> {
        self.coarsen();
        let charts = self.charts();
        let data = embed::json(&Data { charts: &charts })?;
        let settings = &self.settings;
        let span = self.total.statistics.span_ms();
        let ranked = self.total.errors.ranked();
        let page = Page {
            title: &settings.title,
            source: &settings.source,
            weir: &settings.weir,
            unread: settings.unread.as_ref().map(|(count, why)| {
                format!("{count} rows of the file could not be read and are not counted; the first: {why}")
            }),
            span,
            duration: span.map_or(String::new(), |(start, end)| duration(end - start)),
            facts: self.facts(),
            shares: self.shares(),
            apdex: self.all().filter_map(apdex).collect(),
            rows: self.all().map(row).collect(),
            errors_left_out: ranked.len().saturating_sub(ERRORS_MAX),
            errors: self.errors(&ranked),
            top: self.all().filter_map(top).collect(),
            charts: &charts,
            data,
            assets: Assets::with_script(include_str!("../../assets/dashboard.js")),
        };
        Ok(page.render()?)
    }

    /// The total, then every label.
    fn all(&self) -> impl Iterator<Item = &LabelSums> {
        std::iter::once(&self.total).chain(&self.labels)
    }

    fn facts(&self) -> Vec<Fact> {
        let figures = self.total.statistics.figures();
        let fact = |value: f64, decimals: usize, unit, says: &str| Fact {
            value: text(value, decimals),
            unit,
            says: says.to_owned(),
        };
        vec![
            fact(figures.sample_count as f64, 0, "", "samples"),
            fact(figures.error_percent, 2, "%", "failed"),
            fact(figures.throughput_per_s, 1, "/s", "samples ended"),
            fact(figures.mean_ms, 1, "ms", "response time, mean"),
            fact(figures.p95_ms, 0, "ms", "95 % took at most"),
        ]
    }

    fn shares(&self) -> Vec<Share> {
        let apdex = &self.went;
        let limits = apdex.thresholds;
        let all = self.total.statistics.count.max(1) as f64;
        let (satisfied, tolerated) = (limits.satisfied_ms, limits.tolerated_ms);
        [
            ("good", format!("at most {satisfied} ms"), apdex.satisfied),
            ("fair", format!("at most {tolerated} ms"), apdex.tolerated),
            (
                "slow",
                format!("more than {tolerated} ms"),
                apdex.frustrated,
            ),
            ("bad", "failed".to_owned(), apdex.failed),
        ]
        .into_iter()
        .map(|(name, says, count)| Share {
            name,
            says,
            count,
            percent: format!("{:.2}", count as f64 / all * 100.0),
        })
        .collect()
    }

    fn errors(&self, ranked: &[(&str, u64)]) -> Vec<ErrorRow> {
        let statistics = &self.total.statistics;
        let percent = |count: u64, of: u64| format!("{:.2} %", count as f64 / of as f64 * 100.0);
        let rows = ranked
            .iter()
            .take(ERRORS_MAX)
            .map(|(kind, count)| ErrorRow {
                kind: (*kind).to_owned(),
                count: *count,
                of_errors: percent(*count, statistics.failed),
                of_all: percent(*count, statistics.count),
            });
        rows.collect()
    }
}

fn apdex(sums: &LabelSums) -> Option<ApdexRow> {
    let index = sums.apdex.index()?;
    Some(ApdexRow {
        label: sums.label.to_string(),
        transaction: sums.is_transaction,
        index: format!("{index:.3}"),
        sort: index,
        satisfied_ms: sums.apdex.thresholds.satisfied_ms,
        tolerated_ms: sums.apdex.thresholds.tolerated_ms,
    })
}

fn row(sums: &LabelSums) -> Row {
    let figures: Figures = sums.statistics.figures();
    let empty = figures.sample_count == 0;
    let number = |value: f64, decimals: usize| Number {
        text: if empty {
            "–".to_owned()
        } else {
            text(value, decimals)
        },
        sort: if empty { -1.0 } else { value },
    };
    let count = |value: u64| Number {
        text: value.to_string(),
        sort: value as f64,
    };
    Row {
        label: sums.label.to_string(),
        transaction: sums.is_transaction,
        failed: figures.error_count > 0,
        numbers: vec![
            count(figures.sample_count),
            count(figures.error_count),
            number(figures.error_percent, 2),
            number(figures.mean_ms, 2),
            number(figures.min_ms, 0),
            number(figures.max_ms, 0),
            number(figures.median_ms, 1),
            number(figures.p90_ms, 1),
            number(figures.p95_ms, 1),
            number(figures.p99_ms, 1),
            number(figures.throughput_per_s, 2),
            number(figures.received_kb_per_s, 2),
            number(figures.sent_kb_per_s, 2),
        ],
    }
}

fn top(sums: &LabelSums) -> Option<TopRow> {
    // A transaction fails by its parts, which have rows of their own.
    if sums.is_transaction || (sums.statistics.failed == 0 && &*sums.label != TOTAL) {
        return None;
    }
    let kinds = sums.errors.ranked().into_iter().take(TOP);
    Some(TopRow {
        label: sums.label.to_string(),
        samples: sums.statistics.count,
        failed: sums.statistics.failed,
        kinds: kinds
            .map(|(kind, count)| (kind.to_owned(), count))
            .collect(),
    })
}

fn text(value: f64, decimals: usize) -> String {
    if value.is_nan() {
        "–".to_owned()
    } else {
        format!("{value:.decimals$}")
    }
}

/// `1 h 02 min 03 s`
fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{}.{} s", rest, ms % 1_000 / 100),
        (0, minutes) => format!("{minutes} min {rest:02} s"),
        (hours, minutes) => format!("{hours} h {minutes:02} min {rest:02} s"),
    }
}
