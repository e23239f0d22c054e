//! `weir sweep`: a designed experiment.

use std::path::PathBuf;

use clap::Args;
use weir_study::Ask;

use crate::commands::studies::{self, StudyArguments};
use crate::error::ExpectedError;

/// Run a designed experiment and print its table.
///
/// Runs the cases of the study, or the combinations of its factors' levels, each as often as the
/// study says, in random order, and prints one table, with published figures beside the measured
/// ones where the study has them.
#[derive(Debug, Args)]
pub(crate) struct SweepArguments {
    /// The study.
    #[arg(value_name = "STUDY.toml", required_unless_present = "resume")]
    study: Option<PathBuf>,
    #[command(flatten)]
    shared: StudyArguments,
}

pub(crate) fn run(arguments: &SweepArguments) -> Result<u8, ExpectedError> {
    let job = studies::prepare(arguments.study.as_deref(), &arguments.shared)?;
    if matches!(job.study.ask, Ask::Find(_)) {
        return Err(ExpectedError::Input(format!(
            "{}: this study asks for an answer ([find]); run it with `weir tune`",
            job.file
        )));
    }
    studies::run(&job, &arguments.shared, false)
}
