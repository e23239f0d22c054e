//! From `[target.KIND]` of a study to a server that is ready to be loaded.

use weir_record::{RunDirectory, WhenFull, failed_to};
use weir_study::{BuiltinSpec, TargetKind};
use weir_target::{Builtin, BuiltinOptions, Server, TargetError};
use weir_units::CpuSet;

use crate::error::{ExpectedError, environment};
use crate::job::Job;

/// Starts the server of a study, on these CPUs.
pub(crate) fn start(
    job: &Job,
    cpus: &CpuSet,
    directory: &RunDirectory,
) -> Result<Box<dyn Server>, ExpectedError> {
    match &job.study.target.kind {
        TargetKind::Builtin(spec) => builtin(spec, job, cpus, directory),
    }
}

fn builtin(
    spec: &BuiltinSpec,
    job: &Job,
    cpus: &CpuSet,
    directory: &RunDirectory,
) -> Result<Box<dyn Server>, ExpectedError> {
    let program = std::env::current_exe()
        .map_err(|error| environment(&format!("find this program's own file: {error}")))?;
    let server = Builtin::start(BuiltinOptions {
        program,
        port: spec.port.unwrap_or(0),
        cpus: Some(cpus.clone()),
        settings: job.study.target.settings.clone(),
        when_connections_full: spec.when_full.unwrap_or(WhenFull::Wait),
        log: directory.path().join("target.log"),
    });
    Ok(Box::new(server.map_err(|error| failed(job, error))?))
}

/// What the study asks for and the server does not have is the study's fault.
fn failed(job: &Job, error: TargetError) -> ExpectedError {
    match error {
        TargetError::NoSuchStage { .. } | TargetError::Limit { .. } => {
            ExpectedError::Input(format!("{}: failed to {error}", job.file))
        }
        other => ExpectedError::Environment(failed_to(&other)),
    }
}
