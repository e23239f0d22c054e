//! Stored runs: found, read whole, reported.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use weir_record::{
    IntervalHistograms, RunDirectory, RunDirectoryError, RunManifest, RunResult, StudyResult,
    Timeline, WatchResult, failed_to,
};
use weir_report::watch::WatchInput;
use weir_report::{OneLoadInput, ReportError, ReportInput, Sheet};

use crate::error::ExpectedError;
use crate::for_others;
use crate::secrets::Secrets;

/// Finds a run by path, name or `last`.
pub(crate) fn find(runs: &Path, name: &str) -> Result<RunDirectory, ExpectedError> {
    RunDirectory::find(runs, name).map_err(failed)
}

/// What is wrong with a run directory, as an error of the program.
#[expect(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
pub(crate) fn failed(error: RunDirectoryError) -> ExpectedError {
    let text = failed_to(&error);
    match error {
        RunDirectoryError::NotThere { .. } | RunDirectoryError::Format { .. } => {
            ExpectedError::Input(text)
        }
        RunDirectoryError::Io { .. }
        | RunDirectoryError::Crowded(_)
        | RunDirectoryError::Planted { .. } => ExpectedError::Environment(text),
    }
}

/// The result of a run that is one load.
pub(crate) fn single(directory: &RunDirectory) -> Result<RunResult, ExpectedError> {
    let path = directory.single_path();
    let text = std::fs::read_to_string(&path)
        .map_err(|error| ExpectedError::Environment(format!("{}: {error}", path.display())))?;
    serde_json::from_str(&text)
        .map_err(|error| ExpectedError::Input(format!("{}: {error}", path.display())))
}

/// What a run is, as others may read it.
fn manifest(directory: &RunDirectory) -> Result<RunManifest, ExpectedError> {
    let kept = directory.manifest().map_err(failed)?;
    let secrets = Secrets::known()?;
    Ok(RunManifest {
        study: secrets.masked(&kept.study),
        command: secrets.masked_words(&kept.command),
        title: kept.title.map(|title| secrets.masked(&title)),
        ..kept
    })
}

/// Everything that a report is made from.
pub(crate) struct StoredRun {
    result: StudyResult,
    manifest: RunManifest,
    timelines: BTreeMap<u32, Timeline>,
}

impl StoredRun {
    /// Reads a run that has a result.
    pub(crate) fn read(directory: &RunDirectory) -> Result<Self, ExpectedError> {
        if directory.single_path().is_file() {
            return Err(ExpectedError::Input(format!(
                "{}: this run is one load, not a study; its figures are in {}",
                directory.path().display(),
                directory.single_path().display()
            )));
        }
        let result = directory.result().map_err(failed)?;
        let manifest = manifest(directory)?;
        let mut timelines = BTreeMap::new();
        for trial in &result.trials {
            let path = directory.trial(trial.id).timeline();
            if let Some(timeline) = timeline(&path)? {
                timelines.insert(trial.id, timeline);
            }
        }
        Ok(Self {
            result,
            manifest,
            timelines,
        })
    }

    /// The run as the report takes it.
    pub(crate) fn input(&self) -> ReportInput<'_> {
        ReportInput {
            result: &self.result,
            manifest: &self.manifest,
            timelines: &self.timelines,
        }
    }

    /// Writes `report.html` into the run's directory.
    pub(crate) fn write_report(&self, directory: &RunDirectory) -> Result<PathBuf, ExpectedError> {
        write_page(directory, weir_report::html(&self.input()))
    }

    /// Writes a page for others: it names no place and no machine.
    pub(crate) fn write_for_others(
        &mut self,
        directory: &RunDirectory,
        file: &Path,
    ) -> Result<(), ExpectedError> {
        for_others::rename(directory, &mut self.manifest, &mut self.result)?;
        write_copy(file, weir_report::html(&self.input()))
    }
}

/// A watch without load.
pub(crate) struct StoredWatch {
    watch: WatchResult,
    manifest: RunManifest,
    timeline: Timeline,
}

impl StoredWatch {
    /// Reads a watch, complete or as far as it came.
    pub(crate) fn read(directory: &RunDirectory) -> Result<Self, ExpectedError> {
        let watch = directory.watch().map_err(failed)?;
        let manifest = manifest(directory)?;
        let timeline = timeline(&directory.trial(1).timeline())?.unwrap_or_default();
        Ok(Self {
            watch,
            manifest,
            timeline,
        })
    }

