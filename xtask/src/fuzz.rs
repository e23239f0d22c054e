//! `cargo xtask fuzz`: the tests that give parsers inputs made by chance, for longer than in a test run.
//!
//! They are the tests whose names begin with `fuzz_`; without this they run some rounds.

use crate::error::TaskError;
use crate::process::{cargo, run_tests};
use crate::workspace::Workspace;

/// How many seconds each of them runs, as `weir-fuzz` reads it.
const SECONDS: &str = "WEIR_FUZZ_SECONDS";

/// Crates with such tests.
const CRATES: [&str; 2] = ["weir-jmx", "weir-load"];

/// Runs each target for some seconds.
pub(crate) fn run(workspace: &Workspace, seconds: u64) -> Result<(), TaskError> {
    let mut arguments = vec!["test"];
    for name in CRATES {
        arguments.extend(["-p", name]);
    }
    arguments.extend(["--lib", "--tests", "fuzz_"]);
    let mut command = cargo(&workspace.root, &arguments);
    let tally = run_tests(command.env(SECONDS, seconds.to_string()))?;
    println!("\n{} targets, {seconds} s each", tally.passed);
    match tally.failed {
        // A name that has changed must not pass for a good result.
        0 if tally.passed < CRATES.len() as u64 => Err(TaskError::Form {
            what: "the fuzz targets".to_owned(),
            why: "some of them were not found".to_owned(),
        }),
        0 => Ok(()),
        failed => Err(TaskError::Tests(failed)),
    }
}
