//! Files that are written from the code: the schemas of what Weir stores, and reference pages.
//!
//! They are committed, so that a reader finds them and a change of a format is seen in review; `cargo xtask ci` checks
//! that they are what the code says.

mod cli;
mod schemas;
mod signals;

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::TaskError;
use crate::workspace::Workspace;

/// A generated file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Generated {
    /// Its path relative to the root.
    path: &'static str,
    /// What it holds.
    text: String,
}

/// What follows from the libraries alone.
fn from_types() -> Result<Vec<Generated>, TaskError> {
    let mut files = schemas::all()?;
    files.push(signals::page());
    Ok(files)
}

/// What only the built program can say.
fn from_program(root: &Path) -> Result<Vec<Generated>, TaskError> {
    Ok(vec![cli::page(root)?])
}

/// Writes every generated file that is not up to date.
pub(crate) fn write(workspace: &Workspace) -> Result<(), TaskError> {
    // The first half is written even when the program does not build.
    write_stale(&workspace.root, from_types()?)?;
    write_stale(&workspace.root, from_program(&workspace.root)?)
}

fn write_stale(root: &Path, files: Vec<Generated>) -> Result<(), TaskError> {
    for file in stale(root, files) {
        let path = root.join(file.path);
        let error = |source| TaskError::File {
            doing: "write",
            path: path.clone(),
            source,
        };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(error)?;
        }
        fs::write(&path, &file.text).map_err(error)?;
        println!("wrote {}", file.path);
    }
    Ok(())
}

/// Checks that every generated file is up to date.
pub(crate) fn check(workspace: &Workspace) -> Result<(), TaskError> {
    let mut files = from_types()?;
    files.extend(from_program(&workspace.root)?);
    let stale = stale(&workspace.root, files);
    if stale.is_empty() {
        return Ok(());
    }
    let paths: Vec<&str> = stale.iter().map(|file| file.path).collect();
    Err(TaskError::Stale(paths.join(", ")))
}

/// The files whose stored text is another one, or that are not stored.
fn stale(root: &Path, files: Vec<Generated>) -> Vec<Generated> {
    let stored = |path: PathBuf| fs::read_to_string(path).ok();
    files
        .into_iter()
        .filter(|file| stored(root.join(file.path)).as_ref() != Some(&file.text))
        .collect()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test that fails should stop")]

    use super::*;

    fn file(path: &'static str, text: &str) -> Generated {
        Generated {
            path,
            text: text.to_owned(),
        }
    }

    #[test]
    fn what_is_missing_or_differs_is_stale_until_written() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("same.md"), "same").unwrap();
        fs::write(root.path().join("old.md"), "old").unwrap();
        let files = vec![
            file("same.md", "same"),
            file("old.md", "new"),
            file("below/none.md", "some"),
        ];
        let paths: Vec<&str> = stale(root.path(), files.clone())
            .iter()
            .map(|file| file.path)
            .collect();
        assert_eq!(paths, ["old.md", "below/none.md"]);
        write_stale(root.path(), files.clone()).unwrap();
        assert!(stale(root.path(), files).is_empty());
    }

    #[test]
    fn the_same_code_generates_the_same_text() {
        assert_eq!(from_types().unwrap(), from_types().unwrap());
    }
}
