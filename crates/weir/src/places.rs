//! Where Weir keeps what outlives a run, and what the environment says about it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{ExpectedError, environment};

/// The path in an environment variable, if it names one.
pub(crate) fn named_path(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// The Java that runs servers: `JAVA_HOME`'s, else the one in `PATH`.
pub(crate) fn java() -> PathBuf {
    named_path("JAVA_HOME")
        .map(|home| home.join("bin").join("java"))
        .filter(|program| program.is_file())
        .unwrap_or_else(|| PathBuf::from("java"))
}

/// A Java of this version or newer: the one that [`java`] gives if it will do, else the newest of
/// all that are found.
pub(crate) fn java_from(version: u32) -> Result<PathBuf, ExpectedError> {
    java_among(version, usual().next(), &javas()).ok_or_else(|| {
        ExpectedError::Environment(format!(
            "failed to find a Java {version} or newer: install one, or let JAVA_HOME name it"
        ))
    })
}

/// The Javas that are found, by their releases: `JAVA_HOME`'s, those in `PATH`, those below
/// `/usr/lib/jvm`, of each release the first.
pub(crate) fn javas() -> BTreeMap<u32, PathBuf> {
    by_release(usual().chain(installed()))
}

fn by_release(programs: impl Iterator<Item = PathBuf>) -> BTreeMap<u32, PathBuf> {
    let mut javas = BTreeMap::new();
    for program in programs {
        if let Some(release) = java_version(&program) {
            javas.entry(release).or_insert(program);
        }
    }
    javas
}

/// `JAVA_HOME`'s Java, then those in `PATH`.
fn usual() -> impl Iterator<Item = PathBuf> {
    let home = named_path("JAVA_HOME").map(|home| home.join("bin"));
    let in_path: Vec<PathBuf> = named_path("PATH")
        .iter()
        .flat_map(std::env::split_paths)
        // The working directory may be anybody's.
        .filter(|folder| folder.is_absolute())
        .collect();
    home.into_iter()
        .chain(in_path)
        .map(|folder| folder.join("java"))
        .filter(|program| program.is_file())
}

/// Where packages put Javas.
fn installed() -> impl Iterator<Item = PathBuf> {
    let homes = std::fs::read_dir("/usr/lib/jvm").into_iter().flatten();
    homes
        .filter_map(Result::ok)
        .map(|home| home.path().join("bin").join("java"))
}

/// The usual one if it is new enough, else the newest if that is.
fn java_among(
    version: u32,
    usual: Option<PathBuf>,
    javas: &BTreeMap<u32, PathBuf>,
) -> Option<PathBuf> {
    let new_enough = |program: &PathBuf| java_version(program).is_some_and(|own| own >= version);
    usual.filter(new_enough).or_else(|| {
        let (newest, program) = javas.last_key_value()?;
        (*newest >= version).then(|| program.clone())
    })
}

/// The version of a Java by the file `release` in its home.
fn java_version(program: &Path) -> Option<u32> {
    let program = program.canonicalize().ok()?;
    let home = program.parent()?.parent()?;
    let release = std::fs::read_to_string(home.join("release")).ok()?;
    let version = release.split("JAVA_VERSION=\"").nth(1)?;
    let mut parts = version.split(['.', '"', '-', '_', '+']);
    let first: u32 = parts.next()?.parse().ok()?;
    // Up to 8 it was called 1.8.
    if first == 1 {
        parts.next()?.parse().ok()
    } else {
        Some(first)
    }
}

/// This program's own file, for the parts of Weir that run as processes of their own.
pub(crate) fn own_program() -> Result<PathBuf, ExpectedError> {
    std::env::current_exe()
        .map_err(|error| environment(&format!("find this program's own file: {error}")))
}

/// Weir's cache: what can be fetched again. Programs are run from it, so nobody else may write it.
pub(crate) fn cache() -> Result<PathBuf, ExpectedError> {
    let cache = cache_as_named()?;
    weir_files::check_program_tree(&cache).map_err(|why| distrusted(&why))?;
    Ok(cache)
}

/// The cache, whosever it is, for what may do without it.
pub(crate) fn cache_as_named() -> Result<PathBuf, ExpectedError> {
    CACHE.find(named_path, std::env::home_dir())
}

/// Whether something in the cache is this user's own or root's, with all that is in it, and nobody
/// else may write it.
pub(crate) fn check_cached(path: &Path) -> Result<(), ExpectedError> {
    weir_files::check_tree(path).map_err(|why| distrusted(&why))
}

/// Closes what this Weir has just put into the cache to other writers, so that it is used later.
pub(crate) fn close(path: &Path) -> Result<(), ExpectedError> {
    let failed = |error| environment(&format!("close `{}` to others: {error}", path.display()));
    let cache = cache_as_named()?;
    weir_files::close_folder(&cache).map_err(failed)?;
    weir_files::close_tree(path).map_err(failed)
}

fn distrusted(why: &weir_files::Distrust) -> ExpectedError {
    ExpectedError::Environment(format!(
        "failed to {why}: what lies in Weir's cache is run as you; let WEIR_CACHE name a folder of \
         your own, or look into it and make it yours (`chown -R`, `chmod -R go-w`)"
    ))
}

/// Weir's state: what has to be put back.
pub(crate) fn state() -> Result<PathBuf, ExpectedError> {
    STATE.find(named_path, std::env::home_dir())
}

/// A directory of the XDG base directory specification.
struct BasePlace {
    what: &'static str,
    /// Names the place itself.
    own: &'static str,
    /// Names the directory that holds a place for every program.
    base: &'static str,
    /// What that is when nothing names it, below the home directory.
    default: &'static str,
}

const CACHE: BasePlace = BasePlace {
    what: "cache",
    own: "WEIR_CACHE",
    base: "XDG_CACHE_HOME",
    default: ".cache",
};

const STATE: BasePlace = BasePlace {
    what: "journal of changes",
    own: "WEIR_STATE",
    base: "XDG_STATE_HOME",
    default: ".local/state",
};

impl BasePlace {
    /// The specification ignores a relative path.
    fn find(
        &self,
        named: impl Fn(&str) -> Option<PathBuf>,
        home: Option<PathBuf>,
    ) -> Result<PathBuf, ExpectedError> {
        named(self.own)
            .or_else(|| {
                named(self.base)
                    .filter(|base| base.is_absolute())
                    .or_else(|| home.map(|home| home.join(self.default)))
                    .map(|base| base.join("weir"))
            })
            .ok_or_else(|| {
                ExpectedError::Environment(format!(
                    "failed to find a place for Weir's {}: there is no home directory; let {} name one",
                    self.what, self.own
                ))
            })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn cache_of(variables: &[(&str, &str)]) -> Result<PathBuf, ExpectedError> {
        let named = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| PathBuf::from(value))
        };
        CACHE.find(named, Some(PathBuf::from("/h")))
    }

    #[test]
    fn the_cache_is_where_the_user_says() {
        let own = ("WEIR_CACHE", "/a");
        let base = ("XDG_CACHE_HOME", "/b");
        assert_eq!(cache_of(&[own, base]).unwrap(), Path::new("/a"));
        assert_eq!(cache_of(&[base]).unwrap(), Path::new("/b/weir"));
        let relative = cache_of(&[("XDG_CACHE_HOME", "b")]);
        assert_eq!(relative.unwrap(), Path::new("/h/.cache/weir"));
        let nowhere = CACHE.find(|_| None, None).unwrap_err().to_string();
        assert!(nowhere.contains("WEIR_CACHE"), "{nowhere}");
    }

    #[test]
    fn of_each_release_the_first_java_that_is_found_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let java = |home: &str, version: &str| java_in(&folder.path().join(home), version);
        let [own, same, newer] = [
            java("own", "17.0.15"),
            java("usr/17", "17.0.9"),
            java("usr/25", "25.0.1"),
        ];
        let nothing = folder.path().join("bin/java");
        let found = by_release([own.clone(), nothing, same, newer.clone()].into_iter());
        assert_eq!(found, BTreeMap::from([(17, own), (25, newer)]));
    }

    /// A home of a Java of this version; gives its program.
    fn java_in(home: &Path, version: &str) -> PathBuf {
        std::fs::create_dir_all(home.join("bin")).unwrap();
        std::fs::write(home.join("bin/java"), "").unwrap();
        let release = format!("JAVA_VENDOR=\"x\"\nJAVA_VERSION=\"{version}\"\n");
        std::fs::write(home.join("release"), release).unwrap();
        home.join("bin/java")
    }

    #[test]
    fn the_usual_java_is_taken_if_it_is_new_enough() {
        let folder = tempfile::tempdir().unwrap();
        let java = |version: &str| java_in(&folder.path().join(version), version);
        let usual = java("17.0.15");
        let others = [java("1.8.0_402"), java("25"), java("21.0.1+12")];
        for (version, wanted) in [
            (8, Some(&usual)),
            (17, Some(&usual)),
            (18, Some(&others[1])),
            (26, None),
        ] {
            let javas = by_release(others.clone().into_iter());
            let found = java_among(version, Some(usual.clone()), &javas);
            assert_eq!(found.as_ref(), wanted, "{version}");
        }
        assert_eq!(java_version(&others[0]), Some(8));
        assert_eq!(java_among(8, None, &BTreeMap::new()), None);
    }
}
