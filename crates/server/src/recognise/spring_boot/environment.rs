//! What settings a Spring Boot application runs with, and where each stands.
//!
//! In the order of "Externalized Configuration" in Spring Boot's reference: arguments,
//! `SPRING_APPLICATION_JSON`, system properties, environment, files beside the application, files
//! inside it; of each group of files those of the active profiles count more. Where something that
//! counts more cannot be read (a configuration server, a reference in YAML), a setting is not
//! known.

use serde_json::Value;

use super::files::Files;
use super::profiles::{Profiles, names_in};
use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::recognise::java_command::JavaCommand;
use crate::recognise::xml_place::{Lookup, Placed};
use crate::spring_boot::property::canonical;
use crate::spring_boot::settings::Setting;

/// How often names may stand for other names in a value.
const REPLACEMENTS_MAX: usize = 20;
const JSON: &str = "spring.application.json";

/// All settings, the strongest source first.
#[derive(Debug)]
pub(super) struct SpringEnvironment {
    sources: Vec<Source>,
}

/// Settings from one place.
#[derive(Debug, Default)]
pub(super) struct Source {
    /// What it is called; a file's lines are added.
    pub(super) name: String,
    pub(super) has_lines: bool,
    pub(super) is_environment: bool,
    pub(super) settings: Vec<Setting>,
    /// Why anything may be set here, which cannot be read.
    pub(super) unread: Option<String>,
}

impl SpringEnvironment {
    /// `is_grouped`: whether files outside the application count more than all inside it, as since
    /// Spring Boot 2.4.
    pub(super) fn of(
        facts: &ProcessFacts,
        java: &JavaCommand,
        is_grouped: bool,
        machine: &Machine,
    ) -> Self {
        let arguments = java.arguments.iter().filter_map(|word| {
            let (name, value) = word.strip_prefix("--")?.split_once('=')?;
            Some(setting(name, value))
        });
        let source = |name: &str, settings: Vec<Setting>| Source {
            name: name.to_owned(),
            is_environment: name == "environment",
            settings,
            ..Source::default()
        };
        let pairs = |(name, value): (&String, &String)| setting(name, value);
        let mut environment = Self {
            sources: vec![
                source("command line", arguments.collect()),
                source(
                    "system property",
                    java.properties.iter().map(pairs).collect(),
                ),
                source("environment", facts.environment.iter().map(pairs).collect()),
            ],
        };
        if let Lookup::At(json) = environment.look_up(JSON) {
            let json = source("SPRING_APPLICATION_JSON", settings_of_json(&json.value));
            environment.sources.insert(1, json);
        }
        let files = Files::of(&environment, facts, java, is_grouped, machine);
        let strongest = environment.sources.len();
        // The profiles may be named in the files without one.
        environment.sources.extend(files.sources(None));
        let profiles = Profiles::of(&environment);
        environment.sources.truncate(strongest);
        environment.sources.extend(files.sources(Some(&profiles)));
        environment
    }

    /// What is known of a setting, by its name in Spring Boot's reference.
    pub(super) fn look_up(&self, name: &str) -> Lookup {
        for source in &self.sources {
            if let Some(why) = &source.unread {
                return Lookup::Unsure(why.clone());
            }
            let found = source.find(name);
            let Some(setting) = found else {
                continue;
            };
            let origin = source.place(setting);
            if source.is_ambiguous(name) {
                return Lookup::Unsure(format!(
                    "{origin}: it is written in several ways: which of them counts is not known"
                ));
            }
            if setting.is_reference {
                return Lookup::Unsure(format!("{origin}: a reference in YAML is not followed"));
            }
            return match self.filled(&setting.value, 0) {
                Ok(value) => Lookup::At(Placed { value, origin }),
                Err(name) => Lookup::Unsure(format!("{origin}: what ${{{name}}} stands for")),
            };
        }
        Lookup::Nowhere
    }

    /// A setting with the place where it stands, if that is known.
    pub(super) fn find(&self, name: &str) -> Option<Placed> {
        match self.look_up(name) {
            Lookup::At(placed) => Some(placed),
            Lookup::Nowhere | Lookup::Unsure(_) => None,
        }
    }

