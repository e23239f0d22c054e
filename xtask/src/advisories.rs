//! Known weaknesses of the packages that Weir is made of.
//!
//! `advisories.txt` is a dated copy of what the `RustSec` Advisory Database says: which versions of
//! which package have which weakness. The database itself is no part of a package registry, so
//! that a build without any other network has to bring a copy along. `cargo xtask advisories
//! FOLDER` makes it anew from a checkout of the database; only facts are kept, no texts.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use semver::VersionReq;
use serde::Deserialize;

use crate::error::TaskError;
use crate::lock_file::{self, Locked};
use crate::process::output;
use crate::workspace::Workspace;

/// Where the copy lies.
const COPY: &str = "xtask/advisories.txt";
/// How its first line begins, before the day.
const DATED: &str = "# RustSec Advisory Database (CC0-1.0), as of ";
/// Weaknesses that do not concern Weir, each with its reason.
const ACCEPTED: [(&str, &str); 0] = [];

/// Compare the packages that are used with known weaknesses, or make the copy of those anew
#[derive(Debug, Args)]
pub(crate) struct AdvisoriesOptions {
    /// A checkout of the `RustSec` Advisory Database, to copy
    #[arg(value_name = "FOLDER")]
    database: Option<PathBuf>,
}

/// Compares, after a copy was made if one is asked for.
pub(crate) fn run(workspace: &Workspace, options: &AdvisoriesOptions) -> Result<(), TaskError> {
    if let Some(database) = &options.database {
        copy(workspace, database)?;
    }
    check(workspace)
}

/// What is said of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Advisory {
    id: String,
    package: String,
    /// It names no weakness: a package that nobody keeps any more, say.
    is_information: bool,
    /// Versions that do not have it: those that were mended, and those from before.
    sound: Vec<VersionReq>,
}

/// An advisory as the database has it.
#[derive(Debug, Deserialize)]
struct Written {
    advisory: WrittenAdvisory,
    #[serde(default)]
    versions: WrittenVersions,
}

#[derive(Debug, Deserialize)]
struct WrittenAdvisory {
    id: String,
    package: String,
    informational: Option<String>,
    withdrawn: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
struct WrittenVersions {
    #[serde(default)]
    patched: Vec<String>,
    #[serde(default)]
    unaffected: Vec<String>,
}

/// Compares every package of `Cargo.lock` with the copy.
pub(crate) fn check(workspace: &Workspace) -> Result<(), TaskError> {
    let copy = workspace.root.join(COPY);
    let text = fs::read_to_string(&copy).map_err(TaskError::file("read", &copy))?;
    let (day, advisories) = read(&text)?;
    let packages = lock_file::read(&workspace.root)?;
    let found = concerned(&advisories, &packages);
    let foreign = packages.iter().filter(|of| of.source.is_some()).count();
    println!(
        "{foreign} packages, {} advisories as of {day}",
        advisories.len()
    );
    for (advisory, package) in &found.told {
        let Locked { name, version, .. } = package;
        println!("{name} {version}: {} (for information)", advisory.id);
    }
    let weak: Vec<String> = found
        .weak
        .iter()
        .map(|(advisory, of)| format!("{} {} has {}", of.name, of.version, advisory.id))
        .collect();
    if weak.is_empty() {
        Ok(())
    } else {
        Err(TaskError::Checks(weak.join(", ")))
    }
}

/// What of the advisories concerns these packages.
#[derive(Debug, Default)]
struct Found<'a> {
    weak: Vec<(&'a Advisory, &'a Locked)>,
    told: Vec<(&'a Advisory, &'a Locked)>,
}

fn concerned<'a>(advisories: &'a [Advisory], packages: &'a [Locked]) -> Found<'a> {
    let mut found = Found::default();
    for package in packages.iter().filter(|package| package.source.is_some()) {
        let of_package = advisories
            .iter()
            .filter(|advisory| advisory.package == package.name);
        for advisory in of_package {
            let is_sound = advisory
                .sound
                .iter()
                .any(|versions| versions.matches(&package.version));
            let is_accepted = ACCEPTED.iter().any(|(id, _)| *id == advisory.id);
            if is_sound || is_accepted {
                continue;
            }
            let of = if advisory.is_information {
                &mut found.told
            } else {
                &mut found.weak
            };
            of.push((advisory, package));
        }
    }
    found
}

/// The day of a copy, and what it says.
fn read(text: &str) -> Result<(&str, Vec<Advisory>), TaskError> {
    let form = |why: String| TaskError::Form {
        what: COPY.to_owned(),
        why,
    };
    let mut lines = text.lines();
    let day = lines.next().and_then(|first| first.strip_prefix(DATED));
    let day = day.ok_or_else(|| form("its first line says no day".to_owned()))?;
    let advisories = lines.map(|line| {
        let mut fields = line.split('|');
        let mut next = || fields.next().ok_or_else(|| form(format!("`{line}`")));
        let (id, package, kind, sound) = (next()?, next()?, next()?, next()?);
        let sound = sound.split(';').filter(|versions| !versions.is_empty());
        let sound = sound.map(|versions| {
            VersionReq::parse(versions).map_err(|error| form(format!("`{line}`: {error}")))
        });
        Ok(Advisory {
            id: id.to_owned(),
            package: package.to_owned(),
            is_information: kind == "information",
            sound: sound.collect::<Result<_, TaskError>>()?,
        })
    });
    Ok((day, advisories.collect::<Result<_, TaskError>>()?))
}

