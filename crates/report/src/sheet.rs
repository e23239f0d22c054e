//! A page of drawings and tables that needs no script: models, sizings, comparisons.
//!
//! The drawings are SVG in the page itself. Every drawing has its figures as a table beside it,
//! nothing is told by colour alone.

mod drawing;
mod forest;
mod frame;
mod scale;

use askama::Template as _;

use crate::ReportError;
use crate::assets::{NOTHING_LOADED, STYLE};

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
    /// The heads of its columns; the first column names the row. Without any the rows are
    /// sentences, shown as a list.
    pub head: Vec<String>,
    /// Its rows, as long as the head. A column with a cell of more than 60 bytes has sentences and
    /// wraps; the others are set as figures.
    pub rows: Vec<Vec<String>>,
}

/// Bytes of the longest cell that is a figure.
const FIGURE_MAX: usize = 60;

impl SheetTable {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "templates hand out references"
    )]
    fn has_sentences(&self, column: &usize) -> bool {
        let mut cells = self.rows.iter().filter_map(|row| row.get(*column));
        cells.any(|cell| cell.len() > FIGURE_MAX)
    }
}

#[derive(askama::Template)]
#[template(path = "sheet.html")]
struct Page<'a> {
    sheet: &'a Sheet,
    drawings: Vec<drawing::Drawn>,
    forests: Vec<forest::Drawn>,
    style: &'static str,
    policy: &'static str,
}

/// The page as one file that needs nothing else.
pub fn sheet_html(sheet: &Sheet) -> Result<String, ReportError> {
    let page = Page {
        sheet,
        drawings: sheet.drawings.iter().map(drawing::Drawn::of).collect(),
        forests: sheet.forests.iter().map(forest::Drawn::of).collect(),
        style: STYLE,
        policy: NOTHING_LOADED,
    };
    Ok(page.render()?)
}
