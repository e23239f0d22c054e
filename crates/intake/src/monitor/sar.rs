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
//! one before it is of the next day. A file may hold several days, each under its own head: then
//! all their dates are read in one order, and what lies between them is no day of the file.

use std::collections::BTreeMap;

use jiff::civil::{Date, Time};
use weir_record::Reading;

use super::cells::{by_order, dates, number, time, time_of_twelve};
use super::cpu::CpuTimes;
use super::names::{Meaning, of_sar};
use super::{Monitor, Row, When};

/// The columns that say what a row is about.
const ITEMS: [&str; 4] = ["CPU", "IFACE", "DEV", "TTY"];

/// What else may stand in capitals behind a time of day is its zone.
const CAPITALS: [&str; 9] = [
    "CPU", "IFACE", "DEV", "TTY", "INTR", "BUS", "TEMP", "FAN", "IN",
];

/// What to do about a language that is not read.
const OTHER_LANGUAGE: &str = "make it with `LC_ALL=C sar …`, or with `sadf -d`, which is the same in \
                              every language";

pub(super) fn read(text: &str, monitor: &mut Monitor) -> Result<(), String> {
    let mut file = File {
        monitor,
        head: Vec::new(),
        is_of_use: false,
        heads: Vec::new(),
        days: BTreeMap::new(),
        rows: BTreeMap::new(),
        sums: BTreeMap::new(),
    };
    for (number, line) in text.lines().enumerate() {
        file.line(number + 1, &plain(line));
    }
    let rows = file.finish()?;
    if monitor.first_days.is_empty() {
        return Err(format!(
            "its first line, which begins with `Linux`, names no date that can be read; {OTHER_LANGUAGE}"
        ));
    }
    if rows.is_empty() {
        return Err(if let Some(first) = monitor.broken.first.first() {
            format!("none of its rows can be read ({first}); {OTHER_LANGUAGE}")
        } else if monitor.left_out.is_empty() {
            "it is sar's, but has no row".to_owned()
        } else {
            let columns: Vec<&str> = monitor.left_out.iter().map(String::as_str).collect();
            format!(
                "it is sar's, but has none of the blocks that Weir reads, which `sar -u -q -w -n TCP,DEV` prints; it has {}",
                columns.join(", ")
            )
        });
    }
    monitor.rows = rows;
    Ok(())
}

/// A line without colours, with its times as `13:00:10` and its dates with hyphens, whatever the
/// language.
fn plain(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            // A colour is `ESC [ … m`.
            '\u{1b}' => drop(letters.by_ref().find(char::is_ascii_alphabetic)),
            '時' | '时' | '分' | '시' | '분' => plain.push(':'),
            '年' | '月' | '년' | '월' => plain.push('-'),
            '秒' | '초' | '日' | '일' | '\u{200e}' | '\u{200f}' => {}
            '\u{a0}' | '\u{202f}' => plain.push(' '),
            letter => plain.push(letter),
        }
    }
    // Korean puts a blank behind each of them.
    let is_open = |before: &str| before.ends_with([':', '-']) && before.len() > 1;
    let mut joined = String::with_capacity(plain.len());
    for piece in plain.split_inclusive(' ') {
        if is_open(joined.trim_end()) && plain.len() < line.len() {
            joined.truncate(joined.trim_end().len());
        }
        joined.push_str(piece);
    }
    joined
}

/// Whether a cell behind a time of twelve hours is its zone.
fn is_zone(cell: &str) -> bool {
    (3..=5).contains(&cell.len())
        && cell.bytes().all(|byte| byte.is_ascii_uppercase())
        && !CAPITALS.contains(&cell)
}

struct File<'m> {
    monitor: &'m mut Monitor,
    /// The columns of the block that is open, without the time.
    head: Vec<String>,
    /// Whether one of these columns has a name in Weir; else the rows of the block are left out.
    is_of_use: bool,
    /// The dates of the file's heads, as they are written.
    heads: Vec<String>,
    /// Of the head at hand, by columns: the midnights that have passed and the last time.
    days: BTreeMap<Vec<String>, (u32, Time)>,
    rows: BTreeMap<Key, Reading>,
    /// What is added up over the items of one time.
    sums: BTreeMap<Key, Reading>,
}

