//! What is wrong with a file, and where.

use std::cell::RefCell;
use std::ops::Range;

/// One problem of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The bytes of the file that are wrong.
    pub span: Range<usize>,
    /// What is wrong with them.
    pub says: String,
    /// What to write instead, when that can be said.
    pub help: Option<String>,
}

/// Collects the problems of one file while its parts are read.
///
/// Readers go on after a problem, so that the user sees all of them at once.
#[derive(Debug, Default)]
pub struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    /// Adds one.
    pub fn add(&self, span: Range<usize>, says: impl Into<String>) {
        self.put(span, says.into(), None);
    }

    /// Adds one with what to write instead.
    pub fn add_with_help(
        &self,
        span: Range<usize>,
        says: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.put(span, says.into(), Some(help.into()));
    }

    /// Whether there is none so far.
    pub fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    fn put(&self, span: Range<usize>, says: String, help: Option<String>) {
        self.0.borrow_mut().push(Problem { span, says, help });
    }

    /// All problems in the order of the file.
    pub fn into_sorted(self) -> Vec<Problem> {
        let mut problems = self.0.into_inner();
        problems.sort_by_key(|problem| problem.span.start);
        problems
    }
}
