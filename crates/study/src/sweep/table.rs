//! The table of a sweep: a row per case, a column per figure.

use std::collections::BTreeSet;

use weir_record::{
    Column, Figure as Cell, Level, Levels, Statistic, SweepRow, SweepTable, TrialRecord,
};
use weir_stats::{Estimate, Method, mean_of_independent};

use super::Case;
use crate::figure::{Figure, Measured};
use crate::file::{Across, ColumnSpec};

/// Confidence of the intervals over replicates.
const CONFIDENCE: f64 = 0.95;
/// The unit of a multiple of what the reference case had.
pub(super) const TIMES: &str = "×";

/// A figure of a column.
struct Wanted {
    figure: Figure,
    relative: bool,
}

/// The figures of all valid trials, with what was published beside them.
pub(crate) fn table(
    columns: &[ColumnSpec],
    cases: &[Case],
    trials: &[TrialRecord],
    across: &Across,
) -> SweepTable {
    let wanted: Vec<Wanted> = columns
        .iter()
        .map(|column| Wanted {
            figure: Figure::named(&column.signal),
            relative: column.relative,
        })
        .collect();
    let heads = columns.iter().zip(&wanted).map(|(column, wanted)| Column {
        title: column.title.clone(),
        signal: wanted.figure.to_string(),
        unit: if wanted.relative {
            TIMES.to_owned()
        } else {
            wanted.figure.unit(trials).symbol().to_owned()
        },
        better: wanted.figure.better().word().to_owned(),
    });
    SweepTable {
        columns: heads.collect(),
        rows: cases
            .iter()
            .map(|case| row(case, &wanted, cases, trials, across))
            .collect(),
        statistic: across.statistic,
        pictures: Vec::new(),
        overviews: Vec::new(),
    }
}

/// The valid trials of a case.
pub(super) fn of_case<'t>(case: &Case, trials: &'t [TrialRecord]) -> Vec<&'t TrialRecord> {
    let own = trials
        .iter()
        .filter(|trial| trial.valid && trial.case.as_deref() == Some(case.name.as_str()));
    own.collect()
}

fn row(
    case: &Case,
    wanted: &[Wanted],
    cases: &[Case],
    trials: &[TrialRecord],
    across: &Across,
) -> SweepRow {
    let own = of_case(case, trials);
    let published = |wanted: &Wanted| {
        let found = case
            .published
            .iter()
            .find(|(name, _)| Figure::named(name) == wanted.figure);
        found.map(|(_, text)| text.clone())
    };
    let cells = wanted.iter().map(|wanted| {
        if wanted.relative {
            relative(&wanted.figure, case, cases, trials, across)?.cell(across.statistic)
        } else {
            cell(&wanted.figure, &own, across.statistic)
        }
    });
    SweepRow {
        case: case.short().to_owned(),
        environment: case.environment.clone(),
        levels: set(case, &own),
        trials: own.iter().map(|trial| trial.id).collect(),
        cells: cells.collect(),
        published: wanted.iter().map(published).collect(),
    }
}

/// The levels of a case, each as it was set where all trials agree; where they followed from what
/// others had measured and differ, as it is written.
fn set(case: &Case, own: &[&TrialRecord]) -> Levels {
    let level = |(factor, written): (&String, &Level)| {
        let mut set = own.iter().filter_map(|trial| trial.levels.get(factor));
        let first = set.next().unwrap_or(written);
        let agreed = if set.all(|other| other == first) {
            first
        } else {
            written
        };
        (factor.clone(), agreed.clone())
    };
    case.levels.iter().map(level).collect()
}

/// The multiples of what the study's reference case had in the same environment.
fn relative(
    figure: &Figure,
    case: &Case,
    cases: &[Case],
    trials: &[TrialRecord],
    across: &Across,
) -> Option<Multiples> {
    let reference = cases.iter().find(|other| {
        Some(other.short()) == across.reference.as_deref() && other.environment == case.environment
    })?;
    Some(multiples(figure, case, reference, trials))
}

/// A figure of a case's trials, each as a multiple of what another case had beside it.
pub(super) struct Multiples {
    values: Vec<f64>,
    /// Whether each has a trial of its own below the line: otherwise they err together, and their
    /// spread says too little.
    are_apart: bool,
}

impl Multiples {
    /// What they are together; the interval only where they were measured apart from each other.
    pub(super) fn cell(&self, statistic: Statistic) -> Option<Cell> {
        let cell = over_trials(&self.values, None, statistic)?;
        let interval = cell.interval.filter(|_| self.are_apart);
        Some(Cell { interval, ..cell })
    }
}

