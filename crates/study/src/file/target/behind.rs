//! `[target.command.behind]`: what is started before a server, because it needs it.

use weir_userfile::Section;

/// A server that the one under load needs, such as the stub of a service that it calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BehindSpec {
    /// The command line, with places such as `{port}`: its own.
    pub run: String,
    /// What answers when it is ready: a path on it, or a URL.
    pub ready: String,
}

/// Reads the table, if there is one.
pub(super) fn read(section: &Section<'_>) -> Option<BehindSpec> {
    let section = section.section("behind", "[target.command.behind]")?;
    let run = section.text("run");
    if run.is_none() && section.value("run").is_none() {
        section.missing("run", "run = \"./stub --port {port}\"");
    }
    let ready = section.text("ready");
    section.finish();
    Some(BehindSpec {
        run: run?.into_inner(),
        ready: ready.map_or_else(|| "/".to_owned(), toml::Spanned::into_inner),
    })
}
