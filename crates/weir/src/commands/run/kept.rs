//! The directory that keeps a load of URLs, with its report.

use std::path::{Path, PathBuf};

use weir_record::{RunDirectory, TrialRecord};
use weir_rig::Measured;

use crate::commands::studies;
use crate::error::ExpectedError;
use crate::{output, stored};

/// Where a load is kept.
pub(super) struct Kept {
    pub(super) directory: RunDirectory,
}

impl Kept {
    /// Writes what was measured, second by second and in all. A load that cannot be kept is told
    /// all the same.
    pub(super) fn write(
        runs: &Path,
        name: &str,
        seed: u64,
        measured: &Measured,
        record: &TrialRecord,
    ) -> Option<Self> {
        match written(runs, name, seed, measured, record) {
            Ok(directory) => Some(Self { directory }),
            Err(error) => {
                output::talk(&format!(
                    "nothing of this run is kept: {error} (--runs DIR names another place, --discard asks for this)"
                ));
                None
            }
        }
    }

    /// Writes the report, and says where it is.
    pub(super) fn report(&self) -> Result<(), ExpectedError> {
        let load = stored::StoredLoad::read(&self.directory)?;
        let path = load.write_report(&self.directory)?;
        output::talk(&format!("report: {}", path.display()));
        Ok(())
    }
}

fn written(
    runs: &Path,
    name: &str,
    seed: u64,
    measured: &Measured,
    record: &TrialRecord,
) -> Result<RunDirectory, ExpectedError> {
    let directory = studies::create_run(runs, "run")?;
    let mut manifest = studies::manifest(seed, PathBuf::new(), String::new());
    manifest.title = Some(name.to_owned());
    if let Ok(started) = jiff::Timestamp::try_from(measured.started) {
        manifest.started = started.to_string();
    }
    directory
        .write_manifest(&manifest)
        .map_err(stored::failed)?;
    let files = directory.start_trial(1).map_err(stored::failed)?;
    files
        .write_seconds(&measured.recording, measured.started)
        .map_err(studies::trial_failed)?;
    directory.write_record(record).map_err(stored::failed)?;
    Ok(directory)
}