/// A figure of every trial of a case as a multiple of the same figure of another case in the same
/// block, so that what changes from block to block falls out; where the other case has none there,
/// in the last trial before.
pub(super) fn multiples(
    figure: &Figure,
    case: &Case,
    below: &Case,
    trials: &[TrialRecord],
) -> Multiples {
    let references = of_case(below, trials);
    let own = of_case(case, trials);
    let multiple = |(trial, read): (&&TrialRecord, Option<Measured>)| {
        let below = beside(&references, trial)?;
        let multiple = read?.value / figure.read(below)?.value;
        multiple.is_finite().then_some((below.id, multiple))
    };
    let read = figure.read_each(&own);
    let (below, values): (Vec<u32>, Vec<f64>) = own.iter().zip(read).filter_map(multiple).unzip();
    Multiples {
        are_apart: below.iter().collect::<BTreeSet<_>>().len() == below.len(),
        values,
    }
}

/// Of the trials of a reference case that of a trial's block; where there is none, the last before
/// it, or the first one when all came later.
pub(super) fn beside<'t>(
    references: &[&'t TrialRecord],
    trial: &TrialRecord,
) -> Option<&'t TrialRecord> {
    let of_block = references
        .iter()
        .find(|other| trial.block.is_some() && other.block == trial.block);
    let before = references.iter().rfind(|other| other.id <= trial.id);
    of_block.or(before).or(references.first()).copied()
}

/// A figure over the trials that have it; its interval is that between them, or that within the
/// trial when there is one.
pub(super) fn cell(figure: &Figure, trials: &[&TrialRecord], statistic: Statistic) -> Option<Cell> {
    let read: Vec<_> = figure.read_each(trials).into_iter().flatten().collect();
    let values: Vec<f64> = read.iter().map(|measured| measured.value).collect();
    over_trials(&values, read.first()?.interval, statistic)
}

fn over_trials(values: &[f64], within: Option<Estimate>, statistic: Statistic) -> Option<Cell> {
    let value = middle(values, statistic)?;
    let interval = match (values.len(), statistic) {
        (1, _) => within,
        (_, Statistic::Mean) => mean_of_independent(values, CONFIDENCE).ok(),
        (_, Statistic::Median) => Some(around_median(value, values)),
    };
    Some(Cell { value, interval })
}

/// The mean or the median; `None` of nothing.
pub(super) fn middle(values: &[f64], statistic: Statistic) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    match statistic {
        Statistic::Mean => Some(values.iter().sum::<f64>() / values.len() as f64),
        Statistic::Median => {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            Some(f64::midpoint(
                sorted[(sorted.len() - 1) / 2],
                sorted[sorted.len() / 2],
            ))
        }
    }
}

/// From the smallest to the largest of n values the true median lies with probability 1 − 2¹⁻ⁿ,
/// whatever the distribution: all n lie on one side of it with probability 2 · 2⁻ⁿ (order
/// statistics; David and Nagaraja, 2003, section 7.1).
fn around_median(median: f64, values: &[f64]) -> Estimate {
    let ends = values
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
    Estimate {
        value: median,
        low: ends.0,
        high: ends.1,
        confidence: 1.0 - 0.5f64.powf(values.len() as f64 - 1.0),
        count: values.len() as u64,
        method: Method::OrderStatistics,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made::trial;

    /// Five trials over one that was run once: how uncertain the one is, their spread does not
    /// tell.
    #[test]
    fn multiples_of_one_trial_have_no_interval() {
        let ran = |id: u32, block: u32, case: &str, per_s: f64| {
            let mut trial = trial(id, per_s, &[]);
            (trial.block, trial.case) = (Some(block), Some(case.to_owned()));
            trial
        };
        let case = |name: &str| Case {
            name: name.to_owned(),
            ..Case::default()
        };
        let told = |trials: &[TrialRecord]| {
            let figure = Figure::named("throughput");
            let multiples = multiples(&figure, &case("on"), &case("best"), trials);
            let cell = multiples.cell(Statistic::Median).expect("trials of both");
            (cell.value, cell.interval.map(|of| (of.low, of.high)))
        };
        let mut trials = vec![
            ran(1, 1, "on", 30.0),
            ran(2, 1, "best", 10.0),
            ran(3, 2, "on", 40.0),
        ];
        assert_eq!(told(&trials), (3.5, None));
        trials.push(ran(4, 2, "best", 20.0));
        assert_eq!(told(&trials), (2.5, Some((2.0, 3.0))));
    }

    #[test]
    fn a_row_shows_levels_as_they_were_set_where_all_trials_agree() {
        let written = Level::Text("{0.8 * throughput / cpu of first}".to_owned());
        let case = Case {
            levels: Levels::from([("rate".to_owned(), written.clone())]),
            ..Case::default()
        };
        let at = |rate: f64| {
            let mut trial = trial(1, rate, &[]);
            trial.levels.insert("rate".to_owned(), Level::Number(rate));
            trial
        };
        let (slow, fast) = (at(384.0), at(390.0));
        let shown = |own: &[&TrialRecord]| set(&case, own)["rate"].clone();
        assert_eq!(shown(&[&slow, &slow]), Level::Number(384.0));
        assert_eq!(shown(&[&slow, &fast]), written);
        assert_eq!(shown(&[]), written);
    }
}
