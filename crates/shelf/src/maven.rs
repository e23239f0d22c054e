//! Maven, run to its end.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use crate::program::{self, End, Heard};

/// Why Maven did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
pub enum MavenError {
    /// There is none.
    #[error("start Maven (`mvn`): install it (Debian: maven)")]
    Missing(#[source] io::Error),
    /// It failed.
    #[error("run Maven ({status}): {says}")]
    Failed {
        /// How it ended.
        status: String,
        /// Its first line of error.
        says: String,
    },
    /// It was stopped from outside.
    #[error("run Maven: interrupted")]
    Interrupted,
}

/// Runs Maven in a directory. `fetched` hears ten times a second, or more often, how many files it
/// has downloaded; what it downloads is compared with the checksums of its repository.
///
/// # Errors
/// Maven is not there or fails, or an interrupt came.
pub fn maven<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: &[S],
    interrupted: &AtomicBool,
    fetched: &mut dyn FnMut(usize),
) -> Result<(), MavenError> {
    let mut command = Command::new("mvn");
    command
        .current_dir(directory)
        .args(["--batch-mode", "--strict-checksums"])
        .args(arguments);
    let mut files = 0;
    let mut error = None;
    let end = program::run(command, interrupted, &mut |heard| {
        if let Heard::Line(line) = heard {
            files += usize::from(line.contains("Downloaded from"));
            let says = line.strip_prefix("[ERROR]").map(str::trim);
            error = error
                .take()
                .or_else(|| says.filter(|says| !says.is_empty()).map(str::to_owned));
        }
        fetched(files);
    })
    .map_err(MavenError::Missing)?;
    match end {
        End::Interrupted => Err(MavenError::Interrupted),
        End::Ended(status) if status.success() => Ok(()),
        End::Ended(status) => Err(MavenError::Failed {
            status: status.to_string(),
            says: error.unwrap_or_else(|| "it gave no reason".to_owned()),
        }),
    }
}
