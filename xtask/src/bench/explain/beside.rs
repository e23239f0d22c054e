//! What happens beside a server while it is looked at.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use super::group::{Bound, Group};
use crate::error::TaskError;
use crate::needs::{TASKSET, provide};

/// Processes that spin on a CPU: three requests in progress then get a third of it, one thread of a
/// load a seventh.
const SPINNERS: usize = 6;

/// What has to happen beside a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Beside {
    Nothing,
    /// An Apache httpd that the study starts.
    Httpd,
    /// Processes that spin on this CPU.
    Spinning(u32),
    /// The rules of a firewall, in a network namespace of its own.
    Firewall(&'static str),
    /// A control group around the server.
    Group(Bound),
}

/// What goes on until this is dropped.
pub(super) struct Around {
    _spinning: Spinners,
    group: Option<Group>,
}

impl Beside {
    /// Begins it; rules of a firewall come with the network namespace of the program.
    pub(super) fn begin(self) -> Result<Around, TaskError> {
        let (spinning, group) = match self {
            Self::Spinning(cpu) => {
                provide(&[TASKSET])?;
                (Spinners::on(cpu)?, None)
            }
            Self::Group(bound) => (Spinners(Vec::new()), Some(Group::make(bound)?)),
            Self::Nothing | Self::Httpd | Self::Firewall(_) => (Spinners(Vec::new()), None),
        };
        Ok(Around {
            _spinning: spinning,
            group,
        })
    }
}

impl Around {
    /// The folder of the control group, where there is one.
    pub(super) fn group(&self) -> Option<&Path> {
        self.group.as_ref().map(Group::folder)
    }

    /// Puts processes that run already into the control group, where there is one.
    pub(super) fn take(&self, processes: &[u32]) -> Result<(), TaskError> {
        self.group.as_ref().map_or(Ok(()), |group| {
            processes.iter().try_for_each(|id| group.take(*id))
        })
    }
}

/// Processes that use all they get of a CPU, until this is dropped.
struct Spinners(Vec<Child>);

impl Spinners {
    fn on(cpu: u32) -> Result<Self, TaskError> {
        let mut spinners = Self(Vec::new());
        for _ in 0..SPINNERS {
            let mut command = Command::new("taskset");
            command.args([
                "--cpu-list",
                &cpu.to_string(),
                "sh",
                "-c",
                "while :; do :; done",
            ]);
            let child =
                command
                    .stdin(Stdio::null())
                    .spawn()
                    .map_err(|source| TaskError::Start {
                        command: "taskset".to_owned(),
                        source,
                    })?;
            spinners.0.push(child);
        }
        Ok(spinners)
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // One that has ended by itself has nothing left to end.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
