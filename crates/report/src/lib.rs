//! What people look at: the end of a terminal run, a page, a text for a ticket.
//!
//! Everything here is made from stored facts alone: the result, the manifest, and the seconds of
//! each trial. So a report can be written again at any time from a run directory, and says the
//! same.
//!
//! * [`html()`] is one self-contained page that works offline: the answer, the settings, the check,
//!   charts with intervals, the funnel as a picture, the timeline of any trial.
//! * [`markdown()`] is for a ticket.
//! * [`one_load_html`] is the page of one load.
//! * [`Dashboard`] is the report of a result file, with JMeter's figures.
//! * [`watch`] shows a watch without load, live and afterwards.
//! * [`gate_html`] is the live page of a gateway.
//! * [`Sheet`] is a page of drawings and tables without a script, for models, sizings and
//!   comparisons.
//! * [`text`] is for the terminal: a line a trial, and the end of a run.
//!
//! Invariants: no clock, no environment, no files; a figure is never shown without its interval
//! where it has one; what was not read is left out or shown as `–`, never as 0; nothing is told by
//! colour alone. All text that comes from outside is escaped.

use std::collections::BTreeMap;

use weir_record::{RunManifest, StudyResult, Timeline};

mod assets;
mod before_and_after;
mod comparison;
mod dashboard;
mod explanation;
mod failures;
mod figures;
mod gate;
mod grid;
mod html;
mod markdown;
mod near_answer;
mod one_load;
mod sheet;
mod slice;
mod standing;
mod sweep;
pub mod text;
pub mod watch;
mod words;

pub use comparison::{comparison_sheet, comparison_text};
pub use dashboard::{ApdexThresholds, Dashboard, DashboardSettings, ThresholdError};
pub use explanation::{Extent, explanation_sheet, explanation_text};
pub use gate::gate_html;
pub use html::html;
pub use markdown::markdown;
pub use one_load::{OneLoadInput, one_load_html, one_load_markdown};
pub use sheet::{
    CurvePoint, Drawing, Forest, ForestRow, PointWithInterval, Sheet, SheetTable, sheet_html,
};
pub use slice::slice_table;

/// The facts of one run.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// The result, with every trial.
    pub result: &'a StudyResult,
    /// What was run, by which version, on which machine.
    pub manifest: &'a RunManifest,
    /// The seconds of the trials, by the trials' numbers; a trial without seconds is shown without
    /// a timeline.
    pub timelines: &'a BTreeMap<u32, Timeline>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The page's template refused a value.
    #[error("fill in the report's page")]
    Page(#[from] askama::Error),
    /// The data of the charts cannot be written.
    #[error("write the data of the report's charts")]
    Data(#[from] serde_json::Error),
}
