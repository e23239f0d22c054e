//! What disturbed the measurement: the load generator itself, and neighbours on the machine.

use weir_record::{Finding, TrialRecord, disturbance, names};

use super::Evidence;
use crate::search::cpu::disturbed_by;

/// A trial is invalid from 1 % late starts on; from half of that the reader should know.
const LATE_SHARE_NEAR: f64 = 0.005;

/// The load generator was late now and then: more load than this cannot be trusted.
pub(super) fn near_its_limit(evidence: &Evidence<'_>) -> Vec<Finding> {
    let late = |trial: &TrialRecord| trial.signals.get(names::LATE_SHARE).copied().unwrap_or(0.0);
    let near: Vec<&&TrialRecord> = evidence
        .trials
        .iter()
        .filter(|trial| late(trial) > LATE_SHARE_NEAR)
        .collect();
    let Some(worst) = near.iter().max_by(|a, b| late(a).total_cmp(&late(b))) else {
        return Vec::new();
    };
    let says = format!(
        "The load generator comes near its limit: {:.1} % of its requests started late in trial {} ({} users). \
         From 1 % on a trial does not count.",
        late(worst) * 100.0,
        worst.id,
        worst.population
    );
    let ids: Vec<u32> = near.iter().map(|trial| trial.id).collect();
    let found =
        Finding::new("load-tool-near-limit", says, &ids).with(names::LATE_SHARE, late(worst));
    vec![
        found
            .change("more CPUs for the load, or a second machine")
            .was_not("the server: a request that starts late has not reached it"),
    ]
}

/// Somebody else used the target's CPUs.
pub(super) fn disturbed(evidence: &Evidence<'_>) -> Vec<Finding> {
    let cpus = evidence.facts.cpus;
    let hit: Vec<&&TrialRecord> = evidence
        .trials
        .iter()
        .filter(|trial| disturbance(trial, cpus).is_some())
        .collect();
    let most = |a: &&&&TrialRecord, b: &&&&TrialRecord| {
        disturbed_by(a, cpus).total_cmp(&disturbed_by(b, cpus))
    };
    let Some(worst) = hit.iter().max_by(most) else {
        return Vec::new();
    };
    let says = format!(
        "{} of {} trials were disturbed, trial {} most: {}. They count with a wider interval.",
        hit.len(),
        evidence.trials.len(),
        worst.id,
        disturbance(worst, cpus).unwrap_or_default(),
    );
    let ids: Vec<u32> = hit.iter().map(|trial| trial.id).collect();
    vec![Finding::new("disturbed", says, &ids).change(
        "end what else runs, or give the target CPUs of its own; on a virtual machine ask whose the others are",
    )]
}

#[cfg(test)]
mod tests {
    use weir_record::CpuRecord;

    use super::*;
    use crate::findings::made::{findings, trial};

    #[test]
    fn late_starts_are_told_before_they_make_a_trial_invalid() {
        let late = |share| {
            findings(
                near_its_limit,
                &[],
                &[trial(1, 10.0, &[(names::LATE_SHARE, share)])],
            )
        };
        assert_eq!(late(0.008)[0].id, "load-tool-near-limit");
        assert_eq!(late(0.001), []);
    }

    #[test]
    fn a_cpu_that_others_use_is_told() {
        let beside = |share| {
            let mut made = trial(1, 10.0, &[]);
            made.cpu = Some(CpuRecord {
                user: 0.5,
                system: 0.1,
                steal: share,
                total: 0.6,
            });
            findings(disturbed, &[], &[made])
        };
        assert_eq!(beside(0.3)[0].id, "disturbed");
        assert_eq!(beside(0.0), []);
    }
}
