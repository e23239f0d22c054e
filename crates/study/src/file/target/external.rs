//! `[target.external]`: a server that runs already.

use std::collections::BTreeMap;

use toml::Spanned;
use weir_userfile::Section;

use super::metrics::{self, MetricsSpec};
use crate::file::factor::{Allowed, check_name, flat, read_level};

/// The word in place of a command with which the user is asked to set a limit.
const ASK: &str = "ask";
/// The word in place of a command with which Weir sets and reads a limit over JMX.
const JMX: &str = "jmx";
/// The word in place of a URL with which an agent of Weir's is loaded.
const ATTACH: &str = "attach";

/// Options of a server that runs already.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalSpec {
    /// Where it is: `http://HOST:PORT`.
    pub url: Spanned<String>,
    /// The ssh host that it runs on; `None`: this machine, or one that cannot be read.
    pub ssh: Option<Spanned<String>>,
    /// A file in place of `~/.ssh/config`.
    pub ssh_config: Option<Spanned<String>>,
    /// Its process on that machine.
    pub pid: Option<u32>,
    /// How its limits are set and read, by stage or `native.WORD`.
    pub limits: BTreeMap<String, LimitSpec>,
    /// Where it tells about itself.
    pub metrics: MetricsSpec,
    /// How its virtual machine is reached over JMX.
    pub jolokia: Option<JolokiaSpec>,
    /// Whether its virtual machine is asked for thread dumps.
    pub thread_dumps: bool,
}

/// Through which Jolokia agent a virtual machine is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JolokiaSpec {
    /// Weir's own, loaded into the process and stopped at the end.
    Attach,
    /// One that listens there.
    At(Spanned<String>),
}

/// Who sets a limit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LimitSetter {
    /// The user, who is asked.
    #[default]
    Ask,
    /// Weir, over JMX.
    Jmx,
    /// A command in which `{value}` is the limit.
    Command(String),
}

/// How one limit is set and read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LimitSpec {
    /// Who sets it.
    pub set: LimitSetter,
    /// A command that prints it.
    pub get: Option<String>,
    /// What it is, where no command tells.
    pub found: Option<f64>,
}

pub(super) fn read(section: &Section<'_>) -> Option<ExternalSpec> {
    let url = section.text("url");
    if url.is_none() && section.value("url").is_none() {
        section.missing("url", "url = \"http://127.0.0.1:8080\"");
    }
    let ssh = section.text("ssh");
    let ssh_config = section.text("ssh-config");
    if let (None, Some(file)) = (&ssh, &ssh_config) {
        section.problems().add_with_help(
            file.span(),
            "`ssh-config` is for a server that is reached over ssh",
            "write `ssh = \"HOST\"` beside it",
        );
    }
    let pid = section.whole("pid", 1..=u32::MAX).map(Spanned::into_inner);
    let limits = read_limits(section);
    let jolokia = read_jolokia(section, &limits);
    let dumps = section.flag("thread-dumps");
    if let (Some(_), Some(true)) = (&ssh, dumps) {
        section.problems().add_with_help(
            section.span(),
            "thread dumps are those of a virtual machine of this machine only",
            "leave `thread-dumps` out",
        );
    }
    if let (Some(_), Some(JolokiaSpec::Attach)) = (&ssh, &jolokia) {
        section.problems().add_with_help(
            section.span(),
            "an agent can be loaded into a process of this machine only",
            "start one there and say where it listens: `jolokia = \"http://HOST:8778/jolokia\"`",
        );
    }
    let metrics = metrics::read(section);
    Some(ExternalSpec {
        url: url?,
        ssh,
        ssh_config,
        pid,
        limits,
        metrics,
        thread_dumps: dumps.unwrap_or(jolokia == Some(JolokiaSpec::Attach)),
        jolokia,
    })
}

fn read_jolokia(
    section: &Section<'_>,
    limits: &BTreeMap<String, LimitSpec>,
) -> Option<JolokiaSpec> {
    let word = section.text("jolokia");
    let by_jmx = limits
        .iter()
        .find(|(_, limit)| limit.set == LimitSetter::Jmx);
    if let (Some((name, _)), None) = (by_jmx, &word) {
        section.problems().add_with_help(
            section.span(),
            format!("`{name}` is set over JMX, and nothing says how the virtual machine is reached"),
            "write `jolokia = \"attach\"`, or where an agent listens: `jolokia = \"http://127.0.0.1:8778/jolokia\"`",
        );
    }
    word.map(|word| match word.get_ref().as_str() {
        ATTACH => JolokiaSpec::Attach,
        _ => JolokiaSpec::At(word),
    })
}

fn read_limits(section: &Section<'_>) -> BTreeMap<String, LimitSpec> {
    let mut limits: BTreeMap<String, LimitSpec> = BTreeMap::new();
    for (name, command) in section.section("set", "`set`").iter().flat_map(commands) {
        let set = match command.as_str() {
            ASK => LimitSetter::Ask,
            JMX => LimitSetter::Jmx,
            _ => LimitSetter::Command(command),
        };
        limits.insert(
            name,
            LimitSpec {
                set,
                ..LimitSpec::default()
            },
        );
    }
    let only_set = |name: &str, span, limits: &BTreeMap<String, LimitSpec>| {
        let known = limits.contains_key(name);
        if !known {
            section.problems().add_with_help(
                span,
                format!("nothing says how `{name}` is set"),
                format!(
                    "write `set = {{ {name} = \"COMMAND {{value}}\" }}`, \"jmx\", or \"ask\" to be asked"
                ),
            );
        }
        known
    };
    if let Some(get) = section.section("get", "`get`") {
        for (name, span, _) in flat(get.table()) {
            only_set(&name, span, &limits);
        }
        for (name, command) in commands(&get) {
            if let Some(limit) = limits.get_mut(&name) {
                limit.get = Some(command);
            }
        }
    }
    if let Some(found) = section.section("found", "`found`") {
        for (name, span, value) in flat(found.table()) {
            if only_set(&name, span, &limits)
                && let Some(level) = read_level(&name, value, section.problems())
                && let Some(limit) = limits.get_mut(&name)
            {
                limit.found = level.number();
            }
        }
    }
    limits
}

/// The commands of a table, by the limit that they are for.
fn commands(section: &Section<'_>) -> Vec<(String, String)> {
    let problems = section.problems();
    let mut commands = Vec::new();
    for (name, span, value) in flat(section.table()) {
        if !check_name(&name, span, Allowed::Limits, problems) {
            continue;
        }
        match value.get_ref().as_str() {
            Some(command) => commands.push((name, command.to_owned())),
            None => problems.add(
                value.span(),
                format!("the command for `{name}` has to be a text in quotes"),
            ),
        }
    }
    commands
}
