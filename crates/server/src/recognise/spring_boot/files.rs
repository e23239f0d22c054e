//! The files in which a Spring Boot application looks for settings, and the documents in them that
//! hold.
//!
//! The form of locations and their order are those of "External Application Properties" in Spring
//! Boot's reference: of what is listed the last counts most, within a location `.properties` more
//! than YAML, within a file the last document.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::environment::{Source, SpringEnvironment};
use super::profiles::Profiles;
use crate::machine::Machine;
use crate::process::ProcessFacts;
use crate::recognise::java_command::JavaCommand;
use crate::spring_boot::settings::{Setting, of_properties, of_yaml};

/// Where files are looked for when nothing else is said, the weakest first.
const INSIDE: &str = "classpath:/;classpath:/config/";
const BESIDE: &str = "file:./;file:./config/;file:./config/*/";
/// Ends of files, the weakest first.
const KINDS: [&str; 3] = ["yaml", "yml", "properties"];
/// Deepest nesting of files that name others.
const IMPORTS_MAX: usize = 10;
/// Conditions of a document.
const ON_PROFILE: [&str; 2] = ["spring.config.activate.onprofile", "spring.profiles"];
const ON_PLATFORM: &str = "spring.config.activate.oncloudplatform";
const IMPORT: &str = "spring.config.import";

/// Where an application's files may be.
pub(super) struct Files<'a> {
    /// Groups of places, the weakest first.
    groups: Vec<Vec<Place>>,
    /// Names of files without their ends.
    names: Vec<String>,
    is_grouped: bool,
    unread: Option<String>,
    /// Files that were imported, each with whether a profile was needed for it.
    imported: RefCell<BTreeMap<PathBuf, bool>>,
    facts: &'a ProcessFacts,
    machine: &'a Machine,
}

/// A folder, a part of a jar, or a file by itself.
#[derive(Debug, Clone)]
enum Place {
    Folder(PathBuf),
    Jar(PathBuf, String),
    File(PathBuf),
}

impl<'a> Files<'a> {
    pub(super) fn of(
        environment: &SpringEnvironment,
        facts: &'a ProcessFacts,
        java: &JavaCommand,
        is_grouped: bool,
        machine: &'a Machine,
    ) -> Self {
        let mut files = Self {
            groups: Vec::new(),
            names: vec!["application".to_owned()],
            is_grouped,
            unread: None,
            imported: RefCell::default(),
            facts,
            machine,
        };
        let mut locations = vec![INSIDE.to_owned(), BESIDE.to_owned()];
        let listed = |name: &str| environment.list(name);
        let wanted = [
            ("spring.config.name", None),
            ("spring.config.location", Some(true)),
            ("spring.config.additional-location", Some(false)),
        ];
        for (name, is_instead) in wanted {
            match (listed(name), is_instead) {
                (Ok(None), _) => {}
                (Ok(Some(names)), None) => files.names = names,
                (Ok(Some(named)), Some(true)) => locations = named,
                (Ok(Some(named)), Some(false)) => locations.extend(named),
                (Err(why), _) => files.unread = Some(why),
            }
        }
        for location in locations {
            let parts = location
                .split(';')
                .map(str::trim)
                .filter(|part| !part.is_empty());
            let group: Vec<Place> = parts.flat_map(|part| files.places(part, java)).collect();
            files.groups.push(group);
        }
        files
    }

    /// The documents that hold, the strongest first: without profiles those without a condition.
    pub(super) fn sources(&self, profiles: Option<&Profiles>) -> Vec<Source> {
        let mut sources: Vec<Source> = Vec::new();
        self.imported.borrow_mut().clear();
        let plain = |group: &[Place], sources: &mut Vec<Source>| {
            for place in group {
                for name in &self.names {
                    self.read(place, name, profiles, sources);
                }
            }
        };
        let of_profiles =
            |group: &[Place], sources: &mut Vec<Source>| match profiles.map(Profiles::names) {
                None => {}
                Some(Err(why)) => sources.push(unread(format!(
                    "which profiles are active is not known ({why})"
                ))),
                Some(Ok(active)) => {
                    for profile in active {
                        for place in group {
                            for name in &self.names {
                                self.read(place, &format!("{name}-{profile}"), profiles, sources);
                            }
                        }
                    }
                }
            };
        if self.is_grouped {
            for group in &self.groups {
                plain(group, &mut sources);
                of_profiles(group, &mut sources);
            }
        } else {
            self.groups
                .iter()
                .for_each(|group| plain(group, &mut sources));
            self.groups
                .iter()
                .for_each(|group| of_profiles(group, &mut sources));
        }
        sources.extend(self.unread.clone().map(unread));
        sources.reverse();
        sources
    }

