//! `cargo xtask test`: every test there is.
//!
//! Two parts. The first is `cargo test` on the whole workspace: no network, no root, no other
//! program. The second, the *system profile*, runs the tests that drive the real program and a real
//! browser: the test programs called `system`, `system_*` and `browser`. They see
//! `WEIR_SYSTEM_TESTS=1` and may then not skip anything; without it they say that they
//! were skipped.
//!
//! Tests here start servers and measure on whatever machine there is. One that fails is run again
//! alone, because another program may have taken the processor from it; if it passes then, that is
//! said at the end, with its name.

use std::cell::Cell;
use std::panic::resume_unwind;
use std::process::Command;
use std::thread::{self, ScopedJoinHandle};

use crate::compare_jmeter;
use crate::error::TaskError;
use crate::needs::{
    BROWSER, C_COMPILER, HTTPD, IP, JAVA, MAVEN, NGINX, POSTGRESQL, PYTHON, SSHD, STRACE, provide,
};
use crate::process::{cargo, run_tests, run_tests_beside_others};
use crate::steps::{Steps, spoken};
use crate::tally::Tally;
use crate::workspace::Workspace;

/// Tells the tests of the system profile that they must not skip.
const SYSTEM_TESTS: &str = "WEIR_SYSTEM_TESTS";
/// The test programs whose tests load servers and measure.
const MEASURING: &str = "system";
/// The one whose tests build applications with Maven: for minutes, and nothing is timed.
const BUILDING: &str = "system_build";
/// What the names of those of their tests have in which Weir or what it has started is killed, so
/// that nothing is measured.
const KILLED: &str = "killed";
/// When more tests than this fail, it was not by chance.
const AGAIN_MAX: usize = 3;
/// So many of the slowest tests are named.
const SLOWEST: usize = 15;

/// Runs the unit and integration tests.
pub(crate) fn fast(workspace: &Workspace, steps: &mut Steps) -> Result<(), TaskError> {
    provide(&[C_COMPILER])?;
    let tally = workspace_tests(workspace, steps)?;
    close(&tally, steps)
}

/// Runs the unit and integration tests, then the system profile.
pub(crate) fn everything(workspace: &Workspace, steps: &mut Steps) -> Result<(), TaskError> {
    steps.step("what the tests need", || {
        provide(&[
            C_COMPILER, BROWSER, JAVA, MAVEN, POSTGRESQL, HTTPD, NGINX, PYTHON, SSHD, IP, STRACE,
        ])
    })?;
    // Maven mostly waits for the tests that it runs: it begins with the first part.
    let tally = thread::scope(|scope| {
        let builds = SystemTests::new(vec![BUILDING], &[], 2);
        let building = scope.spawn(move || builds.run(workspace, &[], run_tests_beside_others));
        let mut tally = workspace_tests(workspace, steps)?;
        tally += system_tests(workspace, steps, building)?;
        Ok::<_, TaskError>(tally)
    })?;
    close(&tally, steps)
}

/// Most of the time of these goes by waiting for servers and loads that hardly use a CPU. So twice
/// as many run at a time as there are CPUs, and unit tests, which reckon, beside them.
fn workspace_tests(workspace: &Workspace, steps: &mut Steps) -> Result<Tally, TaskError> {
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let threads = (2 * cpus).to_string();
    let test = |words: &[&str], run: Run| {
        let arguments = [&["test", "--workspace", "--no-fail-fast"], words].concat();
        run(cargo(&workspace.root, &arguments).env("RUST_TEST_THREADS", &threads))
    };
    part(steps, "unit and integration tests", |again| {
        if !again.is_empty() {
            let words = [&["--", "--exact", "--test-threads=1"], again].concat();
            return test(&words, run_tests);
        }
        thread::scope(|scope| {
            let units = scope.spawn(|| {
                let mut tally = test(&["--lib", "--bins"], run_tests_beside_others)?;
                tally += test(&["--doc"], run_tests_beside_others)?;
                Ok::<_, TaskError>(tally)
            });
            let mut tally = test(&["--test", "*"], run_tests)?;
            tally += units.join().unwrap_or_else(|panic| resume_unwind(panic))?;
            Ok(tally)
        })
    })
}

