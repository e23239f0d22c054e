//! Commands of the user that read and set a server.

use std::fs::{File, OpenOptions};
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;

use weir_ssh::Connection;

use crate::error::TargetError;
use crate::patience;

/// The status with which ssh itself fails.
const SSH_FAILED: i32 = 255;

/// Runs a command line on this machine and gives what it prints. What it complains about goes to
/// the log.
pub(super) fn run_here(line: &str, directory: &Path, log: &Path) -> Result<String, TargetError> {
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(line).current_dir(directory);
    to_end(command, line, log)?.printed(line)
}

/// As `run_here`, on another machine.
pub(super) fn run_there(
    line: &str,
    connection: &Connection,
    log: &Path,
) -> Result<String, TargetError> {
    let ended = to_end(connection.command(line), line, log)?;
    if ended.status.code() == Some(SSH_FAILED) {
        return Err(connection.explain(&ended.said).into());
    }
    ended.printed(line)
}

/// A command that has ended.
struct Ended {
    status: ExitStatus,
    printed: String,
    said: String,
}

impl Ended {
    fn printed(self, line: &str) -> Result<String, TargetError> {
        if self.status.success() {
            return Ok(self.printed);
        }
        let (status, said) = (self.status, self.said);
        Err(failed(
            line,
            format!("the command failed ({status}): {said}"),
        ))
    }
}

fn failed(line: &str, says: String) -> TargetError {
    TargetError::Setting {
        name: line.to_owned(),
        says,
    }
}

fn to_end(mut command: Command, line: &str, log: &Path) -> Result<Ended, TargetError> {
    let complaints = open(log)?;
    let from = complaints.metadata().map_or(0, |facts| facts.len());
    let program = command.get_program().into();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(complaints)
        .spawn()
        .map_err(|source| TargetError::Spawn { program, source })?;
    let stdout = child.stdout.take();
    // A command that leaves something running in the background never ends its output.
    let reader = thread::spawn(move || {
        let mut text = String::new();
        if let Some(mut stdout) = stdout {
            // What is not text has no number in it.
            let _ = stdout.read_to_string(&mut text);
        }
        text
    });
    let ended = patience::wait(&mut child, patience::COMMAND);
    let ended = ended.map_err(|error| failed(line, error.to_string()))?;
    let Some(status) = ended else {
        // It may have ended in between.
        let _ = child.kill();
        let _ = child.wait();
        return Err(failed(line, patience::says(patience::COMMAND)));
    };
    Ok(Ended {
        said: said(log, from),
        // One that failed is not waited for.
        printed: if status.success() {
            reader.join().unwrap_or_default()
        } else {
            String::new()
        },
        status,
    })
}

fn open(log: &Path) -> Result<File, TargetError> {
    let file = OpenOptions::new().create(true).append(true).open(log);
    file.map_err(|source| TargetError::Log {
        path: log.to_owned(),
        source,
    })
}

fn said(log: &Path, from: u64) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let new = text.get(from as usize..).unwrap_or_default();
    let text = String::from_utf8_lossy(new).trim().to_owned();
    if text.is_empty() {
        "it said nothing".to_owned()
    } else {
        text
    }
}

/// The first number in what a command prints.
pub(super) fn number_in(text: &str) -> Option<f64> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .find_map(|word| word.trim_matches('.').parse().ok())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_counts() {
        for (text, number) in [
            ("200\n", Some(200.0)),
            ("maxThreads=\"150\" minSpareThreads=\"10\"", Some(150.0)),
            ("{\"value\":12.0}", Some(12.0)),
            ("no number.", None),
            ("", None),
        ] {
            assert_eq!(number_in(text), number, "{text}");
        }
    }

    #[test]
    fn a_command_tells_its_output_or_why_it_failed() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        assert_eq!(
            run_here("echo $((6 * 7))", folder.path(), &log).unwrap(),
            "42\n"
        );
        let error = run_here("echo no such key >&2; exit 4", folder.path(), &log).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("exit status: 4") && error.contains("no such key"),
            "{error}"
        );
        let error = run_here("exit 1", folder.path(), &log)
            .unwrap_err()
            .to_string();
        assert!(error.contains("it said nothing"), "{error}");
    }
}
