//! `[target.KIND]`: the server under load.
//!
//! Every kind has a file of its own with the keys that only it has; `cpus` and `settings` stand in
//! all.

mod behind;
mod builtin;
mod command;
mod database;
mod external;
mod httpd;
mod liberty;
mod metrics;
mod spring_boot;
mod tomcat;

use std::collections::BTreeMap;

use toml::Spanned;
use weir_metric::CpuSet;
use weir_userfile::{At, Section, hint};

use super::factor::{Allowed, check_name, flat, read_level};
pub use behind::BehindSpec;
pub use builtin::BuiltinSpec;
pub use command::{CommandApp, CommandSpec, StopSignal};
pub use database::DatabaseSpec;
pub use external::{ExternalSpec, JolokiaSpec, LimitSetter, LimitSpec};
pub use httpd::{HttpdSpec, MpmKind};
pub use liberty::{LibertyApp, LibertyServerSpec, LibertySpec};
pub use metrics::{MetricName, MetricWords, MetricsSpec};
pub use spring_boot::{SpringBootApp, SpringBootSpec};
pub use tomcat::{PoolWord, TomcatApp, TomcatServer, TomcatSpec};

/// Reads what only one kind has.
type ReadOwn = fn(&Section<'_>) -> Option<TargetKind>;

/// The kinds that there are.
const KINDS: [(&str, ReadOwn); 7] = [
    ("builtin", |section| {
        Some(TargetKind::Builtin(builtin::read(section)))
    }),
    ("spring-boot", |section| {
        spring_boot::read(section).map(TargetKind::SpringBoot)
    }),
    ("tomcat", |section| {
        tomcat::read(section).map(TargetKind::Tomcat)
    }),
    ("liberty", |section| {
        liberty::read(section).map(TargetKind::Liberty)
    }),
    ("httpd", |section| {
        Some(TargetKind::Httpd(httpd::read(section)))
    }),
    ("command", |section| {
        command::read(section).map(TargetKind::Command)
    }),
    ("external", |section| {
        external::read(section).map(TargetKind::External)
    }),
];

/// The server under load.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetSpec {
    /// What kind of server.
    pub kind: TargetKind,
    /// CPUs that the target may use, the load generator gets the others; `None`: Weir chooses.
    pub cpus: Option<Spanned<CpuSet>>,
    /// Limits to set before anything else, by stage; stages not named stay as found.
    pub settings: BTreeMap<String, f64>,
}

/// What kind of server is under load.
#[derive(Debug, Clone, PartialEq)]
pub enum TargetKind {
    /// The sample server that comes with Weir.
    Builtin(BuiltinSpec),
    /// A Spring Boot application that Weir starts.
    SpringBoot(SpringBootSpec),
    /// An Apache Tomcat that Weir starts.
    Tomcat(TomcatSpec),
    /// An Open Liberty that Weir starts.
    Liberty(LibertySpec),
    /// An Apache httpd that Weir starts.
    Httpd(HttpdSpec),
    /// Anything that a command line starts.
    Command(CommandSpec),
    /// A server that runs already.
    External(ExternalSpec),
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

impl TargetSpec {
    /// The units that the study gives to the application's own figures.
    pub fn own_units(&self) -> BTreeMap<String, String> {
        match &self.kind {
            TargetKind::Command(spec) => spec.metrics.own_units(),
            TargetKind::External(spec) => spec.metrics.own_units(),
            TargetKind::Builtin(_)
            | TargetKind::SpringBoot(_)
            | TargetKind::Tomcat(_)
            | TargetKind::Liberty(_)
            | TargetKind::Httpd(_) => BTreeMap::new(),
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
        let known = KINDS.iter().find(|(name, _)| *name == kind);
        if let Some(&(_, own)) = known {
            read = read_kind(target, kind, value, own);
        } else {
            let names = KINDS.iter().map(|(name, _)| *name);
            target.problems().add_with_help(
                span,
                format!("`{kind}` is no kind of target"),
                hint(kind, &names.collect::<Vec<_>>()),
            );
        }
    }
    read
}

/// Reads the table of one kind: the keys of all, and with `own` those that only it has.
fn read_kind(target: &Section<'_>, kind: &str, value: At<'_>, own: ReadOwn) -> Option<TargetSpec> {
    let name = format!("[target.{kind}]");
    let section = target.section_of(&name, value)?;
    let cpus = section.parsed("cpus", str::parse::<CpuSet>);
    let settings = section
        .section("settings", &format!("[target.{kind}.settings]"))
        .map(|settings| read_settings(&settings))
        .unwrap_or_default();
    let kind = own(&section);
    section.finish();
    Some(TargetSpec {
        kind: kind?,
        cpus,
        settings,
    })
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
