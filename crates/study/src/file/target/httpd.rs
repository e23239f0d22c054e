//! `[target.httpd]`: an Apache httpd that Weir starts, with a configuration of its own or with a
//! copy of the user's.

use std::path::PathBuf;

use weir_userfile::{Section, hint};

/// More processes than this in one cycle start no machine's.
const SPAWN_RATE_MAX: u32 = 1_024;

/// Options of an httpd.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HttpdSpec {
    /// How it turns connections into work; with a configuration of the user's, that says it.
    pub mpm: MpmKind,
    /// A configuration of the user's, which is only read.
    pub configuration: Option<PathBuf>,
    /// Where the server lies: the root of unpacked Debian packages or the prefix of an own build;
    /// `None`: the one that is installed, or else Weir's own copy.
    pub home: Option<PathBuf>,
    /// Processes that a prefork module built anew starts at most in one cycle; `None`: the module
    /// as it is (32).
    pub max_spawn_rate: Option<u32>,
    /// What it serves; `None`: files of 1, 2, 4, 8 and 16 KiB.
    pub documents: Option<PathBuf>,
    /// Port to listen on, on the loopback address; `None`: a free one.
    pub port: Option<u16>,
}

/// The multi-processing module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MpmKind {
    /// A process for every connection.
    Prefork,
    /// Processes with threads that connections share.
    #[default]
    Event,
}

pub(super) fn read(section: &Section<'_>) -> HttpdSpec {
    let path = |key| {
        section
            .text(key)
            .map(|text| PathBuf::from(text.into_inner()))
    };
    let configuration = path("config");
    let mpm = read_mpm(section);
    let documents = path("documents");
    let max_spawn_rate = section.whole("max-spawn-rate", 1..=SPAWN_RATE_MAX);
    if configuration.is_some() {
        for key in ["mpm", "documents", "max-spawn-rate"] {
            if let Some(value) = section.value(key) {
                section.problems().add_with_help(
                    value.span(),
                    format!("`{key}` stands in the configuration that `config` names"),
                    format!("leave `{key}` out"),
                );
            }
        }
    } else if let Some(rate) = max_spawn_rate.as_ref().filter(|_| mpm != MpmKind::Prefork) {
        section.problems().add_with_help(
            rate.span(),
            "only the prefork module is built with another spawn rate",
            "write `mpm = \"prefork\"` too",
        );
    }
    HttpdSpec {
        mpm,
        configuration,
        max_spawn_rate: max_spawn_rate.map(toml::Spanned::into_inner),
        home: path("home"),
        documents,
        port: section.port(),
    }
}

fn read_mpm(section: &Section<'_>) -> MpmKind {
    let Some(text) = section.text("mpm") else {
        return MpmKind::default();
    };
    match text.get_ref().as_str() {
        "prefork" => MpmKind::Prefork,
        "event" => MpmKind::Event,
        other => {
            section.problems().add_with_help(
                text.span(),
                format!("`{other}` is no multi-processing module that Weir sets"),
                hint(other, &["prefork", "event"]),
            );
            MpmKind::default()
        }
    }
}
