//! A target that becomes slower or faster while the study runs.

use weir_record::{Finding, Levels, Role};
use weir_stats::student_cdf;

use super::Evidence;

/// Trials without which a slope says nothing.
const TRIALS_MIN: usize = 5;
/// Chance of a false alarm, and the smallest change over the study that matters.
const ALARM: f64 = 0.01;
const CHANGE_MIN: f64 = 0.02;

/// The CPU against what is expected at its level, over the order of the trials: in a search against
/// the fitted curve, in a sweep against the mean of the case's replicates at the same levels.
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
    let mut all = Vec::new();
    for logs in replicates(evidence).iter().filter(|logs| logs.len() > 1) {
        let mean = logs.iter().map(|(_, log)| log).sum::<f64>() / logs.len() as f64;
        all.extend(logs.iter().map(|(id, log)| (*id, log - mean)));
    }
    all.sort_by_key(|(id, _)| *id);
    all
}

/// Numbers of trials, and ln(CPU) of each.
type Logs = Vec<(u32, f64)>;

/// The trials of a case that had the same levels. A level that follows from other
/// trials (`rate = "{…}"`) differs from block to block, and with it the CPU.
fn replicates(evidence: &Evidence<'_>) -> Vec<Logs> {
    let mut groups: Vec<(&str, &Levels, Logs)> = Vec::new();
    for trial in &evidence.trials {
        let (Some(case), Some(cpu)) = (&trial.case, trial.cpu) else {
            continue;
        };
        let log = cpu.total.ln();
        if !log.is_finite() {
            continue;
        }
        let group = groups
            .iter_mut()
            .find(|(name, levels, _)| *name == case && **levels == trial.levels);
        match group {
            Some((_, _, logs)) => logs.push((trial.id, log)),
            None => groups.push((case, &trial.levels, vec![(trial.id, log)])),
        }
    }
    groups.into_iter().map(|(_, _, logs)| logs).collect()
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

#[cfg(test)]
mod tests {
    use weir_record::{CpuRecord, TrialRecord};

    use super::*;
    use crate::findings::made::{findings, trial};

    /// Replicates of one case, the CPU of each beside its rate.
    fn says(trials: &[(f64, f64)]) -> bool {
        let trials: Vec<TrialRecord> = (1..)
            .zip(trials)
            .map(|(id, (rate, cpu))| TrialRecord {
                case: Some("light alone".to_owned()),
                levels: [("rate".to_owned(), (*rate).into())].into(),
                cpu: Some(CpuRecord {
                    total: *cpu,
                    ..CpuRecord::default()
                }),
                ..trial(id, *rate, &[])
            })
            .collect();
        !findings(of_cpu, &[], &trials).is_empty()
    }

    #[test]
    fn more_cpu_at_the_same_levels_is_told() {
        let noise = [0.001, -0.002, 0.002, 0.0, -0.001, 0.001];
        let grown = |n: usize| (100.0, 0.4 + 0.01 * n as f64 + noise[n]);
        assert!(says(&[0, 1, 2, 3, 4, 5].map(grown)));
        let level = |n: usize| (100.0, 0.4 + noise[n]);
        assert!(!says(&[0, 1, 2, 3, 4, 5].map(level)));
    }

    #[test]
    fn a_rate_that_grows_from_block_to_block_is_no_drift() {
        let noise = [0.001, -0.002, 0.002, 0.0, -0.001, 0.001];
        let grown = |n: usize| {
            let rate = 100.0 + 3.0 * n as f64;
            (rate, 0.004 * rate + noise[n])
        };
        assert!(!says(&[0, 1, 2, 3, 4, 5].map(grown)));
    }
}
