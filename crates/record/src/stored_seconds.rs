//! The seconds of a trial, as its files have them.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::SystemTime;

use crate::recording::Recording;
use crate::run_dir::TrialFiles;
use crate::runner::TrialError;

impl TrialFiles {
    /// Writes timeline and histograms of a trial whose first second began at `started`.
    pub fn write_seconds(
        &self,
        recording: &Recording,
        started: SystemTime,
    ) -> Result<(), TrialError> {
        let path = self.timeline();
        recording
            .timeline
            .write_csv(create(&path)?)
            .map_err(|error| not_written(&path, &error))?;
        let path = self.responses();
        let mut out = create(&path)?;
        recording
            .histograms
            .write_hlog(&mut out, started)
            .map_err(|error| not_written(&path, &error))?;
        out.flush().map_err(|error| not_written(&path, &error))
    }
}

fn create(path: &Path) -> Result<BufWriter<File>, TrialError> {
    File::create(path)
        .map(BufWriter::new)
        .map_err(|error| not_written(path, &error))
}

/// The file, and the operating system's own words, which lie at the end of the causes.
fn not_written(path: &Path, error: &dyn Error) -> TrialError {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    TrialError::Storage(format!("failed to write `{}`: {cause}", path.display()))
}
