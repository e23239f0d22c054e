//! `[target.command]`: anything that a command line starts.

use weir_study::{CommandSpec, StopSignal};
use weir_target::{CommandOptions, EndSignal, Server, StartedCommand};

use super::{Place, failed, metrics};
use crate::error::ExpectedError;

/// Starts it on these CPUs; what is filled in is written into the run's directory.
pub(super) fn start(
    spec: &CommandSpec,
    place: &Place<'_>,
) -> Result<Box<dyn Server>, ExpectedError> {
    let job = place.job;
    let beside_study = match &spec.directory {
        Some(folder) => job.base.join(folder),
        // A study that is named without a folder lies in this one.
        None => std::path::Path::new(".").join(&job.base),
    };
    let server = StartedCommand::start(CommandOptions {
        run: spec.run.clone(),
        environment: spec.environment.clone(),
        template: spec.template.as_ref().map(|path| job.base.join(path)),
        directory: beside_study,
        folder: place.directory.path().join("target"),
        port: spec.port.unwrap_or(0),
        ready: spec.ready.clone(),
        patience: spec.patience,
        end: match spec.stop {
            StopSignal::Term => EndSignal::Term,
            StopSignal::Int => EndSignal::Int,
            StopSignal::Quit => EndSignal::Quit,
        },
        metrics: metrics::pages(&spec.metrics, job)?,
        cpus: Some(place.cpus.clone()),
        settings: job.study.target.settings.clone(),
        log: place.log(),
        journal: place.journal.clone(),
    });
    Ok(Box::new(server.map_err(|error| failed(place, error))?))
}
