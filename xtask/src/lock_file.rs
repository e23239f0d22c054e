//! `Cargo.lock`: every package that is used, in the version that is used.

use std::fs;
use std::path::Path;

use semver::Version;
use serde::Deserialize;

use crate::error::TaskError;

/// A package that is used.
#[derive(Debug, Deserialize)]
pub(crate) struct Locked {
    pub(crate) name: String,
    pub(crate) version: Version,
    /// None for the project's own packages.
    pub(crate) source: Option<String>,
    /// The SHA-256 of the package as it is fetched.
    pub(crate) checksum: Option<String>,
}

#[derive(Debug, Deserialize)]
struct LockFile {
    package: Vec<Locked>,
}

/// The packages of the workspace.
pub(crate) fn read(root: &Path) -> Result<Vec<Locked>, TaskError> {
    let path = root.join("Cargo.lock");
    of(&fs::read_to_string(&path).map_err(TaskError::file("read", &path))?)
}

/// The packages of such a file.
pub(crate) fn of(text: &str) -> Result<Vec<Locked>, TaskError> {
    let file: LockFile = toml::from_str(text).map_err(|error| TaskError::Form {
        what: "Cargo.lock".to_owned(),
        why: error.to_string(),
    })?;
    Ok(file.package)
}