    /// Whether a setting is `true`.
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.find(name)
            .is_some_and(|placed| placed.value.eq_ignore_ascii_case("true"))
    }

    /// The words of a list: separated by commas, or one below the other.
    pub(super) fn list(&self, name: &str) -> Result<Option<Vec<String>>, String> {
        match self.look_up(name) {
            Lookup::At(placed) => return Ok(Some(names_in(&placed.value))),
            Lookup::Unsure(why) => return Err(why),
            Lookup::Nowhere => {}
        }
        let mut words = Vec::new();
        loop {
            match self.look_up(&format!("{name}[{}]", words.len())) {
                Lookup::At(placed) => words.push(placed.value),
                Lookup::Unsure(why) => return Err(why),
                Lookup::Nowhere => break,
            }
        }
        Ok((!words.is_empty()).then_some(words))
    }

    /// The words of a list in every source that has it.
    pub(super) fn lists(&self, name: &str) -> Vec<String> {
        let weakest_first = self.sources.iter().rev();
        weakest_first.flat_map(|source| source.list(name)).collect()
    }

    /// A value with its `${name:default}` filled in, or the name that nobody knows.
    fn filled(&self, value: &str, depth: usize) -> Result<String, String> {
        let Some((before, rest)) = value.split_once("${") else {
            return Ok(value.to_owned());
        };
        let Some(end) = end_of(rest) else {
            return Ok(value.to_owned());
        };
        let (inner, after) = (&rest[..end], &rest[end + 1..]);
        let (name, default) = match inner.split_once(':') {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        if depth > REPLACEMENTS_MAX {
            return Err(name.to_owned());
        }
        let name = self.filled(name, depth + 1)?;
        let mut stands_for = None;
        for source in &self.sources {
            if source.unread.is_some() {
                return Err(name);
            }
            if let Some(setting) = source.find(&name) {
                if setting.is_reference || source.is_ambiguous(&name) {
                    return Err(name);
                }
                stands_for = Some(setting.value.as_str());
                break;
            }
        }
        let value = self.filled(stands_for.or(default).ok_or(name)?, depth + 1)?;
        Ok(format!("{before}{value}{}", self.filled(after, depth + 1)?))
    }
}

impl Source {
    /// The setting of a name: the one that is written like it, or else in another way.
    fn find(&self, name: &str) -> Option<&Setting> {
        let mut exact = self.alike(name);
        let exact = exact.rfind(|setting| !setting.is_reference && setting.is_written_like(name));
        exact.or_else(|| self.alike(name).next_back())
    }

    /// All settings of a name, whatever way it is written.
    fn alike(&self, name: &str) -> impl DoubleEndedIterator<Item = &Setting> {
        let variables = variable(name);
        let wanted = canonical(name);
        self.settings.iter().filter(move |setting| {
            if self.is_environment {
                variables.contains(&setting.name) || setting.name == *name
            } else if setting.is_reference {
                covers(&canonical(&setting.name), &wanted)
            } else {
                canonical(&setting.name) == wanted
            }
        })
    }

    /// Whether a name is written in several ways, none of them its own, with several values.
    fn is_ambiguous(&self, name: &str) -> bool {
        let Some(found) = self.find(name) else {
            return false;
        };
        let mut alike = self.alike(name);
        !found.is_written_like(name)
            && alike.any(|setting| setting.key != found.key && setting.value != found.value)
    }

    /// The words of a list that it has itself.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        if let Some(setting) = self.find(name) {
            return names_in(&setting.value);
        }
        let words = (0..).map_while(|index| self.find(&format!("{name}[{index}]")));
        words.map(|setting| setting.value.clone()).collect()
    }

    fn place(&self, setting: &Setting) -> String {
        if self.has_lines {
            format!("{}:{}", self.name, setting.line)
        } else {
            self.name.clone()
        }
    }
}

