//! What is compared: a figure of a trial, with the interval that the trial's own seconds and
//! samples give.

use std::collections::BTreeSet;

use weir_stats::Estimate;

use super::RunTrial;
use super::pairs::Cell;
use super::within;
use crate::figure::{Figure, Statistic};

/// Response times that are compared; the longest has no interval.
const STATISTICS: [Statistic; 5] = [
    Statistic::Mean,
    Statistic::P50,
    Statistic::P90,
    Statistic::P95,
    Statistic::P99,
];

/// One figure to compare.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measure {
    pub(crate) figure: Figure,
}

impl Measure {
    /// The figures of all samples, or of one label.
    pub(crate) fn of_all(label: Option<&str>) -> Vec<Self> {
        let class = || label.map(str::to_owned);
        let mut figures = vec![Figure::Throughput(class())];
        figures.extend(STATISTICS.map(|statistic| Figure::Response(statistic, class())));
        figures.push(Figure::Errors(class()));
        if label.is_none() {
            figures.push(Figure::Cpu);
        }
        figures.into_iter().map(|figure| Self { figure }).collect()
    }

    /// The signals that all trials have, but for the load's own figures, which stand elsewhere.
    pub(crate) fn of_signals(cells: &[Cell<'_>]) -> Vec<Self> {
        let trials = cells.iter().flat_map(|cell| cell.a.iter().chain(&cell.b));
        let mut common: Option<BTreeSet<&str>> = None;
        for trial in trials {
            let own: BTreeSet<&str> = trial.record.signals.keys().map(String::as_str).collect();
            common = Some(match common {
                None => own,
                Some(common) => common.intersection(&own).copied().collect(),
            });
        }
        let signals = common
            .into_iter()
            .flatten()
            .filter(|signal| !is_of_load(signal));
        signals
            .map(|signal| Self {
                figure: Figure::Signal(signal.to_owned()),
            })
            .collect()
    }

    /// Whether it is a share that is compared by differences.
    pub(crate) fn is_share_of_errors(&self) -> bool {
        matches!(self.figure, Figure::Errors(_))
    }

    /// Its value in a trial.
    pub(crate) fn value(&self, trial: &RunTrial) -> Option<f64> {
        self.figure.read(&trial.record).map(|read| read.value)
    }

    /// Its value with the interval that the trial itself gives; why there is none.
    pub(crate) fn estimate(&self, trial: &RunTrial, confidence: f64) -> Result<Estimate, String> {
        within::estimate(&self.figure, trial, confidence)
    }
}

/// What the load generator counts itself, or says of itself.
fn is_of_load(signal: &str) -> bool {
    let own = [
        "throughput",
        "errors",
        "redirects",
        "users",
        "in-flight",
        "cpu",
    ];
    own.contains(&signal)
        || ["response.", "service.", "load.", "watch.", "throughput."]
            .iter()
            .any(|start| signal.starts_with(start))
        || crate::figure::is_quantity(signal, "limit")
}
