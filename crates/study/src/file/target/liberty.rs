//! `[target.liberty]`: an Open Liberty that Weir starts.

use std::path::PathBuf;

use toml::Spanned;
use weir_userfile::Section;

use super::database::{self, DatabaseSpec};

/// The application that comes with Weir.
const STRESS: &str = "stress";
/// A page of it that takes a connection from the pool and gives it back.
const STRESS_READY: &str = "/stress?searchTime=0&updateTime=0&duration=0&bit=64";

/// Options of a Liberty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibertySpec {
    /// Which server.
    pub server: LibertyServerSpec,
    /// The path that answers once everything is up.
    pub ready: String,
    /// Options of the Java virtual machine.
    pub java_options: Vec<String>,
    /// Port to listen on, on the loopback address; `None`: a free one.
    pub port: Option<u16>,
}

/// Which server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LibertyServerSpec {
    /// One that Weir makes, with its own copy of Liberty.
    Own {
        /// What it serves at its root.
        app: LibertyApp,
        /// The database behind the application, where Weir starts one.
        database: Option<DatabaseSpec>,
    },
    /// One of an installation of the user's.
    Named {
        /// The installation, relative to the study file.
        home: Spanned<PathBuf>,
        /// The server's name below `usr/servers`.
        name: String,
    },
}

/// What a server of Weir's own serves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LibertyApp {
    /// The stress application that comes with Weir.
    Stress,
    /// A WAR of the user's, relative to the study file.
    War(Spanned<PathBuf>),
}

pub(super) fn read(section: &Section<'_>) -> Option<LibertySpec> {
    let ready = section.text("ready").map(Spanned::into_inner);
    let java_options = section.texts("java-options").unwrap_or_default();
    let port = section.port();
    let server = match section.text("home") {
        Some(home) => named(section, home),
        None => own(section),
    }?;
    let is_stress = matches!(
        &server,
        LibertyServerSpec::Own {
            app: LibertyApp::Stress,
            ..
        }
    );
    Some(LibertySpec {
        server,
        ready: ready.unwrap_or_else(|| if is_stress { STRESS_READY } else { "/" }.to_owned()),
        java_options: java_options.into_iter().map(Spanned::into_inner).collect(),
        port,
    })
}

fn named(section: &Section<'_>, home: Spanned<String>) -> Option<LibertyServerSpec> {
    let name = section.text("server");
    if name.is_none() {
        section.missing(
            "server",
            "server = \"defaultServer\"` (its name below `usr/servers`)",
        );
    }
    Some(LibertyServerSpec::Named {
        name: name?.into_inner(),
        home: Spanned::new(home.span(), PathBuf::from(home.into_inner())),
    })
}

fn own(section: &Section<'_>) -> Option<LibertyServerSpec> {
    let app = section.text("app");
    if app.is_none() {
        section.missing(
            "app",
            "app = \"stress\"` (Weir's own), `app = \"FILE.war\"`, or `home` and `server` of an \
             installation",
        );
    }
    let app = app.map(|app| match app.get_ref().as_str() {
        STRESS => LibertyApp::Stress,
        _ => LibertyApp::War(Spanned::new(app.span(), PathBuf::from(app.into_inner()))),
    });
    let database = database::read(section, "[target.liberty.database]");
    let app = app?;
    let stress = app == LibertyApp::Stress;
    Some(LibertyServerSpec::Own {
        app,
        database: database.or_else(|| stress.then(DatabaseSpec::default)),
    })
}
