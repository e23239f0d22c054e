//! What is looked at before a load starts, because it would be learnt too late at its end.

use std::fs::OpenOptions;
use std::path::Path;

use weir_metric::CpuSet;

use super::grammar::SharedArguments;
use crate::error::ExpectedError;

/// Checks that results can be written where they are wanted, and that the machine has the CPUs and
/// the process that were named.
pub(super) fn check(shared: &SharedArguments) -> Result<(), ExpectedError> {
    let files = [
        ("--json", &shared.json),
        ("--junit", &shared.junit),
        ("--hlog", &shared.hlog),
    ];
    for (option, file) in files {
        if let Some(file) = file.as_deref().filter(|file| *file != Path::new("-")) {
            can_be_written(option, file)?;
        }
    }
    // Where the kernel does not say which CPUs there are, it is learnt when they are asked for.
    let online = weir_probe::online_cpus().ok();
    let sets = [
        ("--load-cpus", &shared.load_cpus),
        ("--target-cpus", &shared.target_cpus),
    ];
    for (option, asked_for) in sets {
        if let (Some(asked_for), Some(online)) = (asked_for, &online) {
            are_there(option, asked_for, online)?;
        }
    }
    match shared.target_pid {
        Some(pid) if !Path::new(&format!("/proc/{pid}")).exists() => Err(ExpectedError::Input(
            format!("--target-pid {pid}: there is no such process"),
        )),
        _ => Ok(()),
    }
}

/// Opens a file for writing; one that was not there goes away again.
fn can_be_written(option: &str, file: &Path) -> Result<(), ExpectedError> {
    // Looking into a pipe would use up its reader.
    if file
        .metadata()
        .is_ok_and(|there| !there.is_file() && !there.is_dir())
    {
        return Ok(());
    }
    let is_new = file.symlink_metadata().is_err();
    let mut options = OpenOptions::new();
    options
        .append(true)
        .create(true)
        .open(file)
        .map_err(|error| {
            ExpectedError::Environment(format!("{option} {}: {error}", file.display()))
        })?;
    if is_new {
        // What cannot be deleted stays empty until the end.
        drop(std::fs::remove_file(file));
    }
    Ok(())
}

fn are_there(option: &str, asked_for: &CpuSet, online: &CpuSet) -> Result<(), ExpectedError> {
    match asked_for.without(online) {
        None => Ok(()),
        Some(absent) => Err(ExpectedError::Input(format!(
            "{option} {asked_for}: there is no CPU {absent}; this machine has {online}"
        ))),
    }
}
