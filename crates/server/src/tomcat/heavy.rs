//! A second Tomcat, in which the heavy requests of the stress application run.
//!
//! The load goes to one address, so the first Tomcat passes heavy requests on and one of its
//! threads waits for the answer. The second has the same installation, the same options, the same
//! CPUs; its threads have a scheduling policy of their own.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use crate::child::ServerProcess;
use crate::error::TargetError;
use crate::free_port::free_port;
use crate::start::{Scheduling, StartLevels};

use super::{Instance, TomcatOptions, base, launch};

/// What the second is called behind the name of the first one's directory and log.
const BEHIND: &str = "-heavy";
/// A short heavy request, which only the stress application answers.
const READY: &str = "/heavy/numeric?rounds=1";
/// Tells the stress application where heavy requests run.
const PASSED_TO: &str = "weir.stress.heavy-at";

/// A running second Tomcat.
#[derive(Debug)]
pub(super) struct HeavyServer {
    process: ServerProcess,
    port: u16,
}

impl HeavyServer {
    /// Starts it beside a first one whose directory was made.
    pub(super) fn start(
        options: &TomcatOptions,
        levels: &StartLevels,
        policy: Scheduling,
    ) -> Result<Self, TargetError> {
        let instance = Instance {
            base: beside(&options.base),
            port: free_port()?,
            log: beside(&options.log),
            properties: Vec::new(),
        };
        base::copy_for(&instance, options)?;
        let levels = StartLevels {
            scheduling: Some(policy),
            ..levels.clone()
        };
        let status = Cell::new(None);
        let process = launch(options, &levels, &instance, READY, |answered| {
            status.set(Some(answered));
            !answered.is_server_error()
        })?;
        match status.get().filter(|status| !status.is_success()) {
            None => Ok(Self {
                process,
                port: instance.port,
            }),
            Some(status) => Err(TargetError::Setting {
                name: "start.heavy".to_owned(),
                says: format!(
                    "the application answers {READY} with {status}: only the stress application (`app = \"stress\"`) has \
                     heavy requests that can run in a second server"
                ),
            }),
        }
    }

    /// What the first one is told at its start.
    pub(super) fn property(&self) -> String {
        format!("-D{PASSED_TO}=http://127.0.0.1:{}", self.port)
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// An error when it has ended by itself.
    pub(super) fn check_alive(&mut self) -> Result<(), TargetError> {
        self.process.check_alive()
    }
}

/// The place for the second server: `tomcat-heavy` beside `tomcat`, `target-heavy.log` beside
/// `target.log`.
fn beside(first: &Path) -> PathBuf {
    let mut name = first.file_stem().unwrap_or_default().to_owned();
    name.push(BEHIND);
    if let Some(extension) = first.extension() {
        name.push(".");
        name.push(extension);
    }
    first.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_server_lies_beside_the_first() {
        for (first, second) in [
            ("/run/tomcat", "/run/tomcat-heavy"),
            ("/run/target.log", "/run/target-heavy.log"),
        ] {
            assert_eq!(beside(Path::new(first)), Path::new(second));
        }
    }
}