fn setting(name: &str, value: &str) -> Setting {
    Setting {
        name: name.to_owned(),
        key: name.to_owned(),
        value: value.to_owned(),
        line: 0,
        is_reference: false,
    }
}

/// `{"server": {"port": 1}}` as `server.port`.
fn settings_of_json(text: &str) -> Vec<Setting> {
    fn add(name: &str, value: &Value, settings: &mut Vec<Setting>) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    let dot = if name.is_empty() { "" } else { "." };
                    add(&format!("{name}{dot}{key}"), value, settings);
                }
            }
            Value::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    add(&format!("{name}[{index}]"), value, settings);
                }
            }
            Value::String(text) => settings.push(setting(name, text)),
            other => settings.push(setting(name, &other.to_string())),
        }
    }
    let mut settings = Vec::new();
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        add("", &value, &mut settings);
    }
    settings
}

/// Where the bracket closes that was opened before a text.
fn end_of(text: &str) -> Option<usize> {
    let mut open = 1;
    for (at, c) in text.char_indices() {
        match c {
            '{' => open += 1,
            '}' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}

/// Whether a reference under a name may set another: that itself, or what is below it.
fn covers(reference: &str, wanted: &str) -> bool {
    let above = reference
        .strip_suffix("<<")
        .map_or(reference, |above| above.trim_end_matches('.'));
    above.is_empty()
        || wanted.strip_prefix(above).is_some_and(|rest| {
            rest.starts_with(['.', '[']) || rest.is_empty() && above == reference
        })
}

/// The variables that stand for a name: dots become underscores, dashes go; `[0]` becomes `_0`.
fn variable(name: &str) -> [String; 2] {
    let upper = name
        .to_uppercase()
        .replace(['.', '['], "_")
        .replace(']', "");
    [upper.replace('-', ""), upper.replace('-', "_")]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> SpringEnvironment {
        SpringEnvironment {
            sources: vec![Source {
                name: "test".to_owned(),
                settings: pairs
                    .iter()
                    .map(|(name, value)| setting(name, value))
                    .collect(),
                ..Source::default()
            }],
        }
    }

    #[test]
    fn names_in_values_are_filled_in() {
        let pairs = [
            ("a", "1"),
            ("b", "${a}2"),
            ("c", "x${b:9}-${d:${a}}"),
            ("e", "${e}"),
            ("f", "${gone}"),
        ];
        let environment = environment(&pairs);
        let value = |name: &str| environment.find(name).map(|placed| placed.value);
        assert_eq!(value("c").as_deref(), Some("x12-1"));
        assert_eq!(value("e"), None, "it stands for itself");
        assert!(matches!(environment.look_up("f"), Lookup::Unsure(why) if why.contains("${gone}")));
    }

    #[test]
    fn json_gives_names_too() {
        let settings = settings_of_json(r#"{"server": {"port": 1}, "a.b": ["x", true]}"#);
        let told: Vec<_> = settings
            .iter()
            .map(|setting| (setting.name.as_str(), setting.value.as_str()))
            .collect();
        assert_eq!(
            told,
            [("a.b[0]", "x"), ("a.b[1]", "true"), ("server.port", "1")]
        );
    }

    #[test]
    fn lists_are_words_or_lines() {
        let environment = environment(&[("p.active", "a, b"), ("q[0]", "c"), ("q[1]", "d")]);
        assert_eq!(
            environment.list("p.active"),
            Ok(Some(vec!["a".to_owned(), "b".to_owned()]))
        );
        assert_eq!(
            environment.list("q"),
            Ok(Some(vec!["c".to_owned(), "d".to_owned()]))
        );
        assert_eq!(environment.list("r"), Ok(None));
    }

    #[test]
    fn a_reference_may_set_what_is_below_it() {
        for (reference, wanted, covered) in [
            ("a.b", "a.b", true),
            ("a.b", "a.b.c", true),
            ("a.b", "a.bc", false),
            ("a.<<", "a.x", true),
            ("a.<<", "a", false),
            ("<<", "z.y", true),
        ] {
            assert_eq!(covers(reference, wanted), covered, "{reference} {wanted}");
        }
    }
}