/// Makes the copy anew.
fn copy(workspace: &Workspace, database: &Path) -> Result<(), TaskError> {
    let mut command = Command::new("git");
    command.arg("-C").arg(database);
    let day = output(command.args(["log", "-1", "--format=%cs"]))?;
    let mut lines = Vec::new();
    let crates = database.join("crates");
    for folder in entries(&crates)? {
        for file in entries(&folder)? {
            let text = fs::read_to_string(&file).map_err(TaskError::file("read", &file))?;
            lines.extend(line(&file, &text)?);
        }
    }
    if lines.is_empty() {
        return Err(TaskError::Form {
            what: crates.display().to_string(),
            why: "there are no advisories in it".to_owned(),
        });
    }
    lines.sort();
    let mut text = format!("{DATED}{}\n", day.trim());
    for line in lines {
        let _ = writeln!(text, "{line}");
    }
    // What cannot be read again is not written.
    let (_, advisories) = read(&text)?;
    println!("{} advisories as of {}", advisories.len(), day.trim());
    let copy = workspace.root.join(COPY);
    fs::write(&copy, text).map_err(TaskError::file("write", &copy))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, TaskError> {
    let found = fs::read_dir(folder).map_err(TaskError::file("read", folder))?;
    Ok(found.flatten().map(|entry| entry.path()).collect())
}

/// A line of the copy; none of an advisory that was withdrawn.
fn line(file: &Path, text: &str) -> Result<Option<String>, TaskError> {
    let form = |why: String| TaskError::Form {
        what: file.display().to_string(),
        why,
    };
    let block = text.split("```toml").nth(1);
    let block = block.and_then(|rest| rest.split("```").next());
    let block = block.ok_or_else(|| form("it has no block of TOML".to_owned()))?;
    let written: Written = toml::from_str(block).map_err(|error| form(error.to_string()))?;
    let Written { advisory, versions } = written;
    if advisory.withdrawn.is_some() {
        return Ok(None);
    }
    let kind = match advisory.informational.as_deref() {
        // Unsound code is a weakness.
        None | Some("unsound") => "weakness",
        Some(_) => "information",
    };
    let sound = [versions.patched, versions.unaffected].concat().join(";");
    let WrittenAdvisory { id, package, .. } = advisory;
    Ok(Some(format!("{id}|{package}|{kind}|{sound}")))
}

#[cfg(test)]
mod tests {
    use semver::Version;

    use super::*;

    const DATABASE: &str = "```toml\n[advisory]\nid = \"RUSTSEC-2023-0005\"\npackage = \"tokio\"\n\
        date = \"2023-01-11\"\ninformational = \"unsound\"\n\n[versions]\n\
        patched = [\">= 1.18.5, < 1.19.0\", \">= 1.24.2\"]\nunaffected = [\"< 0.2.0\"]\n```\n\n# Title\n";

    fn locked(name: &str, version: &str) -> Locked {
        Locked {
            name: name.to_owned(),
            version: Version::parse(version).expect("a version"),
            source: Some("registry".to_owned()),
            checksum: None,
        }
    }

    #[test]
    fn a_copy_says_which_versions_are_sound() {
        let made = line(Path::new("a.md"), DATABASE).expect("an advisory");
        let line = made.expect("one that stands");
        assert_eq!(
            line,
            "RUSTSEC-2023-0005|tokio|weakness|>= 1.18.5, < 1.19.0;>= 1.24.2;< 0.2.0"
        );
        let copy = format!("{DATED}2026-11-30\n{line}\nA-1|old|information|\n");
        let (day, advisories) = read(&copy).expect("a copy");
        assert_eq!(day, "2026-11-30");
        let packages = [
            locked("tokio", "1.24.1"),
            locked("tokio", "1.24.2"),
            locked("tokio", "1.18.9"),
            locked("tokio", "1.19.0"),
            locked("tokio", "0.1.9"),
            locked("old", "3.0.0"),
            locked("new", "1.0.0"),
        ];
        let found = concerned(&advisories, &packages);
        let weak: Vec<String> = found
            .weak
            .iter()
            .map(|(_, of)| of.version.to_string())
            .collect();
        assert_eq!(weak, ["1.24.1", "1.19.0"]);
        assert_eq!(found.told.len(), 1);
    }

    #[test]
    fn what_was_withdrawn_is_left_out_and_what_cannot_be_read_is_told() {
        let withdrawn = DATABASE.replace("date =", "withdrawn = \"2024-01-01\"\ndate =");
        let made = line(Path::new("a.md"), &withdrawn).expect("an advisory");
        assert_eq!(made, None);
        assert!(line(Path::new("a.md"), "# Title\n").is_err());
        assert!(read("A|b|weakness|>= 1\n").is_err());
        assert!(read(&format!("{DATED}2026-11-30\nA|b|weakness|nonsense\n")).is_err());
    }
}
