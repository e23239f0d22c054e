//! The cache: what is there, and how it comes there.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::catalogue::{CATALOGUE, POSTGRESQL};
use crate::debian::from_debian;
use crate::debian_source::from_debian_source;
use crate::error::ShelfError;
use crate::install::from_maven;
use crate::lock;
use crate::package::{Package, Source};
use crate::postgresql::{PostgresqlPrograms, installed_postgresql};
use crate::receipt::Receipt;

/// How far a package is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many files have been fetched; told at least ten times a second.
    Fetched {
        /// Files so far.
        files: usize,
    },
    /// So many files are unpacked.
    Unpacked {
        /// Files so far.
        files: usize,
        /// Files in all.
        of: usize,
    },
}

/// A package of the catalogue, and whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OnShelf {
    /// The package.
    pub package: &'static Package,
    /// Where it is, and what it was made of.
    pub there: Option<(PathBuf, Receipt)>,
    /// What it takes on disk, in bytes.
    pub bytes: u64,
}

/// Weir's cache of servers and what they need.
#[derive(Debug, Clone)]
pub struct Shelf {
    cache: PathBuf,
}

impl Shelf {
    /// The cache in this directory, which need not be there yet.
    pub fn new(cache: impl Into<PathBuf>) -> Self {
        Self {
            cache: cache.into(),
        }
    }

    /// The directory.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Where a package is; `None` when it has not been fetched.
    pub fn find(&self, package: &Package) -> Option<PathBuf> {
        self.find_with_receipt(package).map(|(home, _)| home)
    }

    /// Where a package is, fetched first when it is not there. `progress` hears how far it is.
    ///
    /// # Errors
    /// It cannot be fetched, is not what was published, the disk is full, or an interrupt came.
    pub fn provide(
        &self,
        package: &Package,
        interrupted: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<PathBuf, ShelfError> {
        if let Some(home) = self.find(package) {
            return Ok(home);
        }
        fs::create_dir_all(&self.cache).map_err(ShelfError::file("make", &self.cache))?;
        let lock = self.cache.join(format!(".{}.lock", package.name));
        let _alone = lock::hold(&lock, interrupted)?;
        // Somebody else may have been faster.
        if let Some(home) = self.find(package) {
            return Ok(home);
        }
        let work = self.cache.join(format!(".{}.part", package.name));
        // What a Weir left that was killed.
        remove_all(&work)?;
        fs::create_dir(&work).map_err(ShelfError::file("make", &work))?;
        let made = self.make(package, &work, interrupted, progress);
        let removed = remove_all(&work);
        let home = made?;
        removed.map(|()| home)
    }

    /// The programs of PostgreSQL: the installed ones, else the cache's, fetched when they are not
    /// there.
    ///
    /// # Errors
    /// As [`Shelf::provide`].
    pub fn provide_postgresql(
        &self,
        search_path: Option<&OsStr>,
        interrupted: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<PostgresqlPrograms, ShelfError> {
        if let Some(programs) = installed_postgresql(search_path) {
            return Ok(programs);
        }
        let home = self.provide(&POSTGRESQL, interrupted, progress)?;
        PostgresqlPrograms::in_package(&home).ok_or_else(|| {
            let missing = io::Error::from(io::ErrorKind::NotFound);
            ShelfError::file("find the programs of PostgreSQL in", home)(missing)
        })
    }

    /// Everything that the cache can hold, and what of it is there.
    pub fn list(&self) -> Vec<OnShelf> {
        let on_shelf = |package| {
            let there = self.find_with_receipt(package);
            OnShelf {
                package,
                bytes: there.as_ref().map_or(0, |(home, _)| size(home)),
                there,
            }
        };
        CATALOGUE.iter().map(on_shelf).collect()
    }

    fn make(
        &self,
        package: &Package,
        work: &Path,
        interrupted: &AtomicBool,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<PathBuf, ShelfError> {
        let home = work.join("home");
        let places = (work, home.as_path());
        let receipt = match package.source {
            Source::Maven(artifacts) => {
                from_maven(package, artifacts, places, interrupted, progress)
            }
            Source::Debian(names) => from_debian(package, names, places, interrupted, progress),
            Source::DebianSource(wanted) => {
                from_debian_source(package, &wanted, places, interrupted, progress)
            }
        }?;
        receipt.write(&home)?;
        let place = self.place(package, &receipt.version);
        fs::rename(&home, &place).map_err(ShelfError::file("write", &place))?;
        Ok(place)
    }

    fn place(&self, package: &Package, version: &str) -> PathBuf {
        self.cache.join(format!("{}-{version}", package.stem))
    }

    /// A package whose version is known has one place; of one that the distribution chooses the
    /// newest that was fetched is taken.
    fn find_with_receipt(&self, package: &Package) -> Option<(PathBuf, Receipt)> {
        let of_package = |home: PathBuf| {
            let receipt = Receipt::read(&home)?;
            (receipt.package == package.name).then_some((home, receipt))
        };
        if let Some(version) = package.version() {
            return of_package(self.place(package, version));
        }
        let entries = fs::read_dir(&self.cache).ok()?.flatten();
        entries
            .filter_map(|entry| {
                let made = entry.metadata().ok()?.modified().ok()?;
                Some((made, of_package(entry.path())?))
            })
            .max_by_key(|(made, _)| *made)
            .map(|(_, found)| found)
    }
}

fn remove_all(directory: &Path) -> Result<(), ShelfError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(ShelfError::file("remove", directory)(error))
        }
        _ => Ok(()),
    }
}

