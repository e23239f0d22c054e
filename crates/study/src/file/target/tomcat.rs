//! `[target.tomcat]`: an Apache Tomcat that Weir starts.

use std::path::PathBuf;

use toml::Spanned;
use weir_userfile::Section;

use super::database::{self, DatabaseSpec};

/// The line of Tomcat that is started when the study names none.
const NEWEST: &str = "11";
/// The lines that Weir has.
const LINES: [&str; 2] = ["10.1", NEWEST];
/// The application that comes with Weir.
const STRESS: &str = "stress";
/// A page of it that takes a connection from the pool and gives it back.
const STRESS_READY: &str = "/stress?searchTime=0&updateTime=0&duration=0&bit=64";

/// Options of a Tomcat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TomcatSpec {
    /// Which Tomcat.
    pub server: TomcatServer,
    /// What it serves; `None`: what the installation has.
    pub app: Option<TomcatApp>,
    /// The path that answers once everything is up.
    pub ready: String,
    /// Which pool is behind the application: `tomcat-jdbc` or `hikari`.
    pub pool: PoolWord,
    /// Options of the Java virtual machine.
    pub java_options: Vec<String>,
    /// The database behind the application, where Weir starts one.
    pub database: Option<DatabaseSpec>,
    /// Port to listen on, on the loopback address; `None`: a free one.
    pub port: Option<u16>,
}

/// Which Tomcat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TomcatServer {
    /// Weir's own copy of a line: `10.1` or `11`.
    Line(&'static str),
    /// An installation of the user's, relative to the study file.
    Home(Spanned<PathBuf>),
}

/// What a Tomcat serves at its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TomcatApp {
    /// The stress application that comes with Weir.
    Stress,
    /// A WAR of the user's, relative to the study file.
    War(Spanned<PathBuf>),
}

/// Which pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PoolWord {
    /// Tomcat's own.
    #[default]
    TomcatJdbc,
    /// `HikariCP`.
    Hikari,
}

pub(super) fn read(section: &Section<'_>) -> Option<TomcatSpec> {
    let server = read_server(section);
    let app = read_app(section, server.as_ref());
    let ready = section.text("ready").map(Spanned::into_inner);
    let pool = read_pool(section);
    let java_options = section.texts("java-options").unwrap_or_default();
    let database = database::read(section, "[target.tomcat.database]");
    let port = section.port();
    let stress = app == Some(TomcatApp::Stress);
    Some(TomcatSpec {
        server: server?,
        ready: ready.unwrap_or_else(|| if stress { STRESS_READY } else { "/" }.to_owned()),
        app,
        pool,
        java_options: java_options.into_iter().map(Spanned::into_inner).collect(),
        database: database.or_else(|| stress.then(DatabaseSpec::default)),
        port,
    })
}

fn read_server(section: &Section<'_>) -> Option<TomcatServer> {
    let version = section.text("version");
    let home = section.text("home");
    match (version, home) {
        (Some(version), Some(_)) => {
            section.problems().add_with_help(
                version.span(),
                "a Tomcat of your own has its own version",
                "keep one of `version` and `home`",
            );
            None
        }
        (None, Some(home)) => Some(TomcatServer::Home(Spanned::new(
            home.span(),
            PathBuf::from(home.into_inner()),
        ))),
        (None, None) => Some(TomcatServer::Line(NEWEST)),
        (Some(version), None) => {
            let line = LINES.into_iter().find(|line| line == version.get_ref());
            if line.is_none() {
                section.problems().add_with_help(
                    version.span(),
                    format!("Weir has no Tomcat `{}`", version.get_ref()),
                    format!(
                        "write one of {}, or name an installation: `home = \"/path\"`",
                        LINES.map(|line| format!("\"{line}\"")).join(", ")
                    ),
                );
            }
            line.map(TomcatServer::Line)
        }
    }
}

fn read_app(section: &Section<'_>, server: Option<&TomcatServer>) -> Option<TomcatApp> {
    let app = section.text("app");
    if app.is_none() && matches!(server, Some(TomcatServer::Line(_))) {
        section.missing(
            "app",
            "app = \"stress\"` (Weir's own) or `app = \"FILE.war\"",
        );
    }
    app.map(|app| match app.get_ref().as_str() {
        STRESS => TomcatApp::Stress,
        _ => TomcatApp::War(Spanned::new(app.span(), PathBuf::from(app.into_inner()))),
    })
}

fn read_pool(section: &Section<'_>) -> PoolWord {
    let Some(word) = section.text("pool") else {
        return PoolWord::default();
    };
    match word.get_ref().as_str() {
        "tomcat-jdbc" => PoolWord::TomcatJdbc,
        "hikari" => PoolWord::Hikari,
        other => {
            section.problems().add_with_help(
                word.span(),
                format!("`{other}` is no pool that Weir puts behind a Tomcat"),
                "write \"tomcat-jdbc\" (also when nothing is written) or \"hikari\"",
            );
            PoolWord::default()
        }
    }
}
