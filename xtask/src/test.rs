//! `cargo xtask test`: every test there is.
//!
//! Two parts. The first is `cargo test` on the whole workspace: no network, no root, no other program. The second, the
//! *system profile*, runs the tests that drive the real program and a real browser: the test files
//! `crates/*/tests/system_*.rs` and `crates/*/tests/browser.rs`. They see `WEIR_SYSTEM_TESTS=1` and may then not skip
//! anything; without it they say that they were skipped.

use std::time::Instant;

use crate::error::TaskError;
use crate::needs::{BROWSER, C_COMPILER, JAVA, MAVEN, provide};
use crate::process::{cargo, run_tests};
use crate::tally::Tally;
use crate::workspace::Workspace;

/// Tells the tests of the system profile that they must not skip.
const SYSTEM_TESTS: &str = "WEIR_SYSTEM_TESTS";

/// Runs the unit and integration tests.
pub(crate) fn fast(workspace: &Workspace) -> Result<(), TaskError> {
    provide(&[C_COMPILER])?;
    close(workspace_tests(workspace)?)
}

/// Runs the unit and integration tests, then the system profile.
pub(crate) fn everything(workspace: &Workspace) -> Result<(), TaskError> {
    provide(&[C_COMPILER, BROWSER, JAVA, MAVEN])?;
    let mut tally = workspace_tests(workspace)?;
    tally += system_tests(workspace)?;
    close(tally)
}

fn workspace_tests(workspace: &Workspace) -> Result<Tally, TaskError> {
    part("unit and integration tests", || {
        run_tests(&mut cargo(
            &workspace.root,
            &["test", "--workspace", "--no-fail-fast"],
        ))
    })
}

fn system_tests(workspace: &Workspace) -> Result<Tally, TaskError> {
    let targets = system_targets(workspace)?;
    if targets.is_empty() {
        return Ok(Tally::default());
    }
    // The whole workspace again, so that features unify as in the first part and nothing is built twice.
    let mut arguments = vec!["test", "--workspace", "--no-fail-fast"];
    for target in &targets {
        arguments.extend(["--test", target]);
    }
    // One at a time: each of them measures, and would measure the others.
    arguments.extend(["--", "--test-threads=1"]);
    part("system profile", || {
        run_tests(cargo(&workspace.root, &arguments).env(SYSTEM_TESTS, "1"))
    })
}

/// Names of the test files that belong to the system profile, each once.
fn system_targets(workspace: &Workspace) -> Result<Vec<String>, TaskError> {
    let mut targets = Vec::new();
    for member in workspace.crates()? {
        targets.extend(
            member
                .test_targets
                .into_iter()
                .filter(|name| name == "browser" || name.starts_with("system_")),
        );
    }
    targets.sort();
    targets.dedup();
    Ok(targets)
}

fn part(title: &str, tests: impl FnOnce() -> Result<Tally, TaskError>) -> Result<Tally, TaskError> {
    println!("\n== {title}");
    let begun = Instant::now();
    let tally = tests()?;
    println!(
        "== {title}: {} passed, {} failed, {} s with building",
        tally.passed,
        tally.failed,
        begun.elapsed().as_secs()
    );
    Ok(tally)
}

/// The closing line stands alone, so that a reader of the log finds it last.
fn close(tally: Tally) -> Result<(), TaskError> {
    println!("\n{} passed, {} failed", tally.passed, tally.failed);
    match tally.failed {
        0 => Ok(()),
        failed => Err(TaskError::Tests(failed)),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

    use super::*;

    #[test]
    fn a_failed_test_fails_the_task() {
        close(Tally {
            passed: 2,
            failed: 0,
        })
        .unwrap();
        let error = close(Tally {
            passed: 2,
            failed: 1,
        })
        .unwrap_err();
        assert_eq!(error.to_string(), "pass every test: 1 failed");
    }
}
