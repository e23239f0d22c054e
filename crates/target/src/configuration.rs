//! Settings as changes of a server's own configuration files.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::error::TargetError;

/// Lines around a change that the diff shows.
const CONTEXT: usize = 3;

/// A configuration file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationChange {
    /// The file.
    pub file: PathBuf,
    /// Whether it is the user's, and not one that Weir made for the run.
    pub of_user: bool,
    /// Its text as it is.
    pub before: String,
    /// Its text with the settings.
    pub after: String,
}

impl ConfigurationChange {
    /// The change as a unified diff, as `patch` takes it.
    pub fn diff(&self) -> String {
        let name = self.file.display().to_string();
        TextDiff::from_lines(&self.before, &self.after)
            .unified_diff()
            .context_radius(CONTEXT)
            .header(&name, &name)
            .to_string()
    }

    /// Writes the change into the file and leaves the old text beside it, in the file that comes
    /// back: `server.xml.before-weir`, or with a number behind it.
    ///
    /// # Errors
    /// The file is not what it was when the change was made, or one of the two cannot be written.
    pub fn write(&self) -> Result<PathBuf, TargetError> {
        let now = fs::read_to_string(&self.file).map_err(TargetError::file(&self.file))?;
        if now != self.before {
            return Err(TargetError::Configuration {
                path: self.file.clone(),
                says:
                    "it was changed while the study ran, so the settings were not written into it"
                        .to_owned(),
            });
        }
        let backup = free_name(&self.file);
        fs::copy(&self.file, &backup).map_err(TargetError::file(&backup))?;
        // Renamed over the old one, so that it is whole at every moment; its rights stay.
        let beside = with_suffix(&self.file, ".weir-new");
        fs::copy(&self.file, &beside).map_err(TargetError::file(&beside))?;
        fs::write(&beside, &self.after).map_err(TargetError::file(&beside))?;
        fs::rename(&beside, &self.file).map_err(TargetError::file(&self.file))?;
        Ok(backup)
    }
}

/// A name for the old text that no file has.
fn free_name(file: &Path) -> PathBuf {
    let first = with_suffix(file, ".before-weir");
    let numbered = (2_u32..).map(|number| with_suffix(&first, &format!(".{number}")));
    std::iter::once(first.clone())
        .chain(numbered)
        .find(|path| !path.exists())
        .unwrap_or(first)
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn change(file: &Path) -> ConfigurationChange {
        ConfigurationChange {
            file: file.to_owned(),
            of_user: true,
            before: "a\nthreads 200\nb\n".to_owned(),
            after: "a\nthreads 40\nb\n".to_owned(),
        }
    }

    #[test]
    fn the_diff_is_one_that_patch_takes() {
        let diff = change(Path::new("conf/server.xml")).diff();
        assert_eq!(
            diff,
            "--- conf/server.xml\n+++ conf/server.xml\n@@ -1,3 +1,3 @@\n a\n-threads 200\n+threads 40\n b\n"
        );
    }

    #[test]
    fn the_old_text_stays_beside_the_new_one() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("server.xml");
        let change = change(&file);
        fs::write(&file, &change.before).unwrap();
        let backup = change.write().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), change.after);
        assert_eq!(fs::read_to_string(&backup).unwrap(), change.before);
        let error = change.write().unwrap_err();
        assert!(error.to_string().contains("was changed"), "{error}");
        fs::write(&file, &change.before).unwrap();
        let second = change.write().unwrap();
        assert_ne!(second, backup);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
    }
}
