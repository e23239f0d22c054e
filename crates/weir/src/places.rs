//! Where Weir keeps what outlives a run, and what the environment says about it.

use std::path::PathBuf;

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

/// This program's own file, for the parts of Weir that run as processes of their own.
pub(crate) fn own_program() -> Result<PathBuf, ExpectedError> {
    std::env::current_exe()
        .map_err(|error| environment(&format!("find this program's own file: {error}")))
}

/// Weir's cache: what can be fetched again.
pub(crate) fn cache() -> Result<PathBuf, ExpectedError> {
    CACHE.find(named_path, std::env::home_dir())
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
    use std::path::Path;

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
}
