//! Maven, run to its end.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::program::{self, End, Heard, LOOK};

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

/// The program.
const MAVEN: &str = "mvn";
/// What Maven says when a repository did not hand over a file that it may have: a connection that
/// broke, a server that was busy. A file that is not there is told in other words.
const NOT_TRANSFERRED: &str = "Could not transfer artifact";
/// How long to wait before each further try.
const PAUSES: [Duration; 2] = [Duration::from_secs(5), Duration::from_secs(20)];

/// Runs Maven in a directory. `fetched` hears ten times a second, or more often, how many files it
/// has downloaded; what it downloads is compared with the checksums of its repository. When a
/// repository does not hand over a file, Maven is run again, at most twice.
///
/// # Errors
/// Maven is not there or fails, or an interrupt came.
pub fn maven<S: AsRef<OsStr>>(
    directory: &Path,
    arguments: &[S],
    interrupted: &AtomicBool,
    fetched: &mut dyn FnMut(usize),
) -> Result<(), MavenError> {
    let mut command = |further: bool| {
        let mut command = Command::new(MAVEN);
        command
            .current_dir(directory)
            .args(["--batch-mode", "--strict-checksums"])
            .args(arguments);
        if further {
            // Else Maven repeats the failure that it has written down.
            command.arg("--update-snapshots");
        }
        command
    };
    run_with_patience(&mut command, &PAUSES, interrupted, fetched)
}

fn run_with_patience(
    command: &mut dyn FnMut(bool) -> Command,
    pauses: &[Duration],
    interrupted: &AtomicBool,
    fetched: &mut dyn FnMut(usize),
) -> Result<(), MavenError> {
    let mut files = 0;
    let mut result = run(command(false), &mut files, interrupted, fetched);
    for pause in pauses {
        match &result {
            // Words of Maven.
            Err(MavenError::Failed { says, .. }) if says.contains(NOT_TRANSFERRED) => {}
            _ => break,
        }
        let until = Instant::now() + *pause;
        while Instant::now() < until {
            if interrupted.load(Ordering::Relaxed) {
                return Err(MavenError::Interrupted);
            }
            fetched(files);
            std::thread::sleep(LOOK);
        }
        result = run(command(true), &mut files, interrupted, fetched);
    }
    result
}

fn run(
    command: Command,
    files: &mut usize,
    interrupted: &AtomicBool,
    fetched: &mut dyn FnMut(usize),
) -> Result<(), MavenError> {
    let mut error = None;
    let end = program::run(command, interrupted, &mut |heard| {
        if let Heard::Line(line) = heard {
            *files += usize::from(line.contains("Downloaded from"));
            let says = line.strip_prefix("[ERROR]").map(str::trim);
            error = error
                .take()
                .or_else(|| says.filter(|says| !says.is_empty()).map(str::to_owned));
        }
        fetched(*files);
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    static NONE: AtomicBool = AtomicBool::new(false);

    /// Plays a Maven that fails with these words as often as `failures` says, and counts its runs.
    fn tries(failures: usize, says: &str) -> (Result<(), MavenError>, Vec<bool>) {
        let mut runs = Vec::new();
        let mut command = |further| {
            runs.push(further);
            let mut command = Command::new("sh");
            if runs.len() > failures {
                command.args(["-c", "exit 0"]);
            } else {
                command.args(["-c", "echo \"[ERROR] $0\"; exit 1", says]);
            }
            command
        };
        let pauses = [Duration::ZERO; 2];
        let result = run_with_patience(&mut command, &pauses, &NONE, &mut |_| {});
        (result, runs)
    }

    const BROKEN: &str = "resolve a:b:1: Could not transfer artifact a:b:1 from/to central: reset";

    #[test]
    fn a_transfer_that_broke_is_tried_again_past_what_maven_wrote_down() {
        let (result, runs) = tries(2, BROKEN);
        result.unwrap();
        assert_eq!(runs, [false, true, true]);
    }

    #[test]
    fn a_repository_that_stays_broken_is_told() {
        let (result, runs) = tries(9, BROKEN);
        assert!(result.unwrap_err().to_string().contains(BROKEN));
        assert_eq!(runs.len(), 3);
    }

    #[test]
    fn what_a_further_try_cannot_mend_is_told_at_once() {
        let (result, runs) = tries(9, "Could not find artifact a:b:1 in central");
        assert!(result.is_err());
        assert_eq!(runs, [false]);
    }

    #[test]
    fn an_interrupt_ends_the_pause() {
        let interrupted = AtomicBool::new(false);
        let mut command = |_| {
            let mut command = Command::new("sh");
            command.args(["-c", "echo \"[ERROR] $0\"; exit 1", BROKEN]);
            command
        };
        let hour = [Duration::from_secs(3_600)];
        let mut heard = 0;
        let result = run_with_patience(&mut command, &hour, &interrupted, &mut |_| {
            heard += 1;
            interrupted.store(heard > 2, Ordering::Relaxed);
        });
        assert!(matches!(result, Err(MavenError::Interrupted)));
    }
}
