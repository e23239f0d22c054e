//! The workspace as cargo sees it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::TaskError;
use crate::process;

/// The workspace that this task works on.
pub(crate) struct Workspace {
    /// Its root directory.
    pub(crate) root: PathBuf,
}

/// One crate of the product (`crates/*`), as its manifest says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Crate {
    /// Short name: the package's without `weir-`.
    pub(crate) name: String,
    /// Its directory, relative to the root.
    pub(crate) directory: String,
    /// Short names of the workspace's crates that its code depends on; tests may depend on more.
    pub(crate) edges: BTreeSet<String>,
    /// Packages from elsewhere that its code depends on; tests may depend on more.
    pub(crate) external: BTreeSet<String>,
    /// Names of its integration tests.
    pub(crate) test_targets: Vec<String>,
}

impl Workspace {
    /// Finds the workspace above this task's own manifest.
    pub(crate) fn read() -> Result<Self, TaskError> {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = manifest.parent().ok_or_else(|| TaskError::Form {
            what: manifest.display().to_string(),
            why: "it has no directory above it".to_owned(),
        })?;
        Ok(Self {
            root: root.to_owned(),
        })
    }

    /// The crates of the product, by name; `xtask` is not one of them.
    pub(crate) fn crates(&self) -> Result<Vec<Crate>, TaskError> {
        Ok(crates_in(self.metadata()?))
    }

    /// Where cargo puts what it builds.
    pub(crate) fn target_directory(&self) -> Result<PathBuf, TaskError> {
        Ok(self.metadata()?.target_directory)
    }

    /// The program `weir`: the one that is named, or one that is built for it.
    pub(crate) fn program(&self, named: Option<&Path>) -> Result<PathBuf, TaskError> {
        if let Some(named) = named {
            return Ok(named.to_owned());
        }
        let build = ["build", "--release", "--package", "weir"];
        process::run(&mut process::cargo(&self.root, &build))?;
        Ok(self.target_directory()?.join("release/weir"))
    }

    fn metadata(&self) -> Result<Metadata, TaskError> {
        parse(&process::output(&mut process::cargo(
            &self.root,
            &["metadata", "--format-version", "1", "--no-deps"],
        ))?)
    }
}

/// Reads the output of `cargo metadata --no-deps`.
fn parse(metadata: &str) -> Result<Metadata, TaskError> {
    serde_json::from_str(metadata).map_err(|error| TaskError::Form {
        what: "the output of `cargo metadata`".to_owned(),
        why: error.to_string(),
    })
}

fn crates_in(metadata: Metadata) -> Vec<Crate> {
    let product = metadata.workspace_root.join("crates");
    let mut crates: Vec<Crate> = metadata
        .packages
        .into_iter()
        .filter(|package| package.manifest_path.starts_with(&product))
        .map(|package| package.into_crate(&metadata.workspace_root))
        .collect();
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    crates
}

/// The short name of one of our packages: `weir-stats` is `stats`, `weir` is itself.
pub(crate) fn short_name(package: &str) -> &str {
    package.strip_prefix("weir-").unwrap_or(package)
}

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    dependencies: Vec<Dependency>,
    targets: Vec<Target>,
}

#[derive(Debug, Deserialize)]
struct Dependency {
    name: String,
    /// Null for a normal dependency, else `dev` or `build`.
    kind: Option<String>,
    /// Where it lies, for a crate of the workspace.
    path: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

impl Package {
    fn into_crate(self, root: &Path) -> Crate {
        let directory = self
            .manifest_path
            .parent()
            .and_then(|directory| directory.strip_prefix(root).ok())
            .map(|directory| directory.to_string_lossy().into_owned())
            .unwrap_or_default();
        let (ours, external): (Vec<Dependency>, Vec<Dependency>) = self
            .dependencies
            .into_iter()
            .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
            .partition(|dependency| dependency.path.is_some());
        Crate {
            name: short_name(&self.name).to_owned(),
            directory,
            edges: ours
                .iter()
                .map(|dependency| short_name(&dependency.name).to_owned())
                .collect(),
            external: external
                .into_iter()
                .map(|dependency| dependency.name)
                .collect(),
            test_targets: self
                .targets
                .into_iter()
                .filter(|target| target.kind.iter().any(|kind| kind == "test"))
                .map(|target| target.name)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

    use super::*;

    const METADATA: &str = r#"{
      "workspace_root": "/made/up", "target_directory": "/made/up/target",
      "packages": [
        {"name": "xtask", "manifest_path": "/made/up/xtask/Cargo.toml", "dependencies": [], "targets": []},
        {"name": "weir-plan", "manifest_path": "/made/up/crates/plan/Cargo.toml",
         "dependencies": [
           {"name": "serde", "kind": null, "path": null},
           {"name": "cc", "kind": "build", "path": null},
           {"name": "proptest", "kind": "dev", "path": null},
           {"name": "weir-metric", "kind": null, "path": "/made/up/crates/metric"},
           {"name": "weir-record", "kind": "dev", "path": "/made/up/crates/record"}],
         "targets": [{"name": "weir_plan", "kind": ["lib"]}, {"name": "system_plans", "kind": ["test"]}]}
      ]
    }"#;

    #[test]
    fn crates_have_the_edges_of_their_code_not_of_their_tests() {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let expected = Crate {
            name: "plan".to_owned(),
            directory: "crates/plan".to_owned(),
            edges: set(&["metric"]),
            external: set(&["cc", "serde"]),
            test_targets: vec!["system_plans".to_owned()],
        };
        assert_eq!(crates_in(parse(METADATA).unwrap()), [expected]);
    }

    #[test]
    fn output_of_another_form_is_an_error() {
        let error = parse("{}").unwrap_err().to_string();
        assert!(error.contains("cargo metadata"), "{error}");
    }

    #[test]
    fn the_workspace_is_this_one() {
        let workspace = Workspace::read().unwrap();
        let crates = workspace.crates().unwrap();
        assert!(crates.iter().any(|member| member.name == "weir"));
        assert!(crates.iter().all(|member| member.name != "xtask"));
    }
}
