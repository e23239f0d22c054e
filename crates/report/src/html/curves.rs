//! Figures against the level: every trial as a point with its interval, the fitted curve, the goal,
//! the answer.

use std::collections::BTreeMap;

use serde::Serialize;
use weir_metric::{Metric, Requirement, SignalUnit, names};
use weir_record::{Answer, ResponseTime, Role, StudyResult, TrialRecord};
use weir_stats::Estimate;

use super::embed::rounded;
use crate::ReportInput;
use crate::figures::{WithEstimate as _, number, unit_of};
use crate::standing::{Shape, Standing};
use crate::words;

/// Figures that are always drawn, each group in one chart.
const GROUPS: &[&[&str]] = &[
    &["throughput_per_s"],
    &["response_time_ms.mean", "response_time_ms.p99"],
    &["cpu"],
];

/// The mark of a trial that is not valid.
const CROSS: &str = "cross";

/// Points of a curve that its table shows.
const CURVE_ROWS: usize = 16;

/// One chart.
#[derive(Debug, Serialize)]
pub(crate) struct CurveChart {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) unit: &'static str,
    /// What a drawn value means, for those who cannot see it.
    pub(crate) says: String,
    pub(super) x_title: String,
    pub(super) x_max: f64,
    pub(super) y_max: f64,
    pub(super) series: Vec<Series>,
    pub(super) goals: Vec<Goal>,
    /// The answer and the ends of its interval.
    pub(super) answer: Option<[f64; 3]>,
    /// Whether the lines are fitted to the points, or only join them.
    pub(super) fitted: bool,
    /// Whether the fitted lines do not say what the points beside the answer say.
    pub(super) does_not_fit: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
    /// The line: levels, values.
    pub(super) curve: Option<(Vec<f64>, Vec<f64>)>,
}

#[derive(Debug, Serialize)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) interval: Option<(f64, f64)>,
    pub(super) shape: &'static str,
    /// What is shown when the point is pointed at.
    pub(super) says: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Goal {
    y: f64,
    says: String,
}

/// A shape that occurs in the charts, and what it means.
#[derive(Debug)]
pub(crate) struct ShapeKey {
    pub(crate) name: &'static str,
    pub(crate) says: &'static str,
}

/// The charts of a run, those of the requirements included; none when there are too few levels to
/// compare.
pub(crate) fn charts(input: &ReportInput<'_>) -> Vec<CurveChart> {
    let result = input.result;
    let pictures = result.table.as_ref().map(|table| table.pictures.as_slice());
    if let Some(pictures) = pictures.filter(|pictures| !pictures.is_empty()) {
        return super::pictures::charts(pictures);
    }
    let factor = factor(result);
    let mut levels: Vec<f64> = result
        .trials
        .iter()
        .map(|trial| level(trial, factor))
        .collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    // A sweep's cases differ in more than the level: two levels of it make no curve.
    let enough = if result.table.is_some() { 3 } else { 2 };
    if levels.len() < enough {
        return Vec::new();
    }
    let requirements = requirements(input);
    let mut groups: Vec<Vec<String>> = GROUPS
        .iter()
        .map(|group| group.iter().map(|name| (*name).to_owned()).collect())
        .collect();
    let curves = result.answer.iter().flat_map(|answer| answer.curves.keys());
    let goals = requirements
        .iter()
        .map(|(name, _, _)| name)
        .filter(|name| ever_above_zero(result, name));
    for name in curves.chain(goals) {
        if !groups.iter().flatten().any(|known| known == name) {
            groups.push(vec![name.clone()]);
        }
    }
    groups
        .iter()
        .filter_map(|names| chart(result, factor, names, &requirements))
        .collect()
}

/// The factor that is drawn along the axis.
pub(crate) fn factor(result: &StudyResult) -> &str {
    let answered = result.answer.as_ref().map(|answer| &answer.factor);
    let compared = result.comparison.as_ref().map(|levels| &levels.factor);
    answered.or(compared).map_or("users", String::as_str)
}

/// The level of a trial; the population where the factor was not set.
pub(crate) fn level(trial: &TrialRecord, factor: &str) -> f64 {
    trial
        .level(factor)
        .unwrap_or_else(|| f64::from(trial.population))
}

/// Whether a chart of the figure would show more than a line on the axis.
fn ever_above_zero(result: &StudyResult, name: &str) -> bool {
    let mut values = result.trials.iter().filter_map(|trial| value(trial, name));
    values.any(|value| value > 0.0)
}

/// A figure of a trial by its name in the record, in the record's unit.
fn value(trial: &TrialRecord, name: &str) -> Option<f64> {
    if name == "cpu" {
        return trial.cpu.map(|cpu| cpu.total);
    }
    let class = name.strip_suffix(')').and_then(|name| name.split_once('('));
    if let Some((name, class)) = class {
        let class = trial.classes.get(class)?;
        return of_samples(
            name,
            class.throughput_per_s,
            &class.response_time_ms,
            class.errors.share,
        );
    }
    let all = of_samples(
        name,
        trial.throughput_per_s,
        &trial.response_time_ms,
        trial.errors.share,
    );
    all.or_else(|| trial.signals.get(name).copied())
}

