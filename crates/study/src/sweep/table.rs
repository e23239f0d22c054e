//! The table of a sweep: a row per case, a column per figure.

use weir_record::{Column, Figure as Cell, SweepRow, SweepTable, TrialRecord};
use weir_stats::mean_of_independent;

use super::Case;
use crate::figure::Figure;
use crate::spec::ColumnSpec;

/// Confidence of the intervals over replicates.
const CONFIDENCE: f64 = 0.95;

/// The figures of all valid trials, with what was published beside them.
pub(crate) fn table(wanted: &[ColumnSpec], cases: &[Case], trials: &[TrialRecord]) -> SweepTable {
    let figures: Vec<Figure> = wanted
        .iter()
        .map(|column| Figure::named(&column.signal))
        .collect();
    let columns = wanted.iter().zip(&figures).map(|(column, figure)| Column {
        title: column.title.clone(),
        signal: figure.to_string(),
        unit: figure.unit().to_owned(),
    });
    SweepTable {
        columns: columns.collect(),
        rows: cases
            .iter()
            .map(|case| row(case, &figures, trials))
            .collect(),
    }
}

fn row(case: &Case, figures: &[Figure], trials: &[TrialRecord]) -> SweepRow {
    let own: Vec<&TrialRecord> = trials
        .iter()
        .filter(|trial| trial.valid && trial.case.as_deref() == Some(case.name.as_str()))
        .collect();
    let published = |figure: &Figure| {
        let found = case
            .published
            .iter()
            .find(|(name, _)| Figure::named(name) == *figure);
        found.map(|(_, text)| text.clone())
    };
    SweepRow {
        case: case.name.clone(),
        levels: case.levels.clone(),
        trials: own.iter().map(|trial| trial.id).collect(),
        cells: figures.iter().map(|figure| cell(figure, &own)).collect(),
        published: figures.iter().map(published).collect(),
    }
}

/// The mean over the replicates that have the figure; its interval is that between replicates, or
/// that within the trial when there is one.
fn cell(figure: &Figure, trials: &[&TrialRecord]) -> Option<Cell> {
    let read: Vec<_> = trials
        .iter()
        .filter_map(|trial| figure.read(trial))
        .collect();
    let values: Vec<f64> = read.iter().map(|measured| measured.value).collect();
    let first = read.first()?;
    let interval = if values.len() == 1 {
        first.interval
    } else {
        mean_of_independent(&values, CONFIDENCE).ok()
    };
    Some(Cell {
        value: values.iter().sum::<f64>() / values.len() as f64,
        interval,
    })
}
