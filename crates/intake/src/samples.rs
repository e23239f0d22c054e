//! The samples of a result file, kept so small that a file of tens of millions fits.
//!
//! Rows stand in a file in about the order in which samples ended, but not quite, and files that
//! were put together from several do not. So all are read before they are counted by seconds.

use std::collections::HashMap;
use std::io::Read;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use weir_record::{
    ClassSecond, JtlError, JtlReader, LoadSecond, Parts, SampleRow, SaveConfiguration,
};

use crate::IntakeError;
use crate::broken::Broken;

/// Labels that are counted each on their own; all others count as one, as in Weir's own load
/// engine.
const LABELS_MAX: u32 = 1_000;
const OTHER_LABELS: &str = "(other labels)";
/// One load test lasts no longer.
const DAYS_MAX: u64 = 7;
const DAY_MS: u64 = 86_400_000;

/// The samples of one result file.
#[derive(Debug)]
pub struct Samples {
    file: String,
    kept: Vec<Kept>,
    labels: Vec<String>,
    codes: Vec<String>,
    /// Rows of transaction controllers whose samples count themselves.
    sums: u64,
    broken: Broken,
    start_ms: u64,
    end_ms: u64,
}

#[derive(Debug, Clone, Copy)]
struct Kept {
    end_ms: u64,
    elapsed_ms: u64,
    label: u32,
    /// Index of the response code of one that failed.
    failed_with: Option<u32>,
    users: u32,
}

impl Samples {
    /// Reads a result file, CSV or XML; times without a zone are of this one.
    pub fn read(input: impl Read, file: &str, zone: &TimeZone) -> Result<Self, IntakeError> {
        let failed = |source| IntakeError::Jtl {
            file: file.to_owned(),
            source,
        };
        let rows = JtlReader::with(input, &SaveConfiguration::default(), zone).map_err(failed)?;
        let mut reading = Reading::default();
        for row in rows {
            match row {
                Ok(row) => reading.row(&row),
                Err(error) if error.is_one_row() || is_cut_off(&error) => {
                    reading.broken.add(|| error.to_string());
                }
                Err(error) => return Err(failed(error)),
            }
        }
        reading.finish(file)
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// How many samples there are.
    pub fn count(&self) -> u64 {
        self.kept.len() as u64
    }

    /// The start of the first sample and the end of the last, in milliseconds since 1970.
    pub fn span_ms(&self) -> (u64, u64) {
        (self.start_ms, self.end_ms)
    }

    /// Most users at once; `None` when the file does not say.
    pub fn users(&self) -> Option<u32> {
        let most = self.kept.iter().map(|kept| kept.users).max();
        most.filter(|most| *most > 0)
    }

    /// What a reader should know of the file.
    pub(crate) fn notes(&self) -> Vec<String> {
        let sums = (self.sums > 0).then(|| {
            format!(
                "{}: {} row(s) of transaction controllers are left out, because the samples that they sum up are counted",
                self.file, self.sums
            )
        });
        sums.into_iter()
            .chain(self.broken.note(&self.file))
            .collect()
    }

    /// The start of second 0, in seconds since 1970.
    pub(crate) fn origin_s(&self) -> i64 {
        (self.start_ms / 1_000).cast_signed()
    }

    /// The samples by the second in which they ended.
    pub(crate) fn seconds(&self) -> impl Iterator<Item = LoadSecond> + '_ {
        let origin_ms = self.start_ms / 1_000 * 1_000;
        let last = (self.end_ms - origin_ms) / 1_000;
        let mut at = 0;
        let mut users = 0;
        (0..=last).map(move |number| {
            let mut second = LoadSecond::empty(number);
            let until = origin_ms + (number + 1) * 1_000;
            while let Some(kept) = self.kept.get(at).filter(|kept| kept.end_ms < until) {
                at += 1;
                users = kept.users;
                let label = &self.labels[kept.label as usize];
                let known = second
                    .classes
                    .iter()
                    .position(|class| class.label == *label);
                let place = known.unwrap_or_else(|| {
                    second.classes.push(ClassSecond::empty(label));
                    second.classes.len() - 1
                });
                let failed_with = kept
                    .failed_with
                    .map(|code| self.codes[code as usize].as_str());
                second.classes[place].count(kept.elapsed_ms, failed_with);
            }
            second.users = users;
            second
        })
    }
}

/// A writer that was killed leaves its last sample half written.
fn is_cut_off(error: &JtlError) -> bool {
    matches!(error, JtlError::CutOff { .. })
}

#[derive(Default)]
struct Reading {
    kept: Vec<Kept>,
    labels: Names,
    codes: Names,
    parts: Parts,
    /// Of each thread, the last sample that counts.
    last: HashMap<Arc<str>, (u64, u64)>,
    sums: u64,
    broken: Broken,
    start_ms: Option<u64>,
}

impl Reading {
    fn row(&mut self, row: &SampleRow) {
        if self.parts.is_part(row) {
            return;
        }
        let span = (row.timestamp_ms, row.end_ms());
        let before = self.last.get(&row.thread_name);
        let sums_up = before.is_some_and(|part| span.0 <= part.0 && part.1 <= span.1);
        if row.is_transaction && (sums_up || row.is_empty_transaction()) {
            self.sums += 1;
            return;
        }
        self.last.insert(Arc::clone(&row.thread_name), span);
        self.start_ms = Some(self.start_ms.map_or(span.0, |first| first.min(span.0)));
        self.kept.push(Kept {
            end_ms: span.1,
            elapsed_ms: row.elapsed_ms,
            label: self.labels.of(&row.label),
            failed_with: (!row.success).then(|| self.codes.of(&row.response_code)),
            users: row.all_threads,
        });
    }

    fn finish(mut self, file: &str) -> Result<Samples, IntakeError> {
        let no_sample = |says: &str| IntakeError::NoSample {
            file: file.to_owned(),
            says: says.to_owned(),
        };
        let Some(start_ms) = self.start_ms else {
            return Err(match self.broken.count {
                0 => no_sample("it is empty, or has a header and nothing else"),
                _ => no_sample(&format!(
                    "none of its {} lines is one; {}",
                    self.broken.count,
                    self.broken.first.join("; ")
                )),
            });
        };
        self.broken.check(file, self.kept.len() as u64)?;
        self.kept.sort_by_key(|kept| kept.end_ms);
        let end_ms = self.kept.last().map_or(start_ms, |last| last.end_ms);
        if end_ms - start_ms > DAYS_MAX * DAY_MS {
            return Err(IntakeError::TooLong {
                file: file.to_owned(),
                from: moment(start_ms),
                until: moment(end_ms),
                days: DAYS_MAX,
            });
        }
        Ok(Samples {
            file: file.to_owned(),
            kept: self.kept,
            labels: self.labels.names,
            codes: self.codes.names,
            sums: self.sums,
            broken: self.broken,
            start_ms,
            end_ms,
        })
    }
}

/// A moment in UTC for people.
fn moment(epoch_ms: u64) -> String {
    let moment = Timestamp::from_millisecond(epoch_ms.cast_signed());
    moment.map_or_else(|_| epoch_ms.to_string(), |moment| moment.to_string())
}

/// Texts that come again and again, each kept once.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    known: HashMap<Box<str>, u32>,
}

impl Names {
    fn of(&mut self, name: &str) -> u32 {
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let name = if self.names.len() < LABELS_MAX as usize {
            name
        } else {
            OTHER_LABELS
        };
        if let Some(known) = self.known.get(name) {
            return *known;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.known.insert(name.into(), number);
        number
    }
}
