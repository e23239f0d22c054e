//! Which trials belong together, and what they say of one figure.

use std::collections::BTreeMap;

use weir_record::{Basis, Change, FigureComparison, Level, MatchedTrials, Scale};
use weir_stats::{
    Estimate, LogRatio, Margin, Verdict, difference_of_estimates, mean_of_independent,
    ratio_of_estimates,
};

use super::measure::Measure;
use super::{CompareAsk, CompareError, RunSide, RunTrial};

/// Valid trials of one treatment in both runs.
#[derive(Debug)]
pub(crate) struct Cell<'a> {
    pub(crate) name: String,
    pub(crate) a: Vec<&'a RunTrial>,
    pub(crate) b: Vec<&'a RunTrial>,
}

impl Cell<'_> {
    pub(super) fn told(&self) -> MatchedTrials {
        let ids = |trials: &[&RunTrial]| trials.iter().map(|trial| trial.record.id).collect();
        MatchedTrials {
            name: self.name.clone(),
            levels: self
                .a
                .first()
                .map(|trial| trial.record.levels.clone())
                .unwrap_or_default(),
            a: ids(&self.a),
            b: ids(&self.b),
        }
    }
}

/// The treatments that both runs have; where each has only one, those two, whatever they are.
pub(super) fn cells<'a>(a: &'a RunSide, b: &'a RunSide) -> Result<Vec<Cell<'a>>, CompareError> {
    let (of_a, of_b) = (treatments(a), treatments(b));
    if of_a.len() == 1 && of_b.len() == 1 {
        let (name, a) = of_a.into_iter().next().unwrap_or_default();
        let b = of_b.into_values().next().unwrap_or_default();
        return Ok(vec![Cell { name, a, b }]);
    }
    let names =
        |of: &BTreeMap<String, Vec<&RunTrial>>| of.keys().cloned().collect::<Vec<_>>().join(" · ");
    let (names_a, names_b) = (names(&of_a), names(&of_b));
    let mut of_b = of_b;
    let cells: Vec<Cell<'a>> = of_a
        .into_iter()
        .filter_map(|(name, a)| {
            let b = of_b.remove(&name)?;
            Some(Cell { name, a, b })
        })
        .collect();
    if cells.is_empty() {
        return Err(CompareError::NothingInCommon {
            a: a.name.clone(),
            b: b.name.clone(),
            of_a: names_a,
            of_b: names_b,
        });
    }
    Ok(cells)
}

/// The valid trials of a run by what was set.
fn treatments(side: &RunSide) -> BTreeMap<String, Vec<&RunTrial>> {
    let mut found: BTreeMap<String, Vec<&RunTrial>> = BTreeMap::new();
    for trial in side.trials.iter().filter(|trial| trial.record.valid) {
        found.entry(treatment(trial)).or_default().push(trial);
    }
    found
}

/// What was set, in words; the population where nothing was.
fn treatment(trial: &RunTrial) -> String {
    let record = &trial.record;
    if record.levels.is_empty() {
        return format!("users {}", record.population);
    }
    let level = |(name, level): (&String, &Level)| format!("{name} {level}");
    record
        .levels
        .iter()
        .map(level)
        .collect::<Vec<_>>()
        .join(", ")
}

