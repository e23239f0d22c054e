//! The Spring Boot application of a study, with the database behind it, started.

use std::path::Path;
use std::sync::Arc;

use weir_apps::App;
use weir_server::{Server, SpringBoot, SpringBootOptions};
use weir_shelf::JOLOKIA;
use weir_study::{SpringBootApp, SpringBootSpec};

use crate::error::{ExpectedError, environment};
use crate::{apps, places, shelf};

use super::{Place, database, failed};

/// The directory in a run in which an application of Weir's runs.
const BASE: &str = "spring-boot";

pub(super) fn start(
    spec: &SpringBootSpec,
    place: &Place<'_>,
) -> Result<Box<dyn Server>, ExpectedError> {
    let (jar, of_user) = match &spec.app {
        SpringBootApp::Posts => (apps::provide(App::Posts, place.interrupted)?, false),
        SpringBootApp::Jar(jar) => (place.job.base.join(jar.get_ref()), true),
    };
    let directory = match &spec.directory {
        Some(directory) => place.job.base.join(directory),
        None if of_user => Path::new(".").join(&place.job.base),
        // No file of the user's is meant for it.
        None => place.directory.path().join(BASE),
    };
    if !of_user {
        std::fs::create_dir_all(&directory)
            .map_err(|error| environment(&format!("make {}: {error}", directory.display())))?;
    }
    let agent = shelf::jars(&JOLOKIA, place.interrupted)?.pop();
    let database = spec
        .database
        .map(|database| database::start(&database, place))
        .transpose()?;
    let server = SpringBoot::start(SpringBootOptions {
        jar,
        directory,
        configuration: spec
            .configuration
            .as_ref()
            .map(|file| place.job.base.join(file)),
        of_user,
        java: places::java(),
        java_options: spec.java_options.clone(),
        arguments: spec.arguments.clone(),
        ready: spec.ready.clone(),
        database,
        actuator: spec.actuator,
        agent: agent.ok_or_else(|| environment("find the agent in the package of Jolokia"))?,
        port: spec.port.unwrap_or(0),
        cpus: Some(place.cpus.clone()),
        settings: place.job.study.target.settings.clone(),
        interrupted: Arc::clone(place.interrupted),
        log: place.log(),
    });
    let server = server.map_err(|error| failed(place, error))?;
    place.note_processes(&server)?;
    Ok(Box::new(server))
}
