//! From sources to a file that a server runs.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sha2::{Digest as _, Sha256};
use weir_shelf::{MavenError, maven};

use crate::sources::App;

/// Why an application cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum AppError {
    /// Maven is missing, or fails, or was stopped.
    #[error("build {what}")]
    Maven {
        /// Which application.
        what: &'static str,
        /// The cause.
        #[source]
        source: MavenError,
    },
    /// A file or directory of the cache.
    #[error("use `{}` in the cache", path.display())]
    Cache {
        /// Which one.
        path: PathBuf,
        /// What the operating system said.
        #[source]
        source: io::Error,
    },
}

impl AppError {
    fn cache(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Cache { path, source }
    }

    /// Whether somebody stopped it, rather than that it failed.
    pub fn is_interrupt(&self) -> bool {
        matches!(
            self,
            Self::Maven {
                source: MavenError::Interrupted,
                ..
            }
        )
    }
}

/// Where the built file of these sources is, or will be.
pub fn place(app: App, cache: &Path) -> PathBuf {
    let (name, extension) = app.file();
    cache
        .join("apps")
        .join(format!("{name}-{}.{extension}", digest(app)))
}

/// The application's file, built first when it is not in the cache. `fetched` hears how many files
/// Maven has downloaded for it.
///
/// # Errors
/// Maven is missing or fails, the cache cannot be written, an interrupt came.
pub fn build(
    app: App,
    cache: &Path,
    interrupted: &AtomicBool,
    fetched: &mut dyn FnMut(usize),
) -> Result<PathBuf, AppError> {
    let place = place(app, cache);
    if place.is_file() {
        return Ok(place);
    }
    let parent = place.parent().expect("it is inside of the cache");
    fs::create_dir_all(parent).map_err(AppError::cache(parent))?;
    let work = tempfile::Builder::new()
        .prefix(".build-")
        .tempdir_in(parent)
        .map_err(AppError::cache(parent))?;
    for (path, content) in app.sources() {
        let path = work.path().join(path);
        let directory = path.parent().expect("it is inside of the work directory");
        fs::create_dir_all(directory).map_err(AppError::cache(directory))?;
        fs::write(&path, content).map_err(AppError::cache(&path))?;
    }
    let mut arguments = vec!["package", "-Dmaven.test.skip"];
    arguments.extend(app.arguments());
    let directory = work.path().join(app.directory());
    maven(&directory, &arguments, interrupted, fetched).map_err(|source| AppError::Maven {
        what: app.what(),
        source,
    })?;
    let (name, extension) = app.file();
    let built = directory.join(format!("target/{name}.{extension}"));
    // Renaming is the last step, so that what is in the cache is whole. Whoever was faster built
    // the same.
    fs::rename(&built, &place).map_err(AppError::cache(&place))?;
    Ok(place)
}

/// Sixteen digits that change when anything that is built changes.
fn digest(app: App) -> String {
    let mut digest = Sha256::new();
    for (path, content) in app.sources() {
        for part in [path, content] {
            digest.update(part.len().to_le_bytes());
            digest.update(part);
        }
    }
    let bytes = digest.finalize();
    let digits: Vec<String> = bytes[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    digits.concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::ServletApi;

    #[test]
    fn places_differ_by_application_and_servlet_api() {
        let cache = Path::new("/cache");
        let jakarta = place(App::Stress(ServletApi::Jakarta), cache);
        let javax = place(App::Stress(ServletApi::Javax), cache);
        let posts = place(App::Posts, cache);
        let name = jakarta
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        assert!(name.starts_with("stress-"), "{name}");
        assert_eq!(name.len(), "stress-0123456789abcdef.war".len());
        assert_ne!(jakarta, javax);
        assert!(
            jakarta
                .extension()
                .is_some_and(|extension| extension == "war")
        );
        assert!(
            posts
                .extension()
                .is_some_and(|extension| extension == "jar")
        );
        assert!(posts.starts_with("/cache/apps"));
    }
}
