//! One row of signals a second.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

/// The signals of one second by name; a signal that could not be read is absent.
pub type Reading = BTreeMap<String, f64>;

/// Column that holds the number of the second.
pub(crate) const SECOND: &str = "second";
/// Column that says whether the second was missed.
pub(crate) const MISSED: &str = "missed";

/// The seconds of a trial, from its time origin.
///
/// As CSV (`timeline.csv`) it has one row a second: `second`, `missed` (1 when the watch missed
/// that second), then every signal in alphabetical order; an empty cell is a signal that was not
/// read. A missed second may still have what the load engine counted.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    rows: Vec<Option<Reading>>,
    missed: BTreeSet<usize>,
}

impl Timeline {
    /// A timeline without seconds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds signals to a second; seconds before it that nobody has given are missed.
    pub fn add(&mut self, second: u64, reading: Reading) {
        let at = second as usize;
        if self.rows.len() <= at {
            self.rows.resize(at + 1, None);
        }
        self.rows[at].get_or_insert_default().extend(reading);
    }

    /// Notes that the watch missed a second.
    pub fn miss(&mut self, second: u64) {
        self.missed.insert(second as usize);
    }

    /// How many seconds there are, missed ones included.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are no seconds.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The signals of a second; `None` when it was missed or lies outside.
    pub fn second(&self, second: usize) -> Option<&Reading> {
        self.rows.get(second)?.as_ref()
    }

    /// Whether the watch missed this second.
    pub fn missed(&self, second: usize) -> bool {
        self.missed.contains(&second) || self.second(second).is_none()
    }

    /// The values of one signal over a range of seconds; absent where it was not read.
    pub fn series(&self, signal: &str, seconds: std::ops::Range<usize>) -> Vec<Option<f64>> {
        seconds
            .map(|second| self.second(second)?.get(signal).copied())
            .collect()
    }

    /// Every signal that was read at least once.
    pub fn signals(&self) -> BTreeSet<&str> {
        self.rows
            .iter()
            .flatten()
            .flat_map(|row| row.keys().map(String::as_str))
            .collect()
    }

    /// Writes the timeline as CSV.
    pub fn write_csv(&self, out: impl io::Write) -> Result<(), TimelineError> {
        let signals = self.signals();
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record([SECOND, MISSED].into_iter().chain(signals.iter().copied()))?;
        for (second, row) in self.rows.iter().enumerate() {
            let mut cells = vec![
                second.to_string(),
                u8::from(self.missed(second)).to_string(),
            ];
            cells.extend(signals.iter().map(|signal| {
                row.as_ref()
                    .and_then(|row| row.get(*signal))
                    .map_or_else(String::new, |value| shorten(*value))
            }));
            csv.write_record(&cells)?;
        }
        csv.flush()?;
        Ok(())
    }

    /// Reads a timeline that [`Self::write_csv`] wrote.
    pub fn read_csv(input: impl io::Read) -> Result<Self, TimelineError> {
        let mut csv = csv::Reader::from_reader(input);
        let header = csv.headers()?.clone();
        let mut timeline = Self::new();
        for record in csv.records() {
            let record = record?;
            let line = record.position().map_or(0, csv::Position::line);
            let number = |cell: &str| {
                cell.parse::<f64>().map_err(|_| TimelineError::Cell {
                    line,
                    cell: cell.to_owned(),
                })
            };
            let second = timeline.rows.len();
            let mut row = Reading::new();
            for (name, cell) in header.iter().zip(record.iter()) {
                match name {
                    MISSED if cell == "1" => timeline.miss(second as u64),
                    SECOND | MISSED => {}
                    _ if cell.is_empty() => {}
                    signal => {
                        row.insert(signal.to_owned(), number(cell)?);
                    }
                }
            }
            timeline.rows.push((!row.is_empty()).then_some(row));
        }
        Ok(timeline)
    }
}

/// Six significant digits: more than any signal has, and short files.
pub(crate) fn shorten(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let digits = 5 - value.abs().log10().floor() as i32;
    let scale = 10_f64.powi(digits);
    if scale.is_finite() && scale > 0.0 {
        format!("{}", (value * scale).round() / scale)
    } else {
        format!("{value}")
    }
}

/// Why a timeline cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TimelineError {
    /// The CSV layer failed.
    #[error("read or write a timeline")]
    Csv(#[from] csv::Error),
    /// Writing failed.
    #[error("write a timeline")]
    Io(#[from] io::Error),
    /// A cell is not a number.
    #[error("read the number `{cell}` in line {line} of a timeline")]
    Cell {
        /// The line of the file.
        line: u64,
        /// What stands there.
        cell: String,
    },
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn reading(pairs: &[(&str, f64)]) -> Reading {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), *v)).collect()
    }

    #[test]
    fn absent_stays_absent_and_missed_stays_missed() {
        let mut timeline = Timeline::new();
        timeline.add(0, reading(&[("cpu", 0.5)]));
        timeline.add(0, reading(&[("throughput", 100.0)]));
        timeline.add(2, reading(&[("throughput", 0.0)]));
        timeline.add(3, reading(&[("throughput", 5.0)]));
        timeline.miss(1);
        timeline.miss(3);
        let mut text = Vec::new();
        timeline.write_csv(&mut text).unwrap();
        assert_eq!(
            String::from_utf8(text.clone()).unwrap(),
            "second,missed,cpu,throughput\n0,0,0.5,100\n1,1,,\n2,0,,0\n3,1,,5\n"
        );
        let read = Timeline::read_csv(text.as_slice()).unwrap();
        assert_eq!(read, timeline);
        assert!(read.missed(1) && !read.missed(2) && read.missed(3) && read.missed(4));
        assert_eq!(read.series("cpu", 0..3), vec![Some(0.5), None, None]);
    }

    #[test]
    fn keeps_six_digits() {
        assert_eq!(shorten(0.123_456_789), "0.123457");
        assert_eq!(shorten(1_234_567.8), "1234570");
        assert_eq!(shorten(-0.000_012_345_678), "-0.0000123457");
    }

    #[test]
    fn says_which_cell_is_no_number() {
        let error = Timeline::read_csv("second,missed,cpu\n0,0,fast\n".as_bytes()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "read the number `fast` in line 2 of a timeline"
        );
    }
}