/// Tests that run beside others.
type Beside<'scope> = ScopedJoinHandle<'scope, Result<Tally, TaskError>>;

/// What measures runs one test at a time, because it would measure the others, and once Maven's
/// builds have ended; the rest two at a time, beside them.
fn system_tests(
    workspace: &Workspace,
    steps: &mut Steps,
    building: Beside<'_>,
) -> Result<Tally, TaskError> {
    let targets = system_targets(workspace)?;
    let of = |kept: fn(&str) -> bool| -> Vec<&str> {
        let names = targets.iter().map(String::as_str);
        names.filter(|name| kept(name)).collect()
    };
    let servers = SystemTests::new(of(|name| ![BUILDING, MEASURING].contains(&name)), &[], 2);
    let killed = SystemTests::new(of(|name| name == MEASURING), &[KILLED], 2);
    let measured = SystemTests::new(of(|name| name == MEASURING), &["--skip", KILLED], 1);

    let title = "system profile: servers, and studies that are killed";
    let building = Cell::new(Some(building));
    let mut tally = part(steps, title, |again| {
        let Some(building) = building.take() else {
            let all = SystemTests::new(of(|_| true), &[], 1);
            return all.run(workspace, again, run_tests);
        };
        let mut tally = servers.run(workspace, &[], run_tests)?;
        tally += killed.run(workspace, &[], run_tests)?;
        tally += building
            .join()
            .unwrap_or_else(|panic| resume_unwind(panic))?;
        Ok(tally)
    })?;
    let measured = part(steps, "system profile: studies", |again| {
        measured.run(workspace, again, run_tests)
    })?;
    tell_slowest(&measured);
    tally += measured;
    tally += part(steps, "system profile: plans in JMeter and here", |_| {
        // One plan, always the same.
        compare_jmeter::compare(workspace, 1, 40)
    })?;
    Ok(tally)
}

/// How tests are run: with what they say at once, or at their end.
type Run = fn(&mut Command) -> Result<Tally, TaskError>;

/// Tests of the system profile that run together.
struct SystemTests<'a> {
    /// Test programs.
    targets: Vec<&'a str>,
    /// What is told to each of them, to choose among its tests.
    filter: &'static [&'static str],
    /// How many tests run at a time.
    at_once: u32,
}

