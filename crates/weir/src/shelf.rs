//! The cache of servers, told to the user while it is filled.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use weir_record::failed_to;
use weir_shelf::{Package, Progress, Shelf, ShelfError};

use crate::error::ExpectedError;
use crate::progress::Counter;
use crate::{output, places};

/// Weir's cache.
pub(crate) fn open() -> Result<Shelf, ExpectedError> {
    places::cache().map(Shelf::new)
}

/// A package's directory; what is not there is fetched, and that is told.
pub(crate) fn provide(
    package: &Package,
    interrupted: &AtomicBool,
) -> Result<PathBuf, ExpectedError> {
    let shelf = open()?;
    if let Some(home) = shelf.find(package) {
        return Ok(home);
    }
    output::talk(&format!(
        "fetching {} into {}, once",
        package.what,
        shelf.cache().display()
    ));
    let home = counted(|progress| shelf.provide(package, interrupted, progress))?;
    output::talk(&format!("{} is in {}", package.name, home.display()));
    Ok(home)
}

fn counted<T>(
    fetch: impl FnOnce(&mut dyn FnMut(Progress)) -> Result<T, ShelfError>,
) -> Result<T, ExpectedError> {
    let mut fetched = Counter::new("files fetched");
    let mut unpacked = Counter::new("files unpacked");
    let done = fetch(&mut |progress| match progress {
        Progress::Fetched { files } => fetched.set(files as u64),
        Progress::Unpacked { files, .. } => unpacked.set(files as u64),
    });
    fetched.finish();
    unpacked.finish();
    done.map_err(failed)
}

/// An error of the shelf as one of the program.
fn failed(error: ShelfError) -> ExpectedError {
    match error {
        ShelfError::Interrupted => ExpectedError::Interrupted,
        error => ExpectedError::Environment(failed_to(&error)),
    }
}
