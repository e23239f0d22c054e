//! Files that are written from the code: schemas and reference pages.
//!
//! What follows from the libraries is written and compared by the tests in `tests/generated`; this has the page that only
//! the built program can give, and calls both.

mod cli;

use std::fs;
use std::path::Path;

use crate::error::TaskError;
use crate::process::{cargo, run, run_tests};
use crate::workspace::Workspace;

/// Where the page of the command line lies.
const CLI_PAGE: &str = "docs/reference/cli.md";
/// Tells the tests to write what differs.
const GENERATE: &str = "WEIR_GENERATE";

/// Writes every generated file that is not up to date.
pub(crate) fn write(workspace: &Workspace) -> Result<(), TaskError> {
    let root = &workspace.root;
    run(generating_tests(root).env(GENERATE, "1"))?;
    let path = root.join(CLI_PAGE);
    fs::write(&path, cli::page(root)?).map_err(|source| TaskError::File {
        doing: "write",
        path,
        source,
    })
}

/// Checks that every generated file is up to date.
pub(crate) fn check(workspace: &Workspace) -> Result<(), TaskError> {
    let root = &workspace.root;
    let failed = run_tests(&mut generating_tests(root))?.failed;
    let stored = fs::read_to_string(root.join(CLI_PAGE)).unwrap_or_default();
    if failed > 0 {
        Err(TaskError::Stale("see above".to_owned()))
    } else if stored != cli::page(root)? {
        Err(TaskError::Stale(CLI_PAGE.to_owned()))
    } else {
        Ok(())
    }
}

fn generating_tests(root: &Path) -> std::process::Command {
    // The whole workspace, so that features unify as in `cargo xtask test` and nothing is built twice.
    cargo(
        root,
        &["test", "--quiet", "--workspace", "--test", "generated"],
    )
}