impl<'a> SystemTests<'a> {
    fn new(targets: Vec<&'a str>, filter: &'static [&'static str], at_once: u32) -> Self {
        Self {
            targets,
            filter,
            at_once,
        }
    }

    /// Runs them, or those of the names, alone.
    fn run(&self, workspace: &Workspace, names: &[&str], run: Run) -> Result<Tally, TaskError> {
        if self.targets.is_empty() {
            return Ok(Tally::default());
        }
        // The whole workspace again, so that features unify as in the first part and nothing is
        // built twice.
        let mut arguments = vec!["test", "--workspace", "--no-fail-fast"];
        for target in &self.targets {
            arguments.extend(["--test", target]);
        }
        let at_once = if names.is_empty() { self.at_once } else { 1 };
        let at_once = format!("--test-threads={at_once}");
        arguments.extend(["--", &at_once]);
        if names.is_empty() {
            arguments.extend(self.filter);
        } else {
            arguments.push("--exact");
            arguments.extend(names);
        }
        let mut command = cargo(&workspace.root, &arguments);
        run(command.env(SYSTEM_TESTS, "1"))
    }
}

/// Names of the test programs that belong to the system profile, each once.
fn system_targets(workspace: &Workspace) -> Result<Vec<String>, TaskError> {
    let mut targets = Vec::new();
    for member in workspace.crates()? {
        targets.extend(
            member
                .test_targets
                .into_iter()
                .filter(|name| is_of_system(name)),
        );
    }
    targets.sort();
    targets.dedup();
    Ok(targets)
}

fn is_of_system(target: &str) -> bool {
    [MEASURING, "browser"].contains(&target) || target.starts_with("system_")
}

/// Runs one part of the tests: all of them when it is given no names, else those.
fn part(
    steps: &mut Steps,
    title: &str,
    tests: impl Fn(&[&str]) -> Result<Tally, TaskError>,
) -> Result<Tally, TaskError> {
    steps.step(title, || with_second_try(title, tests))
}

fn with_second_try(
    title: &str,
    tests: impl Fn(&[&str]) -> Result<Tally, TaskError>,
) -> Result<Tally, TaskError> {
    let mut tally = tests(&[])?;
    let failed = std::mem::take(&mut tally.failed_names);
    // What could not be built or ended in the middle has failed without a name.
    if (1..=AGAIN_MAX).contains(&failed.len()) && failed.len() as u64 == tally.failed {
        println!("\n== {title}: {} failed, run again alone", tally.failed);
        let names: Vec<&str> = failed.iter().map(String::as_str).collect();
        let again = tests(&names)?;
        if again.failed == 0 && again.passed >= tally.failed {
            tally.passed += std::mem::take(&mut tally.failed);
            tally.unsteady = failed;
        }
    }
    println!(
        "\n== {title}: {} passed, {} failed",
        tally.passed, tally.failed
    );
    Ok(tally)
}

/// Where the time went, of tests that run one at a time.
fn tell_slowest(tally: &Tally) {
    println!("\nthe slowest of them:");
    for (name, took) in tally.slowest(SLOWEST) {
        println!("{:>12}  {name}", spoken(*took));
    }
}

/// The closing line stands alone, so that a reader of the log finds it last.
fn close(tally: &Tally, steps: &Steps) -> Result<(), TaskError> {
    println!("\n{}", steps.summary());
    if !tally.unsteady.is_empty() {
        let names = tally.unsteady.join(", ");
        println!("\npassed only when run again alone, which is worth a look: {names}");
    }
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

    fn tally(passed: u64, failed: &[&str]) -> Tally {
        Tally {
            passed,
            failed: failed.len() as u64,
            failed_names: failed.iter().map(|name| (*name).to_owned()).collect(),
            ..Tally::default()
        }
    }

    #[test]
    fn the_system_profile_is_told_by_the_names_of_test_programs() {
        assert!(["system", "system_jvm", "browser"].map(is_of_system) == [true; 3]);
        assert!(["systems", "program", "browsers"].map(is_of_system) == [false; 3]);
    }

    #[test]
    fn a_failed_test_fails_the_task() {
        let steps = Steps::begin();
        close(&tally(2, &[]), &steps).unwrap();
        let error = close(&tally(2, &["a"]), &steps).unwrap_err();
        assert_eq!(error.to_string(), "pass every test: 1 failed");
    }

    #[test]
    fn a_test_that_passes_alone_passes_and_is_named() {
        let run = |names: &[&str]| match names {
            [] => Ok(tally(5, &["a", "b"])),
            names => {
                assert_eq!(names, ["a", "b"]);
                Ok(tally(2, &[]))
            }
        };
        let sum = with_second_try("tests", run).unwrap();
        assert_eq!((sum.passed, sum.failed), (7, 0));
        assert_eq!(sum.unsteady, ["a", "b"]);
    }

    #[test]
    fn what_fails_again_or_does_not_run_again_has_failed() {
        let fails = |_: &[&str]| Ok(tally(1, &["a"]));
        assert_eq!(with_second_try("tests", fails).unwrap().failed, 1);
        let vanishes = |names: &[&str]| Ok(tally(0, if names.is_empty() { &["a"] } else { &[] }));
        assert_eq!(with_second_try("tests", vanishes).unwrap().failed, 1);
    }

    #[test]
    fn many_failures_or_a_broken_build_are_not_tried_again() {
        let many = |names: &[&str]| {
            assert!(names.is_empty());
            Ok(tally(1, &["a", "b", "c", "d"]))
        };
        assert_eq!(with_second_try("tests", many).unwrap().failed, 4);
        let unnamed = |names: &[&str]| {
            assert!(names.is_empty());
            Ok(Tally {
                failed: 1,
                ..Tally::default()
            })
        };
        assert_eq!(with_second_try("tests", unnamed).unwrap().failed, 1);
    }
}
