//! PostgreSQL's programs: the installed ones, else the cache's.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::debian::library_path;

/// Where Debian keeps a directory of each version.
const DEBIAN: &str = "usr/lib/postgresql";
/// What a private server needs.
const PROGRAMS: [&str; 4] = ["initdb", "pg_ctl", "postgres", "psql"];

/// The programs of one version of PostgreSQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresqlPrograms {
    /// The directory that holds `initdb`, `pg_ctl`, `postgres` and `psql`.
    pub bin: PathBuf,
    /// What `LD_LIBRARY_PATH` has to be; empty for programs that are installed.
    pub libraries: Vec<PathBuf>,
}

impl PostgresqlPrograms {
    /// The programs in an unpacked package.
    pub(crate) fn in_package(home: &Path) -> Option<Self> {
        Some(Self {
            bin: newest(&home.join(DEBIAN))?,
            libraries: library_path(home),
        })
    }
}

/// The PostgreSQL that is installed: the one in the search path, else the newest that Debian has
/// put beside it (its server's programs are not in the search path).
pub fn installed_postgresql(search_path: Option<&OsStr>) -> Option<PostgresqlPrograms> {
    let named = search_path.map(std::env::split_paths).into_iter().flatten();
    let bin = named
        // The working directory may be anybody's.
        .filter(|directory| directory.is_absolute())
        // A link in the search path leads to where its companions are.
        .filter_map(|directory| fs::canonicalize(directory.join(PROGRAMS[0])).ok())
        .filter_map(|program| program.parent().map(Path::to_owned))
        .find(|bin| is_bin(bin))
        .or_else(|| newest(&Path::new("/").join(DEBIAN)))?;
    Some(PostgresqlPrograms {
        bin,
        libraries: Vec::new(),
    })
}

fn is_bin(directory: &Path) -> bool {
    PROGRAMS.iter().all(|name| directory.join(name).is_file())
}

/// The `bin` of the highest version in a directory of versions.
fn newest(versions: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(versions).ok()?.flatten();
    let numbered = entries.filter_map(|entry| {
        let number: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((number, entry.path().join("bin")))
    });
    numbered
        .filter(|(_, bin)| is_bin(bin))
        .max()
        .map(|(_, bin)| bin)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn a_version(root: &Path, version: &str) -> PathBuf {
        let bin = root.join(DEBIAN).join(version).join("bin");
        fs::create_dir_all(&bin).unwrap();
        for program in PROGRAMS {
            fs::write(bin.join(program), "").unwrap();
        }
        bin
    }

    #[test]
    fn the_highest_version_is_taken_by_number() {
        let place = tempfile::tempdir().unwrap();
        a_version(place.path(), "9");
        let newest = a_version(place.path(), "15");
        fs::create_dir_all(place.path().join(DEBIAN).join("16/bin")).unwrap();
        let found = PostgresqlPrograms::in_package(place.path()).unwrap();
        assert_eq!(found.bin, newest);
    }

    #[test]
    fn a_link_in_the_search_path_leads_to_the_programs() {
        let place = tempfile::tempdir().unwrap();
        let bin = a_version(place.path(), "15");
        let links = place.path().join("links");
        fs::create_dir(&links).unwrap();
        std::os::unix::fs::symlink(bin.join("initdb"), links.join("initdb")).unwrap();
        let found = installed_postgresql(Some(links.as_os_str())).unwrap();
        assert_eq!(found.bin, fs::canonicalize(bin).unwrap());
    }
}
