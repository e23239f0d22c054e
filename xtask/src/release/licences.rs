//! The licences of everything that is linked into the program.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::TaskError;
use crate::process::{cargo, output};

/// How the names of files begin in which packages keep their licences.
const BEGINNINGS: [&str; 5] = ["license", "licence", "copying", "notice", "unlicense"];
const PROGRAM: &str = "weir";

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Debug, Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    license_file: Option<PathBuf>,
    source: Option<String>,
    manifest_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    /// `null` for one that is linked; `dev` and `build` are not.
    kind: Option<String>,
}

/// A text with every package, its licence and its own words for it.
pub(super) fn of_dependencies(root: &Path, target: &str) -> Result<String, TaskError> {
    let mut command = cargo(root, &["metadata", "--format-version", "1", "--locked"]);
    let json = output(command.args(["--filter-platform", target]))?;
    let metadata: Metadata = serde_json::from_str(&json).map_err(|error| TaskError::Form {
        what: "cargo metadata".to_owned(),
        why: error.to_string(),
    })?;
    let linked = linked(&metadata);
    let mut packages: Vec<&Package> = metadata
        .packages
        .iter()
        .filter(|package| package.source.is_some() && linked.contains(package.id.as_str()))
        .collect();
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    if packages.is_empty() {
        return Err(TaskError::Form {
            what: "cargo metadata".to_owned(),
            why: format!("{PROGRAM} has no dependencies in it"),
        });
    }
    let mut text = format!("What is linked into {PROGRAM}, and under which licences.\n\n");
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in &packages {
        let title = format!("{} {}", package.name, package.version);
        let licence = package.license.as_deref().unwrap_or("see its text");
        let _ = writeln!(text, "{title:<44} {licence}");
        let own = texts_of(package);
        if own.is_empty() && package.license.is_none() {
            return Err(TaskError::Form {
                what: title,
                why: "it names no licence and has no text of one".to_owned(),
            });
        }
        for words in own {
            texts.entry(words).or_default().push(title.clone());
        }
    }
    for (words, titles) in texts {
        let line = "-".repeat(78);
        let _ = write!(text, "\n{line}\n{}\n{line}\n\n{words}\n", titles.join(", "));
    }
    Ok(text)
}

/// The packages that the program is linked with.
fn linked(metadata: &Metadata) -> BTreeSet<&str> {
    let nodes: BTreeMap<&str, &Node> = metadata
        .resolve
        .nodes
        .iter()
        .map(|node| (node.id.as_str(), node))
        .collect();
    let is_program = |package: &&Package| package.name == PROGRAM && package.source.is_none();
    let mut next: Vec<&str> = metadata
        .packages
        .iter()
        .filter(is_program)
        .map(|package| package.id.as_str())
        .collect();
    let mut linked = BTreeSet::new();
    while let Some(id) = next.pop() {
        if !linked.insert(id) {
            continue;
        }
        let dependencies = nodes.get(id).into_iter().flat_map(|node| &node.deps);
        let wanted = dependencies
            .filter(|dependency| dependency.dep_kinds.iter().any(|kind| kind.kind.is_none()));
        next.extend(wanted.map(|dependency| dependency.pkg.as_str()));
    }
    linked
}

/// The texts of licences that a package brings along.
fn texts_of(package: &Package) -> Vec<String> {
    let Some(folder) = package.manifest_path.parent() else {
        return Vec::new();
    };
    let names = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = names
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path.file_name().and_then(|name| name.to_str());
            let name = name.unwrap_or_default().to_lowercase();
            BEGINNINGS.iter().any(|begin| name.starts_with(begin))
        })
        .chain(package.license_file.iter().map(|name| folder.join(name)))
        .collect();
    paths.sort();
    paths.dedup();
    let texts = paths
        .iter()
        .filter_map(|path| fs::read_to_string(path).ok());
    texts.map(|text| text.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_is_told_from_what_only_builds_or_tests() {
        let json = r#"{
            "packages": [
                {"id": "w", "name": "weir", "version": "1", "license": null, "license_file": null, "source": null, "manifest_path": "/w/Cargo.toml"},
                {"id": "a", "name": "a", "version": "1", "license": "MIT", "license_file": null, "source": "r", "manifest_path": "/a/Cargo.toml"},
                {"id": "b", "name": "b", "version": "1", "license": "MIT", "license_file": null, "source": "r", "manifest_path": "/b/Cargo.toml"},
                {"id": "t", "name": "t", "version": "1", "license": "MIT", "license_file": null, "source": "r", "manifest_path": "/t/Cargo.toml"}
            ],
            "resolve": {"nodes": [
                {"id": "w", "deps": [
                    {"pkg": "a", "dep_kinds": [{"kind": null}]},
                    {"pkg": "t", "dep_kinds": [{"kind": "dev"}, {"kind": "build"}]}
                ]},
                {"id": "a", "deps": [{"pkg": "b", "dep_kinds": [{"kind": "dev"}, {"kind": null}]}]},
                {"id": "b", "deps": []},
                {"id": "t", "deps": []}
            ]}
        }"#;
        let metadata: Metadata = serde_json::from_str(json).expect("metadata");
        assert_eq!(linked(&metadata), BTreeSet::from(["a", "b", "w"]));
    }
}
