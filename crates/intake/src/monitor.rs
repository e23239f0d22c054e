//! What monitors write, read under Weir's names of signals.

mod cells;
mod cpu;
mod dstat;
mod names;
mod nmon;
mod sadf;
mod sadf_json;
mod sar;

pub(crate) use names::is_reading;

use std::collections::BTreeSet;
use std::fmt;

use jiff::civil::{Date, DateTime, Time};
use weir_record::{Adjustment, AdjustmentKind, Reading};

use crate::IntakeError;
use crate::broken::Broken;

/// Bytes at the beginning of a file that tell its kind.
const LOOK_BYTES: usize = 16 * 1024;

/// Who wrote a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MonitorKind {
    /// `sar`'s text.
    Sar,
    /// `sadf -d`: semicolons; or `sadf -j`: JSON.
    Sadf,
    /// nmon's file.
    Nmon,
    /// `dstat --output`: commas.
    Dstat,
}

impl MonitorKind {
    /// Who wrote a file that begins like this.
    pub fn of(start: &str) -> Option<Self> {
        if is_json(start) {
            return Some(Self::Sadf);
        }
        let mut lines = start
            .lines()
            .map(str::trim_start)
            .filter(|line| !line.is_empty());
        lines.find_map(|line| {
            let has = |part: &str| line.contains(part);
            if line.starts_with("AAA,") {
                Some(Self::Nmon)
            } else if has("hostname;interval;timestamp") {
                Some(Self::Sadf)
            } else if line.starts_with("Linux ") && has("CPU)") {
                Some(Self::Sar)
            } else if has("total cpu usage") || has("total usage:") || line.starts_with("\"Dstat ")
            {
                Some(Self::Dstat)
            } else {
                None
            }
        })
    }
}

impl fmt::Display for MonitorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sar => "sar",
            Self::Sadf => "sadf -d",
            Self::Nmon => "nmon",
            Self::Dstat => "dstat",
        })
    }
}

/// One row of a monitor: what it read at the end of an interval.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) when: When,
    pub(crate) values: Reading,
}

/// The end of a row's interval, as far as the file says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum When {
    /// Seconds since 1970.
    Epoch(i64),
    /// On the machine's own clock.
    Local(DateTime),
    /// A time of day without a date: so many midnights after the file's first day.
    Clock {
        /// Midnights that have passed.
        day: u32,
        /// The time of day.
        time: Time,
    },
}

/// What one monitor wrote.
#[derive(Debug)]
pub struct Monitor {
    pub(crate) file: String,
    pub(crate) kind: MonitorKind,
    /// The machine it ran on.
    pub(crate) host: Option<String>,
    /// Its CPUs.
    pub(crate) cpus: Option<u32>,
    /// What the date at the head of the file may mean, the likeliest first; for rows without a
    /// date.
    pub(crate) first_days: Vec<Date>,
    pub(crate) rows: Vec<Row>,
    /// Columns that have no name in Weir.
    pub(crate) left_out: BTreeSet<String>,
    pub(crate) broken: Broken,
    /// What was assumed.
    pub(crate) notes: Vec<String>,
}

impl Monitor {
    /// Reads what a monitor wrote. `day` is the day of the load, for files that name no year.
    pub fn read(content: &[u8], file: &str, day: Date) -> Result<Self, IntakeError> {
        let not = |says: String| IntakeError::NotAMonitor {
            file: file.to_owned(),
            says,
        };
        if content.is_empty() {
            return Err(not("it is empty".to_owned()));
        }
        let text = String::from_utf8_lossy(content);
        let start = text
            .char_indices()
            .nth(LOOK_BYTES)
            .map_or(&*text, |(at, _)| &text[..at]);
        let Some(kind) = MonitorKind::of(start) else {
            return Err(not(unknown(start)));
        };
        let mut monitor = Self {
            file: file.to_owned(),
            kind,
            host: None,
            cpus: None,
            first_days: Vec::new(),
            rows: Vec::new(),
            left_out: BTreeSet::new(),
            broken: Broken::default(),
            notes: Vec::new(),
        };
        let read = match kind {
            MonitorKind::Sar => sar::read(&text, &mut monitor),
            MonitorKind::Sadf if is_json(&text) => sadf_json::read(&text, &mut monitor),
            MonitorKind::Sadf => {
                sadf::read(&text, &mut monitor);
                Ok(())
            }
            MonitorKind::Nmon => nmon::read(&text, &mut monitor),
            MonitorKind::Dstat => dstat::read(&text, &mut monitor, day),
        };
        read.map_err(not)?;
        monitor.broken.check(file, monitor.rows.len() as u64)?;
        if monitor.rows.iter().all(|row| row.values.is_empty()) {
            let columns: Vec<&str> = monitor.left_out.iter().map(String::as_str).collect();
            return Err(not(format!(
                "it is {kind}'s, but none of its columns has a name in Weir ({})",
                columns.join(", ")
            )));
        }
        monitor.rows.retain(|row| !row.values.is_empty());
        Ok(monitor)
    }

    /// Who wrote it.
    pub fn kind(&self) -> MonitorKind {
        self.kind
    }

    /// The machine it ran on, where the file says.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The machine's CPUs, where the file says.
    pub fn cpus(&self) -> Option<u32> {
        self.cpus
    }

    /// What was assumed of the file.
    pub(crate) fn notes(&self) -> impl Iterator<Item = String> {
        let notes = self.notes.iter();
        notes.map(|note| format!("{}: {note}", self.file))
    }

    /// What of the file is not taken.
    pub(crate) fn adjustments(&self) -> impl Iterator<Item = Adjustment> {
        let columns: Vec<&str> = self.left_out.iter().map(String::as_str).collect();
        let left_out = columns.len() as u64;
        let left_out = Adjustment::counted(AdjustmentKind::ColumnsLeftOut, left_out, || {
            let columns = columns.join(", ");
            format!(
                "{}: without a name in Weir and left out: {columns}",
                self.file
            )
        });
        let broken = self.broken.adjustment(&self.file);
        left_out.into_iter().chain(broken)
    }
}

/// Whether it is what `sadf -j` writes.
fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(sadf_json::BEGIN)
}

/// What a file looks like that no monitor wrote.
fn unknown(start: &str) -> String {
    let first: String = start
        .lines()
        .next()
        .unwrap_or_default()
        .chars()
        .take(80)
        .collect();
    let is_jtl = first.contains("timeStamp") || start.contains("<testResults");
    if is_jtl {
        "it is a result file of JMeter; give it with --jtl".to_owned()
    } else if start.contains('\0') || start.contains('\u{fffd}') {
        "it is no text; of sar's binary files `sar -f FILE` or `sadf -d FILE` makes text".to_owned()
    } else {
        format!(
            "it begins with `{first}`; sar's text begins with `Linux`, sadf -d's with `# hostname;interval;timestamp`, \
             nmon's with `AAA`, dstat's --output names `total cpu usage`"
        )
    }
}
