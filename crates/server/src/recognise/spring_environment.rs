//! What settings a Spring Boot application runs with, and where each stands.
//!
//! In the order of "Externalized Configuration" in Spring Boot's reference: arguments, system
//! properties, environment, files beside the application (with the active profiles before those
//! without), files inside it. Not read: `SPRING_APPLICATION_JSON`, `spring.config.location` and
//! `spring.config.import`, configuration servers.

use std::path::{Path, PathBuf};

use super::java_command::JavaCommand;
use super::xml_place::Placed;
use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::spring_boot::settings::{Setting, of_properties, of_yaml};

/// All settings, the strongest source first.
#[derive(Debug)]
pub(super) struct SpringEnvironment {
    sources: Vec<Source>,
}

#[derive(Debug)]
struct Source {
    /// What it is called; a file's lines are added.
    name: String,
    has_lines: bool,
    is_environment: bool,
    settings: Vec<Setting>,
}

impl SpringEnvironment {
    pub(super) fn of(facts: &ProcessFacts, java: &JavaCommand, machine: &Machine) -> Self {
        let setting = |name: &str, value: &str| Setting {
            name: name.to_owned(),
            value: value.to_owned(),
            line: 0,
        };
        let arguments = java.arguments.iter().filter_map(|word| {
            let (name, value) = word.strip_prefix("--")?.split_once('=')?;
            Some(setting(name, value))
        });
        let properties = java.properties.iter();
        let variables = facts.environment.iter();
        let source = |name: &str, settings: Vec<Setting>| Source {
            name: name.to_owned(),
            has_lines: false,
            is_environment: name == "environment",
            settings,
        };
        let pairs = |(name, value): (&String, &String)| setting(name, value);
        let mut environment = Self {
            sources: vec![
                source("command line", arguments.collect()),
                source("system property", properties.map(pairs).collect()),
                source("environment", variables.map(pairs).collect()),
            ],
        };
        let beside = [facts.absolute("config"), facts.directory.clone()].map(Place::Folder);
        let inside = inside(facts, java);
        let places: Vec<Place> = beside.into_iter().chain(inside).collect();
        environment.add_files(&places, None, machine);
        // The profiles may be named in the files without one.
        let profiles = environment
            .find("spring.profiles.active")
            .map(|placed| placed.value)
            .unwrap_or_default();
        let plain = environment.sources.split_off(3);
        for profile in profiles.split(',').map(str::trim).rev() {
            if !profile.is_empty() {
                environment.add_files(&places, Some(profile), machine);
            }
        }
        environment.sources.extend(plain);
        environment
    }

    fn add_files(&mut self, places: &[Place], profile: Option<&str>, machine: &Machine) {
        let profile = profile.map(|profile| format!("-{profile}"));
        for place in places {
            for kind in ["properties", "yml", "yaml"] {
                let name = format!(
                    "application{}.{kind}",
                    profile.as_deref().unwrap_or_default()
                );
                let Some((name, text)) = place.text(&name, machine) else {
                    continue;
                };
                let settings = if kind == "properties" {
                    of_properties(&text)
                } else {
                    of_yaml(&text)
                };
                self.sources.push(Source {
                    name,
                    has_lines: true,
                    is_environment: false,
                    settings,
                });
            }
        }
    }

    /// A setting with the place where it stands, by its name in Spring Boot's reference.
    pub(super) fn find(&self, name: &str) -> Option<Placed> {
        self.sources.iter().find_map(|source| {
            let wanted = |setting: &&Setting| {
                if source.is_environment {
                    variable(name).contains(&setting.name)
                } else {
                    relaxed(&setting.name) == relaxed(name)
                }
            };
            let setting = source.settings.iter().rfind(wanted)?;
            let origin = if source.has_lines {
                format!("{}:{}", source.name, setting.line)
            } else {
                source.name.clone()
            };
            Some(Placed {
                value: self.filled(&setting.value),
                origin,
            })
        })
    }

    /// Whether a setting is `true`.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|placed| placed.value.eq_ignore_ascii_case("true"))
    }

    /// `${name:default}` as a whole value.
    fn filled(&self, value: &str) -> String {
        let inner = value
            .strip_prefix("${")
            .and_then(|rest| rest.strip_suffix('}'));
        let Some(inner) = inner else {
            return value.to_owned();
        };
        let (name, default) = match inner.split_once(':') {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        // Only plain values, so that a name that stands for itself ends.
        let mut settings = self.sources.iter().flat_map(|source| &source.settings);
        let found = settings.find(|setting| {
            relaxed(&setting.name) == relaxed(name) && !setting.value.contains("${")
        });
        let found = found.map(|setting| setting.value.as_str());
        found.or(default).unwrap_or(value).to_owned()
    }
}

/// A folder or a jar that may hold settings.
enum Place {
    Folder(PathBuf),
    Jar(PathBuf, &'static str),
}

impl Place {
    /// A file's full name and its text.
    fn text(&self, name: &str, machine: &Machine) -> Option<(String, String)> {
        match self {
            Self::Folder(folder) => {
                let file = folder.join(name);
                let text = machine.text(&file)?;
                Some((file.display().to_string(), text))
            }
            Self::Jar(jar, folder) => {
                let entry = format!("{folder}{name}");
                let text = machine.jar_text(jar, &entry)?;
                Some((format!("{}!{entry}", jar.display()), text))
            }
        }
    }
}

/// Where the application itself holds settings.
fn inside(facts: &ProcessFacts, java: &JavaCommand) -> Vec<Place> {
    if java.is_jar {
        let jar = facts.absolute(&java.main);
        return ["BOOT-INF/classes/config/", "BOOT-INF/classes/"]
            .map(|folder| Place::Jar(jar.clone(), folder))
            .into();
    }
    let folders = java.class_path.iter().filter(|entry| {
        let kind = Path::new(entry).extension();
        kind.is_none_or(|kind| kind != "jar")
    });
    folders
        .flat_map(|folder| {
            let folder = facts.absolute(folder);
            [folder.join("config"), folder].map(Place::Folder)
        })
        .collect()
}

/// Names that mean the same: `max-connections`, `maxConnections`, `max_connections`.
fn relaxed(name: &str) -> String {
    let kept = name.chars().filter(|c| !matches!(c, '-' | '_'));
    kept.flat_map(char::to_lowercase).collect()
}

/// The variables that stand for a name: dots become underscores, dashes go.
fn variable(name: &str) -> [String; 2] {
    let upper = name.to_uppercase().replace('.', "_");
    [upper.replace('-', ""), upper.replace('-', "_")]
}
