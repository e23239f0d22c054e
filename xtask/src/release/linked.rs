//! What is linked into the program: its packages, and what each of them needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::TaskError;
use crate::process::{cargo, output};

pub(super) const PROGRAM: &str = "weir";

/// A package that is linked.
#[derive(Debug, Deserialize)]
pub(super) struct Package {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) version: String,
    pub(super) license: Option<String>,
    pub(super) license_file: Option<PathBuf>,
    pub(super) source: Option<String>,
    pub(super) manifest_path: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
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

impl Node {
    /// The packages that it is linked with.
    fn linked(&self) -> impl Iterator<Item = &str> {
        let linked = self.deps.iter().filter(|dependency| {
            let mut kinds = dependency.dep_kinds.iter();
            kinds.any(|kind| kind.kind.is_none())
        });
        linked.map(|dependency| dependency.pkg.as_str())
    }
}

/// Everything that is linked into the program on a kind of machine.
#[derive(Debug)]
pub(super) struct Linked {
    /// By name and version; the project's own packages are among them.
    pub(super) packages: Vec<Package>,
    /// What each is linked with, by id.
    needs: BTreeMap<String, Vec<String>>,
}

impl Linked {
    /// As cargo resolves it.
    pub(super) fn read(root: &Path, target: &str) -> Result<Self, TaskError> {
        let mut command = cargo(root, &["metadata", "--format-version", "1", "--locked"]);
        let json = output(command.args(["--filter-platform", target]))?;
        Self::of(&json)
    }

    /// Of what `cargo metadata` says.
    pub(super) fn of(json: &str) -> Result<Self, TaskError> {
        let form = |why: String| TaskError::Form {
            what: "cargo metadata".to_owned(),
            why,
        };
        let metadata: Metadata =
            serde_json::from_str(json).map_err(|error| form(error.to_string()))?;
        let linked = linked(&metadata);
        let nodes = metadata.resolve.nodes.iter();
        let needs = nodes
            .filter(|node| linked.contains(&node.id))
            .map(|node| (node.id.clone(), node.linked().map(str::to_owned).collect()))
            .collect();
        let packages = metadata.packages.into_iter();
        let mut packages: Vec<Package> = packages
            .filter(|package| linked.contains(&package.id))
            .collect();
        packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        let linked = Self { packages, needs };
        if linked.foreign().next().is_none() {
            return Err(form(format!("{PROGRAM} has no dependencies in it")));
        }
        Ok(linked)
    }

    /// The packages that are not the project's own.
    pub(super) fn foreign(&self) -> impl Iterator<Item = &Package> {
        let packages = self.packages.iter();
        packages.filter(|package| package.source.is_some())
    }

    /// What a package is linked with.
    pub(super) fn needs(&self, package: &Package) -> &[String] {
        self.needs.get(&package.id).map_or(&[], Vec::as_slice)
    }
}

/// The packages that the program is linked with.
fn linked(metadata: &Metadata) -> BTreeSet<String> {
    let nodes = metadata.resolve.nodes.iter();
    let nodes: BTreeMap<&str, &Node> = nodes.map(|node| (node.id.as_str(), node)).collect();
    let is_program = |package: &&Package| package.name == PROGRAM && package.source.is_none();
    let programs = metadata.packages.iter().filter(is_program);
    let mut next: Vec<&str> = programs.map(|package| package.id.as_str()).collect();
    let mut linked = BTreeSet::new();
    while let Some(id) = next.pop() {
        if linked.insert(id.to_owned()) {
            next.extend(nodes.get(id).into_iter().flat_map(|node| node.linked()));
        }
    }
    linked
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) const METADATA: &str = r#"{
        "packages": [
            {"id": "w", "name": "weir", "version": "1.0.0", "license": null, "license_file": null, "source": null, "manifest_path": "/w/Cargo.toml"},
            {"id": "a", "name": "a", "version": "1.0.0", "license": "MIT/Apache-2.0", "license_file": null, "source": "r", "manifest_path": "/a/Cargo.toml"},
            {"id": "b", "name": "b", "version": "1.0.0", "license": "MIT", "license_file": null, "source": "r", "manifest_path": "/b/Cargo.toml"},
            {"id": "t", "name": "t", "version": "1.0.0", "license": "MIT", "license_file": null, "source": "r", "manifest_path": "/t/Cargo.toml"}
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

    #[test]
    fn what_is_linked_is_told_from_what_only_builds_or_tests() {
        let linked = Linked::of(METADATA).expect("metadata");
        let names: Vec<&str> = linked.foreign().map(|package| &*package.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(linked.needs(&linked.packages[0]), ["b"]);
    }
}
