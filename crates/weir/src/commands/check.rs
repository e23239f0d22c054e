//! `weir check`: everything that is wrong or unsupported in a file; nothing is sent.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::ExpectedError;
use crate::{job, output, plans};

/// Say everything that is wrong or unsupported in a plan or a study; send nothing.
///
/// Each problem is named with its file, line and what to write instead.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// A JMeter plan (.jmx) or a study (.toml).
    file: PathBuf,
}

pub(crate) fn run(arguments: &CheckArguments) -> Result<u8, ExpectedError> {
    let file = &arguments.file;
    let extension = |wanted: &str| {
        file.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
    };
    if extension("jmx") {
        check_plan(file)
    } else if extension("toml") {
        job::check(file)?;
        output::data(&format!("{}: nothing is wrong", file.display()));
        Ok(0)
    } else {
        Err(ExpectedError::Input(format!(
            "{}: Weir checks JMeter plans (.jmx) and studies (.toml)",
            file.display()
        )))
    }
}

fn check_plan(file: &Path) -> Result<u8, ExpectedError> {
    let findings = plans::check(file)?;
    for line in &findings.lines {
        output::data(line);
    }
    if findings.unsupported == 0 {
        output::data(&format!("{}: Weir runs all of it", file.display()));
        Ok(0)
    } else {
        Err(ExpectedError::Input(format!(
            "{}: Weir cannot run {} element(s) of this plan",
            file.display(),
            findings.unsupported
        )))
    }
}
