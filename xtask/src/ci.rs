//! `cargo xtask ci`: everything that is checked beside the tests.
//!
//! Every check runs even when an earlier one failed, so that one run shows all there is to mend.

use std::process::Command;
use std::time::Duration;

use crate::error::{TaskError, chain};
use crate::process::{cargo, installed, run};
use crate::steps::{Steps, spoken};
use crate::workspace::Workspace;
use crate::{advisories, fuzz, generate, tidy};

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    /// The program it needs is not installed; CI does without.
    Absent,
}

struct Check {
    title: &'static str,
    perform: fn(&Workspace) -> Result<Outcome, TaskError>,
}

const CHECKS: [Check; 9] = [
    Check {
        title: "formatting",
        perform: formatting,
    },
    Check {
        title: "structure",
        perform: |workspace| tidy::check(workspace).map(passed),
    },
    Check {
        title: "lints",
        perform: lints,
    },
    Check {
        title: "building",
        perform: |workspace| fuzz::build(workspace).map(passed),
    },
    Check {
        title: "generated files",
        perform: |workspace| generate::check(workspace).map(passed),
    },
    Check {
        title: "documentation",
        perform: documentation,
    },
    Check {
        title: "advisories",
        perform: |workspace| advisories::check(workspace).map(passed),
    },
    Check {
        title: "dependencies",
        perform: dependencies,
    },
    Check {
        title: "spelling",
        perform: spelling,
    },
];

/// Runs every check and sums up.
pub(crate) fn check(workspace: &Workspace, steps: &mut Steps) -> Result<(), TaskError> {
    let mut failed = Vec::new();
    let mut summary = Vec::new();
    for check in &CHECKS {
        let outcome = steps.step(check.title, || {
            (check.perform)(workspace).unwrap_or_else(|error| {
                println!("failed to {}", chain(&error));
                Outcome::Failed
            })
        });
        if outcome == Outcome::Failed {
            failed.push(check.title);
        }
        summary.push(line(check.title, outcome, steps.last()));
    }
    println!("\n{}", summary.join("\n"));
    if failed.is_empty() {
        Ok(())
    } else {
        Err(TaskError::Checks(failed.join(", ")))
    }
}

fn line(title: &str, outcome: Outcome, took: Duration) -> String {
    let word = match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "FAILED",
        Outcome::Absent => "left out: not installed",
    };
    format!("{title:16} {word} ({})", spoken(took))
}

fn passed((): ()) -> Outcome {
    Outcome::Passed
}

fn formatting(workspace: &Workspace) -> Result<Outcome, TaskError> {
    run(&mut cargo(&workspace.root, &["fmt", "--all", "--check"])).map(passed)
}

fn lints(workspace: &Workspace) -> Result<Outcome, TaskError> {
    let arguments = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    run(&mut cargo(&workspace.root, &arguments)).map(passed)
}

fn documentation(workspace: &Workspace) -> Result<Outcome, TaskError> {
    let mut command = cargo(&workspace.root, &["doc", "--workspace", "--no-deps"]);
    run(command.env("RUSTDOCFLAGS", "-D warnings")).map(passed)
}

fn dependencies(workspace: &Workspace) -> Result<Outcome, TaskError> {
    if !installed("cargo-deny") {
        return Ok(absent("cargo-deny", "cargo-deny"));
    }
    run(&mut cargo(&workspace.root, &["deny", "check"])).map(passed)
}

fn spelling(workspace: &Workspace) -> Result<Outcome, TaskError> {
    if !installed("typos") {
        return Ok(absent("typos", "typos-cli"));
    }
    run(Command::new("typos").current_dir(&workspace.root)).map(passed)
}

fn absent(program: &str, package: &str) -> Outcome {
    println!("{program} is not installed; `cargo install --locked {package}` brings it");
    Outcome::Absent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_tells_absent_from_passed() {
        assert_eq!(
            line("lints", Outcome::Passed, Duration::from_secs(61)),
            "lints            passed (1 min 1 s)"
        );
        assert_eq!(
            line("spelling", Outcome::Absent, Duration::ZERO),
            "spelling         left out: not installed (0 s)"
        );
    }
}
