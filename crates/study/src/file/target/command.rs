//! `[target.command]`: anything that a command line starts.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use toml::Spanned;
use weir_metric::parse_duration;
use weir_userfile::{Section, hint};

use super::behind::{self, BehindSpec};
use super::metrics::{self, MetricsSpec};

/// How long a server may take to be ready, unless the study says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);
/// The applications of Weir's own that a command line can start.
const APPS: [&str; 1] = ["idle-threads"];
/// Java versions that can be asked for.
const JAVA: std::ops::RangeInclusive<u32> = 8..=99;

/// Options of a server that a command line starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The command line, with places such as `{threads}`.
    pub run: String,
    /// Variables of its environment, with the same places.
    pub environment: BTreeMap<String, String>,
    /// A file with the same places, of which a filled copy is written: `{config}` is its path.
    pub template: Option<PathBuf>,
    /// An application of Weir's own: `{app}` is its file.
    pub app: Option<CommandApp>,
    /// The least version of the Java that `{java}` is; `None`: whatever there is.
    pub java: Option<u32>,
    /// What is started before it.
    pub behind: Option<BehindSpec>,
    /// Where it is run; `None`: beside the study.
    pub directory: Option<PathBuf>,
    /// Its port on the loopback address; `None`: a free one, which `{port}` tells.
    pub port: Option<u16>,
    /// What answers when it is ready: a path on the server, or a URL.
    pub ready: String,
    /// How long that may take.
    pub patience: Duration,
    /// The signal that asks it to end.
    pub stop: StopSignal,
    /// Where it tells about itself.
    pub metrics: MetricsSpec,
}

/// An application of Weir's own that a command line can start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommandApp {
    /// The integration server with idle threads, and its provider.
    IdleThreads,
}

/// A signal that asks a server to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StopSignal {
    /// SIGTERM.
    #[default]
    Term,
    /// SIGINT.
    Int,
    /// SIGQUIT.
    Quit,
}

pub(super) fn read(section: &Section<'_>) -> Option<CommandSpec> {
    let run = section.text("run");
    if run.is_none() && section.value("run").is_none() {
        section.missing(
            "run",
            "run = \"./server --port {port} --threads {threads}\"",
        );
    }
    let environment = section
        .section("env", "`env`")
        .map(|env| read_environment(&env))
        .unwrap_or_default();
    let path = |key| {
        section
            .text(key)
            .map(|text| PathBuf::from(text.into_inner()))
    };
    let port = section.whole("port", 1..=65_535);
    let ready = section.text("ready").map(Spanned::into_inner);
    let patience = section.parsed("patience", parse_duration);
    let spec = CommandSpec {
        run: String::new(),
        environment,
        template: path("template"),
        app: read_app(section),
        java: section.whole("java", JAVA).map(Spanned::into_inner),
        behind: behind::read(section),
        directory: path("directory"),
        port: port.map(|port| u16::try_from(*port.get_ref()).expect("the range is checked")),
        ready: ready.unwrap_or_else(|| "/".to_owned()),
        patience: patience.map_or(PATIENCE, Spanned::into_inner),
        stop: read_stop(section),
        metrics: metrics::read(section),
    };
    Some(CommandSpec {
        run: run?.into_inner(),
        ..spec
    })
}

fn read_app(section: &Section<'_>) -> Option<CommandApp> {
    let word = section.text("app")?;
    match word.get_ref().as_str() {
        "idle-threads" => Some(CommandApp::IdleThreads),
        other => {
            section.problems().add_with_help(
                word.span(),
                format!("`{other}` is no application of Weir's that a command line starts"),
                hint(other, &APPS),
            );
            None
        }
    }
}

fn read_environment(section: &Section<'_>) -> BTreeMap<String, String> {
    let mut environment = BTreeMap::new();
    for (name, _, value) in section.entries() {
        match crate::file::level::level(value.get_ref()) {
            Some(text) => {
                environment.insert(name.to_owned(), text.to_string());
            }
            None => section.problems().add(
                value.span(),
                format!("the variable `{name}` has to be a number or a text in quotes"),
            ),
        }
    }
    environment
}

fn read_stop(section: &Section<'_>) -> StopSignal {
    let Some(word) = section.text("stop") else {
        return StopSignal::default();
    };
    match word.get_ref().as_str() {
        "SIGTERM" => StopSignal::Term,
        "SIGINT" => StopSignal::Int,
        "SIGQUIT" => StopSignal::Quit,
        other => {
            section.problems().add_with_help(
                word.span(),
                format!("`{other}` is no signal that Weir ends a server with"),
                hint(other, &["SIGTERM", "SIGINT", "SIGQUIT"]),
            );
            StopSignal::default()
        }
    }
}
