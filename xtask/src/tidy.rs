//! The structure check: rules that a compiler does not know.
//!
//! Each rule is one small function from the tree (or the crates) to the places that break it, and
//! has a test on a made-up tree. A rule that cannot be checked here belongs into CONTRIBUTING.md;
//! one that can does not.

mod crate_table;
mod edges;
mod files;
mod findings_page;
mod guesses;
mod links;
mod prose;
mod sources;
mod tree;
mod wrappers;

use std::fmt;

use crate::error::TaskError;
use crate::tidy::tree::Tree;
use crate::workspace::Workspace;

/// A place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The file, relative to the root.
    path: String,
    /// Its line, where there is one.
    line: Option<usize>,
    /// What is wrong and what to do.
    says: String,
}

impl Problem {
    fn in_file(path: &str, says: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line: None,
            says: says.into(),
        }
    }

    fn at_line(path: &str, line: usize, says: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            ..Self::in_file(path, says)
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.path, self.says),
            None => write!(f, "{}: {}", self.path, self.says),
        }
    }
}

/// Checks every rule on the whole workspace and prints what breaks them.
pub(crate) fn check(workspace: &Workspace) -> Result<(), TaskError> {
    let tree = Tree::read(&workspace.root)?;
    let crates = workspace.crates()?;
    let mut problems = Vec::new();
    problems.extend(crate_table::check(&tree, &crates));
    problems.extend(wrappers::check(&tree, &crates));
    problems.extend(sources::empty_crates(&tree, &crates));
    problems.extend(sources::crate_docs(&tree, &crates));
    problems.extend(sources::long_files(&tree));
    problems.extend(sources::wide_comments(&tree));
    problems.extend(sources::empty_openings(&tree));
    problems.extend(sources::nameless_modules(&tree));
    problems.extend(guesses::check(&tree));
    problems.extend(prose::check(&tree));
    problems.extend(links::check(&tree));
    problems.extend(findings_page::check(&tree));
    problems.extend(files::machine_paths(&tree));
    problems.extend(files::blanks(&tree));
    problems.extend(files::binaries(&tree));
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => {
            println!("tidy: {} files, {} crates", tree.len(), crates.len());
            Ok(())
        }
        count => Err(TaskError::Rules(count)),
    }
}
