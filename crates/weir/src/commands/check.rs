//! `weir check`: everything that is wrong or unsupported in files; nothing is sent.

use std::path::{Path, PathBuf};

use clap::Args;
use toml::de::DeTable;

use crate::commands::gate;
use crate::commands::simulate::network;
use crate::error::ExpectedError;
use crate::{job, output, plan_files, plans};

/// Say everything that is wrong or unsupported in plans, studies, networks and gateways' files; send nothing.
///
/// Each problem is named with its file, its line, what would be lost and what to do instead. Each
/// plan gets a last line: whether it runs natively in full.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// JMeter plans (.jmx), studies, networks and gateways' files (.toml).
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Allow plans to read and write this file, or all below this folder, beside their own folder
    /// and the one that Weir is run in; may be given several times.
    #[arg(long, value_name = "PATH")]
    allow_files: Vec<PathBuf>,
}

pub(crate) fn run(arguments: &CheckArguments) -> Result<u8, ExpectedError> {
    if let [file] = &*arguments.files {
        return match check(file, &arguments.allow_files)? {
            None => Ok(0),
            Some(error) => Err(error),
        };
    }
    let mut failed = Vec::new();
    for file in &arguments.files {
        match check(file, &arguments.allow_files) {
            Ok(None) => {}
            Ok(Some(error)) => failed.push(error),
            Err(error) => {
                output::tell_error(&error);
                failed.push(error);
            }
        }
    }
    // The worst of the exit codes; each error has been told.
    let code = failed.iter().map(ExpectedError::exit_code).max();
    Ok(code.unwrap_or(0))
}

/// Why a file cannot be run, where the rest has been told.
fn check(file: &Path, allowed: &[PathBuf]) -> Result<Option<ExpectedError>, ExpectedError> {
    let extension = |wanted: &str| {
        file.extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
    };
    if extension("jmx") {
        check_plan(file, allowed)
    } else if extension("toml") {
        if is_network(file) {
            network::check(file)?;
        } else if is_gate(file) {
            gate::check(file)?;
        } else {
            job::check(file, allowed)?;
        }
        output::data(&format!("{}: nothing is wrong", file.display()));
        Ok(None)
    } else {
        Err(ExpectedError::Input(format!(
            "{}: Weir checks JMeter plans (.jmx), studies, networks and gateways' files (.toml)",
            file.display()
        )))
    }
}

/// Whether a file calls itself a network; what it is otherwise, the study's reader says.
fn is_network(file: &Path) -> bool {
    has(file, |table| schema_begins(table, "weir/network/"))
}

/// Whether a file is a gateway's: it says so, or where clients connect and whereto their requests go.
fn is_gate(file: &Path) -> bool {
    has(file, |table| {
        let names_both = table.contains_key("listen") || table.contains_key("backends");
        schema_begins(table, "weir/gate/") || (names_both && !table.contains_key("schema"))
    })
}

fn schema_begins(table: &DeTable<'_>, begin: &str) -> bool {
    let schema = table.get("schema");
    let schema = schema.and_then(|schema| schema.get_ref().as_str());
    schema.is_some_and(|schema| schema.starts_with(begin))
}

fn has(file: &Path, what: impl FnOnce(&DeTable<'_>) -> bool) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let (table, _) = DeTable::parse_recoverable(&text);
    what(table.get_ref())
}

fn check_plan(file: &Path, allowed: &[PathBuf]) -> Result<Option<ExpectedError>, ExpectedError> {
    let found = plans::check(file, allowed)?;
    for line in &found.lines {
        output::data(line);
    }
    let name = file.display();
    if !found.files.is_empty() {
        output::data(&format!("{name}: files that it reads or writes:"));
        for line in &found.files {
            output::data(&format!("{name}:   {line}"));
        }
        output::data(&format!("{name}: {}", plan_files::OF_JMETER));
    }
    match found.refused {
        0 => {}
        1 => output::data(&format!(
            "{name}: 1 file is refused: weir run does not start"
        )),
        count => output::data(&format!(
            "{name}: {count} files are refused: weir run does not start"
        )),
    }
    let summary = match found.unsupported {
        0 => "runs natively in full".to_owned(),
        1 => "1 element cannot be run natively".to_owned(),
        count => format!("{count} elements cannot be run natively"),
    };
    output::data(&format!("{name}: {summary}"));
    Ok(match (found.unsupported, found.refused) {
        (0, 0) => None,
        (0, count) => Some(ExpectedError::Input(format!(
            "{name}: {count} file(s) are outside the folders of plan and run; allow a file or folder with --allow-files"
        ))),
        (count, _) => Some(ExpectedError::Input(format!(
            "{name}: Weir cannot run {count} element(s) of this plan itself"
        ))),
    })
}