    /// Adds the documents of the files of a name in a place, the weakest first.
    fn read(
        &self,
        place: &Place,
        name: &str,
        profiles: Option<&Profiles>,
        sources: &mut Vec<Source>,
    ) {
        if let Place::File(file) = place {
            // A file that is named by itself has its profiles' files beside it.
            let file_name = file
                .file_name()
                .and_then(|name| name.to_str())
                .unwrap_or_default();
            let (stem, kind) = file_name.rsplit_once('.').unwrap_or((file_name, ""));
            let profile = self
                .names
                .iter()
                .find_map(|known| name.strip_prefix(known.as_str()));
            let file = file.with_file_name(format!("{stem}{}.{kind}", profile.unwrap_or_default()));
            if let Some(text) = self.machine.text(&file) {
                self.documents(&file.display().to_string(), &text, profiles, 0, sources);
            }
            return;
        }
        for kind in KINDS {
            let file = format!("{name}.{kind}");
            if let Some((file, text)) = place.text(&file, self.machine) {
                self.documents(&file, &text, profiles, 0, sources);
            }
        }
    }

    fn documents(
        &self,
        file: &str,
        text: &str,
        profiles: Option<&Profiles>,
        depth: usize,
        sources: &mut Vec<Source>,
    ) {
        let is_properties = Path::new(file).extension() == Some("properties".as_ref());
        let contents = if is_properties {
            of_properties(text)
        } else {
            of_yaml(text)
        };
        for settings in contents.documents {
            let document = Source {
                name: file.to_owned(),
                has_lines: true,
                settings,
                ..Source::default()
            };
            match self.holds(&document, profiles) {
                Some(false) => {}
                Some(true) => {
                    let imports = document.list(IMPORT);
                    let needs_profile = self.is_of_profile(file) || has_condition(&document);
                    sources.push(document);
                    for import in imports {
                        self.import(file, &import, needs_profile, profiles, depth, sources);
                    }
                }
                None => sources.push(unread(format!(
                    "{file}:{}: whether this document holds is not known",
                    document.settings.first().map_or(1, |setting| setting.line)
                ))),
            }
        }
        if let Some(why) = contents.stopped {
            sources.push(unread(format!("{file} cannot be read to its end: {why}")));
        }
    }

    /// Whether a file is that of a profile, by its name.
    fn is_of_profile(&self, file: &str) -> bool {
        let name = Path::new(file).file_name().and_then(|name| name.to_str());
        let mut known = self.names.iter();
        name.is_some_and(|name| {
            known.any(|known| {
                name.strip_prefix(known.as_str())
                    .is_some_and(|rest| rest.starts_with('-'))
            })
        })
    }

    /// Whether a document holds; nothing when that cannot be told.
    fn holds(&self, document: &Source, profiles: Option<&Profiles>) -> Option<bool> {
        for name in ON_PROFILE {
            if has(document, name) {
                match profiles {
                    None => return Some(false),
                    Some(profiles) if !profiles.hold(&document.list(name))? => return Some(false),
                    Some(_) => {}
                }
            }
        }
        if has(document, ON_PLATFORM) {
            let platforms = document.list(ON_PLATFORM);
            let set = |name: &str| self.facts.environment.contains_key(name);
            let is_on = match platforms
                .first()?
                .to_lowercase()
                .replace(['-', '_'], "")
                .as_str()
            {
                "kubernetes" => set("KUBERNETES_SERVICE_HOST") && set("KUBERNETES_SERVICE_PORT"),
                "cloudfoundry" => set("VCAP_APPLICATION") || set("VCAP_SERVICES"),
                "heroku" => set("DYNO"),
                _ => return None,
            };
            return Some(is_on);
        }
        Some(true)
    }

