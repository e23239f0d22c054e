//! The report as text: two tables and what stands out.

use std::fmt::Write as _;

use weir_stats::Estimate;

use crate::report::{ClassReport, Report, StationReport};

/// A report for a terminal.
pub fn text(report: &Report) -> String {
    let mut out = String::new();
    let line = format!(
        "{}: {} replications of {} s after {} s of warm-up, seed {}, {} events; 95 % intervals over replications",
        report.network,
        report.replications,
        report.window_s,
        report.warm_up_s,
        report.seed,
        grouped(report.events),
    );
    out.push_str(&line);
    out.push_str("\n\n");
    out.push_str(&table(&classes(report)));
    out.push('\n');
    out.push_str(&table(&stations(report)));
    if !report.gates.is_empty() {
        out.push('\n');
        out.push_str(&table(&gates(report)));
    }
    if !report.groups.is_empty() {
        out.push('\n');
        out.push_str(&table(&groups(report)));
    }
    for class in &report.classes {
        failures(&mut out, class);
    }
    out
}

type Row = Vec<String>;

fn row(cells: &[&str]) -> Row {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

fn classes(report: &Report) -> Vec<Row> {
    let mut rows = vec![row(&[
        "class",
        "answered/s",
        "mean ms",
        "p50",
        "p95",
        "p99",
        "failed",
    ])];
    rows.extend(report.classes.iter().map(|class| {
        let times = class.response_time_ms.as_ref();
        let time = |of: fn(&crate::Times) -> Option<Estimate>| cell(times.and_then(of));
        vec![
            class.name.clone(),
            cell(class.throughput_per_s),
            time(|times| times.mean),
            time(|times| times.p50),
            time(|times| times.p95),
            time(|times| times.p99),
            percent(class.failed_share),
        ]
    }));
    rows
}

fn stations(report: &Report) -> Vec<Row> {
    let mut rows = vec![row(&[
        "place",
        "kind",
        "servers",
        "busy",
        "inside",
        "waiting",
        "wait ms",
        "wait p95",
        "rejected/s",
    ])];
    rows.extend(report.stations.iter().map(station));
    rows
}

fn station(station: &StationReport) -> Row {
    let refused = station.refused_per_s.map_or(0.0, |rate| rate.value);
    let abandoned = station.abandoned_per_s.map_or(0.0, |rate| rate.value);
    let turned_away = if refused + abandoned > 0.0 {
        number(refused + abandoned)
    } else {
        "–".to_owned()
    };
    vec![
        station.name.clone(),
        station.kind.to_owned(),
        station.servers.map_or_else(|| "any".to_owned(), number),
        percent(station.utilization),
        cell(station.inside),
        cell(station.waiting),
        cell(station.wait_ms),
        cell(station.wait_p95_ms),
        turned_away,
    ]
}

fn gates(report: &Report) -> Vec<Row> {
    let mut rows = vec![row(&["gate", "passed/s", "refused/s", "wait ms"])];
    rows.extend(report.gates.iter().map(|gate| {
        vec![
            gate.name.clone(),
            cell(gate.passed_per_s),
            cell(gate.refused_per_s),
            cell(gate.wait_ms),
        ]
    }));
    rows
}

fn groups(report: &Report) -> Vec<Row> {
    let mut rows = vec![row(&["group", "servers", "paid for", "scaled, times"])];
    rows.extend(report.groups.iter().map(|group| {
        vec![
            group.name.clone(),
            cell(group.servers),
            cell(group.paid),
            cell(group.scaled),
        ]
    }));
    rows
}

/// Why attempts of a class failed, if any did.
fn failures(out: &mut String, class: &ClassReport) {
    let parts: Vec<String> = [
        ("refused", class.refused_per_s),
        ("gave up in a queue", class.abandoned_per_s),
        ("client gave up", class.timed_out_per_s),
        ("server lost", class.lost_per_s),
        ("tried again", class.retries_per_s),
        ("finished for nobody", class.wasted_per_s),
    ]
    .into_iter()
    .filter(|(_, rate)| rate.is_some_and(|rate| rate.value > 0.0))
    .map(|(what, rate)| format!("{what} {}/s", cell(rate)))
    .collect();
    if !parts.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(out, "\n{}: {}", class.name, parts.join(", "));
    }
}

/// A value with its half-width; a dash where there is none.
fn cell(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(
        || "–".to_owned(),
        |estimate| with_half_width(estimate.value, estimate.half_width(), ""),
    )
}

fn percent(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(
        || "–".to_owned(),
        |estimate| with_half_width(100.0 * estimate.value, 100.0 * estimate.half_width(), " %"),
    )
}

fn with_half_width(value: f64, half_width: f64, unit: &str) -> String {
    if half_width == 0.0 {
        return format!("{}{unit}", number(value));
    }
    let digits = digits(value);
    format!("{value:.digits$} ± {half_width:.digits$}{unit}")
}

fn number(value: f64) -> String {
    let digits = if value.fract() == 0.0 {
        0
    } else {
        digits(value)
    };
    format!("{value:.digits$}")
}

/// Four figures that say something.
fn digits(value: f64) -> usize {
    match value.abs() {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 10.0 => 2,
        _ => 3,
    }
}

/// A count in groups of three digits.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Columns under each other: names to the left, figures to the right.
fn table(rows: &[Row]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        for (column, cell) in row.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.chars().count());
            if column == 0 {
                out.push_str(cell);
                out.push_str(&padding);
            } else {
                out.push_str("  ");
                out.push_str(&padding);
                out.push_str(cell);
            }
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_say_as_much_as_they_know() {
        assert_eq!(number(4.0), "4");
        assert_eq!(number(0.123_45), "0.123");
        assert_eq!(number(123.45), "123.5");
        assert_eq!(with_half_width(12.345, 0.5, " %"), "12.35 ± 0.50 %");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(12), "12");
        let rows = vec![row(&["a", "bb"]), row(&["ccc", "d"])];
        assert_eq!(table(&rows), "a    bb\nccc   d\n");
    }
}