/// When a row was: under which of the file's heads, how many midnights behind it, at what time.
type Key = (usize, u32, Time);

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
            if let Some(zone) = cells.first().filter(|cell| is_zone(cell)) {
                self.zone(zone);
                cells = &cells[1..];
            }
        }
        match cells.last() {
            Some(_) if line.contains("RESTART") => {
                let note = format!("the machine was started anew in line {at}");
                self.monitor.notes.push(note);
            }
            Some(_) if cells.iter().all(|cell| number(cell).is_none()) => {
                self.head = cells.iter().map(|cell| (*cell).to_owned()).collect();
                self.is_of_use = cells.iter().any(|cell| of_sar(cell).is_some());
                if !self.is_of_use {
                    let columns = self.head.iter().cloned();
                    self.monitor.left_out.extend(columns);
                }
            }
            Some(_) if !self.is_of_use && !self.head.is_empty() => {}
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
        // The kernel's release, which stands before the host, may look like a date.
        let host = cells.iter().position(|cell| inside(cell).is_some());
        let behind = cells[host.map_or(0, |at| at + 1)..].iter();
        let date = behind.copied().find(|cell| !dates(cell).is_empty());
        self.heads.push(date.unwrap_or_default().to_owned());
        self.days.clear();
    }

    fn zone(&mut self, zone: &str) {
        let note = format!("its times name the zone {zone}; --time-zone says which that is");
        if !self.monitor.notes.contains(&note) {
            self.monitor.notes.push(note);
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
        let key = (self.heads.len(), *day, when);
        let values: Option<Vec<f64>> = cells[skip..].iter().map(|cell| number(cell)).collect();
        let Some(values) = values else {
            self.broken(at, line);
            return;
        };
        self.put(key, skip, &values, is_own);
    }

    /// Puts the columns of a row under their names.
    fn put(&mut self, key: Key, skip: usize, values: &[f64], is_own: bool) {
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

    fn finish(mut self) -> Result<Vec<Row>, String> {
        let (first_days, offsets) = days_of(&self.heads)?;
        self.monitor.first_days = first_days;
        for (key, sums) in self.sums {
            self.rows.entry(key).or_default().extend(sums);
        }
        let rows = self.rows.into_iter();
        let rows = rows.map(|((head, midnights, time), values)| {
            let offset = head.checked_sub(1).map_or(0, |at| offsets[at]);
            let day = offset + midnights;
            Row {
                when: When::Clock { day, time },
                values,
            }
        });
        Ok(rows.collect())
    }
}

/// What the first of the days may be, the likeliest first, and how many days after it each head is.
fn days_of(heads: &[String]) -> Result<(Vec<Date>, Vec<u32>), String> {
    let Some(one) = heads.first() else {
        return Ok((Vec::new(), Vec::new()));
    };
    if heads.iter().all(|head| head == one) {
        return Ok((dates(one), vec![0; heads.len()]));
    }
    // All dates of a file are written in one order; of those that fit, the one in which they lie
    // closest together.
    let orders = (0..3).filter_map(|order| {
        let days: Option<Vec<Date>> = heads.iter().map(|head| by_order(head)[order]).collect();
        let days = days?;
        let first = *days.iter().min()?;
        let after = |day: &Date| u32::try_from(first.until(*day).ok()?.get_days()).ok();
        let offsets: Option<Vec<u32>> = days.iter().map(after).collect();
        Some((first, offsets?))
    });
    let closest = orders.min_by_key(|(_, offsets)| offsets.iter().max().copied());
    let (first, offsets) = closest.ok_or_else(|| {
        format!(
            "the dates of its heads ({}) cannot all be read; {OTHER_LANGUAGE}",
            heads.join(", ")
        )
    })?;
    Ok((vec![first], offsets))
}