    /// What a document names counts more than the document.
    fn import(
        &self,
        from: &str,
        import: &str,
        needs_profile: bool,
        profiles: Option<&Profiles>,
        depth: usize,
        sources: &mut Vec<Source>,
    ) {
        let (path, is_optional) = import
            .strip_prefix("optional:")
            .map_or((import, false), |path| (path, true));
        let other = |sources: &mut Vec<Source>| {
            sources.push(unread(format!("{from} imports {path}, which is not read")));
        };
        let path = match path.strip_prefix("file:") {
            Some(path) => self.facts.absolute(path),
            // Relative to the file that names it.
            None if !path.contains(':') && !from.contains('!') => {
                Path::new(from).with_file_name(path)
            }
            None => return other(sources),
        };
        let text = self.machine.text(&path).filter(|_| depth < IMPORTS_MAX);
        if text.is_some() {
            // However often it is imported, it is read once: first where no profile is needed.
            let known = self.imported.borrow().get(&path).copied();
            match known {
                Some(false) if needs_profile => return,
                Some(_) => {
                    sources.push(unread(format!(
                        "{} is imported in several places: which of them counts is not known",
                        path.display()
                    )));
                    return;
                }
                None => {
                    let mut imported = self.imported.borrow_mut();
                    imported.insert(path.clone(), needs_profile);
                }
            }
        }
        match text {
            Some(text) => {
                self.documents(
                    &path.display().to_string(),
                    &text,
                    profiles,
                    depth + 1,
                    sources,
                );
            }
            None if is_optional && !self.machine.is_file(&path) => {}
            None => other(sources),
        }
    }

    /// The places that a location means.
    fn places(&mut self, location: &str, java: &JavaCommand) -> Vec<Place> {
        let location = location.strip_prefix("optional:").unwrap_or(location);
        if let Some(inside) = location.strip_prefix("classpath:") {
            return self.inside(inside.trim_start_matches('/'), java);
        }
        let path = location.strip_prefix("file:").unwrap_or(location);
        if path.contains(':') {
            self.unread = Some(format!(
                "settings are read from {location}, which is not looked at"
            ));
            return Vec::new();
        }
        let path = path
            .strip_prefix("//")
            .filter(|path| path.starts_with('/'))
            .unwrap_or(path);
        if let Some(above) = path.strip_suffix("*/") {
            let above = self.facts.absolute(above);
            let names = self.machine.names(&above).into_iter();
            return names.map(|name| Place::Folder(above.join(name))).collect();
        }
        let absolute = self.facts.absolute(path.strip_prefix("./").unwrap_or(path));
        if path.ends_with('/') {
            vec![Place::Folder(absolute)]
        } else {
            vec![Place::File(absolute)]
        }
    }

    /// Where the application itself holds settings.
    fn inside(&self, folder: &str, java: &JavaCommand) -> Vec<Place> {
        if java.is_jar {
            let jar = self.facts.absolute(&java.main);
            return vec![Place::Jar(jar, format!("BOOT-INF/classes/{folder}"))];
        }
        let folders = java.class_path.iter().filter(|entry| {
            let kind = Path::new(entry).extension();
            kind.is_none_or(|kind| kind != "jar")
        });
        // Of several the first one has it.
        let folders = folders.rev();
        folders
            .map(|entry| Place::Folder(self.facts.absolute(entry).join(folder)))
            .collect()
    }
}

/// Whether a document says something of this name, or of a list of it.
fn has(document: &Source, name: &str) -> bool {
    let under =
        |setting: &Setting| setting.name == name || setting.name.starts_with(&format!("{name}["));
    document.settings.iter().any(under)
}

/// Whether a document holds for profiles only.
fn has_condition(document: &Source) -> bool {
    ON_PROFILE.iter().any(|name| has(document, name))
}

fn unread(why: String) -> Source {
    Source {
        unread: Some(why),
        ..Source::default()
    }
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
            Self::File(_) => None,
        }
    }
}
