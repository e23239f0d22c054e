//! nmon's file: lines of sections, whose rows name a snapshot (`T0001`) that a `ZZZZ` line gives a
//! time.
//!
//! ```text
//! AAA,host,app1
//! CPU_ALL,CPU Total app1,User%,Sys%,Wait%,Idle%,Steal%,Busy,CPUs
//! ZZZZ,T0001,00:10:01,22-NOV-2026
//! CPU_ALL,T0001,12.5,3.0,0.0,84.5,0.0,,2
//! ```

use std::collections::BTreeMap;

use jiff::civil::{Date, DateTime};
use weir_record::Reading;

use super::cells::{month, number, time};
use super::cpu::CpuTimes;
use super::names::{Meaning, of_nmon};
use super::{Monitor, Row, When};

/// The sections that are looked into; the rest of a file is left alone.
const SECTIONS: [&str; 3] = ["CPU_ALL", "PROC", "NET"];

pub(super) fn read(text: &str, monitor: &mut Monitor) -> Result<(), String> {
    let mut file = File::default();
    for (at, line) in text.lines().enumerate() {
        let cells: Vec<&str> = line.trim_end().split(',').collect();
        if file.line(&cells, monitor).is_none() {
            let shown: String = line.chars().take(60).collect();
            monitor.broken.add(|| format!("line {}: `{shown}`", at + 1));
        }
    }
    if file.times.is_empty() {
        return Err("it has no ZZZZ line, so nothing in it has a time".to_owned());
    }
    if file.capture > 0 {
        let note = format!(
            "it holds {} captures, one after the other",
            file.capture + 1
        );
        monitor.notes.push(note);
    }
    if !file.tells_steal {
        let note = "it tells no steal, which is taken as none";
        monitor.notes.push(note.to_owned());
    }
    let (times, rows) = (file.times, file.readings.into_iter());
    monitor.rows = rows
        .filter_map(|(snapshot, values)| {
            let when = When::Local(*times.get(&snapshot)?);
            Some(Row { when, values })
        })
        .collect();
    Ok(())
}

#[derive(Default)]
struct File<'t> {
    heads: BTreeMap<&'t str, Vec<&'t str>>,
    /// Which capture of the file: each counts its snapshots from 1.
    capture: u32,
    times: BTreeMap<Snapshot<'t>, DateTime>,
    readings: BTreeMap<Snapshot<'t>, Reading>,
    tells_steal: bool,
}

/// A snapshot of a capture.
type Snapshot<'t> = (u32, &'t str);

impl<'t> File<'t> {
    /// Takes one line; `None` when it is not what its section should have.
    fn line(&mut self, cells: &[&'t str], monitor: &mut Monitor) -> Option<()> {
        match *cells {
            ["AAA", "host", host, ..] => monitor.host = Some(host.to_owned()),
            ["AAA", "cpus", cpus, ..] => monitor.cpus = cpus.parse().ok(),
            ["ZZZZ", snapshot, clock, day, ..] => {
                let moment = moment(clock, day)?;
                let known = self.times.get(&(self.capture, snapshot));
                // The same number at another time: a file that was put together from several.
                if known.is_some_and(|known| *known != moment) {
                    self.capture += 1;
                }
                self.times.insert((self.capture, snapshot), moment);
            }
            [section, snapshot, ..] if SECTIONS.contains(&section) && is_snapshot(snapshot) => {
                let head = self.heads.get(section).map_or(&[][..], Vec::as_slice);
                let reading = self.readings.entry((self.capture, snapshot));
                let reading = reading.or_default();
                self.tells_steal |= row(section, head, &cells[2..], reading, monitor)?;
            }
            [section, _, ref head @ ..] if SECTIONS.contains(&section) => {
                self.heads.insert(section, head.to_vec());
            }
            _ => {}
        }
        Some(())
    }
}

fn is_snapshot(cell: &str) -> bool {
    cell.strip_prefix('T').is_some_and(|digits| {
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// Takes the row of one section; whether it told of steal. `None` when it is no row.
fn row(
    section: &str,
    head: &[&str],
    cells: &[&str],
    reading: &mut Reading,
    monitor: &mut Monitor,
) -> Option<bool> {
    // Cells may be missing at the end of a row whose writer was killed.
    if head.is_empty() || cells.len() < head.len() {
        return None;
    }
    let mut cpu = CpuTimes::default();
    for (column, cell) in head.iter().zip(cells) {
        let column = column.trim();
        match of_nmon(section, column) {
            None if cell.is_empty() || column.is_empty() || column.starts_with("lo-") => {}
            None => {
                monitor.left_out.insert(format!("{section} {column}"));
            }
            // Nothing is known of the first interval: -1.0.
            Some(_) if number(cell)? < 0.0 => {}
            Some(Meaning::Cpu(kind)) => cpu.add(kind, number(cell)?),
            Some(Meaning::Signal(name, factor)) => {
                reading.insert(name.to_owned(), number(cell)? * factor);
            }
            Some(Meaning::Sum(name, factor)) => {
                *reading.entry(name.to_owned()).or_default() += number(cell)? * factor;
            }
        }
    }
    cpu.put(reading);
    Some(cpu.has_steal())
}

/// `00:10:01`, `22-NOV-2026`
fn moment(clock: &str, day: &str) -> Option<DateTime> {
    let mut parts = day.split('-');
    let (number, name, year) = (parts.next()?, parts.next()?, parts.next()?);
    let date = Date::new(year.parse().ok()?, month(name)?, number.parse().ok()?).ok()?;
    Some(date.to_datetime(time(clock)?))
}
