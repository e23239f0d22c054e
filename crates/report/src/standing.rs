//! How far the figures of a trial can be used, and what a reader must know about them.

use weir_metric::SignalUnit;
use weir_record::{CPU_SATURATED, STEAL_MAX, TrialRecord, is_full};

/// What is to be said about a trial beside its figures.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Standing {
    /// Why its figures may not be used; empty when they may.
    pub(crate) invalid_because: Vec<String>,
    /// Share of the target's CPU time that went to other virtual machines, when it is too much.
    pub(crate) steal: Option<f64>,
    /// What was used up: `CPU saturated`, `threads full`.
    pub(crate) saturated: Vec<String>,
}

/// How a trial's points are drawn; the gravest thing about it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// A filled disc: nothing to be said.
    Disc,
    /// A filled square: something was saturated.
    Square,
    /// A hollow disc: too much steal.
    Ring,
    /// A cross: not valid.
    Cross,
}

impl Standing {
    /// What the record says about its own worth.
    pub(crate) fn of(trial: &TrialRecord) -> Self {
        Self {
            invalid_because: if trial.valid {
                Vec::new()
            } else {
                trial.invalid_because.clone()
            },
            steal: trial
                .cpu
                .map(|cpu| cpu.steal)
                .filter(|steal| *steal > STEAL_MAX),
            saturated: saturated(trial),
        }
    }

    /// The shape of its points.
    pub(crate) fn shape(&self) -> Shape {
        if !self.invalid_because.is_empty() {
            Shape::Cross
        } else if self.steal.is_some() {
            Shape::Ring
        } else if self.saturated.is_empty() {
            Shape::Disc
        } else {
            Shape::Square
        }
    }

    /// Whether the figures may be used.
    pub(crate) fn valid(&self) -> bool {
        self.invalid_because.is_empty()
    }

    /// The state in few words: `valid`, `steal 7.2 %`, `INVALID`, `threads full`.
    pub(crate) fn brief(&self) -> String {
        let mut parts = vec![if self.valid() { "valid" } else { "INVALID" }.to_owned()];
        parts.extend(self.remarks());
        parts.join(", ")
    }

    /// What is to be said about a trial although it may be valid.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let steal = self
            .steal
            .map(|steal| format!("steal {}", SignalUnit::Share.text(steal)));
        steal
            .into_iter()
            .chain(self.saturated.iter().cloned())
            .collect()
    }
}

fn saturated(trial: &TrialRecord) -> Vec<String> {
    let cpu = trial.cpu.filter(|cpu| cpu.total >= CPU_SATURATED);
    let mut used_up: Vec<String> = cpu.iter().map(|_| "CPU saturated".to_owned()).collect();
    let stages = trial
        .signals
        .keys()
        .filter_map(|signal| signal.strip_suffix(".limit"));
    let full = stages.filter(|stage| {
        let limit = trial.signals.get(&format!("{stage}.limit")).copied();
        is_full(trial.occupancy(stage), limit)
    });
    used_up.extend(full.map(|stage| format!("{stage} full")));
    used_up
}
