//! What Liberty puts in place of `${…}` ("Using variables in server configuration"), the weakest
//! first: defaults in `server.xml`, the environment, `bootstrap.properties`, system properties,
//! files of variables, values in `server.xml`, the command line.

use std::collections::BTreeMap;
use std::path::Path;

use super::Places;
use super::files::Item;
use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::recognise::java_command::JavaCommand;
use crate::spring_boot::settings::pairs;

/// How often names may stand for other names.
const REPLACEMENTS_MAX: usize = 20;
/// Folders with a file for each variable.
const SOURCES: &str = "VARIABLE_SOURCE_DIRS";

/// What is known of them.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// `defaultValue`s.
    defaults: BTreeMap<String, String>,
    environment: BTreeMap<String, String>,
    /// From `bootstrap.properties` to files of variables, the stronger over the weaker.
    properties: BTreeMap<String, String>,
    /// `value`s, and the command line.
    declared: BTreeMap<String, String>,
    typed: BTreeMap<String, String>,
    /// Why any variable may have another value.
    unread: Option<String>,
}

impl Variables {
    /// Those that hold before `server.xml` is read.
    pub(super) fn of(
        places: &Places<'_>,
        java: &JavaCommand,
        facts: &ProcessFacts,
        machine: &Machine,
    ) -> Self {
        let mut variables = Self {
            environment: facts.environment.clone(),
            ..Self::default()
        };
        let folder = |path: &Path| format!("{}/", path.display());
        let output = facts.environment.get("WLP_OUTPUT_DIR");
        let name = places.server.file_name().unwrap_or_default();
        let output = output.map_or_else(
            || places.server.to_owned(),
            |output| facts.absolute(output).join(name),
        );
        for (name, path) in [
            ("wlp.install.dir", folder(places.home)),
            ("wlp.user.dir", folder(places.user)),
            ("server.config.dir", folder(places.server)),
            ("server.output.dir", folder(&output)),
            (
                "shared.config.dir",
                folder(&places.user.join("shared/config")),
            ),
            (
                "shared.resource.dir",
                folder(&places.user.join("shared/resources")),
            ),
            ("usr.extension.dir", folder(&places.user.join("extension"))),
            ("wlp.server.name", name.to_string_lossy().into_owned()),
        ] {
            variables.properties.insert(name.to_owned(), path);
        }
        let bootstrap = places.server.join("bootstrap.properties");
        variables.bootstrap(&bootstrap, 0, machine);
        variables.properties.extend(java.properties.clone());
        let sources = facts.environment.get(SOURCES);
        let sources = sources.map_or_else(
            || vec![places.server.join("variables")],
            |sources| {
                sources
                    .split(':')
                    .map(|source| facts.absolute(source))
                    .collect()
            },
        );
        for source in sources {
            for name in machine.names(&source) {
                let Some(text) = machine.text(&source.join(&name)) else {
                    continue;
                };
                if name.ends_with(".properties") {
                    variables.properties.extend(pairs(&text));
                } else {
                    variables.properties.insert(name, text.trim().to_owned());
                }
            }
        }
        let typed = java
            .arguments
            .iter()
            .filter_map(|word| word.strip_prefix("--")?.split_once('='));
        let typed = typed.map(|(name, value)| (name.to_owned(), value.to_owned()));
        variables.typed = typed.collect();
        variables
    }

    fn bootstrap(&mut self, file: &Path, depth: usize, machine: &Machine) {
        let Some(text) = machine.text(file) else {
            if depth > 0 {
                self.unread = Some(format!("{} cannot be read", file.display()));
            }
            return;
        };
        let pairs = pairs(&text);
        let included = pairs.iter().find(|(name, _)| name == "bootstrap.include");
        if let Some((_, included)) = included
            && depth < REPLACEMENTS_MAX
        {
            for included in included.split(',').map(str::trim) {
                self.bootstrap(&file.with_file_name(included), depth + 1, machine);
            }
        }
        // What the file says itself counts more than what it includes.
        self.properties.extend(pairs);
    }

    /// Adds those that the configuration declares; the last one of a name counts.
    pub(super) fn declare(&mut self, items: &[Item<'_>]) {
        for item in items {
            match item {
                Item::Unread(why) => self.unread = Some(why.clone()),
                Item::Element(_, element) if element.has_tag_name("variable") => {
                    let Some(name) = element.attribute("name") else {
                        continue;
                    };
                    let maps = [
                        ("value", &mut self.declared),
                        ("defaultValue", &mut self.defaults),
                    ];
                    for (attribute, map) in maps {
                        if let Some(value) = element.attribute(attribute) {
                            map.insert(name.to_owned(), value.to_owned());
                        }
                    }
                }
                Item::Element(..) => {}
            }
        }
    }

    /// A text with its variables filled in, or the one that nobody knows.
    pub(super) fn filled(&self, text: &str) -> Result<String, String> {
        self.filled_at(text, 0)
    }

    fn filled_at(&self, text: &str, depth: usize) -> Result<String, String> {
        let Some((before, rest)) = text.split_once("${") else {
            return Ok(text.to_owned());
        };
        let Some((name, after)) = rest.split_once('}') else {
            return Ok(text.to_owned());
        };
        let is_unsure = self.unread.is_some() && !self.typed.contains_key(name);
        let value = self
            .value(name)
            .filter(|_| depth < REPLACEMENTS_MAX && !is_unsure);
        let value = self.filled_at(value.ok_or(name)?, depth + 1)?;
        Ok(format!("{before}{value}{}", self.filled_at(after, depth)?))
    }

    /// What a variable stands for; sums (`${a + 1}`) are not understood.
    fn value(&self, name: &str) -> Option<&str> {
        let strongest = [&self.typed, &self.declared, &self.properties];
        let found = strongest.into_iter().find_map(|map| map.get(name));
        let plain: String = name
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let found = found.or_else(|| {
            let names = [name, &plain, &plain.to_uppercase()];
            names.iter().find_map(|name| self.environment.get(*name))
        });
        found
            .or_else(|| self.defaults.get(name))
            .map(String::as_str)
    }
}
