//! Commands of the user that set a limit and print it.

use weir_probe::WatchedMachine;

use super::{ExternalLimit, ExternalOptions, SetBy, shell};
use crate::error::TargetError;
use crate::journal::LiveSetting;

/// What stands for the limit in a command.
pub(super) const VALUE: &str = "{value}";

/// How another Weir puts a limit back when this one is killed.
pub(super) fn way_back(
    name: &str,
    line: &str,
    found: f64,
    options: &ExternalOptions,
) -> Result<LiveSetting, TargetError> {
    let what = set_by_command(name, options);
    let line = line.replace(VALUE, &found.to_string());
    if let WatchedMachine::Far(far) = &options.machine {
        let argv = far.connection().host().command_line(&line);
        return Ok(LiveSetting::Command { what, argv });
    }
    let directory =
        std::path::absolute(&options.directory).map_err(|source| TargetError::File {
            path: options.directory.clone(),
            source,
        })?;
    let script = "cd \"$0\" && eval \"$1\"".to_owned();
    let words = ["/bin/sh".to_owned(), "-c".to_owned(), script];
    let words = words
        .into_iter()
        .chain([directory.display().to_string(), line]);
    Ok(LiveSetting::Command {
        what,
        argv: words.collect(),
    })
}

/// What is put back by a command, as the journal calls it.
pub(super) fn set_by_command(name: &str, options: &ExternalOptions) -> String {
    format!("{name} of {}", options.name)
}

/// Runs a command of the user on the server's machine.
pub(super) fn run(line: &str, options: &ExternalOptions) -> Result<String, TargetError> {
    match &options.machine {
        WatchedMachine::Far(far) => shell::run_there(line, far.connection(), &options.log),
        WatchedMachine::This | WatchedMachine::Unseen => {
            shell::run_here(line, &options.directory, &options.log)
        }
    }
}

pub(super) fn check_command(name: &str, limit: &ExternalLimit) -> Result<(), TargetError> {
    match &limit.set {
        SetBy::Command(line) if !line.contains(VALUE) => Err(TargetError::Setting {
            name: name.to_owned(),
            says: format!("its command has no {VALUE}, which stands for the limit: {line}"),
        }),
        _ => Ok(()),
    }
}

/// The limit that a server has now.
pub(super) fn read(
    name: &str,
    limit: &ExternalLimit,
    options: &ExternalOptions,
) -> Result<f64, TargetError> {
    let Some(line) = &limit.get else {
        return limit.found.ok_or_else(|| TargetError::Setting {
            name: name.to_owned(),
            says: "nothing tells what it is now, so that it could not be put back: write a command under `get`, or \
                   the number under `found`"
                .to_owned(),
        });
    };
    let text = run(line, options)?;
    shell::number_in(&text).ok_or_else(|| TargetError::Setting {
        name: name.to_owned(),
        says: format!("`{line}` prints no number but `{}`", text.trim()),
    })
}
