//! From `[target.KIND]` of a study to a server that is ready to be loaded: a file per kind.

mod builtin;
mod command;
mod database;
mod external;
mod gate;
mod httpd;
mod liberty;
mod metrics;
mod spring_boot;
mod tomcat;

pub(crate) use external::{cpus_of_running, recognised};

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weir_metric::CpuSet;
use weir_record::{RunDirectory, failed_to, start_levels};
use weir_server::{Journal, Server, StartLevels, TargetError};
use weir_study::{Ask, Design, TargetKind};

use crate::error::ExpectedError;
use crate::job::Job;
use crate::taken_port;

/// For what and where a server is started.
pub(crate) struct Place<'a> {
    /// The study.
    pub(crate) job: &'a Job,
    /// CPUs of the target.
    pub(crate) cpus: &'a CpuSet,
    /// CPUs of the load generator.
    pub(crate) load_cpus: &'a CpuSet,
    /// The run that gets its log.
    pub(crate) directory: &'a RunDirectory,
    /// Set from outside to stop what takes long.
    pub(crate) interrupted: &'a Arc<AtomicBool>,
    /// Gets everything that has to be put back or ended.
    pub(crate) journal: &'a Journal,
    /// Hosts with a public address that may be loaded.
    pub(crate) allowed: &'a [String],
}

impl Place<'_> {
    /// Writes down the processes of a server that Weir has started.
    fn note_processes(&self, server: &dyn Server) -> Result<(), ExpectedError> {
        let pids = server.watched().pids;
        let noted = pids
            .into_iter()
            .try_for_each(|pid| self.journal.process(pid));
        noted.map_err(|error| ExpectedError::Environment(failed_to(&error)))
    }

    fn log(&self) -> PathBuf {
        self.directory.path().join("target.log")
    }
}

/// Starts the server of a study, and the gateway in front of it where it asks for one.
pub(crate) fn start(place: &Place<'_>) -> Result<Box<dyn Server>, ExpectedError> {
    let server = start_server(place)?;
    match &place.job.study.gate {
        Some(gate) => gate::in_front(server, gate, place),
        None => Ok(server),
    }
}

/// Starts the server of a study, and nothing in front of it.
pub(crate) fn start_server(place: &Place<'_>) -> Result<Box<dyn Server>, ExpectedError> {
    match &place.job.study.target.kind {
        TargetKind::Builtin(spec) => builtin::start(spec, place),
        TargetKind::SpringBoot(spec) => spring_boot::start(spec, place),
        TargetKind::Tomcat(spec) => tomcat::start(spec, place),
        TargetKind::Liberty(spec) => liberty::start(spec, place),
        TargetKind::Httpd(spec) => httpd::start(spec, place),
        TargetKind::Command(spec) => command::start(spec, place),
        TargetKind::External(spec) => external::join(spec, place),
    }
}

/// What is wrong with the target of a study, as far as it shows without starting anything.
pub(crate) fn check(job: &Job) -> Result<(), ExpectedError> {
    check_starts(job)?;
    match &job.study.target.kind {
        TargetKind::Command(spec) => metrics::pages(&spec.metrics, job).map(|_| ()),
        TargetKind::External(spec) => external::check(spec, job),
        TargetKind::Builtin(_)
        | TargetKind::SpringBoot(_)
        | TargetKind::Tomcat(_)
        | TargetKind::Liberty(_)
        | TargetKind::Httpd(_) => Ok(()),
    }
}

/// Every way in which a sweep starts the server is one that there is.
fn check_starts(job: &Job) -> Result<(), ExpectedError> {
    let Ask::Sweep(sweep) = &job.study.ask else {
        return Ok(());
    };
    let environments = sweep.across.environments.iter().map(|known| &known.set);
    let cases = match &sweep.design {
        Design::Cases(cases) => cases.as_slice(),
        Design::Full(_) | Design::OneAtATime(_) => &[],
    };
    for levels in environments.chain(cases.iter().map(|case| &case.set)) {
        let starts = start_levels(levels).map(|(name, level)| (name.clone(), level.to_string()));
        StartLevels::parse(&starts.collect())
            .map_err(|error| ExpectedError::Input(format!("{}: failed to {error}", job.file)))?;
    }
    Ok(())
}

/// What the study asks for and the server does not have is the study's fault.
fn failed(place: &Place<'_>, error: TargetError) -> ExpectedError {
    match error {
        TargetError::NoSuchStage { .. }
        | TargetError::Limit { .. }
        | TargetError::Setting { .. } => {
            ExpectedError::Input(format!("{}: failed to {error}", place.job.file))
        }
        TargetError::Interrupted => ExpectedError::Interrupted,
        TargetError::PortTaken {
            address,
            ref source,
        } => ExpectedError::Environment(format!(
            "failed to {error}{}; end it, or leave `port` out of the study: then a free one is taken",
            taken_port::holder(address, source)
        )),
        other => ExpectedError::Environment(failed_to(&other)),
    }
}
