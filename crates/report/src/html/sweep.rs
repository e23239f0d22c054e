//! The cases of a sweep, and what was found in each environment, as tables of the page.

use weir_record::{StudyResult, SweepOverview};

use crate::sweep::{has_published, measured_parts, parts, published};
use crate::words;

#[derive(Debug)]
pub(super) struct Sweep {
    /// How the trials of a case become one figure.
    pub(super) says: String,
    pub(super) heads: Vec<SweepHead>,
    pub(super) rows: Vec<SweepRow>,
    pub(super) overviews: Vec<Overview>,
}

/// A table with a row for each environment.
#[derive(Debug)]
pub(super) struct Overview {
    pub(super) title: String,
    pub(super) heads: Vec<String>,
    /// Of each environment, its figures and their intervals.
    pub(super) rows: Vec<(String, Vec<(String, String)>)>,
}

#[derive(Debug)]
pub(super) struct SweepHead {
    pub(super) title: String,
    pub(super) published: bool,
}

#[derive(Debug)]
pub(super) struct SweepRow {
    /// The environment, in its first row.
    pub(super) environment: Option<String>,
    pub(super) case: String,
    pub(super) levels: String,
    pub(super) cells: Vec<SweepCell>,
    pub(super) trials: String,
}

#[derive(Debug)]
pub(super) struct SweepCell {
    pub(super) measured: String,
    pub(super) interval: String,
    /// `None` when the column has nothing published at all.
    pub(super) published: Option<String>,
}

impl Sweep {
    /// Of a study that has cases.
    pub(super) fn of(result: &StudyResult) -> Option<Self> {
        let table = result.table.as_ref()?;
        let heads = table
            .columns
            .iter()
            .enumerate()
            .map(|(at, column)| SweepHead {
                title: column.title.clone(),
                published: has_published(table, at),
            });
        let mut environment = None;
        let rows = table.rows.iter().map(|row| {
            let begins = row
                .environment
                .clone()
                .filter(|_| row.environment != environment);
            environment.clone_from(&row.environment);
            let cells = (0..table.columns.len()).map(|at| {
                let (measured, interval) = measured_parts(table, row, at);
                SweepCell {
                    measured,
                    interval,
                    published: has_published(table, at).then(|| published(row, at)),
                }
            });
            SweepRow {
                environment: begins,
                case: row.case.clone(),
                levels: words::levels(&row.levels),
                cells: cells.collect(),
                trials: words::trials(&row.trials),
            }
        });
        Some(Self {
            says: words::capital(words::over_trials(table.statistic)),
            heads: heads.collect(),
            rows: rows.collect(),
            overviews: table.overviews.iter().map(Overview::of).collect(),
        })
    }
}

impl Overview {
    fn of(overview: &SweepOverview) -> Self {
        let rows = overview.rows.iter().map(|row| {
            let cells = overview.columns.iter().zip(&row.cells);
            let cells = cells.map(|(column, figure)| parts(column, figure.as_ref()));
            (row.environment.clone(), cells.collect())
        });
        let titles = overview.columns.iter();
        Self {
            title: overview.title.clone(),
            heads: titles.map(|column| column.title.clone()).collect(),
            rows: rows.collect(),
        }
    }
}