/// What the intervals can rest on.
pub(super) fn basis(cells: &[Cell<'_>]) -> Basis {
    match cells {
        [one] if one.a.len() >= 2 && one.b.len() >= 2 => Basis::Replicates,
        [_] => Basis::WithinTrial,
        _ => Basis::MatchedTrials,
    }
}

/// One figure in both; `None` where one side never read it.
pub(super) fn figure(
    measure: &Measure,
    cells: &[Cell<'_>],
    basis: Basis,
    confidence: f64,
    ask: &CompareAsk,
) -> Option<FigureComparison> {
    let a = side(measure, cells.iter().flat_map(|cell| &cell.a), confidence)?;
    let b = side(measure, cells.iter().flat_map(|cell| &cell.b), confidence)?;
    let compared = if measure.is_share_of_errors() {
        points(measure, cells, basis, confidence, &a, &b)
            .map(|change| (change, of_points(&change, ask.errors_margin)))
    } else {
        relative(measure, cells, basis, confidence, &a, &b)
            .map(|change| (change, of_ratio(&change, ask.margin)))
    };
    // Means over different treatments have no interval that would say anything.
    let own = |side: Side| side.estimate.ok().filter(|_| basis != Basis::MatchedTrials);
    let (change, outcome, why) = match compared {
        Ok((change, outcome)) => (Some(change), outcome, None),
        Err(why) => (None, Verdict::Undecided, Some(why)),
    };
    Some(FigureComparison {
        figure: measure.figure.to_string(),
        a: Some(a.value),
        a_interval: own(a),
        b: Some(b.value),
        b_interval: own(b),
        change,
        outcome,
        why,
    })
}

/// A figure on one side: its mean over the trials, and its interval.
struct Side {
    value: f64,
    values: Vec<f64>,
    estimate: Result<Estimate, String>,
}

fn side<'t>(
    measure: &Measure,
    trials: impl Iterator<Item = &'t &'t RunTrial>,
    confidence: f64,
) -> Option<Side> {
    let read: Vec<(&RunTrial, f64)> = trials
        .filter_map(|trial| Some((*trial, measure.value(trial)?)))
        .collect();
    let values: Vec<f64> = read.iter().map(|(_, value)| *value).collect();
    let estimate = match read[..] {
        [] => return None,
        [(trial, _)] => measure.estimate(trial, confidence),
        _ => mean_of_independent(&values, confidence).map_err(|error| error.to_string()),
    };
    Some(Side {
        value: values.iter().sum::<f64>() / values.len() as f64,
        values,
        estimate,
    })
}

fn relative(
    measure: &Measure,
    cells: &[Cell<'_>],
    basis: Basis,
    confidence: f64,
    a: &Side,
    b: &Side,
) -> Result<Change, String> {
    if a.values.iter().chain(&b.values).all(|value| *value == 0.0) {
        return Ok(Change {
            scale: Scale::Relative,
            value: 0.0,
            low: 0.0,
            high: 0.0,
            confidence,
        });
    }
    let ratio =
        match basis {
            Basis::WithinTrial => {
                let (a, b) = (a.estimate.clone()?, b.estimate.clone()?);
                ratio_of_estimates(&a, &b)
            }
            Basis::Replicates => LogRatio::of_independent(&a.values, &b.values)
                .and_then(|ratio| ratio.ratio(confidence)),
            Basis::MatchedTrials => LogRatio::of_pairs(&matched(measure, cells))
                .and_then(|ratio| ratio.ratio(confidence)),
        };
    let ratio = ratio.map_err(|error| words(&error))?;
    Ok(Change {
        scale: Scale::Relative,
        value: ratio.value - 1.0,
        low: ratio.low - 1.0,
        high: ratio.high - 1.0,
        confidence,
    })
}

fn points(
    measure: &Measure,
    cells: &[Cell<'_>],
    basis: Basis,
    confidence: f64,
    a: &Side,
    b: &Side,
) -> Result<Change, String> {
    let difference = match basis {
        Basis::WithinTrial | Basis::Replicates => {
            let (a, b) = (a.estimate.clone()?, b.estimate.clone()?);
            difference_of_estimates(&a, &b)
        }
        Basis::MatchedTrials => {
            let differences: Vec<f64> = matched(measure, cells)
                .into_iter()
                .map(|(a, b)| b - a)
                .collect();
            mean_of_independent(&differences, confidence).map_err(|error| words(&error))?
        }
    };
    Ok(Change {
        scale: Scale::Points,
        value: difference.value,
        low: difference.low,
        high: difference.high,
        confidence,
    })
}

/// The n-th trial of each treatment in A with the n-th in B.
fn matched(measure: &Measure, cells: &[Cell<'_>]) -> Vec<(f64, f64)> {
    let pairs = cells.iter().flat_map(|cell| cell.a.iter().zip(&cell.b));
    pairs
        .filter_map(|(a, b)| Some((measure.value(a)?, measure.value(b)?)))
        .collect()
}

fn words(error: &weir_stats::StatsError) -> String {
    use weir_stats::StatsError;
    match error {
        StatsError::NotPositive { .. } => "its interval reaches 0, so there is no ratio".to_owned(),
        StatsError::TooFew { count, needed } => {
            format!("{count} are too few, at least {needed} are needed")
        }
        error => error.to_string(),
    }
}

/// What a ratio says: the same margin to both sides on the logarithmic scale.
fn of_ratio(change: &Change, margin: Margin) -> Verdict {
    let log = |change: f64| (1.0 + change).max(f64::MIN_POSITIVE).ln();
    decided(
        log(change.value),
        log(change.low),
        log(change.high),
        margin.log(),
    )
}

fn of_points(change: &Change, margin: f64) -> Verdict {
    decided(change.value, change.low, change.high, margin)
}

fn decided(value: f64, low: f64, high: f64, margin: f64) -> Verdict {
    if low >= -margin && high <= margin {
        Verdict::Same
    } else if (low > 0.0 || high < 0.0) && value.abs() > margin {
        Verdict::Different
    } else {
        Verdict::Undecided
    }
}
