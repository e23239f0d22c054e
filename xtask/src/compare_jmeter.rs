//! `cargo xtask compare-jmeter`: plans made by chance, run by Weir and by a real JMeter.
//!
//! The plans, their runs and what is compared are a test of the program's own (`compare_jmeter` in
//! `crates/weir/tests/program`); without this it is left out. JMeter is that of `JMETER_HOME`, or
//! Weir's, which is assembled with Maven if it is not there.

use crate::error::TaskError;
use crate::needs::{JAVA, MAVEN, provide};
use crate::process::{cargo, run_tests};
use crate::tally::Tally;
use crate::workspace::Workspace;

/// How long plans are made, in seconds; the plan that is running then is run to its end.
const SECONDS: &str = "WEIR_COMPARE_JMETER_SECONDS";
/// The number of the first plan: the same number makes the same plan.
const FIRST: &str = "WEIR_COMPARE_JMETER_FIRST";

/// Compares for some seconds, from the plan with this number on.
pub(crate) fn run(workspace: &Workspace, seconds: u64, first: u64) -> Result<(), TaskError> {
    provide(&[JAVA, MAVEN])?;
    match compare(workspace, seconds, first)?.failed {
        0 => Ok(()),
        failed => Err(TaskError::Tests(failed)),
    }
}

/// The comparison as a test run.
pub(crate) fn compare(workspace: &Workspace, seconds: u64, first: u64) -> Result<Tally, TaskError> {
    let arguments = [
        "test",
        "--workspace",
        "--test",
        "program",
        "compare_jmeter::",
        "--",
        "--nocapture",
    ];
    let mut cargo = cargo(&workspace.root, &arguments);
    let tally = run_tests(
        cargo
            .env(SECONDS, seconds.to_string())
            .env(FIRST, first.to_string()),
    )?;
    // A name that has changed must not pass for a good result.
    if tally.passed + tally.failed == 0 {
        return Err(TaskError::Form {
            what: "the comparison with JMeter".to_owned(),
            why: "no test of that name was found".to_owned(),
        });
    }
    Ok(tally)
}
