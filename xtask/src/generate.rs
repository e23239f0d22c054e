//! Files that are written from the code: schemas and reference pages.
//!
//! What follows from the libraries is written and compared by the tests in `tests/generated`; this
//! has the page that only the built program can give, and calls both.

mod cli;

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::TaskError;
use crate::process::{cargo, output, run, run_tests};
use crate::workspace::Workspace;

/// Where the page of the command line lies.
const CLI_PAGE: &str = "docs/reference/cli.md";
/// Tells the tests to write what differs.
const GENERATE: &str = "WEIR_GENERATE";

/// Writes every generated file that is not up to date.
pub(crate) fn write(workspace: &Workspace) -> Result<(), TaskError> {
    let root = &workspace.root;
    run(generating_tests(root).env(GENERATE, "1"))?;
    run(attacks_page(root).env(GENERATE, "1"))?;
    let path = root.join(CLI_PAGE);
    fs::write(&path, cli::page(&program(root)?)?).map_err(|source| TaskError::File {
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
    } else if stored != cli::page(&program(root)?)? {
        Err(TaskError::Stale(CLI_PAGE.to_owned()))
    } else {
        Ok(())
    }
}

fn generating_tests(root: &Path) -> std::process::Command {
    // The whole workspace, so that features unify as in `cargo xtask test` and nothing is built
    // twice.
    cargo(
        root,
        &["test", "--quiet", "--workspace", "--test", "generated"],
    )
}

/// The test that has the tables of what attackers send; `cargo xtask test` compares the page.
fn attacks_page(root: &Path) -> std::process::Command {
    let test = "the_page_says_what_is_tested";
    cargo(
        root,
        &["test", "--quiet", "--workspace", "--test", "gate", test],
    )
}

/// Builds the program and says where it lies.
///
/// It is built beside one of its tests, so that features unify as in `cargo xtask test`: `cargo
/// run` leaves out those that only tests ask for, and would build nearly every crate of the
/// workspace once more.
fn program(root: &Path) -> Result<PathBuf, TaskError> {
    let mut words = vec!["test", "--workspace", "--no-run", "--test", "program"];
    // Once to be seen, and once, when there is nothing left to do, to be asked.
    run(&mut cargo(root, &words))?;
    words.push("--message-format=json-render-diagnostics");
    executable(&output(&mut cargo(root, &words))?).ok_or_else(|| TaskError::Form {
        what: "what cargo says of the program `weir`".to_owned(),
        why: "it names no file".to_owned(),
    })
}

/// What cargo says of something that it has built; other messages lack these.
#[derive(Deserialize)]
struct Artifact {
    target: Target,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

/// The file of the program among cargo's messages, one a line.
fn executable(messages: &str) -> Option<PathBuf> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Artifact>(line).ok())
        .find(|built| built.target.name == "weir" && built.target.kind == ["bin"])?
        .executable
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_among_what_cargo_says() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"weir_metric"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["test"],"name":"weir"},"executable":"/made/up/deps/weir-1"}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"weir"},"executable":"/made/up/weir"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executable(messages), Some(PathBuf::from("/made/up/weir")));
        assert_eq!(executable("{}"), None);
    }
}