/// The sizes of the files in a directory, in bytes; what cannot be read counts nothing.
fn size(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(facts) if facts.is_dir() => size(&entry.path()),
            Ok(facts) => facts.len(),
            Err(_) => 0,
        })
        .sum()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::catalogue::{HTTPD, JOLOKIA, TOMCAT_10, TOMCAT_11};

    fn put(shelf: &Shelf, package: &Package, version: &str) -> PathBuf {
        let home = shelf.place(package, version);
        fs::create_dir_all(home.join("bin")).unwrap();
        fs::write(home.join("bin/x"), "1234").unwrap();
        Receipt::new(package.name, version.to_owned(), Vec::new())
            .write(&home)
            .unwrap();
        home
    }

    #[test]
    fn what_is_there_is_handed_out_and_listed_with_its_size() {
        let place = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(place.path());
        let home = put(&shelf, &TOMCAT_11, TOMCAT_11.version().unwrap());
        let httpd = put(&shelf, &HTTPD, "2.4.71-1~deb12u1");
        let never = AtomicBool::new(false);
        let given = shelf.provide(&TOMCAT_11, &never, &mut |_| {}).unwrap();
        assert_eq!(given, home);
        assert_eq!(shelf.find(&HTTPD), Some(httpd));
        assert_eq!(shelf.find(&TOMCAT_10), None);
        let listed = shelf.list();
        let there: Vec<&str> = listed
            .iter()
            .filter(|on_shelf| on_shelf.there.is_some() && on_shelf.bytes > 4)
            .map(|on_shelf| on_shelf.package.name)
            .collect();
        assert_eq!(there, ["tomcat-11", "httpd"]);
    }

    #[test]
    fn a_directory_without_its_receipt_is_not_a_package() {
        let place = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(place.path());
        let home = shelf.place(&JOLOKIA, JOLOKIA.version().unwrap());
        fs::create_dir_all(home).unwrap();
        assert_eq!(shelf.find(&JOLOKIA), None);
    }

    #[test]
    fn an_interrupt_leaves_nothing_behind() {
        let place = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(place.path().join("cache"));
        let now = AtomicBool::new(true);
        let result = shelf.provide(&HTTPD, &now, &mut |_| {});
        assert!(matches!(result, Err(ShelfError::Interrupted)), "{result:?}");
        let left: Vec<_> = fs::read_dir(shelf.cache()).unwrap().flatten().collect();
        assert!(
            left.iter().all(|entry| entry.metadata().unwrap().is_file()),
            "{left:?}"
        );
    }
}
