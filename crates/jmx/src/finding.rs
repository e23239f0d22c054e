//! What the reader has to say about a plan that it could read.

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
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// The element's type: `CookieManager`.
    pub element: String,
    /// The name that the user gave it.
    pub name: String,
    /// The file, if it is not the plan's own but one that it includes.
    pub file: Option<PathBuf>,
    /// Where it stands.
    pub at: Position,
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
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) all: Vec<Finding>,
}

impl Findings {
    pub(crate) fn ignored(&mut self, element: &Element<'_>, says: &str) {
        self.push(Severity::Ignored, element, element.at(), says);
    }

    pub(crate) fn warning(&mut self, element: &Element<'_>, says: &str) {
        self.push(Severity::Warning, element, element.at(), says);
    }

    pub(crate) fn unsupported(&mut self, element: &Element<'_>, refusal: Refusal<'_>) {
        self.unsupported_at(element, element.at(), refusal);
    }

    /// The same, where one property of the element stands.
    pub(crate) fn unsupported_at(
        &mut self,
        element: &Element<'_>,
        at: Position,
        refusal: Refusal<'_>,
    ) {
        let finding = self.push(Severity::Unsupported, element, at, &refusal.says);
        refusal.lost.clone_into(&mut finding.lost);
        refusal.instead.clone_into(&mut finding.instead);
    }

    fn push(
        &mut self,
        severity: Severity,
        element: &Element<'_>,
        at: Position,
        says: &str,
    ) -> &mut Finding {
        let index = self.all.len();
        self.all.push(Finding {
            severity,
            element: element.class().to_owned(),
            name: element.name().to_owned(),
            file: element.included().map(Path::to_path_buf),
            at,
            says: says.to_owned(),
            lost: String::new(),
            instead: String::new(),
        });
        &mut self.all[index]
    }
}
