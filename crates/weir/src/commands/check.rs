//! `weir check`: everything that is wrong or unsupported in files; nothing is sent.

use std::path::{Path, PathBuf};

use clap::Args;
use toml::de::DeTable;
use weir_record::{CHECK_SCHEMA, CheckResult, CheckedFile};

use crate::commands::gate;
use crate::commands::simulate::network;
use crate::error::ExpectedError;
use crate::plan_files::FileOptions;
use crate::plan_reach::PlanReach;
use crate::{job, output, plans};

/// Say everything that is wrong or unsupported in plans, studies, networks and gateways' files;
/// send nothing.
///
/// Each problem is named with its file, its line, what would be lost and what to do instead. Each
/// plan gets a last line: whether it runs natively, and whether in full.
#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    /// JMeter plans (.jmx), studies, networks and gateways' files (.toml).
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    options: FileOptions,
    /// Write what was found, with every file that plans name, to this file; `-`: standard output.
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
}

pub(crate) fn run(arguments: &CheckArguments) -> Result<u8, ExpectedError> {
    let mut checking = Checking {
        arguments,
        checked: Vec::new(),
    };
    let mut failed = Vec::new();
    for file in &arguments.files {
        checking.checked.push(CheckedFile {
            file: file.display().to_string(),
            ..CheckedFile::default()
        });
        let error = match checking.check(file) {
            Ok(None) => continue,
            Ok(Some(error)) => error,
            Err(error) => {
                if arguments.files.len() > 1 {
                    output::tell_error(&error);
                }
                error
            }
        };
        checking.last().error = Some(error.to_string());
        failed.push(error);
    }
    if let Some(json) = &arguments.json {
        let result = CheckResult {
            schema: CHECK_SCHEMA.to_owned(),
            weir: env!("CARGO_PKG_VERSION").to_owned(),
            files: checking.checked,
        };
        output::json_to(json, &result)?;
    }
    if arguments.files.len() == 1 {
        return failed.pop().map_or(Ok(0), Err);
    }
    // The worst of the exit codes; each error has been told.
    let code = failed.iter().map(ExpectedError::exit_code).max();
    Ok(code.unwrap_or(0))
}

/// Files that are being checked.
struct Checking<'a> {
    arguments: &'a CheckArguments,
    /// What was found in those that have been, and in the one that is.
    checked: Vec<CheckedFile>,
}

impl Checking<'_> {
    fn last(&mut self) -> &mut CheckedFile {
        self.checked.last_mut().expect("a file is being checked")
    }

    /// Prints a line, if standard output is not for JSON.
    fn say(&self, line: &str) {
        if self.arguments.json.as_deref() != Some(Path::new("-")) {
            output::data(line);
        }
    }

    /// Why a file cannot be run, where the rest has been told.
    fn check(&mut self, file: &Path) -> Result<Option<ExpectedError>, ExpectedError> {
        let extension = |wanted: &str| {
            file.extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case(wanted))
        };
        if extension("jmx") {
            return self.check_plan(file);
        }
        if !extension("toml") {
            return Err(ExpectedError::Input(format!(
                "{}: Weir checks JMeter plans (.jmx), studies, networks and gateways' files (.toml)",
                file.display()
            )));
        }
        if is_network(file) {
            network::check(file)?;
        } else if is_gate(file) {
            gate::check(file)?;
        } else {
            let options = &self.arguments.options;
            job::check(file, options, |reach| self.tell_reach(file, reach))?;
        }
        self.say(&format!("{}: nothing is wrong", file.display()));
        Ok(None)
    }

    /// Says what a plan reaches.
    fn tell_reach(&mut self, of: &Path, reach: &PlanReach) {
        reach.tell_programs(self.last());
        for line in reach.lines() {
            self.say(&format!("{}: {line}", of.display()));
        }
    }

    fn check_plan(&mut self, file: &Path) -> Result<Option<ExpectedError>, ExpectedError> {
        let found = plans::check(file, &self.arguments.options)?;
        for line in &found.lines {
            self.say(line);
        }
        let name = file.display();
        self.tell_reach(file, &found.reach);
        self.last().unsupported = found.unsupported;
        self.last().findings = found.lines;
        let refused = found.reach.refused();
        match refused {
            0 => {}
            1 => self.say(&format!(
                "{name}: 1 file is refused: weir run does not start"
            )),
            count => self.say(&format!(
                "{name}: {count} files are refused: weir run does not start"
            )),
        }
        let summary = match (found.unsupported, found.warnings) {
            (0, 0) => "runs natively in full".to_owned(),
            (0, 1) => "runs natively, but for 1 warning above".to_owned(),
            (0, count) => format!("runs natively, but for {count} warnings above"),
            (1, _) => "1 element cannot be run natively".to_owned(),
            (count, _) => format!("{count} elements cannot be run natively"),
        };
        self.say(&format!("{name}: {summary}"));
        Ok(match (found.unsupported, refused) {
            (0, 0) => None,
            (0, count) => Some(ExpectedError::Input(format!(
                "{name}: {count} file(s) are outside {}; allow a file or folder with --allow-files",
                found.bounds
            ))),
            (count, _) => Some(ExpectedError::Input(format!(
                "{name}: Weir cannot run {count} element(s) of this plan itself"
            ))),
        })
    }
}

/// Whether a file calls itself a network; what it is otherwise, the study's reader says.
fn is_network(file: &Path) -> bool {
    has(file, |table| schema_begins(table, "weir/network/"))
}

/// Whether a file is a gateway's: it says so, or where clients connect and whereto their requests
/// go.
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
