//! What the reader has to say about a plan that it could read.

use std::fmt;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How much it matters.
    pub severity: Severity,
    /// The element's type: `CookieManager`.
    pub element: String,
    /// The name that the user gave it.
    pub name: String,
    /// Where it stands.
    pub at: Position,
    /// What is the matter; no capital, no full stop.
    pub says: String,
    /// What to do about it; may be empty.
    pub instead: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Position { line, column } = self.at;
        write!(f, "line {line}, column {column}: {} ", self.element)?;
        if !self.name.is_empty() {
            write!(f, "\"{}\" ", self.name)?;
        }
        write!(f, "({}): {}", self.severity, self.says)?;
        if self.instead.is_empty() {
            return Ok(());
        }
        write!(f, "; {}", self.instead)
    }
}

/// Gathers findings.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) all: Vec<Finding>,
}

impl Findings {
    pub(crate) fn ignored(&mut self, element: &Element<'_>, says: &str) {
        self.push(
            Severity::Ignored,
            element,
            element.at(),
            says.to_owned(),
            "",
        );
    }

    pub(crate) fn warning(&mut self, element: &Element<'_>, says: &str) {
        self.push(
            Severity::Warning,
            element,
            element.at(),
            says.to_owned(),
            "",
        );
    }

    pub(crate) fn unsupported(
        &mut self,
        element: &Element<'_>,
        says: impl Into<String>,
        instead: &str,
    ) {
        self.unsupported_at(element, element.at(), says, instead);
    }

    /// The same, where one property of the element stands.
    pub(crate) fn unsupported_at(
        &mut self,
        element: &Element<'_>,
        at: Position,
        says: impl Into<String>,
        instead: &str,
    ) {
        self.push(Severity::Unsupported, element, at, says.into(), instead);
    }

    fn push(
        &mut self,
        severity: Severity,
        element: &Element<'_>,
        at: Position,
        says: String,
        instead: &str,
    ) {
        self.all.push(Finding {
            severity,
            element: element.class().to_owned(),
            name: element.name().to_owned(),
            at,
            says,
            instead: instead.to_owned(),
        });
    }
}
