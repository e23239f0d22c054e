//! What the reader has to say about a plan that it could read.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use weir_plan::Position;

use crate::element::Element;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Left out on purpose, and the load is the same: listeners of the graphical interface,
    /// elements that are disabled.
    Ignored,
    /// The load is the same, but something that the plan asks for does not happen.
    Warning,
    /// What would be sent is not what the plan says: the plan must not be run.
    Unsupported,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ignored => "ignored",
            Self::Warning => "warning",
            Self::Unsupported => "unsupported",
        })
    }
}

/// One thing about one element of a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    /// The file, if it is not the plan's own but one that it includes.
    pub file: Option<PathBuf>,
    /// Where it stands.
    pub at: Position,
    /// How much it matters.
    pub severity: Severity,
    /// The element's type: `CookieManager`.
    pub element: String,
    /// The name that the user gave it.
    pub name: String,
    /// What is the matter; no capital, no full stop.
    pub says: String,
    /// What would be lost if the plan were run without it; may be empty.
    pub lost: String,
    /// What to do about it; may be empty.
    pub instead: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.at;
        if let Some(file) = &self.file {
            write!(f, "in {}, ", file.display())?;
        }
        write!(f, "line {line}, column {column}: {} ", self.element)?;
        if !self.name.is_empty() {
            write!(f, "\"{}\" ", self.name)?;
        }
        write!(f, "({}): {}", self.severity, self.says)?;
        for part in [&self.lost, &self.instead] {
            if !part.is_empty() {
                write!(f, "; {part}")?;
            }
        }
        Ok(())
    }
}

/// What to say about an element that the plan cannot be run with.
pub(crate) struct Refusal<'t> {
    /// What is the matter.
    pub(crate) says: String,
    /// What would be lost without it.
    pub(crate) lost: &'t str,
    /// What to do about it.
    pub(crate) instead: &'t str,
}

/// Gathers findings.
///
/// Elements are looked at once for every group and copy that has them in scope: what is said
/// again counts once.
#[derive(Default)]
pub(crate) struct Findings {
    all: HashSet<Finding>,
}

impl Findings {
    /// All of them, in the order of the file.
    pub(crate) fn into_sorted(self) -> Vec<Finding> {
        let mut all: Vec<Finding> = self.all.into_iter().collect();
        all.sort();
        all
    }

    pub(crate) fn ignored(&mut self, element: &Element<'_>, says: &str) {
        let finding = finding(Severity::Ignored, element, says);
        self.all.insert(finding);
    }

    pub(crate) fn warning(&mut self, element: &Element<'_>, says: &str) {
        let finding = finding(Severity::Warning, element, says);
        self.all.insert(finding);
    }

    pub(crate) fn unsupported(&mut self, element: &Element<'_>, refusal: &Refusal<'_>) {
        self.unsupported_at(element, element.at(), refusal);
    }

    /// As `unsupported`, where one property of the element stands.
    pub(crate) fn unsupported_at(
        &mut self,
        element: &Element<'_>,
        at: Position,
        refusal: &Refusal<'_>,
    ) {
        self.all.insert(Finding {
            at,
            lost: refusal.lost.to_owned(),
            instead: refusal.instead.to_owned(),
            ..finding(Severity::Unsupported, element, &refusal.says)
        });
    }
}

fn finding(severity: Severity, element: &Element<'_>, says: &str) -> Finding {
    Finding {
        file: element.included().map(Path::to_path_buf),
        at: element.at(),
        severity,
        element: element.class().to_owned(),
        name: element.name().to_owned(),
        says: says.to_owned(),
        lost: String::new(),
        instead: String::new(),
    }
}
