//! `cargo xtask fuzz`: the tests that give parsers inputs made by chance, for longer than in a test
//! run.
//!
//! They are the tests whose names begin with `fuzz_`; without this they run some rounds.

use std::thread;

use crate::error::TaskError;
use crate::process::{self, cargo, run_tests};
use crate::steps::Steps;
use crate::tally::Tally;
use crate::workspace::Workspace;

/// How many seconds each of them runs, as `weir-fuzz` reads it.
const SECONDS: &str = "WEIR_FUZZ_SECONDS";

/// Where such tests stand. Each place is worked through one test after the other, and the two side
/// by side.
const PLACES: [&[&str]; 2] = [&["--lib"], &["--test", "*"]];

/// Runs each target for some seconds.
pub(crate) fn run(workspace: &Workspace, seconds: u64, steps: &mut Steps) -> Result<(), TaskError> {
    steps.step("building the tests", || build(workspace))?;
    steps.step("inputs made by chance", || fuzz(workspace, seconds))
}

/// All tests of the workspace, so that features unify as in `cargo xtask test` and nothing is built
/// twice.
pub(crate) fn build(workspace: &Workspace) -> Result<(), TaskError> {
    process::run(&mut cargo(
        &workspace.root,
        &["test", "--workspace", "--no-run"],
    ))
}

fn fuzz(workspace: &Workspace, seconds: u64) -> Result<(), TaskError> {
    let perform = &|place: &[&str]| {
        let mut arguments = vec!["test", "--quiet", "--workspace"];
        arguments.extend(place);
        arguments.push("fuzz_");
        run_tests(cargo(&workspace.root, &arguments).env(SECONDS, seconds.to_string()))
    };
    let tallies = thread::scope(|scope| {
        PLACES
            .map(|place| scope.spawn(move || perform(place)))
            .map(|running| running.join().expect("counting does not panic"))
    });
    let mut sum = Tally::default();
    for (place, tally) in PLACES.iter().zip(tallies) {
        let tally = tally?;
        // A name that has changed must not pass for a good result.
        if tally.passed + tally.failed == 0 {
            return Err(TaskError::Form {
                what: "the fuzz targets".to_owned(),
                why: format!("none was found with {}", place.join(" ")),
            });
        }
        sum += tally;
    }
    println!("\n{} targets, {seconds} s each", sum.passed);
    match sum.failed {
        0 => Ok(()),
        failed => Err(TaskError::Tests(failed)),
    }
}
