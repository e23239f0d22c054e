//! The figures of the trials beside a level, and whether a fitted curve says what they say.

use std::collections::BTreeMap;

use weir_record::TrialRecord;
use weir_stats::Estimate;

use crate::search::level as level_of;

/// A curve does not fit a trial from which it differs by more standard deviations than this: of
/// the trial's own interval, and of what trials differ by.
const FAR: f64 = 3.0;
/// By which share trials of one level differ on machines that others use too, as a standard
/// deviation.
const SPREAD: f64 = 0.04;
/// Half a 95 % interval in standard deviations.
const HALF_WIDTH: f64 = 2.0;

/// A figure's value in a trial.
type Read = fn(&TrialRecord) -> Option<f64>;

/// The figures that are told at an answer.
const FIGURES: [(&str, Read); 3] = [
    ("cpu", |trial| Some(trial.cpu?.total)),
    ("throughput_per_s", |trial| Some(trial.throughput_per_s)),
    ("response_time_ms.mean", |trial| {
        Some(trial.response_time_ms.mean)
    }),
];

/// The mean figures of the trials at a level; nothing where there are none.
pub(crate) fn at(trials: &[&TrialRecord], level: f64) -> BTreeMap<String, f64> {
    let there: Vec<&&TrialRecord> = trials
        .iter()
        .filter(|trial| level_of(trial) == Some(level))
        .collect();
    let mean = |read: Read| {
        let values: Option<Vec<f64>> = there.iter().map(|trial| read(trial)).collect();
        let values = values.filter(|values| !values.is_empty())?;
        Some(values.iter().sum::<f64>() / values.len() as f64)
    };
    let figures = FIGURES.iter();
    figures
        .filter_map(|(name, read)| Some(((*name).to_owned(), mean(*read)?)))
        .collect()
}

/// The figures on the straight line between the nearest levels that were tried; beyond all of
/// them those of the last.
pub(crate) fn between(trials: &[&TrialRecord], level: f64) -> BTreeMap<String, f64> {
    let (Some(below), Some(above)) = neighbours(trials, level) else {
        let (below, above) = neighbours(trials, level);
        return below
            .or(above)
            .map_or_else(BTreeMap::new, |nearest| at(trials, nearest));
    };
    let (low, high) = (at(trials, below), at(trials, above));
    let part = if above > below {
        (level - below) / (above - below)
    } else {
        0.0
    };
    low.into_iter()
        .filter_map(|(name, from)| {
            let to = high.get(&name)?;
            Some((name, from + part * (to - from)))
        })
        .collect()
}

/// Whether fitted figures agree with every trial at the levels on both sides of this one.
pub(crate) fn fits(
    trials: &[&TrialRecord],
    level: f64,
    fitted: impl Fn(f64) -> BTreeMap<String, f64>,
) -> bool {
    let (below, above) = neighbours(trials, level);
    let beside = [below, above].into_iter().flatten();
    beside.into_iter().all(|tried| {
        let says = fitted(tried);
        let mut there = trials.iter().filter(|trial| level_of(trial) == Some(tried));
        there.all(|trial| {
            FIGURES.iter().all(|(name, read)| {
                let both = says.get(*name).copied().zip(read(trial));
                both.is_none_or(|(says, seen)| agrees(trial, name, says, seen))
            })
        })
    })
}

fn agrees(trial: &TrialRecord, name: &str, says: f64, seen: f64) -> bool {
    if seen <= 0.0 || says <= 0.0 {
        return true;
    }
    let half_width = trial.intervals.get(name).map_or(0.0, Estimate::half_width);
    let doubt = SPREAD.hypot(half_width / HALF_WIDTH / seen);
    (says / seen).ln().abs() <= FAR * doubt
}

/// The nearest levels that were tried: at or below this one, and at or above it.
fn neighbours(trials: &[&TrialRecord], level: f64) -> (Option<f64>, Option<f64>) {
    let levels = || trials.iter().filter_map(|trial| level_of(trial));
    let below = levels().filter(|tried| *tried <= level).reduce(f64::max);
    let above = levels().filter(|tried| *tried >= level).reduce(f64::min);
    (below, above)
}

#[cfg(test)]
mod tests {
    use weir_record::{CpuRecord, Level};

    use super::*;
    use crate::findings::made::trial;

    fn tried(id: u32, users: f64, throughput: f64, cpu: f64) -> TrialRecord {
        let mut trial = trial(id, throughput, &[]);
        trial
            .levels
            .insert("users".to_owned(), Level::Number(users));
        trial.response_time_ms.mean = users / throughput * 1e3;
        trial.cpu = Some(CpuRecord {
            total: cpu,
            ..CpuRecord::default()
        });
        trial
    }

    /// Eight hidden places: the throughput stays at 192 from 16 users on, and a curve that is
    /// fitted through all of it says 149.
    #[test]
    fn a_curve_through_a_plateau_does_not_fit_the_trials_beside_the_answer() {
        let trials = [
            tried(1, 1.0, 25.0, 0.02),
            tried(2, 16.0, 192.0, 0.21),
            tried(3, 64.0, 192.0, 0.21),
        ];
        let trials: Vec<&TrialRecord> = trials.iter().collect();
        let curve = |throughput: f64| {
            move |_: f64| BTreeMap::from([("throughput_per_s".to_owned(), throughput)])
        };
        assert!(!fits(&trials, 32.0, curve(149.0)));
        assert!(fits(&trials, 32.0, curve(195.0)), "1.6 % are chance");
        let between = between(&trials, 32.0);
        assert!((between["throughput_per_s"] - 192.0).abs() < 1e-9);
        let mean = between["response_time_ms.mean"];
        assert!((mean - 166.7).abs() < 0.1, "{mean}");
        assert_eq!(
            super::between(&trials, 100.0),
            at(&trials, 64.0),
            "beyond all trials"
        );
    }
}
