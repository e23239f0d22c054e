//! The page: one file that holds everything it needs, offline.
//!
//! What can be said in text is written here, by the template; the charts are drawn by a script from
//! data that is embedded once. Pictures and charts have their figures as tables beside them.

use askama::Template as _;
use serde::Serialize;

use crate::{ReportError, ReportInput};

mod curves;
pub(crate) mod embed;
mod funnel;
mod page;
mod pictures;
pub(crate) mod seconds;
mod sweep;

/// The script's data.
#[derive(Debug, Serialize)]
struct Data<'a> {
    curves: &'a [curves::CurveChart],
    seconds: &'a seconds::Seconds,
}

/// The report as one self-contained page.
pub fn html(input: &ReportInput<'_>) -> Result<String, ReportError> {
    let curves = curves::charts(input);
    let seconds = seconds::seconds(input);
    let data = embed::json(&Data {
        curves: &curves,
        seconds: &seconds,
    })?;
    Ok(page::Page::of(input, curves, seconds, data).render()?)
}
