//! The page: one file that holds everything it needs.

use askama::Template as _;

use crate::{ReportError, ReportInput};

mod page;

/// The report as one self-contained page.
pub fn html(input: &ReportInput<'_>) -> Result<String, ReportError> {
    Ok(page::Page::of(input).render()?)
}
