//! `[target.command]`: anything that a command line starts.

use std::collections::BTreeMap;
use std::sync::Arc;

use weir_apps::App;
use weir_server::{BehindOptions, CommandOptions, EndSignal, Server, StartedCommand};
use weir_study::{BehindSpec, CommandApp, CommandSpec, StopSignal};

use super::{Place, failed, metrics};
use crate::error::ExpectedError;
use crate::{apps, places};

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
        given: given(spec, place)?,
        behind: spec.behind.as_ref().map(|behind| options(behind, place)),
        interrupted: Arc::clone(place.interrupted),
        log: place.log(),
        journal: place.journal.clone(),
    });
    Ok(Box::new(server.map_err(|error| failed(place, error))?))
}

/// What stands for `{app}` and `{java}`.
fn given(spec: &CommandSpec, place: &Place<'_>) -> Result<BTreeMap<String, String>, ExpectedError> {
    let java = match spec.java {
        Some(version) => places::java_from(version)?,
        None => places::java(),
    };
    let mut given = BTreeMap::from([("java".to_owned(), java.display().to_string())]);
    if let Some(CommandApp::IdleThreads) = spec.app {
        let file = apps::provide(App::IdleThreads, place.interrupted)?;
        given.insert("app".to_owned(), file.display().to_string());
    }
    Ok(given)
}

/// On the CPUs of the load, so that the server has its own for itself.
fn options(behind: &BehindSpec, place: &Place<'_>) -> BehindOptions {
    BehindOptions {
        run: behind.run.clone(),
        ready: behind.ready.clone(),
        cpus: Some(place.load_cpus.clone()),
        log: place.directory.path().join("behind.log"),
    }
}
