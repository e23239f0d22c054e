//! The variables of the file beside a configuration that a distribution's own script sets.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::TargetError;
use crate::trust::Runner;

/// The file beside a configuration that sets variables for it, on Debian.
pub(super) const VARIABLES: &str = "envvars";

/// The variables that a configuration can use: those of Weir's environment, and those that the file
/// beside it sets, which the distribution's own script for starting the server reads in the same
/// way.
pub(super) fn environment(file: &Path) -> Result<BTreeMap<String, String>, TargetError> {
    let script = "if [ -r \"$0\" ]; then . \"$0\" >/dev/null; fi; exec env -0";
    // A shell runs it, so it counts as a program; links are followed now and not once more.
    let is_there = fs::symlink_metadata(file).is_ok();
    let file = match Runner::own().trusted(file) {
        Ok(trusted) => trusted,
        Err(_) if !is_there => file.to_owned(),
        Err(why) => {
            return Err(TargetError::Configuration {
                path: file.to_owned(),
                says: format!(
                    "Weir would run it for its variables, but {why}; let it and the folders above it belong to root or to \
                     whoever runs Weir, and be writable by nobody else"
                ),
            });
        }
    };
    let output = Command::new("/bin/sh")
        .args(["-c", script])
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .map_err(|source| TargetError::Spawn {
            program: PathBuf::from("/bin/sh"),
            source,
        })?;
    if !output.status.success() {
        return Err(TargetError::Configuration {
            path: file,
            says: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        });
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let variables = text.split('\0').filter_map(|line| line.split_once('='));
    // Where the server's libraries are is known better by whoever starts it.
    let others = variables.filter(|(name, _)| *name != "LD_LIBRARY_PATH");
    Ok(others
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect())
}