    /// The watch as the report takes it.
    pub(crate) fn input(&self) -> WatchInput<'_> {
        WatchInput {
            watch: &self.watch,
            manifest: &self.manifest,
            timeline: &self.timeline,
        }
    }

    /// Writes `report.html` into the run's directory.
    pub(crate) fn write_report(&self, directory: &RunDirectory) -> Result<PathBuf, ExpectedError> {
        write_page(directory, weir_report::watch::watch_html(&self.input()))
    }

    /// Writes a page for others: it names no place and no machine.
    pub(crate) fn write_for_others(
        &mut self,
        directory: &RunDirectory,
        file: &Path,
    ) -> Result<(), ExpectedError> {
        for_others::rename(directory, &mut self.manifest, &mut self.watch)?;
        write_copy(file, weir_report::watch::watch_html(&self.input()))
    }
}

/// One load.
pub(crate) struct StoredLoad {
    result: RunResult,
    manifest: RunManifest,
    timeline: Timeline,
    response_us: Vec<(u64, u64)>,
}

impl StoredLoad {
    /// Reads a load that has ended.
    pub(crate) fn read(directory: &RunDirectory) -> Result<Self, ExpectedError> {
        let files = directory.trial(1);
        Ok(Self {
            result: single(directory)?,
            manifest: manifest(directory)?,
            timeline: timeline(&files.timeline())?.unwrap_or_default(),
            response_us: responses(&files.responses())?,
        })
    }

    /// The load as the report takes it.
    pub(crate) fn input(&self) -> OneLoadInput<'_> {
        OneLoadInput {
            result: &self.result,
            manifest: &self.manifest,
            timeline: &self.timeline,
            response_us: &self.response_us,
        }
    }

    /// Writes `report.html` into the run's directory.
    pub(crate) fn write_report(&self, directory: &RunDirectory) -> Result<PathBuf, ExpectedError> {
        write_page(directory, weir_report::one_load_html(&self.input()))
    }

    /// Writes a page for others: it names no place and no machine.
    pub(crate) fn write_for_others(
        &mut self,
        directory: &RunDirectory,
        file: &Path,
    ) -> Result<(), ExpectedError> {
        for_others::rename(directory, &mut self.manifest, &mut self.result)?;
        write_copy(file, weir_report::one_load_html(&self.input()))
    }
}

/// Response times and how often each was seen, in all seconds of a log; none without one.
fn responses(path: &Path) -> Result<Vec<(u64, u64)>, ExpectedError> {
    let Ok(text) = std::fs::read(path) else {
        return Ok(Vec::new());
    };
    let wrong = |error: &dyn std::error::Error| {
        ExpectedError::Input(format!("{}: {}", path.display(), failed_to(error)))
    };
    let read = IntervalHistograms::read_hlog(&text).map_err(|error| wrong(&error))?;
    let all = read
        .merged(0..usize::MAX, None)
        .map_err(|error| wrong(&error))?;
    let buckets = all.iter_recorded();
    Ok(buckets
        .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
        .collect())
}

/// The seconds in a file, if there is one.
pub(crate) fn timeline(path: &Path) -> Result<Option<Timeline>, ExpectedError> {
    let Ok(file) = File::open(path) else {
        return Ok(None);
    };
    let timeline = Timeline::read_csv(BufReader::new(file))
        .map_err(|error| ExpectedError::Input(format!("{}: failed to {error}", path.display())))?;
    Ok(Some(timeline))
}

/// Writes a page of drawings to a file.
pub(crate) fn write_sheet(path: &Path, sheet: &Sheet) -> Result<(), ExpectedError> {
    write_copy(path, weir_report::sheet_html(sheet))
}

fn write_copy(file: &Path, html: Result<String, ReportError>) -> Result<(), ExpectedError> {
    let html = html.map_err(|error| ExpectedError::Environment(failed_to(&error)))?;
    weir_record::write_whole(file, html.as_bytes()).map_err(failed)
}

fn write_page(
    directory: &RunDirectory,
    html: Result<String, ReportError>,
) -> Result<PathBuf, ExpectedError> {
    let html = html.map_err(|error| ExpectedError::Environment(failed_to(&error)))?;
    let path = directory.report_path();
    weir_record::write_whole(&path, html.as_bytes()).map_err(failed)?;
    directory.hide().map_err(failed)?;
    Ok(path)
}
