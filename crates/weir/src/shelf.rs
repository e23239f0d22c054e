//! The cache of servers, told to the user while it is filled.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use weir_record::failed_to;
use weir_shelf::{POSTGRESQL, Package, PostgresqlPrograms, Progress, Shelf, ShelfError};

use crate::error::{ExpectedError, environment};
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
        return places::check_cached(&home).map(|()| home);
    }
    output::talk(&format!(
        "fetching {} into {}, once",
        package.what,
        shelf.cache().display()
    ));
    let home = counted(|progress| shelf.provide(package, interrupted, progress))?;
    places::close(&home)?;
    output::talk(&format!("{} is in {}", package.name, home.display()));
    Ok(home)
}

/// The programs of PostgreSQL: those that are installed, else the cache's.
pub(crate) fn postgresql(interrupted: &AtomicBool) -> Result<PostgresqlPrograms, ExpectedError> {
    let path = std::env::var_os("PATH");
    let shelf = open()?;
    if let Some(home) = shelf.find(&POSTGRESQL)
        && weir_shelf::installed_postgresql(path.as_deref()).is_none()
    {
        places::check_cached(&home)?;
    }
    let programs =
        counted(|progress| shelf.provide_postgresql(path.as_deref(), interrupted, progress))?;
    if let Some(home) = shelf.find(&POSTGRESQL) {
        places::close(&home)?;
    }
    Ok(programs)
}

/// The jars of a package.
pub(crate) fn jars(
    package: &Package,
    interrupted: &AtomicBool,
) -> Result<Vec<PathBuf>, ExpectedError> {
    let home = provide(package, interrupted)?;
    let listed = std::fs::read_dir(&home).and_then(|entries| {
        let paths = entries.map(|entry| entry.map(|entry| entry.path()));
        paths.collect::<Result<Vec<_>, _>>()
    });
    let files =
        listed.map_err(|error| environment(&format!("read `{}`: {error}", home.display())))?;
    let is_jar = |path: &PathBuf| path.extension().is_some_and(|kind| kind == "jar");
    Ok(files.into_iter().filter(is_jar).collect())
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
