//! `weir tune`: the main job.

use std::path::PathBuf;

use clap::Args;
use weir_study::Ask;

use crate::commands::studies::{self, StudyArguments};
use crate::error::ExpectedError;

/// Find the answer of a study, derive every stage's setting, check that it holds.
///
/// Loads the target with more and fewer users until it is sure which number of them still meets the
/// requirements; derives the limit of every stage from what it saw; runs half as many users again
/// to show that the limits hold; writes a report. Without a study: the built-in sample server under
/// a short load, "how many concurrent users until CPU reaches 80 %?".
#[derive(Debug, Args)]
pub(crate) struct TuneArguments {
    /// The study; without one, the built-in sample server and load.
    #[arg(value_name = "STUDY.toml")]
    study: Option<PathBuf>,
    /// Write the settings into the server's own configuration files, when the requirements are
    /// met; the old text stays beside each.
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    shared: StudyArguments,
}

pub(crate) fn run(arguments: &TuneArguments) -> Result<u8, ExpectedError> {
    let job = studies::prepare(arguments.study.as_deref(), &arguments.shared)?;
    if matches!(job.study.ask, Ask::Sweep(_)) {
        return Err(ExpectedError::Input(format!(
            "{}: this study asks for a table ([sweep]); run it with `weir sweep`",
            job.file
        )));
    }
    studies::run(&job, &arguments.shared, arguments.write)
}
