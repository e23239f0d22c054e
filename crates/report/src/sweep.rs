//! The cells of a sweep's table: what was measured, with its interval, and what was published.

use weir_metric::SignalUnit;
use weir_record::{Column, Figure, SweepRow, SweepTable};

use crate::figures::{WithEstimate as _, unit_of};

/// Whether anything was published for a column.
pub(crate) fn has_published(table: &SweepTable, column: usize) -> bool {
    table
        .rows
        .iter()
        .any(|row| row.published.get(column).is_some_and(Option::is_some))
}

/// What was measured in a cell, with its interval.
pub(crate) fn measured(table: &SweepTable, row: &SweepRow, column: usize) -> String {
    in_cell(
        &table.columns[column],
        row.cells.get(column).and_then(Option::as_ref),
    )
}

/// The figure of a column, with its interval; a dash where nothing was read.
pub(crate) fn in_cell(column: &Column, figure: Option<&Figure>) -> String {
    figure.map_or_else(
        || "–".to_owned(),
        |figure| kind(column).with_estimate(figure.value, figure.interval.as_ref()),
    )
}

/// As `in_cell`, in two parts: the figure, and its interval, empty without one.
pub(crate) fn measured_parts(
    table: &SweepTable,
    row: &SweepRow,
    column: usize,
) -> (String, String) {
    parts(
        &table.columns[column],
        row.cells.get(column).and_then(Option::as_ref),
    )
}

/// The figure of a column and its interval, empty without one.
pub(crate) fn parts(column: &Column, figure: Option<&Figure>) -> (String, String) {
    let Some(figure) = figure else {
        return ("–".to_owned(), String::new());
    };
    let kind = kind(column);
    let interval = figure
        .interval
        .as_ref()
        .map_or_else(String::new, |interval| {
            kind.range(figure.value, interval.low, interval.high)
        });
    (kind.text(figure.value), interval)
}

/// What was published for a cell, as it stands in the study.
pub(crate) fn published(row: &SweepRow, column: usize) -> String {
    match row.published.get(column) {
        Some(Some(text)) => text.clone(),
        _ => "–".to_owned(),
    }
}

/// The unit of a column's figures.
fn kind(column: &Column) -> SignalUnit {
    match column.unit.as_str() {
        // Earlier versions did not say the unit of every signal.
        "" => unit_of(&column.signal),
        symbol => SignalUnit::of_symbol(symbol).unwrap_or(SignalUnit::Number),
    }
}