/// A figure that is kept for all samples and for each class.
fn of_samples(
    name: &str,
    throughput_per_s: f64,
    response: &ResponseTime,
    failed: f64,
) -> Option<f64> {
    match name {
        "throughput_per_s" => Some(throughput_per_s),
        "errors.share" => Some(failed),
        _ => match name.strip_prefix("response_time_ms.")? {
            "mean" => Some(response.mean),
            "p50" => Some(response.p50),
            "p90" => Some(response.p90),
            "p95" => Some(response.p95),
            "p99" => Some(response.p99),
            "p99.9" => Some(response.p999),
            "max" => Some(response.max),
            _ => None,
        },
    }
}

/// The interval of a figure; the record writes 99.9 without its point.
fn estimate<'a>(trial: &'a TrialRecord, name: &str) -> Option<&'a Estimate> {
    trial.intervals.get(&name.replace("p99.9", "p999"))
}

/// The requirements that bound a figure: its name, the bound in the record's unit, the text.
fn requirements(input: &ReportInput<'_>) -> Vec<(String, f64, String)> {
    let binding = input.result.answer.iter().filter_map(|a| a.binding.clone());
    let mut texts: Vec<String> = binding.chain(subject_to(&input.manifest.study)).collect();
    texts.sort();
    texts.dedup();
    texts
        .iter()
        .filter_map(|text| {
            let requirement: Requirement = text.parse().ok()?;
            let name = figure_name(&requirement)?;
            let factor = if unit_of(&name) == SignalUnit::Milliseconds {
                1e3
            } else {
                1.0
            };
            Some((name, requirement.bound_base() * factor, text.clone()))
        })
        .collect()
}

/// What the stored study asks for; nothing when it cannot be read as one.
fn subject_to(study: &str) -> Vec<String> {
    let table: toml::Table = study.parse().unwrap_or_default();
    let listed = table.get("find").and_then(|find| find.get("subject-to"));
    let listed = listed.and_then(toml::Value::as_array);
    listed
        .into_iter()
        .flatten()
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

/// The name of the figure that a requirement bounds; none for a bound of zero, which is no line.
fn figure_name(requirement: &Requirement) -> Option<String> {
    if requirement.bound_base() == 0.0 {
        return None;
    }
    let name = match &requirement.metric {
        Metric::Cpu => "cpu".to_owned(),
        Metric::Throughput => "throughput_per_s".to_owned(),
        Metric::Errors => "errors.share".to_owned(),
        Metric::Missed => names::MISSED.to_owned(),
        Metric::Mean => "response_time_ms.mean".to_owned(),
        Metric::Max => "response_time_ms.max".to_owned(),
        Metric::Percentile(percent) => format!("response_time_ms.p{percent}"),
        Metric::Waiting(stage) => format!("{stage}.waiting"),
        Metric::Wait(stage) => format!("{stage}.wait"),
        Metric::Memory => "target.memory.rss".to_owned(),
    };
    Some(match &requirement.class {
        Some(class) => format!("{name}({class})"),
        None => name,
    })
}

fn chart(
    result: &StudyResult,
    factor: &str,
    names: &[String],
    requirements: &[(String, f64, String)],
) -> Option<CurveChart> {
    let kind = unit_of(&names[0]);
    let (scale, unit) = kind.axis();
    let series: Vec<Series> = names
        .iter()
        .map(|name| series(result, factor, name, scale))
        .filter(|series| !series.points.is_empty())
        .collect();
    if series.is_empty() {
        return None;
    }
    let goals = goals(names, requirements, scale);
    let levels = series.iter().flat_map(|series| &series.points);
    let x_max = levels.map(|point| point.x).fold(0.0, f64::max);
    let title = match names {
        [one] => words::capital(&words::figure(one)),
        _ => "Response time".to_owned(),
    };
    let does_not_fit = result
        .answer
        .as_ref()
        .is_some_and(|answer| answer.interpolated);
    Some(CurveChart {
        id: format!(
            "chart-{}",
            names[0].replace(|c: char| !c.is_ascii_alphanumeric(), "-")
        ),
        says: says(&title, unit, factor, &series),
        title,
        unit,
        x_title: words::noun(factor).to_owned(),
        x_max: x_max * 1.06,
        y_max: top(kind, &series, &goals),
        series,
        goals,
        answer: result.answer.as_ref().map(answer_line),
        fitted: true,
        does_not_fit,
    })
}

fn goals(names: &[String], requirements: &[(String, f64, String)], scale: f64) -> Vec<Goal> {
    let of_chart = requirements
        .iter()
        .filter(|(name, _, _)| names.contains(name));
    of_chart
        .map(|(_, bound, says)| Goal {
            y: bound * scale,
            says: says.clone(),
        })
        .collect()
}

/// Where the axis of a chart ends: above every goal and every interval of a valid trial; a share
/// hardly above all of it. What is not valid does not stretch it: its mark stands at the edge.
pub(super) fn top(kind: SignalUnit, series: &[Series], goals: &[Goal]) -> f64 {
    let points = series.iter().flat_map(|series| &series.points);
    let valid = points.clone().any(|point| point.shape != CROSS);
    let highest = points
        .filter(|point| point.shape != CROSS || !valid)
        .map(|point| {
            point
                .interval
                .map_or(point.y, |(_, high)| high.max(point.y))
        })
        .chain(goals.iter().map(|goal| goal.y))
        .fold(0.0, f64::max);
    let whole = if kind == SignalUnit::Share {
        104.0
    } else {
        f64::MAX
    };
    if highest > 0.0 {
        (highest * 1.12).min(whole)
    } else {
        1.0
    }
}

fn answer_line(answer: &Answer) -> [f64; 3] {
    [answer.value, answer.low, answer.high]
}

fn series(result: &StudyResult, factor: &str, name: &str, scale: f64) -> Series {
    let kind = unit_of(name);
    let points = result.trials.iter().filter_map(|trial| {
        let value = value(trial, name)?;
        let estimate = estimate(trial, name);
        let x = level(trial, factor);
        Some(Point {
            x,
            y: rounded(value * scale),
            interval: estimate.map(|e| {
                let (low, high) = kind.possible(e.low, e.high);
                (rounded(low * scale), rounded(high * scale))
            }),
            shape: shape(trial),
            says: format!(
                "trial {}, {}: {} {}, {}",
                trial.id,
                words::levels(&trial.levels),
                words::figure(name),
                kind.with_estimate(value, estimate),
                Standing::of(trial).brief()
            ),
        })
    });
    let curve = result
        .answer
        .as_ref()
        .and_then(|answer| answer.curves.get(name));
    Series {
        name: words::figure(name),
        points: points.collect(),
        curve: curve.map(|points| {
            let levels = points.iter().map(|(x, _)| rounded(*x));
            let values = points.iter().map(|(_, y)| rounded(y * scale));
            (levels.collect(), values.collect())
        }),
    }
}

/// How a trial's points are drawn.
fn shape(trial: &TrialRecord) -> &'static str {
    match Standing::of(trial).shape() {
        Shape::Cross => CROSS,
        Shape::Ring => "ring",
        _ if trial.role == Role::Check => "diamond",
        Shape::Square => "square",
        Shape::Disc => "disc",
    }
}

