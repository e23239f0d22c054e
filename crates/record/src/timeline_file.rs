//! A timeline written second by second, for watches that last longer than memory.
//!
//! The file is the same as [`Timeline::write_csv`](crate::Timeline::write_csv) writes. Its head
//! names the signals, which are not all known at first: a pool appears with its first use. Then the
//! file is written anew with one column more.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use crate::timeline::{MISSED, Reading, SECOND, TimelineError, shorten};

/// A timeline that grows in a file.
#[derive(Debug)]
pub struct TimelineFile {
    path: PathBuf,
    signals: BTreeSet<String>,
    out: csv::Writer<BufWriter<File>>,
    seconds: u64,
}

impl TimelineFile {
    /// Makes the file.
    pub fn create(path: &Path) -> Result<Self, TimelineError> {
        let signals = BTreeSet::new();
        let out = begin(path, &signals)?;
        Ok(Self {
            path: path.to_owned(),
            signals,
            out,
            seconds: 0,
        })
    }

    /// Appends the next second, `None` when it was missed. After this it is in the file.
    pub fn add(&mut self, reading: Option<&Reading>) -> Result<(), TimelineError> {
        let unknown = |name: &&String| !self.signals.contains(*name);
        let new: Vec<String> = reading
            .into_iter()
            .flat_map(|reading| reading.keys().filter(unknown).cloned())
            .collect();
        if !new.is_empty() {
            self.widen(new)?;
        }
        let mut cells = vec![
            self.seconds.to_string(),
            u8::from(reading.is_none()).to_string(),
        ];
        cells.extend(self.signals.iter().map(|signal| {
            let value = reading.and_then(|reading| reading.get(signal));
            value.map_or_else(String::new, |value| shorten(*value))
        }));
        self.out.write_record(&cells)?;
        self.out.flush()?;
        self.seconds += 1;
        Ok(())
    }

    /// How many seconds there are, missed ones included.
    pub fn seconds(&self) -> u64 {
        self.seconds
    }

    /// Copies the file, row by row, to one with these columns too.
    fn widen(&mut self, new: Vec<String>) -> Result<(), TimelineError> {
        let old: Vec<String> = std::mem::take(&mut self.signals).into_iter().collect();
        self.signals = old.iter().cloned().chain(new).collect();
        let beside = self.path.with_extension("csv.part");
        let mut out = begin(&beside, &self.signals)?;
        let input = BufReader::new(File::open(&self.path)?);
        let mut rows = csv::Reader::from_reader(input);
        for row in rows.records() {
            let row = row?;
            let cell = |name: &String| {
                let place = old.binary_search(name).ok()?;
                row.get(place + 2)
            };
            let cells = self
                .signals
                .iter()
                .map(|name| cell(name).unwrap_or_default());
            out.write_record(row.iter().take(2).chain(cells))?;
        }
        out.flush()?;
        fs::rename(&beside, &self.path)?;
        self.out = out;
        Ok(())
    }
}

fn begin(
    path: &Path,
    signals: &BTreeSet<String>,
) -> Result<csv::Writer<BufWriter<File>>, TimelineError> {
    let file = BufWriter::new(File::create(path)?);
    let mut out = csv::Writer::from_writer(file);
    let names = signals.iter().map(String::as_str);
    out.write_record([SECOND, MISSED].into_iter().chain(names))?;
    out.flush()?;
    Ok(out)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::Timeline;

    fn reading(signals: &[(&str, f64)]) -> Reading {
        signals
            .iter()
            .map(|&(name, v)| (name.to_owned(), v))
            .collect()
    }

    #[test]
    fn it_is_what_a_timeline_would_write_after_every_second() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("timeline.csv");
        let seconds = [
            Some(reading(&[("cpu", 0.5)])),
            None,
            Some(reading(&[
                ("cpu", 0.25),
                ("pool.db.waiting", 14.0),
                ("a", 1.0),
            ])),
            Some(reading(&[("pool.db.waiting", 0.1)])),
        ];
        let mut file = TimelineFile::create(&path).unwrap();
        let mut timeline = Timeline::new();
        for (at, second) in seconds.iter().enumerate() {
            file.add(second.as_ref()).unwrap();
            match second {
                Some(reading) => timeline.add(at as u64, reading.clone()),
                None => timeline.miss(at as u64),
            }
            let mut expected = Vec::new();
            timeline.write_csv(&mut expected).unwrap();
            // A missed second at the end is a row only once another follows.
            if second.is_some() {
                let written = fs::read(&path).unwrap();
                assert_eq!(String::from_utf8(written), String::from_utf8(expected));
            }
        }
        assert_eq!(file.seconds(), 4);
        let read = Timeline::read_csv(File::open(&path).unwrap()).unwrap();
        assert_eq!(read, timeline);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
