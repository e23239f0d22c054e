//! `weir report`: the report of a stored run, written again.

mod slice;

use std::path::PathBuf;

use clap::Args;
use weir_record::RunDirectory;

use crate::error::ExpectedError;
use crate::{output, stored};

/// Write the report of a stored run again.
#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The run: a path, a name below the runs' directory, or `last`.
    #[arg(default_value = "last")]
    run: String,
    /// Print the report as Markdown, for a ticket, instead of writing report.html.
    #[arg(long)]
    markdown: bool,
    /// Print what a study found with all its reasons, as text, instead of writing report.html.
    #[arg(long, conflicts_with = "markdown")]
    details: bool,
    /// Write a copy of the report that may be passed on to this file instead: secrets are masked in
    /// it as in every report, and directories and hosts have no names.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["markdown", "details", "from", "to"])]
    share: Option<PathBuf>,
    /// Print the means of every signal from this time on instead: `10:00`, `10:00:30`, a day with
    /// it (`2026-11-29T10:00`), or a time since the start of the run (`90s`).
    #[arg(long, value_name = "TIME", value_parser = slice::moment, conflicts_with_all = ["markdown", "details"])]
    from: Option<slice::Moment>,
    /// … up to this time.
    #[arg(long, value_name = "TIME", value_parser = slice::moment, conflicts_with_all = ["markdown", "details"])]
    to: Option<slice::Moment>,
    /// Where runs lie.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    runs: PathBuf,
}

pub(crate) fn run(arguments: &ReportArguments) -> Result<u8, ExpectedError> {
    let directory = stored::find(&arguments.runs, &arguments.run)?;
    if arguments.from.is_some() || arguments.to.is_some() {
        return slice::print(&directory, arguments.from, arguments.to);
    }
    if directory.watch_path().is_file() {
        return of_watch(&directory, arguments);
    }
    if directory.single_path().is_file() {
        return of_load(&directory, arguments);
    }
    let mut run = stored::StoredRun::read(&directory)?;
    if let Some(file) = &arguments.share {
        run.write_for_others(&directory, file)?;
        output::data(&file.display().to_string());
    } else if arguments.markdown {
        output::data_lines(&weir_report::markdown(&run.input()));
    } else if arguments.details {
        let text = weir_report::text::summary(run.input().result, output::width());
        output::data_lines(text.trim_end());
    } else {
        let path = run.write_report(&directory)?;
        output::data(&path.display().to_string());
    }
    Ok(0)
}

/// The report of one load.
fn of_load(directory: &RunDirectory, arguments: &ReportArguments) -> Result<u8, ExpectedError> {
    if arguments.details {
        return Err(ExpectedError::Input(format!(
            "{}: one load asks no question, so there are no reasons to print; leave out --details",
            directory.path().display()
        )));
    }
    let mut load = stored::StoredLoad::read(directory)?;
    if let Some(file) = &arguments.share {
        load.write_for_others(directory, file)?;
        output::data(&file.display().to_string());
    } else if arguments.markdown {
        output::data_lines(&weir_report::one_load_markdown(&load.input()));
    } else {
        let path = load.write_report(directory)?;
        output::data(&path.display().to_string());
    }
    Ok(0)
}

/// The report of a watch without load.
fn of_watch(directory: &RunDirectory, arguments: &ReportArguments) -> Result<u8, ExpectedError> {
    if arguments.details {
        return Err(ExpectedError::Input(format!(
            "{}: a watch asks no question, so there are no reasons to print; leave out --details",
            directory.path().display()
        )));
    }
    let mut watch = stored::StoredWatch::read(directory)?;
    if let Some(file) = &arguments.share {
        watch.write_for_others(directory, file)?;
        output::data(&file.display().to_string());
    } else if arguments.markdown {
        output::data_lines(&weir_report::watch::watch_markdown(&watch.input()));
    } else {
        let path = watch.write_report(directory)?;
        output::data(&path.display().to_string());
    }
    Ok(0)
}
