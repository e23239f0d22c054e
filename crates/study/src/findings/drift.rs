//! A target that becomes slower or faster while the study runs.

use std::collections::BTreeMap;

use weir_record::{Finding, Role, TrialRecord};
use weir_stats::student_cdf;

use super::Evidence;

/// Trials without which a slope says nothing.
const TRIALS_MIN: usize = 5;
/// Chance of a false alarm, and the smallest change over the study that matters.
const ALARM: f64 = 0.01;
const CHANGE_MIN: f64 = 0.02;

/// The CPU against what is expected at its level, over the order of the trials: in a search against
/// the fitted curve, in a sweep against the mean of the case's replicates.
pub(super) fn of_cpu(evidence: &Evidence<'_>) -> Vec<Finding> {
    let residuals = residuals(evidence);
    let Some(slope) = Slope::of(&residuals) else {
        return Vec::new();
    };
    let (first, last) = (residuals[0].0, residuals[residuals.len() - 1].0);
    let change = slope.value * f64::from(last - first);
    if slope.chance > ALARM || change.abs() < CHANGE_MIN {
        return Vec::new();
    }
    let says = format!(
        "The target drifts: its CPU at the same load changed by {:+.1} % from trial {first} to trial {last} \
         (chance of that without a drift: {:.1} %).",
        change * 100.0,
        slope.chance * 100.0
    );
    let ids: Vec<u32> = residuals.iter().map(|(id, _)| *id).collect();
    vec![Finding::new("drift", says, &ids).change(
        "what grows while it runs (caches, tables, logs, temperature); until then compare neighbouring trials only",
    )]
}

/// Number of the trial, and ln(CPU / expected CPU).
fn residuals(evidence: &Evidence<'_>) -> Vec<(u32, f64)> {
    if let Some(fit) = evidence.fit {
        let searched = evidence
            .trials
            .iter()
            .filter(|trial| trial.role == Role::Search);
        return searched
            .filter_map(|trial| {
                let level = crate::search::level(trial)?;
                // Far below, a trial's own noise is larger than any drift.
                let expected = fit.near_utilization(level)?;
                Some((trial.id, (trial.cpu?.total / expected).ln()))
            })
            .filter(|(_, residual)| residual.is_finite())
            .collect();
    }
    let mut cases: BTreeMap<&str, Vec<&TrialRecord>> = BTreeMap::new();
    for trial in &evidence.trials {
        if let (Some(case), Some(_)) = (&trial.case, trial.cpu) {
            cases.entry(case).or_default().push(trial);
        }
    }
    let mut all = Vec::new();
    for trials in cases.values().filter(|trials| trials.len() > 1) {
        let logs: Vec<f64> = trials
            .iter()
            .filter_map(|trial| Some(trial.cpu?.total.ln()))
            .filter(|log| log.is_finite())
            .collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        all.extend(
            trials
                .iter()
                .zip(logs)
                .map(|(trial, log)| (trial.id, log - mean)),
        );
    }
    all.sort_by_key(|(id, _)| *id);
    all
}

struct Slope {
    value: f64,
    /// Chance of a slope at least as steep without a drift (Student's t, two-sided).
    chance: f64,
}

impl Slope {
    /// Least squares of the residuals on the order.
    fn of(residuals: &[(u32, f64)]) -> Option<Self> {
        let count = residuals.len() as f64;
        if residuals.len() < TRIALS_MIN {
            return None;
        }
        let mean = |of: &dyn Fn(&(u32, f64)) -> f64| residuals.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(&|r| f64::from(r.0)), mean(&|r| r.1));
        let squares = mean(&|r| (f64::from(r.0) - x).powi(2)) * count;
        let value = mean(&|r| (f64::from(r.0) - x) * (r.1 - y)) * count / squares;
        let scatter = mean(&|r| (r.1 - y - value * (f64::from(r.0) - x)).powi(2)) * count;
        let df = count - 2.0;
        let error = (scatter / df / squares).sqrt();
        if error == 0.0 {
            return None;
        }
        let chance = 2.0 * student_cdf(-(value / error).abs(), df);
        Some(Self { value, chance })
    }
}
