//! What is wrong in a plan, all of it at once.

use std::fmt;
use std::path::{Path, PathBuf};

use weir_plan::Position;

/// One thing that is wrong, or that deserves a second look, at one place of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it stands.
    pub at: Position,
    /// What is wrong, with the value and the name of the thing; no capital, no full stop.
    pub says: String,
    /// What to write instead, if that can be said.
    pub instead: Option<String>,
}

impl Problem {
    pub(crate) fn new(at: Position, says: impl Into<String>) -> Self {
        Self {
            at,
            says: says.into(),
            instead: None,
        }
    }

    pub(crate) fn instead(mut self, instead: impl Into<String>) -> Self {
        self.instead = Some(instead.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Plans built from a URL have no lines.
        if self.at.line > 0 {
            write!(f, "line {}, column {}: ", self.at.line, self.at.column)?;
        }
        f.write_str(&self.says)?;
        match &self.instead {
            Some(instead) => write!(f, " ({instead})"),
            None => Ok(()),
        }
    }
}

/// A plan cannot be run as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolveError {
    /// The plan's file.
    pub source_file: Option<PathBuf>,
    /// Everything that is wrong, in the order of the file; never empty.
    pub problems: Vec<Problem>,
    /// What could be run but deserves a second look, in the order of the file.
    pub warnings: Vec<Problem>,
}

impl ResolveError {
    /// The error, if there are problems.
    pub(crate) fn check(
        source: Option<&Path>,
        mut problems: Vec<Problem>,
        warnings: &[Problem],
    ) -> Result<(), Self> {
        if problems.is_empty() {
            return Ok(());
        }
        problems.sort_by_key(|problem| problem.at);
        problems.dedup();
        Err(Self {
            source_file: source.map(Path::to_path_buf),
            problems,
            warnings: warnings.to_vec(),
        })
    }
}

impl fmt::Display for ResolveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("resolve ")?;
        match &self.source_file {
            Some(path) => write!(f, "{}", path.display())?,
            None => f.write_str("the load plan")?,
        }
        for problem in &self.problems {
            write!(f, "\n  {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ResolveError {}
