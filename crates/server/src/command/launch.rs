//! From a command line with places to a process that is ready.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use weir_metric::CpuSet;

use crate::child::{Patience, ServerProcess};
use crate::error::TargetError;
use crate::metrics_page::on_server;

use super::CommandOptions;
use super::placeholders::{CONFIG, PORT, filled};

/// How long one question whether it is ready may take.
const ASK_PATIENCE: Duration = Duration::from_secs(1);

/// A process to start: where, and what it is given.
pub(super) struct Wanted<'a> {
    /// The command line with places.
    pub(super) run: &'a str,
    /// What answers when it is ready.
    pub(super) ready: &'a str,
    /// Its port.
    pub(super) port: u16,
    /// What stands for the places.
    pub(super) values: &'a BTreeMap<String, String>,
    /// Its CPUs.
    pub(super) cpus: Option<&'a CpuSet>,
    /// File that gets what it prints.
    pub(super) log: &'a Path,
}

/// Starts the server with these limits and waits until it is ready.
pub(super) fn launch(
    options: &CommandOptions,
    template: Option<&str>,
    port: u16,
    limits: &BTreeMap<String, f64>,
) -> Result<ServerProcess, TargetError> {
    let limits = limits.iter();
    let mut values: BTreeMap<String, String> = limits
        .map(|(name, limit)| (name.clone(), limit.to_string()))
        .collect();
    values.extend(options.given.clone());
    values.insert(PORT.to_owned(), port.to_string());
    if let (Some(text), Some(path)) = (template, &options.template) {
        let copy = write_filled(&options.folder, path, &filled(text, &values)?)?;
        values.insert(CONFIG.to_owned(), copy.display().to_string());
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    for page in &options.metrics {
        page.source(address)?;
    }
    let wanted = Wanted {
        run: &options.run,
        ready: &options.ready,
        port,
        values: &values,
        cpus: options.cpus.as_ref(),
        log: &options.log,
    };
    start_ready(options, &wanted)
}

/// Starts a process in the folder and with the environment of these options, and waits until it is
/// ready.
pub(super) fn start_ready(
    options: &CommandOptions,
    wanted: &Wanted<'_>,
) -> Result<ServerProcess, TargetError> {
    let mut command = Command::new("/bin/sh");
    // The shell becomes the program, so that signals reach it.
    command
        .arg("-c")
        .arg(format!("exec {}", filled(wanted.run, wanted.values)?))
        .current_dir(&options.directory);
    for (name, value) in &options.environment {
        command.env(name, filled(value, wanted.values)?);
    }
    options.journal.mark(&mut command)?;
    let end = options.end.signal();
    let mut process = ServerProcess::launch(end, command, wanted.cpus, wanted.log)?;
    options.journal.process(process.pid())?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, wanted.port));
    let url = on_server(wanted.ready, address);
    let patience = Patience {
        longest: options.patience,
        interrupted: &options.interrupted,
    };
    process.wait_until_answers(&url, patience, ASK_PATIENCE, |status| {
        !status.is_server_error()
    })?;
    Ok(process)
}

/// Writes the copy under the template's own name, so that a server that goes by the ending knows
/// it.
fn write_filled(folder: &Path, template: &Path, text: &str) -> Result<PathBuf, TargetError> {
    let name = template.file_name().unwrap_or(template.as_os_str());
    let copy = std::path::absolute(folder.join(name)).and_then(|copy| {
        std::fs::create_dir_all(folder)?;
        std::fs::write(&copy, text)?;
        Ok(copy)
    });
    copy.map_err(|source| TargetError::File {
        path: folder.join(name),
        source,
    })
}

/// The text of a template.
pub(super) fn read(path: &Path) -> Result<String, TargetError> {
    std::fs::read_to_string(path).map_err(|source| TargetError::File {
        path: path.to_owned(),
        source,
    })
}