/// The shapes that these trials are drawn with, and what they mean.
pub(crate) fn shapes(result: &StudyResult) -> Vec<ShapeKey> {
    let all = [
        ("disc", "valid trial"),
        ("square", "valid, something was saturated"),
        ("diamond", "valid, with the derived settings"),
        ("ring", "too much steal: kept and marked"),
        (CROSS, "not valid: not used"),
    ];
    all.into_iter()
        .filter(|(name, _)| result.trials.iter().any(|trial| shape(trial) == *name))
        .map(|(name, says)| ShapeKey { name, says })
        .collect()
}

pub(super) fn says(title: &str, unit: &str, factor: &str, series: &[Series]) -> String {
    let parts: Vec<String> = series
        .iter()
        .map(|series| {
            let extent = |of: fn(&Point) -> f64| {
                let values = series.points.iter().map(of);
                let low = values.clone().fold(f64::INFINITY, f64::min);
                let high = values.fold(f64::NEG_INFINITY, f64::max);
                format!("{} to {}", number(low), number(high))
            };
            let fitted = if series.curve.is_some() {
                " and a fitted curve"
            } else {
                ""
            };
            format!(
                "{}: {} points{fitted}, {} {unit} at {} {factor}",
                series.name,
                series.points.len(),
                extent(|point| point.y),
                extent(|point| point.x),
            )
        })
        .collect();
    format!(
        "{title} against {}. {}.",
        words::noun(factor),
        parts.join("; ")
    )
}

/// The fitted curves as a table: heads, then rows that begin with the level.
pub(crate) fn curve_table(result: &StudyResult) -> Option<(Vec<String>, Vec<Vec<String>>)> {
    let answer = result.answer.as_ref()?;
    let mut by_level: BTreeMap<u64, BTreeMap<&str, f64>> = BTreeMap::new();
    for (name, points) in &answer.curves {
        for (x, y) in points {
            // Levels are not negative, so their bits are in the order of the numbers.
            by_level.entry(x.to_bits()).or_default().insert(name, *y);
        }
    }
    if by_level.is_empty() {
        return None;
    }
    let heads = std::iter::once(words::noun(&answer.factor).to_owned())
        .chain(answer.curves.keys().map(|name| words::figure(name)));
    let step = by_level.len().div_ceil(CURVE_ROWS);
    let rows = by_level.iter().step_by(step).map(|(level, figures)| {
        let cells = answer.curves.keys().map(|name| {
            figures
                .get(name.as_str())
                .map_or_else(|| "–".to_owned(), |y| unit_of(name).text(*y))
        });
        std::iter::once(number(f64::from_bits(*level)))
            .chain(cells)
            .collect()
    });
    Some((heads.collect(), rows.collect()))
}
