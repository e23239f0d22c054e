//! Machines that are reached over the user's ssh.

use std::path::Path;

use weir_probe::FarMachine;
use weir_record::failed_to;
use weir_ssh::{Connection, SshError, SshHost};

use crate::error::ExpectedError;
use crate::output;

/// Logs in and looks at what is there.
pub(crate) fn reach(name: &str, configuration: Option<&Path>) -> Result<FarMachine, ExpectedError> {
    let host = SshHost::new(name).map_err(|error| failed(&error))?;
    let host = match configuration {
        // ssh would pass over one that is not there.
        Some(file) if !file.is_file() => {
            return Err(ExpectedError::Input(format!(
                "failed to read ssh's configuration `{}`: there is no such file",
                file.display()
            )));
        }
        Some(file) => host.with_configuration(file),
        None => host,
    };
    let connection = Connection::open(host).map_err(|error| failed(&error))?;
    FarMachine::reach(connection).map_err(|error| failed(&error))
}

/// The process that listens on a port there; says why when none can be seen.
pub(crate) fn process_listening(far: &FarMachine, port: u16) -> Result<Option<u32>, ExpectedError> {
    let pids = far
        .processes_listening(port)
        .map_err(|error| failed(&error))?;
    if let Some(pid) = pids.first() {
        return Ok(Some(*pid));
    }
    let host = far.connection().host().name();
    let why = if far.is_listening(port).map_err(|error| failed(&error))? {
        format!(
            "which process listens on port {port} of {host} is shown to its own user and root only: log in as one of \
             them, or name it (its id is `pid`)"
        )
    } else {
        format!(
            "nothing listens on port {port} of {host}: name the server's process (its id is `pid`)"
        )
    };
    output::talk(&format!(
        "warning: {why}; without it CPU is that of the whole machine, and memory and threads are absent"
    ));
    Ok(None)
}

/// What ssh cannot do, as an error of the program.
pub(crate) fn failed(error: &SshError) -> ExpectedError {
    match error {
        SshError::Name { .. } => ExpectedError::Input(failed_to(error)),
        _ => ExpectedError::Environment(failed_to(error)),
    }
}
