//! `[target.KIND]`: the server under load.

use std::collections::BTreeMap;

use toml::Spanned;
use weir_record::WhenFull;
use weir_units::CpuSet;

use super::factor::{Allowed, check_name, flat, read_level};
use super::section::Section;
use super::suggest::hint;

/// Kinds that exist in the design and are not there yet.
const NOT_BUILT: [&str; 6] = [
    "tomcat",
    "spring-boot",
    "liberty",
    "httpd",
    "command",
    "external",
];

/// The server under load.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetSpec {
    /// What kind of server.
    pub kind: TargetKind,
    /// CPUs that the target may use, the load tool gets the others; `None`: Weir chooses.
    pub cpus: Option<Spanned<CpuSet>>,
    /// Limits to set before anything else, by stage; stages not named stay as found.
    pub settings: BTreeMap<String, f64>,
}

/// What kind of server is under load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetKind {
    /// The sample server that comes with Weir.
    Builtin(BuiltinSpec),
}

/// Options of the sample server.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BuiltinSpec {
    /// What happens to a connection above the limit; `None`: the server's default (it waits).
    pub when_full: Option<WhenFull>,
    /// Port to listen on, on the loopback address; `None`: a free one.
    pub port: Option<u16>,
}

impl Default for TargetSpec {
    /// The sample server as it is.
    fn default() -> Self {
        Self {
            kind: TargetKind::Builtin(BuiltinSpec::default()),
            cpus: None,
            settings: BTreeMap::new(),
        }
    }
}

/// Reads `[target]`, which holds exactly one kind.
pub(crate) fn read(target: &Section<'_>) -> Option<TargetSpec> {
    let entries: Vec<_> = target.entries().collect();
    if entries.len() != 1 {
        target.problems().add_with_help(
            target.span(),
            format!("a study has one target, this one has {}", entries.len()),
            "write one table such as `[target.builtin]`",
        );
    }
    let mut read = None;
    for (kind, span, value) in entries {
        if kind == "builtin" {
            let section = target.section_of("[target.builtin]", value)?;
            read = Some(read_builtin(&section));
        } else if NOT_BUILT.contains(&kind) {
            target.problems().add_with_help(
                span,
                format!("targets of the kind `{kind}` are not built yet"),
                "use `[target.builtin]`; to load a server that runs already, `weir run` takes \
                 its URL or plan",
            );
        } else {
            let known = [&["builtin"][..], &NOT_BUILT[..]].concat();
            target.problems().add_with_help(
                span,
                format!("`{kind}` is no kind of target"),
                hint(kind, &known),
            );
        }
    }
    read
}

fn read_builtin(section: &Section<'_>) -> TargetSpec {
    let cpus = section.parsed("cpus", str::parse::<CpuSet>);
    let settings = section
        .section("settings", "[target.builtin.settings]")
        .map(|settings| read_settings(&settings))
        .unwrap_or_default();
    let when_full = read_when_full(section);
    let port = section.whole("port", 1..=65_535);
    section.finish();
    TargetSpec {
        kind: TargetKind::Builtin(BuiltinSpec {
            when_full,
            port: port.map(|port| u16::try_from(*port.get_ref()).expect("the range is checked")),
        }),
        cpus,
        settings,
    }
}

fn read_when_full(section: &Section<'_>) -> Option<WhenFull> {
    let text = section.text("when-full")?;
    match text.get_ref().as_str() {
        "close" => Some(WhenFull::Refuse),
        "wait" => Some(WhenFull::Wait),
        other => {
            section.problems().add_with_help(
                text.span(),
                format!("`{other}` is nothing a full server does"),
                "write \"close\" (a connection above the limit is closed at once) or \"wait\" \
                 (it waits in the backlog)",
            );
            None
        }
    }
}

fn read_settings(section: &Section<'_>) -> BTreeMap<String, f64> {
    let problems = section.problems();
    flat(section.table())
        .into_iter()
        .filter(|(name, span, _)| check_name(name, span.clone(), Allowed::Limits, problems))
        .filter_map(|(name, _, value)| {
            let limit = read_level(&name, value, problems)?.number()?;
            Some((name, limit))
        })
        .collect()
}
