//! `[target.spring-boot]`: a Spring Boot application that Weir starts.

use std::path::PathBuf;

use toml::Spanned;
use weir_userfile::Section;

use super::database::{self, DatabaseSpec};

/// The application that comes with Weir.
const POSTS: &str = "posts";
/// A page of it that takes a connection from the pool and gives it back.
const POSTS_READY: &str = "/boards/1/posts?size=1";
/// Rows behind it when the study does not say.
const POSTS_ROWS: u32 = 1_000_000;

/// Options of a Spring Boot application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpringBootSpec {
    /// What is started.
    pub app: SpringBootApp,
    /// Where it runs, relative to the study file; `None`: beside it.
    pub directory: Option<PathBuf>,
    /// The file that settings belong into, relative to the study file; `None`: the one that Spring
    /// Boot finds where it runs.
    pub configuration: Option<PathBuf>,
    /// The path that answers once everything is up.
    pub ready: String,
    /// Settings of the application's own, as `--name=value`.
    pub arguments: Vec<String>,
    /// Options of the Java virtual machine.
    pub java_options: Vec<String>,
    /// Whether it has the actuator with Micrometer's page for Prometheus.
    pub actuator: bool,
    /// The database behind the application, where Weir starts one.
    pub database: Option<DatabaseSpec>,
    /// Port to listen on, on the loopback address; `None`: a free one.
    pub port: Option<u16>,
}

/// Which application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpringBootApp {
    /// The bulletin board that comes with Weir.
    Posts,
    /// An executable jar of the user's, relative to the study file.
    Jar(Spanned<PathBuf>),
}

pub(super) fn read(section: &Section<'_>) -> Option<SpringBootSpec> {
    let app = read_app(section);
    let ready = section.text("ready").map(Spanned::into_inner);
    let arguments = read_arguments(section);
    let java_options = section.texts("java-options").unwrap_or_default();
    let actuator = section.flag("actuator");
    let database = database::read(section, "[target.spring-boot.database]");
    let port = section.port();
    let path = |key| {
        section
            .text(key)
            .map(|text| PathBuf::from(text.into_inner()))
    };
    let (directory, configuration) = (path("directory"), path("config"));
    let app = app?;
    let is_posts = app == SpringBootApp::Posts;
    let of_posts = |database: Option<DatabaseSpec>| {
        let database = database.unwrap_or_default();
        DatabaseSpec {
            posts: database.posts.or(Some(POSTS_ROWS)),
            ..database
        }
    };
    Some(SpringBootSpec {
        ready: ready.unwrap_or_else(|| if is_posts { POSTS_READY } else { "/" }.to_owned()),
        arguments,
        java_options: java_options.into_iter().map(Spanned::into_inner).collect(),
        actuator: actuator.unwrap_or(is_posts),
        database: if is_posts {
            Some(of_posts(database))
        } else {
            database
        },
        app,
        directory,
        configuration,
        port,
    })
}

fn read_app(section: &Section<'_>) -> Option<SpringBootApp> {
    let app = section.text("app");
    if app.is_none() && section.value("app").is_none() {
        section.missing(
            "app",
            "app = \"posts\"` (Weir's own) or `app = \"FILE.jar\"",
        );
    }
    app.map(|app| match app.get_ref().as_str() {
        POSTS => SpringBootApp::Posts,
        _ => SpringBootApp::Jar(Spanned::new(app.span(), PathBuf::from(app.into_inner()))),
    })
}

/// Anything else on the command line would be handed to the application as it is, and mean nothing.
fn read_arguments(section: &Section<'_>) -> Vec<String> {
    let arguments = section.texts("arguments").unwrap_or_default();
    for argument in &arguments {
        let is_setting = argument
            .get_ref()
            .strip_prefix("--")
            .is_some_and(|setting| setting.contains('='));
        if !is_setting {
            section.problems().add_with_help(
                argument.span(),
                format!("`{}` is no setting of Spring Boot", argument.get_ref()),
                "write it as \"--name=value\"",
            );
        }
    }
    arguments.into_iter().map(Spanned::into_inner).collect()
}
