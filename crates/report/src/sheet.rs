//! A page of drawings and tables that needs no script: models, sizings, comparisons.
//!
//! The drawings are SVG in the page itself. Every drawing has its figures as a table beside it, nothing is told by colour alone.

mod drawing;
mod forest;
mod frame;
mod scale;

use askama::Template as _;

use crate::ReportError;
use crate::assets::Assets;

pub use drawing::{CurvePoint, Drawing, PointWithInterval};
pub use forest::{Forest, ForestRow};

/// What stands on the page, from top to bottom.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sheet {
    /// The answer, in a sentence.
    pub title: String,
    /// What is under it, a paragraph each.
    pub lead: Vec<String>,
    /// Curves with what was measured.
    pub drawings: Vec<Drawing>,
    /// Intervals under each other.
    pub forests: Vec<Forest>,
    /// Figures.
    pub tables: Vec<SheetTable>,
    /// What else a reader should know, an item each.
    pub notes: Vec<String>,
    /// What made the page, for its foot.
    pub made_by: String,
}

/// A table of figures.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SheetTable {
    /// What stands above it.
    pub title: String,
    /// The heads of its columns; the first column names the row. Without any the rows are sentences, shown as a list.
    pub head: Vec<String>,
    /// Its rows, as long as the head. A cell of more than 60 bytes is a sentence and wraps; the others are set as figures.
    pub rows: Vec<Vec<String>>,
}

#[derive(askama::Template)]
#[template(path = "sheet.html")]
struct Page<'a> {
    sheet: &'a Sheet,
    drawings: Vec<drawing::Drawn>,
    forests: Vec<forest::Drawn>,
    style: &'static str,
}

/// The page as one file that needs nothing else.
pub fn sheet_html(sheet: &Sheet) -> Result<String, ReportError> {
    let page = Page {
        sheet,
        drawings: sheet.drawings.iter().map(drawing::Drawn::of).collect(),
        forests: sheet.forests.iter().map(forest::Drawn::of).collect(),
        style: Assets::with_script("").style,
    };
    Ok(page.render()?)
}
