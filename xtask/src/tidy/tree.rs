//! The files of the project, as text.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::error::TaskError;

/// Directories that hold the project; what else lies in the root was put there by somebody's work
/// (results, runs).
const DIRECTORIES: [&str; 9] = [
    ".cargo", ".ci", "bench", "crates", "docs", "java", "networks", "studies", "xtask",
];

/// What tools fetch into the folder where they are started.
const PACKAGES: [&str; 6] = ["deb", "gz", "jar", "tgz", "whl", "zip"];

/// Every text file of the project by its path relative to the root.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, String>,
    /// Paths of what is no text.
    binaries: Vec<String>,
}

impl Tree {
    /// Reads the project below this root.
    pub(crate) fn read(root: &Path) -> Result<Self, TaskError> {
        let mut tree = Self::default();
        for entry in list(root)? {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_directory = entry.path().is_dir();
            if is_directory && DIRECTORIES.contains(&name.as_str()) {
                tree.add_directory(&entry.path(), &name)?;
            } else if !is_directory && is_of_the_root(&name) {
                tree.add_file(&entry.path(), name)?;
            } else if !is_directory && PACKAGES.contains(&extension(&name)) {
                tree.binaries.push(name);
            }
        }
        Ok(tree)
    }

    /// A made-up tree.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let files = files
            .iter()
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect();
        Self {
            files,
            binaries: Vec::new(),
        }
    }

    /// With files that are no text.
    #[cfg(test)]
    pub(crate) fn and_binaries(mut self, paths: &[&str]) -> Self {
        self.binaries = paths.iter().map(|path| (*path).to_owned()).collect();
        self
    }

    /// Paths of files that are no text.
    pub(crate) fn binaries(&self) -> impl Iterator<Item = &str> {
        self.binaries.iter().map(String::as_str)
    }

    /// How many files there are.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// Paths and texts, by path.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The text of one file.
    pub(crate) fn file(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    fn add_directory(&mut self, directory: &Path, path: &str) -> Result<(), TaskError> {
        for entry in list(directory)? {
            let below = format!("{path}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                self.add_directory(&entry.path(), &below)?;
            } else {
                self.add_file(&entry.path(), below)?;
            }
        }
        Ok(())
    }

    fn add_file(&mut self, file: &Path, path: String) -> Result<(), TaskError> {
        let bytes = fs::read(file).map_err(|source| TaskError::File {
            doing: "read",
            path: file.to_owned(),
            source,
        })?;
        match String::from_utf8(bytes) {
            Ok(text) => {
                self.files.insert(path, text);
            }
            Err(_) => self.binaries.push(path),
        }
        Ok(())
    }
}

/// The extension of a path, without the dot; empty when there is none.
pub(crate) fn extension(path: &str) -> &str {
    Path::new(path)
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default()
}

/// Whether a path lies in a directory of this name.
pub(crate) fn is_below(path: &str, directory: &str) -> bool {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    parts.contains(&directory)
}

fn is_of_the_root(name: &str) -> bool {
    matches!(extension(name), "md" | "toml") || name == "LICENSE" || name == ".gitignore"
}

fn list(directory: &Path) -> Result<Vec<fs::DirEntry>, TaskError> {
    let error = |source| TaskError::File {
        doing: "read",
        path: directory.to_owned(),
        source,
    };
    fs::read_dir(directory)
        .map_err(error)?
        .map(|entry| entry.map_err(error))
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

    use super::*;

    #[test]
    fn the_project_is_read_and_nothing_beside_it() {
        let root = tempfile::tempdir().unwrap();
        let files: [(&str, &[u8]); 7] = [
            ("README.md", b"weir"),
            ("result.json", b"{}"),
            ("crates/metric/src/lib.rs", b"//! Units."),
            ("crates/report/assets/logo.png", &[0x89, 0xff]),
            (".ci/run", b"#!/bin/sh"),
            ("target/debug/notes.md", b"no"),
            ("weir-runs/one/run.toml", b"no"),
        ];
        for (path, bytes) in files {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, bytes).unwrap();
        }
        let tree = Tree::read(root.path()).unwrap();
        let paths: Vec<&str> = tree.files().map(|(path, _)| path).collect();
        assert_eq!(paths, [".ci/run", "README.md", "crates/metric/src/lib.rs"]);
        assert_eq!(tree.file("README.md"), Some("weir"));
    }

    #[test]
    fn paths_are_taken_apart() {
        assert_eq!(extension("a/b.rs"), "rs");
        assert_eq!(extension(".ci/run"), "");
        assert!(is_below("crates/x/tests/common/mod.rs", "tests"));
        assert!(!is_below("crates/x/src/tests", "tests"));
    }
}
