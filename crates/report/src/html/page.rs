//! What stands on the page.

use askama::Template;

use crate::ReportInput;
use crate::words;

/// The page's texts.
#[derive(Debug, Template)]
#[template(path = "report.html")]
pub(crate) struct Page<'a> {
    question: &'a str,
    status: &'static str,
    summary: &'a str,
}

impl<'a> Page<'a> {
    pub(crate) fn of(input: &ReportInput<'a>) -> Self {
        let result = input.result;
        Self {
            question: &result.question,
            status: words::status(result.status),
            summary: &result.summary,
        }
    }
}
