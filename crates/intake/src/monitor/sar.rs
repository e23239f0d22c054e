//! `sar`'s text: blocks of rows under heads, each line with a time of day of the machine's own
//! clock.
//!
//! ```text
//! Linux 6.1.0-18-amd64 (app1)  11/22/2026  _x86_64_  (2 CPU)
//!
//! 00:10:01        CPU     %user     %nice   %system   %iowait    %steal     %idle
//! 00:10:02        all     12.50      0.00      3.00      0.00      0.00     84.50
//! Average:        all     12.50      0.00      3.00      0.00      0.00     84.50
//! ```
//!
//! The date stands at the head alone, in the order of the locale; a time that is earlier than the
//! one before it is of the next day.

use std::collections::BTreeMap;

use jiff::civil::Time;
use weir_record::Reading;

use super::cells::{dates, number, time, time_of_twelve};
use super::cpu::CpuTimes;
use super::names::{Meaning, of_sar};
use super::{Monitor, Row, When};

/// The columns that say what a row is about.
const ITEMS: [&str; 4] = ["CPU", "IFACE", "DEV", "TTY"];

pub(super) fn read(text: &str, monitor: &mut Monitor) -> Result<(), String> {
    let mut file = File {
        monitor,
        head: Vec::new(),
        days: BTreeMap::new(),
        rows: BTreeMap::new(),
        sums: BTreeMap::new(),
    };
    for (number, line) in text.lines().enumerate() {
        file.line(number + 1, line);
    }
    let rows = file.finish();
    if monitor.first_days.is_empty() {
        return Err(
            "its first line, which begins with `Linux`, names no date that can be read".to_owned(),
        );
    }
    monitor.rows = rows;
    Ok(())
}

struct File<'m> {
    monitor: &'m mut Monitor,
    /// The columns of the block that is open, without the time.
    head: Vec<String>,
    /// Of each head: the midnights that have passed and the last time.
    days: BTreeMap<Vec<String>, (u32, Time)>,
    rows: BTreeMap<(u32, Time), Reading>,
    /// What is added up over the items of one time.
    sums: BTreeMap<(u32, Time), Reading>,
}

impl File<'_> {
    fn line(&mut self, at: usize, line: &str) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let Some(&first) = cells.first() else {
            return;
        };
        if first == "Linux" {
            self.machine(&cells);
            return;
        }
        let Some(mut when) = time(first) else {
            // "Average:", in any language.
            if !first.ends_with(':') {
                self.broken(at, line);
            }
            return;
        };
        let mut cells = &cells[1..];
        if let Some(half) = cells.first().and_then(|half| time_of_twelve(when, half)) {
            when = half;
            cells = &cells[1..];
        }
        match cells.last() {
            Some(_) if line.contains("RESTART") => {
                let note = format!("the machine was started anew in line {at}");
                self.monitor.notes.push(note);
            }
            Some(last) if number(last).is_none() => {
                self.head = cells.iter().map(|cell| (*cell).to_owned()).collect();
            }
            Some(_) if cells.len() == self.head.len() => self.row(at, line, when, cells),
            None | Some(_) => self.broken(at, line),
        }
    }

    /// `Linux 6.1.0 (app1) 11/22/2026 _x86_64_ (2 CPU)`
    fn machine(&mut self, cells: &[&str]) {
        let inside = |cell: &str| {
            let inside = cell.strip_prefix('(')?.strip_suffix(')')?;
            Some(inside.to_owned())
        };
        self.monitor.host = cells.iter().find_map(|cell| inside(cell));
        self.monitor.cpus = cells
            .iter()
            .find_map(|cell| cell.strip_prefix('(')?.parse().ok());
        if self.monitor.first_days.is_empty() {
            let found = cells.iter().map(|cell| dates(cell));
            self.monitor.first_days = found
                .into_iter()
                .find(|dates| !dates.is_empty())
                .unwrap_or_default();
        }
    }

    fn row(&mut self, at: usize, line: &str, when: Time, cells: &[&str]) {
        let item = self
            .head
            .first()
            .filter(|name| ITEMS.contains(&name.as_str()));
        let skip = usize::from(item.is_some());
        match (item.map(String::as_str), cells[0]) {
            (Some("CPU"), "all" | "-1") | (None | Some("IFACE"), _) => {}
            _ => return,
        }
        let is_own = item.is_some() && cells[0] == "lo";
        let (day, last) = self.days.entry(self.head.clone()).or_insert((0, when));
        if when < *last {
            *day += 1;
        }
        *last = when;
        let key = (*day, when);
        let values: Option<Vec<f64>> = cells[skip..].iter().map(|cell| number(cell)).collect();
        let Some(values) = values else {
            self.broken(at, line);
            return;
        };
        self.put(key, skip, &values, is_own);
    }

    /// Puts the columns of a row under their names.
    fn put(&mut self, key: (u32, Time), skip: usize, values: &[f64], is_own: bool) {
        let mut cpu = CpuTimes::default();
        let reading = self.rows.entry(key).or_default();
        for (column, value) in self.head[skip..].iter().zip(values) {
            match of_sar(column) {
                None => {
                    self.monitor.left_out.insert(column.clone());
                }
                Some(Meaning::Cpu(kind)) => cpu.add(kind, *value),
                Some(Meaning::Signal(name, factor)) => {
                    reading.insert(name.to_owned(), value * factor);
                }
                Some(Meaning::Sum(name, factor)) => {
                    let sums = self.sums.entry(key).or_default();
                    let sum = sums.entry(name.to_owned()).or_default();
                    *sum += if is_own { 0.0 } else { value * factor };
                }
            }
        }
        cpu.put(reading);
    }

    fn broken(&mut self, at: usize, line: &str) {
        let shown: String = line.trim().chars().take(60).collect();
        self.monitor.broken.add(|| format!("line {at}: `{shown}`"));
    }

    fn finish(mut self) -> Vec<Row> {
        for (key, sums) in self.sums {
            self.rows.entry(key).or_default().extend(sums);
        }
        let rows = self.rows.into_iter();
        rows.map(|((day, time), values)| Row {
            when: When::Clock { day, time },
            values,
        })
        .collect()
    }
}
