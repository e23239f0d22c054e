//! How right the searches are and what they cost, next to what people do without them.
//!
//! The study is an example of `weir-study`, which drives the searches themselves through
//! `TrialRunner` against made servers. Everything is drawn from fixed seeds: the same tables each
//! time, on any machine.

use crate::error::TaskError;
use crate::process::{cargo, run};
use crate::workspace::Workspace;

/// Builds and runs the study; `table` names one of its tables.
pub(crate) fn bench(
    workspace: &Workspace,
    table: Option<&str>,
    first_seed: u64,
) -> Result<(), TaskError> {
    let first_seed = first_seed.to_string();
    let mut arguments = vec![
        "run",
        "--release",
        "-p",
        "weir-study",
        "--example",
        "search-accuracy",
        "--",
        &first_seed,
    ];
    arguments.extend(table);
    run(&mut cargo(&workspace.root, &arguments))
}
