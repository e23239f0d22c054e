//! A report for others: without the places and machines of whoever measured.
//!
//! Directories become `DIR` and `~`, this machine `this-machine`, and every other host `host-1`,
//! `host-2` … in the order in which the study and the command line name them. Loopback addresses
//! say nothing and stay.

use std::net::IpAddr;
use std::path::Path;

use fancy_regex::Regex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use weir_record::{RunDirectory, RunManifest, failed_to};

use crate::error::ExpectedError;

/// Hosts in URLs, and after the key `ssh` of a study or the option of that name.
const HOSTS: &str = r#"(?i)(?:[a-z][a-z0-9+.\-]*://(?:[^\s/@"']*@)?|\bssh\s*=\s*"|--ssh[ =](?:[^\s@]*@)?)(\[[0-9a-f:.]+\]|[\w.\-]+)"#;
/// Shorter names are words of everyday.
const SHORTEST: usize = 3;

/// Takes the names of places and machines out of what a run is and what it found.
pub(crate) fn rename<T: Serialize + DeserializeOwned>(
    directory: &RunDirectory,
    manifest: &mut RunManifest,
    found: &mut T,
) -> Result<(), ExpectedError> {
    let run = std::path::absolute(directory.path()).ok();
    // Where runs lie is where Weir was run.
    let place = run.as_deref().and_then(|run| run.parent()?.parent());
    let replacements = Replacements::of(manifest, place)?;
    *found = replacements.in_value(found)?;
    *manifest = replacements.in_value(manifest)?;
    Ok(())
}

/// What is replaced by what.
#[derive(Debug)]
struct Replacements(Vec<(Regex, String)>);

impl Replacements {
    /// Of a run and of who reads it now.
    fn of(manifest: &RunManifest, place: Option<&Path>) -> Result<Self, ExpectedError> {
        let here = rustix::system::uname();
        let here = here.nodename().to_string_lossy().into_owned();
        let command = manifest.command.join(" ");
        let told = [
            manifest.study.as_str(),
            command.as_str(),
            manifest.title.as_deref().unwrap_or_default(),
        ];
        let hosts = hosts(&told.join("\n"))?;
        let hosts = hosts.into_iter().filter(|host| *host != here);
        let hosts = hosts
            .enumerate()
            .map(|(index, host)| (host, format!("host-{}", index + 1)));
        let home = std::env::home_dir();
        // The study's folder is often below the other, and goes first.
        let folders = [
            (Some(manifest.base.as_path()), "DIR"),
            (place, "DIR"),
            (home.as_deref(), "~"),
        ];
        let folders = folders.into_iter().filter_map(|(folder, word)| {
            let folder =
                folder.filter(|folder| folder.is_absolute() && *folder != Path::new("/"))?;
            Some((folder.display().to_string(), word.to_owned()))
        });
        let here = std::iter::once((here.clone(), "this-machine".to_owned()));
        let here = here.filter(|(name, _)| name.len() >= SHORTEST && name != "localhost");
        let words = folders.chain(here).chain(hosts);
        let words = words.map(|(from, to)| {
            let whole = format!(r"(?<![\w.\-]){}(?![\w\-])", fancy_regex::escape(&from));
            Ok((pattern(&whole)?, to))
        });
        words.collect::<Result<_, _>>().map(Self)
    }

    /// In everything that a value says.
    fn in_value<T: Serialize + DeserializeOwned>(&self, value: &T) -> Result<T, ExpectedError> {
        let changed = serde_json::to_value(value).and_then(|mut value| {
            self.in_json(&mut value);
            serde_json::from_value(value)
        });
        changed.map_err(|error| ExpectedError::Environment(failed_to(&error)))
    }

    fn in_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.in_text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.in_json(value)),
            // Labels are keys, and may be URLs.
            Value::Object(map) => {
                let named = std::mem::take(map).into_iter();
                let renamed = named.map(|(name, mut value)| {
                    self.in_json(&mut value);
                    (self.in_text(&name), value)
                });
                map.extend(renamed);
            }
            _ => {}
        }
    }

    fn in_text(&self, text: &str) -> String {
        let words = self.0.iter();
        words.fold(text.to_owned(), |text, (from, to)| {
            from.replace_all(&text, to.as_str()).into_owned()
        })
    }
}

/// Hosts that a text names, each once.
fn hosts(text: &str) -> Result<Vec<String>, ExpectedError> {
    let mut hosts: Vec<String> = Vec::new();
    for found in pattern(HOSTS)?.captures_iter(text).flatten() {
        let host = found.get(1).map_or("", |host| host.as_str());
        let bare = host.trim_matches(['[', ']']);
        let is_here = bare == "localhost"
            || bare
                .parse::<IpAddr>()
                .is_ok_and(|address| address.is_loopback());
        if bare.len() >= SHORTEST && !is_here && !hosts.iter().any(|known| known == bare) {
            hosts.push(bare.to_owned());
        }
    }
    Ok(hosts)
}

fn pattern(text: &str) -> Result<Regex, ExpectedError> {
    Regex::new(text).map_err(|error| ExpectedError::Environment(failed_to(&error)))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_found_where_studies_and_commands_name_them() {
        let text = "ssh = \"app01\"\nurl = \"http://me@shop.example.com:80/\"\nweir init --ssh root@db7 \
                    http://10.1.2.3:8080/ http://127.0.0.1/ http://localhost http://[fd00::1]:80/ http://shop.example.com/";
        assert_eq!(
            hosts(text).unwrap(),
            ["app01", "shop.example.com", "db7", "10.1.2.3", "fd00::1"]
        );
    }

    #[test]
    fn a_copy_names_no_place_and_no_machine() {
        let manifest = RunManifest {
            schema: String::new(),
            weir: "0".to_owned(),
            started: String::new(),
            seed: 1,
            command: ["weir", "sweep", "/srv/work/plans/a.toml"]
                .map(str::to_owned)
                .to_vec(),
            base: "/srv/work".into(),
            study: "url = \"http://shop.example.com/\"\nssh = \"app01\"\n".to_owned(),
            title: None,
            machine: [
                ("host".to_owned(), "app01".to_owned()),
                ("http://app01/".to_owned(), String::new()),
            ]
            .into(),
        };
        let replacements = Replacements::of(&manifest, Some(Path::new("/srv/runs"))).unwrap();
        let copy = replacements.in_value(&manifest).unwrap();
        assert_eq!(copy.study, "url = \"http://host-1/\"\nssh = \"host-2\"\n");
        assert_eq!(copy.command[2], "DIR/plans/a.toml");
        assert_eq!(copy.machine["host"], "host-2");
        assert!(copy.machine.contains_key("http://host-2/"));
        let log = replacements.in_text("see /srv/runs/weir-runs/a/target.log");
        assert_eq!(log, "see DIR/weir-runs/a/target.log");
        // A part of a longer name is another name.
        assert_eq!(replacements.in_text("app01-b app01"), "app01-b host-2");
    }
}
