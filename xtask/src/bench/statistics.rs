//! How often the statistics are wrong: coverage of the intervals, and errors of the comparisons.
//!
//! The studies are examples of `weir-stats`, so that they need nothing but that crate. Everything
//! is drawn from fixed seeds: the same tables each time, on any machine.

use crate::error::TaskError;
use crate::process::{cargo, run};
use crate::workspace::Workspace;

/// Each prints its tables as Markdown or text.
const STUDIES: [&str; 2] = ["coverage", "decisions"];

/// Builds and runs the studies of the statistics crate.
pub(crate) fn bench(workspace: &Workspace) -> Result<(), TaskError> {
    for study in STUDIES {
        let arguments = ["run", "--release", "-p", "weir-stats", "--example", study];
        run(&mut cargo(&workspace.root, &arguments))?;
    }
    Ok(())
}
