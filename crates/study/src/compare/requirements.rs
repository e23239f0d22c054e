//! What B has to keep: bounds of its own, and shares of what A had.

use weir_metric::{RelativeRequirement, Requirement, SignalUnit};
use weir_record::{FigureComparison, RequirementCheck};

use super::CompareAsk;
use super::pairs::Cell;
use crate::figure::Figure;
use crate::requirement::check_requirement;

/// Every requirement, for each treatment that both have.
pub(super) fn check(
    cells: &[Cell<'_>],
    ask: &CompareAsk,
    figures: &[FigureComparison],
) -> Vec<RequirementCheck> {
    let mut checks = Vec::new();
    for cell in cells {
        let name = |mut check: RequirementCheck| {
            if cells.len() > 1 {
                check.says = format!("{} ({})", check.says, cell.name);
            }
            check
        };
        checks.extend(
            ask.requirements
                .iter()
                .map(|wanted| name(absolute(wanted, cell))),
        );
    }
    checks.extend(
        ask.relative
            .iter()
            .map(|wanted| relative(wanted, cells, figures)),
    );
    checks
}

/// By the mean over B's trials; a figure that was not read meets nothing.
fn absolute(wanted: &Requirement, cell: &Cell<'_>) -> RequirementCheck {
    let read: Vec<RequirementCheck> = cell
        .b
        .iter()
        .filter_map(|trial| check_requirement(&trial.record, wanted))
        .collect();
    let values: Vec<f64> = read.iter().map(|check| check.value).collect();
    match &read[..] {
        [] => not_read(wanted.to_string(), unit_of(wanted)),
        [one] => one.clone(),
        _ => {
            let value = values.iter().sum::<f64>() / values.len() as f64;
            let interval = weir_stats::mean_of_independent(&values, super::CONFIDENCE).ok();
            RequirementCheck {
                says: wanted.to_string(),
                value,
                unit: unit_of(wanted),
                low: interval.map_or(value, |interval| interval.low),
                high: interval.map_or(value, |interval| interval.high),
                met: wanted.met_by(value),
                bounds: vec![wanted.bound_base()],
            }
        }
    }
}

fn unit_of(wanted: &Requirement) -> String {
    let unit = SignalUnit::of_quantity(wanted.bound.unit);
    unit.symbol().to_owned()
}

fn not_read(says: String, unit: String) -> RequirementCheck {
    RequirementCheck {
        says,
        value: f64::MAX,
        unit,
        low: f64::MAX,
        high: f64::MAX,
        met: false,
        bounds: Vec::new(),
    }
}

/// B's share of A, over all treatments that both have.
fn relative(
    wanted: &RelativeRequirement,
    cells: &[Cell<'_>],
    figures: &[FigureComparison],
) -> RequirementCheck {
    let says = wanted.to_string();
    // Whatever is compared, its share of A is one.
    let unit = SignalUnit::Share.symbol().to_owned();
    let Some(figure) = Figure::of_metric(&wanted.metric, wanted.class.as_deref()) else {
        return not_read(says, unit);
    };
    let of = |trials: &dyn Fn(&Cell<'_>) -> Vec<f64>| -> Option<f64> {
        let values: Vec<f64> = cells.iter().flat_map(trials).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let read = |trials: &[&super::RunTrial]| -> Vec<f64> {
        trials
            .iter()
            .filter_map(|trial| Some(figure.read(&trial.record)?.value))
            .collect()
    };
    let (Some(a), Some(b)) = (of(&|cell| read(&cell.a)), of(&|cell| read(&cell.b))) else {
        return not_read(says, unit);
    };
    // The figure's own change carries the interval; of means over several treatments it is that of
    // their ratios.
    let known = figures
        .iter()
        .find(|known| known.figure == figure.to_string());
    let change = known
        .and_then(|known| known.change)
        .filter(|change| change.scale == weir_record::Scale::Relative);
    let value = match (a, b, change) {
        (_, _, Some(change)) => 1.0 + change.value,
        (a, b, None) if a > 0.0 => b / a,
        (_, 0.0, None) => 1.0,
        _ => f64::MAX,
    };
    RequirementCheck {
        says,
        value,
        unit,
        low: change.map_or(value, |change| 1.0 + change.low),
        high: change.map_or(value, |change| 1.0 + change.high),
        met: wanted.met_by(value),
        bounds: vec![wanted.share.base()],
    }
}
