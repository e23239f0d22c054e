//! The Liberty of a study, with what it serves and the database behind it, started.

use std::sync::Arc;

use weir_apps::{App, ServletApi};
use weir_server::{Liberty, LibertyOptions, LibertyPool, LibertyServer, Server};
use weir_shelf::{JOLOKIA, LIBERTY, POSTGRESQL_JDBC};
use weir_study::{DatabaseSpec, LibertyApp, LibertyServerSpec, LibertySpec};

use crate::error::{ExpectedError, environment};
use crate::{apps, places, shelf};

use super::{Place, database, failed};

/// The directory in a run for what the server writes.
const BASE: &str = "liberty";

pub(super) fn start(
    spec: &LibertySpec,
    place: &Place<'_>,
) -> Result<Box<dyn Server>, ExpectedError> {
    let (home, server) = match &spec.server {
        LibertyServerSpec::Own { app, database } => {
            let app = match app {
                LibertyApp::Stress => {
                    apps::provide(App::Stress(ServletApi::Jakarta), place.interrupted)?
                }
                LibertyApp::War(war) => place.job.base.join(war.get_ref()),
            };
            let pool = database
                .map(|database| pool(&database, place))
                .transpose()?;
            let app = Some(app);
            let home = shelf::provide(&LIBERTY, place.interrupted)?;
            (home, LibertyServer::Own { app, pool })
        }
        LibertyServerSpec::Named { home, name } => (
            place.job.base.join(home.get_ref()),
            LibertyServer::Named(name.clone()),
        ),
    };
    let agent = shelf::jars(&JOLOKIA, place.interrupted)?.pop();
    let server = Liberty::start(LibertyOptions {
        home,
        server,
        java: places::java(),
        java_options: spec.java_options.clone(),
        base: place.directory.path().join(BASE),
        ready: spec.ready.clone(),
        agent: agent.ok_or_else(|| environment("find the agent in the package of Jolokia"))?,
        port: spec.port.unwrap_or(0),
        cpus: Some(place.cpus.clone()),
        settings: place.job.study.target.settings.clone(),
        journal: place.journal.clone(),
        interrupted: Arc::clone(place.interrupted),
        log: place.log(),
    });
    Ok(Box::new(server.map_err(|error| failed(place, error))?))
}

fn pool(database: &DatabaseSpec, place: &Place<'_>) -> Result<LibertyPool, ExpectedError> {
    let driver = shelf::jars(&POSTGRESQL_JDBC, place.interrupted)?.pop();
    Ok(LibertyPool {
        driver: driver.ok_or_else(|| environment("find the driver in its package"))?,
        database: database::start(database, place)?,
    })
}
