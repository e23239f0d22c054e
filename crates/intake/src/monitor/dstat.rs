//! `dstat --output FILE` of dstat 0.6 to 0.8, of pcp-dstat and of dool: a line of groups, a line of
//! columns, rows.
//!
//! ```text
//! "total cpu usage",,,,,"system",,"system"
//! "usr","sys","idl","wai","stl","int","csw","time"
//! 12.5,3.0,84.5,0,0,1200,2400,22-11 00:10:02
//! ```
//!
//! Rows have a time only with `-t` or `-T`. The first row is the mean since the machine was
//! started, and is left out.

use jiff::civil::{Date, DateTime};
use weir_record::Reading;

use super::cells::{month, number, time};
use super::cpu::CpuTimes;
use super::names::{Meaning, of_dstat};
use super::{Monitor, Row, When};

/// One column: its group, which stands above the first of its columns alone, and its name.
struct Column {
    group: String,
    name: String,
}

impl Column {
    fn is_time(&self) -> bool {
        let name = self.name.as_str();
        matches!(name, "time" | "date/time" | "epoch")
    }
}

pub(super) fn read(text: &str, monitor: &mut Monitor, day: Date) -> Result<(), String> {
    let mut groups: Option<Vec<String>> = None;
    let mut columns: Vec<Column> = Vec::new();
    let mut year = day.year();
    let mut first = false;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let cells: Vec<&str> = record.iter().map(str::trim).collect();
        if let Some(named) = groups.take() {
            columns = named_columns(&named, &cells);
            // Heads are written again when dstat is started again with the same file.
            first = true;
            continue;
        }
        match cells[..] {
            ["" | "Author:" | "Host:" | "Cmdline:", ..] => head(&cells, monitor, &mut year),
            [title] if title.contains("CSV") => {}
            [title, ..] if title.contains("CSV output") || title.contains("CSV Output") => {}
            _ if cells.iter().any(|cell| is_cpu_group(cell)) => {
                groups = Some(cells.iter().map(|cell| (*cell).to_owned()).collect());
            }
            _ if columns.is_empty() => {}
            // Of the first row pcp-dstat knows the time alone.
            _ if std::mem::take(&mut first) => {}
            _ => match row(&columns, &cells, monitor, year) {
                None => {
                    let shown = cells.join(",").chars().take(60).collect::<String>();
                    monitor.broken.add(|| format!("line {line}: `{shown}`"));
                }
                Some(row) => monitor.rows.push(row),
            },
        }
    }
    if !columns.iter().any(Column::is_time) {
        return Err("its rows have no time; run dstat with -t or -T".to_owned());
    }
    let steal = |column: &Column| is_cpu_group(&column.group) && column.name == "stl";
    if !columns.iter().any(steal) {
        monitor
            .notes
            .push("it tells no steal, which is taken as none".to_owned());
    }
    Ok(())
}

fn is_cpu_group(cell: &str) -> bool {
    matches!(
        cell.trim_end_matches(':'),
        "total cpu usage" | "total usage"
    )
}

fn named_columns(groups: &[String], names: &[&str]) -> Vec<Column> {
    let mut group = String::new();
    let mut columns = Vec::new();
    for (at, name) in names.iter().enumerate() {
        if let Some(named) = groups.get(at).filter(|named| !named.is_empty()) {
            named.trim_end_matches(':').clone_into(&mut group);
        }
        // pcp-dstat writes the group before each of its columns.
        let own = name.strip_prefix(&*group);
        let own = own.and_then(|rest| rest.strip_prefix(':'));
        columns.push(Column {
            group: group.clone(),
            name: own.unwrap_or(name).to_owned(),
        });
    }
    columns
}

/// `"Host:","app1",,,,"User:","me"` and `"Cmdline:","dstat …",,,,"Date:","22 Nov 2026 00:10:01
/// UTC"`
fn head(cells: &[&str], monitor: &mut Monitor, year: &mut i16) {
    let after = |name: &str| {
        let at = cells.iter().position(|cell| *cell == name)?;
        cells[at + 1..].iter().find(|cell| !cell.is_empty())
    };
    if let Some(host) = after("Host:") {
        monitor.host = Some((*host).to_owned());
    }
    let written = after("Date:").and_then(|date| date.split_whitespace().nth(2)?.parse().ok());
    *year = written.unwrap_or(*year);
}

fn row(columns: &[Column], cells: &[&str], monitor: &mut Monitor, year: i16) -> Option<Row> {
    if cells.len() < columns.len() {
        return None;
    }
    let mut when = None;
    let mut cpu = CpuTimes::default();
    let mut values = Reading::new();
    for (column, cell) in columns.iter().zip(cells) {
        if column.is_time() {
            // Of two columns with a time, the one that needs no year and no zone.
            let read = moment(cell, year)?;
            when = match (when, read) {
                (Some(When::Epoch(epoch)), _) => Some(When::Epoch(epoch)),
                (_, read) => Some(read),
            };
            continue;
        }
        match of_dstat(&column.group, &column.name) {
            None => {
                monitor
                    .left_out
                    .insert(format!("{} {}", column.group, column.name));
            }
            Some(Meaning::Cpu(kind)) => cpu.add(kind, number(cell)?),
            Some(Meaning::Signal(name, factor) | Meaning::Sum(name, factor)) => {
                values.insert(name.to_owned(), number(cell)? * factor);
            }
        }
    }
    cpu.put(&mut values);
    when.map_or(
        Some(Row {
            when: When::Epoch(0),
            values: Reading::new(),
        }),
        |when| Some(Row { when, values }),
    )
}

/// `1795219292.749`, `22-11 00:10:02`, `Nov-22 00:10:02`
fn moment(cell: &str, year: i16) -> Option<When> {
    if let Some(epoch_s) = number(cell) {
        return Some(When::Epoch(epoch_s as i64));
    }
    let (day, clock) = cell.split_once(' ')?;
    let (first, second) = day.split_once('-')?;
    let (day, month) = match (first.parse::<i8>(), second.parse::<i8>()) {
        (Ok(day), Ok(month)) => (day, month),
        (Err(_), Ok(day)) => (day, month(first)?),
        (Ok(day), Err(_)) => (day, month(second)?),
        _ => return None,
    };
    let date = Date::new(year, month, day).ok()?;
    Some(When::Local(DateTime::from_parts(date, time(clock.trim())?)))
}
