//! Starting other programs: announced, without standard input, their end checked.

use std::env;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::error::TaskError;
use crate::tally::Tally;

/// The cargo that started this task, in the workspace's root.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments).current_dir(root);
    command
}

/// Announces and runs a program; what it says goes where ours goes.
pub(crate) fn run(command: &mut Command) -> Result<(), TaskError> {
    run_expecting(command, &[0])
}

/// Announces and runs a program that may end with any of these exit codes.
pub(crate) fn run_expecting(command: &mut Command, codes: &[i32]) -> Result<(), TaskError> {
    announce(command);
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|source| start_error(command, source))?;
    let expected = status.code().is_some_and(|code| codes.contains(&code));
    check(command, expected, &status.to_string())
}

/// Announces and runs a program whose exit code is part of its answer.
pub(crate) fn run_any_end(command: &mut Command) -> Result<(), TaskError> {
    announce(command);
    command
        .stdin(Stdio::null())
        .status()
        .map(drop)
        .map_err(|source| start_error(command, source))
}

/// Announces and runs tests; passes on what they say and counts the results. Failed tests are in
/// the tally, not an error; tests that could not be built or run to their end count as one that
/// failed.
pub(crate) fn run_tests(command: &mut Command) -> Result<Tally, TaskError> {
    count_tests(command, |line| println!("{line}"))
}

/// As `run_tests`, of tests beside which others run: what they say comes in one piece at their end.
pub(crate) fn run_tests_beside_others(command: &mut Command) -> Result<Tally, TaskError> {
    let mut held = String::new();
    let tally = count_tests(command, |line| held.extend([line, "\n"]));
    print!("{held}");
    tally
}

fn count_tests(command: &mut Command, mut tell: impl FnMut(&str)) -> Result<Tally, TaskError> {
    announce(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|source| start_error(command, source))?;
    let mut tally = Tally::default();
    let output = child.stdout.take().expect("standard output is a pipe");
    let mut last = Instant::now();
    for line in BufReader::new(output).split(b'\n') {
        let line = line.map_err(|source| start_error(command, source))?;
        let line = String::from_utf8_lossy(&line);
        tell(&line);
        tally.add_line(&line, last.elapsed());
        last = Instant::now();
    }
    let status = child
        .wait()
        .map_err(|source| start_error(command, source))?;
    if !status.success() && tally.failed == 0 {
        tally.failed = 1;
    }
    Ok(tally)
}

/// Runs a program quietly and gives what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, TaskError> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| start_error(command, source))?;
    let said = String::from_utf8_lossy(&output.stderr);
    check(
        command,
        output.status.success(),
        &format!("{}\n{}", output.status, said.trim_end()),
    )?;
    String::from_utf8(output.stdout).map_err(|error| TaskError::Form {
        what: format!("the output of `{}`", typed(command)),
        why: error.to_string(),
    })
}

/// Whether a program of this name stands in one of the directories of `PATH`.
pub(crate) fn installed(program: &str) -> bool {
    found(program).is_some()
}

/// Where a program of this name stands in one of the directories of `PATH`.
pub(crate) fn found(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let mut places = env::split_paths(&path).map(|directory| directory.join(program));
    places.find(|place| place.is_file())
}

fn announce(command: &Command) {
    println!("$ {}", typed(command));
}

/// The command as one would type it.
fn typed(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        let value = value?.to_string_lossy();
        let quote = if value.contains(' ') { "'" } else { "" };
        Some(format!("{}={quote}{value}{quote}", name.to_string_lossy()))
    });
    let program = Path::new(command.get_program())
        .file_name()
        .unwrap_or_else(|| OsStr::new("?"))
        .to_string_lossy()
        .into_owned();
    let arguments = command
        .get_args()
        .map(|argument| argument.to_string_lossy().into_owned());
    variables
        .chain([program])
        .chain(arguments)
        .collect::<Vec<_>>()
        .join(" ")
}

fn start_error(command: &Command, source: std::io::Error) -> TaskError {
    TaskError::Start {
        command: typed(command),
        source,
    }
}

fn check(command: &Command, success: bool, status: &str) -> Result<(), TaskError> {
    if success {
        return Ok(());
    }
    Err(TaskError::Ended {
        command: typed(command),
        status: status.trim_end().to_owned(),
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_command_reads_as_typed() {
        let mut command = Command::new("/somewhere/bin/cargo");
        command
            .args(["doc", "--no-deps"])
            .env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            typed(&command),
            "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps"
        );
    }

    #[test]
    fn a_bad_end_is_an_error_that_names_the_command() {
        let error = run(&mut shell("exit 3")).unwrap_err().to_string();
        assert!(error.contains("sh -c exit 3"), "{error}");
        assert!(error.contains('3'), "{error}");
    }

    #[test]
    fn tests_that_do_not_build_count_as_a_failure() {
        assert_eq!(
            run_tests(&mut shell("exit 101")).unwrap(),
            Tally {
                passed: 0,
                failed: 1,
                ..Tally::default()
            }
        );
    }

    #[test]
    fn results_of_several_test_programs_are_summed() {
        let script = "echo 'test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0s'
                      echo 'test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0s'
                      exit 101";
        assert_eq!(
            run_tests(&mut shell(script)).unwrap(),
            Tally {
                passed: 7,
                failed: 2,
                ..Tally::default()
            }
        );
    }

    #[test]
    fn programs_are_found_along_the_path() {
        assert!(installed("sh"));
        assert!(!installed("no-such-program-anywhere"));
    }
}
