//! `sadf -d`: blocks of rows with semicolons, each under a head that begins with `#
//! hostname;interval;timestamp`.
//!
//! Times are seconds since 1970 (`-U`), dates with `UTC`, or dates of the machine's own clock
//! (`-T`).

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use weir_record::Reading;

use super::cells::number;
use super::cpu::CpuTimes;
use super::names::{Meaning, of_sar};
use super::{Monitor, Row, When};

/// Host, interval and time, before what was measured.
const FIXED: usize = 3;

pub(super) fn read(text: &str, monitor: &mut Monitor) {
    let mut head: Vec<String> = Vec::new();
    let mut rows: BTreeMap<String, (When, Reading)> = BTreeMap::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let bare = line.trim_start_matches('#').trim_start();
        if bare.starts_with("hostname;") {
            // `%idle[...]`: the block may come again in the row, for another item.
            let columns = bare.split(';').map(|column| column.split('[').next());
            head = columns.flatten().map(str::to_owned).collect();
            continue;
        }
        if line.contains("RESTART") {
            let note = format!("the machine was started anew in line {}", at + 1);
            monitor.notes.push(note);
            continue;
        }
        let cells: Vec<&str> = line.split(';').collect();
        if row(&head, &cells, &mut rows, monitor).is_none() {
            let shown: String = line.chars().take(60).collect();
            monitor.broken.add(|| format!("line {}: `{shown}`", at + 1));
        }
    }
    let rows = rows.into_values();
    monitor.rows = rows.map(|(when, values)| Row { when, values }).collect();
}

/// Takes one row; `None` when it is none.
fn row(
    head: &[String],
    cells: &[&str],
    rows: &mut BTreeMap<String, (When, Reading)>,
    monitor: &mut Monitor,
) -> Option<()> {
    if cells.len() != head.len() || cells.len() <= FIXED {
        return None;
    }
    let when = moment(cells[2])?;
    monitor.host.get_or_insert_with(|| cells[0].to_owned());
    let mut cpu = CpuTimes::default();
    let mut values: Vec<(Meaning, f64)> = Vec::new();
    // What the columns are about: in a row of `sadf -dh` one block follows the other.
    let (mut is_wanted, mut is_own) = (true, false);
    for (column, cell) in head[FIXED..].iter().zip(&cells[FIXED..]) {
        match column.as_str() {
            "CPU" => (is_wanted, is_own) = (matches!(*cell, "-1" | "all"), false),
            "IFACE" => (is_wanted, is_own) = (true, *cell == "lo"),
            "DEV" | "TTY" | "INTR" | "BUS" | "FILESYSTEM" | "FAN" | "TEMP" | "IN" => {
                (is_wanted, is_own) = (false, false);
            }
            _ if !is_wanted => {}
            column => match of_sar(column) {
                None => {
                    monitor.left_out.insert(column.to_owned());
                }
                Some(Meaning::Cpu(kind)) => cpu.add(kind, number(cell)?),
                Some(Meaning::Sum(..)) if is_own => {}
                Some(meaning) => values.push((meaning, number(cell)?)),
            },
        }
    }
    let (_, reading) = rows
        .entry(cells[2].to_owned())
        .or_insert_with(|| (when, Reading::new()));
    for (meaning, value) in values {
        match meaning {
            Meaning::Signal(name, factor) => {
                reading.insert(name.to_owned(), value * factor);
            }
            Meaning::Sum(name, factor) => {
                *reading.entry(name.to_owned()).or_default() += value * factor;
            }
            Meaning::Cpu(_) => {}
        }
    }
    cpu.put(reading);
    Some(())
}

fn moment(cell: &str) -> Option<When> {
    if let Ok(epoch_s) = cell.parse::<i64>() {
        return Timestamp::from_second(epoch_s)
            .ok()
            .map(|_| When::Epoch(epoch_s));
    }
    let (text, is_utc) = match cell.strip_suffix(" UTC") {
        Some(text) => (text, true),
        None => (cell, false),
    };
    let local: DateTime = text.parse().ok()?;
    if !is_utc {
        return Some(When::Local(local));
    }
    let moment = local.to_zoned(TimeZone::UTC).ok()?;
    Some(When::Epoch(moment.timestamp().as_second()))
}
