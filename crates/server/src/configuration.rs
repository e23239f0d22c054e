//! Settings as changes of a server's own configuration files.

use std::path::{Path, PathBuf};

use similar::TextDiff;
use weir_files::{Folder, real_path};

use crate::error::TargetError;
use crate::journal::create_free;

/// Lines around a change that the diff shows.
const CONTEXT: usize = 3;

/// A configuration file before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigurationChange {
    /// The file.
    pub file: PathBuf,
    /// Whether it is the user's, and not one that Weir made for the run.
    pub of_user: bool,
    /// Its text as it is; `None`: there is no such file yet.
    pub before: Option<String>,
    /// Its text with the settings.
    pub after: String,
}

impl ConfigurationChange {
    /// What `edit` makes of a file; nothing when it changes nothing.
    pub(crate) fn edited(
        file: &Path,
        of_user: bool,
        edit: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Option<Self>, TargetError> {
        let before = weir_files::read_text(file).map_err(TargetError::file(file))?;
        let after = edit(&before).map_err(|says| TargetError::Configuration {
            path: file.to_owned(),
            says,
        })?;
        Ok((after != before).then(|| Self {
            file: file.to_owned(),
            of_user,
            before: Some(before),
            after,
        }))
    }

    /// The change as a unified diff, as `patch` takes it.
    pub fn diff(&self) -> String {
        let name = self.file.display().to_string();
        let old_name = self.before.as_ref().map_or("/dev/null", |_| name.as_str());
        let before = self.before.as_deref().unwrap_or_default();
        TextDiff::from_lines(before, &self.after)
            .unified_diff()
            .context_radius(CONTEXT)
            .header(old_name, &name)
            .to_string()
    }

    /// Writes the change into the file and leaves the old text beside it, in the file that comes
    /// back: `server.xml.before-weir`, or with a number behind it. A link stays a link; a file that
    /// was not there has no old text.
    ///
    /// # Errors
    /// The file is not what it was when the change was made, or one of the two cannot be written.
    pub fn write(&self) -> Result<Option<PathBuf>, TargetError> {
        // From here on no link is followed: what is read, copied and replaced lies in one open
        // folder.
        let file = real_path(&self.file).map_err(TargetError::file(&self.file))?;
        let failed = || TargetError::file(&file);
        let (folder, name) = Folder::of(&file).map_err(failed())?;
        let now = folder.read(&name).map_err(failed())?;
        let is_as_before = match (&now, &self.before) {
            (Some(now), Some(before)) => now.bytes == before.as_bytes(),
            (None, None) => true,
            _ => false,
        };
        if !is_as_before {
            return Err(TargetError::Configuration {
                path: self.file.clone(),
                says:
                    "it was changed while the study ran, so the settings were not written into it"
                        .to_owned(),
            });
        }
        let rights = now.as_ref().map(|now| now.rights.plain());
        let backup = now.map(|now| {
            let mut first = name.clone();
            first.push(".before-weir");
            create_free(&folder, &first, &now.bytes, rights)
        });
        let backup = backup.transpose();
        let backup = backup.map_err(TargetError::file(&with_suffix(&file, ".before-weir")))?;
        // Renamed over the old one, so that it is whole at every moment.
        let after = self.after.as_bytes();
        folder.replace(&name, after, rights).map_err(failed())?;
        Ok(backup.map(|name| folder.path().join(name)))
    }
}

/// How the lines of a text end.
pub(crate) fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The text with these lines behind what is before `at`.
pub(crate) fn with_lines_at(text: &str, at: usize, lines: &[String]) -> String {
    let added = added_lines(text, at, lines);
    format!("{}{added}{}", &text[..at], &text[at..])
}

/// Lines to put in at `at`, which is the end of a line or of the text: they end as the text's lines
/// do, and a text whose last line has no end keeps that.
pub(crate) fn added_lines(text: &str, at: usize, lines: &[String]) -> String {
    let end = line_end(text);
    let joined = lines.join(end);
    let is_begun = !text[..at].is_empty() && !text[..at].ends_with('\n');
    if is_begun {
        format!("{end}{joined}")
    } else {
        format!("{joined}{end}")
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn change(file: &Path) -> ConfigurationChange {
        ConfigurationChange {
            file: file.to_owned(),
            of_user: true,
            before: Some("a\nthreads 200\nb\n".to_owned()),
            after: "a\nthreads 40\nb\n".to_owned(),
        }
    }

    #[test]
    fn the_diff_is_one_that_patch_takes() {
        let change = change(Path::new("conf/server.xml"));
        assert_eq!(
            change.diff(),
            "--- conf/server.xml\n+++ conf/server.xml\n@@ -1,3 +1,3 @@\n a\n-threads 200\n+threads 40\n b\n"
        );
        let new = ConfigurationChange {
            before: None,
            after: "a: 1\n".to_owned(),
            ..change
        };
        assert_eq!(
            new.diff(),
            "--- /dev/null\n+++ conf/server.xml\n@@ -0,0 +1 @@\n+a: 1\n"
        );
    }

    #[test]
    fn the_old_text_stays_beside_the_new_one() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("server.xml");
        let change = change(&file);
        let before = change.before.clone().unwrap();
        fs::write(&file, &before).unwrap();
        let backup = change.write().unwrap().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), change.after);
        assert_eq!(fs::read_to_string(&backup).unwrap(), before);
        let error = change.write().unwrap_err();
        assert!(error.to_string().contains("was changed"), "{error}");
        fs::write(&file, &before).unwrap();
        let second = change.write().unwrap().unwrap();
        assert_ne!(second, backup);
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
    }

    #[test]
    fn a_link_stays_one_and_rights_stay() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("available.conf");
        let link = place.path().join("enabled.conf");
        let change = change(&link);
        fs::write(&file, change.before.as_deref().unwrap()).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        let backup = change.write().unwrap().unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), change.after);
        for path in [&file, &backup] {
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o640, "{}", path.display());
        }
    }

    #[test]
    fn a_new_file_is_made_unless_somebody_else_made_it() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("application.yml");
        let change = ConfigurationChange {
            before: None,
            ..change(&file)
        };
        assert_eq!(change.write().unwrap(), None);
        assert_eq!(fs::read_to_string(&file).unwrap(), change.after);
        assert!(change.write().is_err());
    }

    #[test]
    fn lines_are_added_as_the_text_has_them() {
        let lines = ["x".to_owned(), "y".to_owned()];
        for (text, at, wanted) in [
            ("a\nb\n", 2, "a\nx\ny\nb\n"),
            ("a\r\nb\r\n", 6, "a\r\nb\r\nx\r\ny\r\n"),
            ("a\nb", 3, "a\nb\nx\ny"),
            ("", 0, "x\ny\n"),
        ] {
            assert_eq!(with_lines_at(text, at, &lines), wanted);
        }
    }
}
