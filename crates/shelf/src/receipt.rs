//! What came: kept with the package, so that a later reader knows what was measured.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::ShelfError;

/// The file in a package's directory.
pub(crate) const RECEIPT: &str = "weir-package.json";
const SCHEMA: &str = "weir/package/1";

/// What a package's directory was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    schema: String,
    /// The package's name.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The files that were fetched.
    pub files: Vec<ReceivedFile>,
}

/// A file that was fetched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReceivedFile {
    /// Maven coordinates, or a Debian package's file name.
    pub name: String,
    /// Its digest.
    pub sha256: String,
}

impl Receipt {
    pub(crate) fn new(package: &str, version: String, files: Vec<ReceivedFile>) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            package: package.to_owned(),
            version,
            files,
        }
    }

    /// The receipt in a directory; `None` when there is none that can be read.
    pub(crate) fn read(home: &Path) -> Option<Self> {
        let text = fs::read_to_string(home.join(RECEIPT)).ok()?;
        let receipt: Self = serde_json::from_str(&text).ok()?;
        (receipt.schema == SCHEMA).then_some(receipt)
    }

    pub(crate) fn write(&self, home: &Path) -> Result<(), ShelfError> {
        let path = home.join(RECEIPT);
        let text = serde_json::to_string_pretty(self).expect("plain data serialises");
        fs::write(&path, text + "\n").map_err(ShelfError::file("write", &path))
    }
}
