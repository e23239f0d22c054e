//! How Weir's limit does beside others where flow control matters: steps, pauses, retries, lost
//! capacity, unequal requests.
//!
//! The comparison is an example of `weir-sim`, which plays them all on the simulator. Everything is
//! drawn from fixed seeds: the same tables each time, on any machine.

use crate::error::TaskError;
use crate::process::{cargo, run};
use crate::workspace::Workspace;

/// Builds and runs the comparison.
pub(crate) fn bench(workspace: &Workspace, scenario: &str, seeds: u32) -> Result<(), TaskError> {
    let seeds = seeds.to_string();
    let arguments = [
        "run",
        "--release",
        "-p",
        "weir-sim",
        "--example",
        "flow-control",
        "--",
        scenario,
        &seeds,
    ];
    run(&mut cargo(&workspace.root, &arguments))
}
