//! The run of a watch: a row a second at once, and what was seen of each signal now and then.

use std::collections::BTreeMap;
use std::path::Path;

use weir_probe::{Arrivals, Origins, Reading};
use weir_record::{RunDirectory, TimelineFile, WATCH_SCHEMA, WatchResult, failed_to, names};

use crate::commands::studies;
use crate::commands::watch::subject::Subject;
use crate::error::ExpectedError;
use crate::stored;

/// Seconds between two times that `watch.json` is written, so that a watch that is killed has one.
const WRITTEN_EVERY_S: u64 = 60;

/// A run that grows.
pub(crate) struct Recorder {
    directory: RunDirectory,
    timeline: TimelineFile,
    seen: WatchResult,
    last: Option<weir_record::Reading>,
}

impl Recorder {
    /// Makes the run's directory, unless the subject's server was started in one.
    pub(crate) fn create(subject: &Subject, runs: &Path) -> Result<Self, ExpectedError> {
        let directory = match &subject.directory {
            Some(directory) => directory.clone(),
            None => studies::create_run(runs, &subject.name)?,
        };
        let manifest = studies::manifest(0, ".".into(), subject.study.clone());
        directory
            .write_manifest(&manifest)
            .map_err(stored::failed)?;
        let files = directory.start_trial(1).map_err(stored::failed)?;
        let path = files.timeline();
        let timeline = TimelineFile::create(&path).map_err(|error| failed(&error))?;
        let seen = WatchResult {
            schema: WATCH_SCHEMA.to_owned(),
            weir: manifest.weir,
            run: directory.id(),
            target: subject.target.clone(),
            seconds: 0,
            missed: 0,
            running: true,
            signals: BTreeMap::new(),
            not_read: BTreeMap::new(),
        };
        Ok(Self {
            directory,
            timeline,
            seen,
            last: None,
        })
    }

    /// Keeps one second; `None` when it was missed.
    pub(crate) fn add(&mut self, reading: Option<&Reading>) -> Result<(), ExpectedError> {
        let reading = reading.map(|reading| {
            let signals = reading.iter();
            signals
                .map(|(name, value)| (name.to_string(), *value))
                .collect()
        });
        self.timeline
            .add(reading.as_ref())
            .map_err(|error| failed(&error))?;
        self.seen.add(reading.as_ref());
        self.last = reading;
        if self.seen.seconds.is_multiple_of(WRITTEN_EVERY_S) {
            self.directory
                .write_watch(&self.seen)
                .map_err(stored::failed)?;
        }
        Ok(())
    }

    /// Seconds so far.
    pub(crate) fn seconds(&self) -> u64 {
        self.timeline.seconds()
    }

    /// The last second; `None` when it was missed.
    pub(crate) fn last(&self) -> Option<&weir_record::Reading> {
        self.last.as_ref()
    }

    /// What was seen so far.
    pub(crate) fn seen(&self) -> &WatchResult {
        &self.seen
    }

    /// Notes why the arrivals of requests cannot be read.
    pub(crate) fn note_arrivals(&mut self, arrivals: Arrivals) {
        if let Arrivals::Unreadable(why) = arrivals {
            let signal = names::ARRIVAL_TO_READ.to_owned();
            self.seen.not_read.insert(signal, why);
        }
    }

    /// Notes why signals cannot be read, as long as they were not.
    pub(crate) fn note_not_read(&mut self, why: BTreeMap<&'static str, String>) {
        let seen = &mut self.seen;
        for (signal, why) in why {
            seen.not_read.insert(signal.to_owned(), why);
        }
        let read = &seen.signals;
        seen.not_read.retain(|signal, _| !read.contains_key(signal));
    }

    /// Notes where the signals came from.
    pub(crate) fn note_origins(&mut self, origins: Origins) {
        for (name, origin) in origins {
            if let Some(signal) = self.seen.signals.get_mut(&name) {
                signal.origin = origin;
            }
        }
    }

    /// Stores what was seen as complete.
    pub(crate) fn finish(&mut self) -> Result<(), ExpectedError> {
        self.seen.running = false;
        self.directory
            .write_watch(&self.seen)
            .map_err(stored::failed)
    }

    /// Where the run lies.
    pub(crate) fn place(&self) -> String {
        self.directory.path().display().to_string()
    }
}

fn failed(error: &weir_record::TimelineError) -> ExpectedError {
    ExpectedError::Environment(failed_to(error))
}
