//! What stands behind a URL, or a process, of another machine.

use std::path::Path;

use weir_probe::{FarMachine, FarProcess, WatchPlan, WatchedMachine};

use crate::error::ExpectedError;
use crate::far;

/// What is watched there.
pub(super) struct FarSubject {
    /// In words.
    pub(super) target: String,
    /// For file names.
    pub(super) name: String,
    pub(super) plan: WatchPlan,
    pub(super) process: Option<FarProcess>,
}

/// The process of this id.
pub(super) fn of_process(
    host: &str,
    configuration: Option<&Path>,
    pid: u32,
) -> Result<FarSubject, ExpectedError> {
    let machine = far::reach(host, configuration)?;
    let command = machine.connection().file(&format!("/proc/{pid}/comm"));
    let command = command.map_err(|error| far::failed(&error))?;
    let command = command
        .ok_or_else(|| ExpectedError::Input(format!("there is no process {pid} on {host}")))?;
    let command = String::from_utf8_lossy(&command).trim_end().to_owned();
    let ports = machine
        .listening_ports(pid)
        .map_err(|error| far::failed(&error))?;
    subject(
        machine,
        Some(pid),
        ports,
        format!("process {pid} ({command}) on {host}"),
        format!("{host}-{command}"),
    )
}

/// Whoever listens on the port of a URL.
pub(super) fn of_url(
    host: &str,
    configuration: Option<&Path>,
    typed: &str,
    port: u16,
) -> Result<FarSubject, ExpectedError> {
    let machine = far::reach(host, configuration)?;
    let pid = far::process_listening(&machine, port)?;
    let process = pid.map(|pid| format!("process {pid} "));
    subject(
        machine,
        pid,
        vec![port],
        format!("{typed} ({}on {host})", process.unwrap_or_default()),
        format!("{host}-{port}"),
    )
}

fn subject(
    machine: FarMachine,
    pid: Option<u32>,
    ports: Vec<u16>,
    target: String,
    name: String,
) -> Result<FarSubject, ExpectedError> {
    let allowed = match pid {
        Some(pid) => machine.cpus_of(pid).map_err(|error| far::failed(&error))?,
        None => None,
    };
    Ok(FarSubject {
        target,
        name,
        process: pid.map(|pid| FarProcess::new(&machine, pid)),
        plan: WatchPlan {
            target_pids: pid.into_iter().collect(),
            target_cpus: allowed,
            ports,
            machine: WatchedMachine::Far(machine),
            ..WatchPlan::default()
        },
    })
}
