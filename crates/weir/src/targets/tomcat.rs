//! The Tomcat of a study, with what it serves and the database behind it, started.

use std::sync::Arc;

use weir_apps::{App, ServletApi};
use weir_server::{PoolKind, Server, Tomcat, TomcatOptions, TomcatPool};
use weir_shelf::{HIKARICP, JOLOKIA, POSTGRESQL_JDBC, Package, TOMCAT_10, TOMCAT_11};
use weir_study::{DatabaseSpec, PoolWord, TomcatApp, TomcatServer, TomcatSpec};

use crate::error::{ExpectedError, environment};
use crate::{apps, places, shelf};

use super::{Place, database, failed};

/// The directory in a run that is the server's `CATALINA_BASE`.
const BASE: &str = "tomcat";

pub(super) fn start(
    spec: &TomcatSpec,
    place: &Place<'_>,
) -> Result<Box<dyn Server>, ExpectedError> {
    let provide = |package: &Package| shelf::provide(package, place.interrupted);
    let (home, own_configuration) = match &spec.server {
        TomcatServer::Line("10.1") => (provide(&TOMCAT_10)?, false),
        TomcatServer::Line(_) => (provide(&TOMCAT_11)?, false),
        TomcatServer::Home(home) => (place.job.base.join(home.get_ref()), true),
    };
    let app = match &spec.app {
        Some(TomcatApp::Stress) => Some(apps::provide(
            App::Stress(ServletApi::Jakarta),
            place.interrupted,
        )?),
        Some(TomcatApp::War(war)) => Some(place.job.base.join(war.get_ref())),
        None => None,
    };
    let agent = shelf::jars(&JOLOKIA, place.interrupted)?.pop();
    let pool = spec
        .database
        .map(|database| pool(spec, &database, place))
        .transpose()?;
    let server = Tomcat::start(TomcatOptions {
        home,
        own_configuration,
        java: places::java(),
        javas: places::javas(),
        java_options: spec.java_options.clone(),
        base: place.directory.path().join(BASE),
        app,
        ready: spec.ready.clone(),
        pool,
        agent: agent.ok_or_else(|| environment("find the agent in the package of Jolokia"))?,
        port: spec.port.unwrap_or(0),
        cpus: Some(place.cpus.clone()),
        settings: place.job.study.target.settings.clone(),
        interrupted: Arc::clone(place.interrupted),
        log: place.log(),
        journal: place.journal.clone(),
    });
    let server = server.map_err(|error| failed(place, error))?;
    place.note_processes(&server)?;
    Ok(Box::new(server))
}

fn pool(
    spec: &TomcatSpec,
    database: &DatabaseSpec,
    place: &Place<'_>,
) -> Result<TomcatPool, ExpectedError> {
    let mut libraries = shelf::jars(&POSTGRESQL_JDBC, place.interrupted)?;
    let kind = match spec.pool {
        PoolWord::TomcatJdbc => PoolKind::TomcatJdbc,
        PoolWord::Hikari => {
            libraries.extend(shelf::jars(&HIKARICP, place.interrupted)?);
            PoolKind::Hikari
        }
    };
    Ok(TomcatPool {
        kind,
        libraries,
        database: database::start(database, place)?,
    })
}
