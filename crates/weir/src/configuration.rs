//! The settings of an answer in the server's own configuration files: shown, and written on
//! request. And the file of the gateway that holds it.

use std::ffi::OsStr;

use weir_record::{ConfigurationDiff, failed_to};
use weir_rig::Rig;
use weir_server::{ConfigurationChange, FILE_TO_HOLD};
use weir_study::Outcome;

use crate::error::ExpectedError;
use crate::{output, stored};

/// What the settings of an answer change. Files that cannot be read are told and left out: the
/// answer stands without them.
pub(crate) fn changes(rig: &Rig, outcome: &Outcome) -> Vec<ConfigurationChange> {
    if outcome.settings.is_empty() {
        return Vec::new();
    }
    rig.configuration(&outcome.settings)
        .unwrap_or_else(|error| {
            output::talk(&format!(
                "warning: the settings are not shown as configuration: {}",
                failed_to(&error)
            ));
            Vec::new()
        })
}

/// The differences for the result.
pub(crate) fn diffs(changes: &[ConfigurationChange]) -> Vec<ConfigurationDiff> {
    let diffs = changes.iter().map(|change| ConfigurationDiff {
        file: change.file.display().to_string(),
        diff: change.diff(),
    });
    diffs.collect()
}

/// Writes the changes into the user's files, when the requirements are met.
pub(crate) fn write(changes: &[ConfigurationChange], exit_code: u8) -> Result<(), ExpectedError> {
    let of_user: Vec<_> = changes.iter().filter(|change| change.of_user).collect();
    if exit_code != 0 || of_user.is_empty() {
        output::talk(if exit_code == 0 {
            "nothing was written: there is no configuration file of yours in which the settings stand"
        } else {
            "nothing was written: the settings are written only when the requirements are met"
        });
        return Ok(());
    }
    for change in of_user {
        let backup = change
            .write()
            .map_err(|error| ExpectedError::Environment(failed_to(&error)))?;
        let file = change.file.display();
        output::talk(&match backup {
            Some(backup) => format!("wrote {file}; its old text is in {}", backup.display()),
            None => format!("wrote {file}, which was not there before"),
        });
    }
    Ok(())
}

/// Writes the gateway's file that holds what a study found into the run's directory, where the
/// study went through a gateway.
pub(crate) fn write_gate(changes: &[ConfigurationChange]) -> Result<(), ExpectedError> {
    for change in changes {
        if change.file.file_name() == Some(OsStr::new(FILE_TO_HOLD)) {
            let written = weir_record::write_whole(&change.file, change.after.as_bytes());
            written.map_err(stored::failed)?;
            output::talk(&format!(
                "hold it with: weir gate {}",
                change.file.display()
            ));
        }
    }
    Ok(())
}
