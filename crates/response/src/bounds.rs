//! How much work and room one response may cost an extractor or assertion.
//!
//! A body is at most 16 MB, but what is made of it need not be: elements in elements, formatting
//! that is opened again in each paragraph, values that hold each other. Each bound is far above
//! any page that was not made to hurt; what is beyond it fails the sample, which says why.

use std::cell::Cell;

/// Why nothing was looked for in a response.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooMuch {
    /// More elements are open at once than in any real page.
    #[error("the page is not read: elements are nested more than {0} deep")]
    Deep(usize),
    /// The tree would be too large.
    #[error("the page is not read: it has more than {0} nodes")]
    Nodes(usize),
    /// One tag has too many attributes.
    #[error("the page is not read: an element has more than {0} attributes")]
    Attributes(usize),
    /// The page opens and closes so much that reading it takes too long.
    #[error("the page is not read: it takes more than {0} steps")]
    Reading(usize),
    /// The selector or path takes too long on this response.
    #[error("the search is given up after {0} steps")]
    Steps(usize),
    /// What was found is too long.
    #[error("the search is given up: what it finds is longer than {0} bytes")]
    Found(usize),
    /// An expression of the selector takes too long.
    #[error("the search is given up: {0}")]
    Pattern(String),
}

/// Steps and bytes that one element of a plan may still spend on one sample.
#[derive(Debug)]
pub(crate) struct Budget {
    steps: Cell<usize>,
    bytes: Cell<usize>,
}

/// Steps of a search: a node that is looked at, or a few dozen bytes. Under a second.
pub(crate) const STEPS: usize = 100_000_000;

/// Bytes of all values that a search may give: four times the longest body.
pub(crate) const FOUND: usize = 64 * 1024 * 1024;

impl Default for Budget {
    fn default() -> Self {
        Self {
            steps: Cell::new(STEPS),
            bytes: Cell::new(FOUND),
        }
    }
}

impl Budget {
    /// Spends steps.
    pub(crate) fn step(&self, steps: usize) -> Result<(), TooMuch> {
        let left = self.steps.get().checked_sub(steps);
        self.steps.set(left.ok_or(TooMuch::Steps(STEPS))?);
        Ok(())
    }

    /// Spends bytes of values.
    pub(crate) fn find(&self, bytes: usize) -> Result<(), TooMuch> {
        let left = self.bytes.get().checked_sub(bytes);
        self.bytes.set(left.ok_or(TooMuch::Found(FOUND))?);
        Ok(())
    }
}
