//! A server that the one under load needs, such as the stub of a service that it calls.

use std::path::PathBuf;

use weir_metric::CpuSet;

use crate::child::ServerProcess;
use crate::error::TargetError;
use crate::free_port::free_port;

use super::CommandOptions;
use super::launch::{Wanted, start_ready};
use super::placeholders::PORT;

/// How to run a server that the one under load needs.
#[derive(Debug, Clone)]
pub struct BehindOptions {
    /// The command line, as a shell takes it. `{port}` is its own port, a free one.
    pub run: String,
    /// A URL, or a path on it, that answers when it is ready: with any status below 500.
    pub ready: String,
    /// CPUs that it may use; `None`: all.
    pub cpus: Option<CpuSet>,
    /// File that gets what it prints.
    pub log: PathBuf,
}

/// One that runs. It stays when the server under load is started anew, and ends after it.
#[derive(Debug)]
pub(super) struct Behind {
    process: ServerProcess,
    port: u16,
}

impl Behind {
    /// Starts it where the server will be started, and waits until it is ready.
    pub(super) fn start(
        behind: &BehindOptions,
        options: &CommandOptions,
    ) -> Result<Self, TargetError> {
        let port = free_port()?;
        let mut values = options.given.clone();
        values.insert(PORT.to_owned(), port.to_string());
        let wanted = Wanted {
            run: &behind.run,
            ready: &behind.ready,
            port,
            values: &values,
            cpus: behind.cpus.as_ref(),
            log: &behind.log,
        };
        let process = start_ready(options, &wanted).map_err(TargetError::behind)?;
        Ok(Self { process, port })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn check_alive(&mut self) -> Result<(), TargetError> {
        self.process.check_alive().map_err(TargetError::behind)
    }

    pub(super) fn stop(mut self) {
        self.process.stop();
    }
}
