//! Settings that were varied and could not act at this load.
//!
//! A limit acts only when as many want to be in its stage as it lets in. If no trial came near the
//! smallest limit that was tried, no difference between the trials is this setting's.

use weir_record::{Finding, Stage, TrialRecord};

use super::{Evidence, name};
use crate::figure::occupancy;
use crate::settings::THREADS;

/// From this share of its limit a stage may have been full at moments.
pub(crate) const NEAR: f64 = 0.8;

/// Every stage whose limit was varied and never reached. The threads have a rule of their own.
pub(super) fn varied(evidence: &Evidence<'_>) -> Vec<Finding> {
    let stages = evidence.facts.stages.iter();
    stages
        .filter(|stage| stage.name != THREADS)
        .filter_map(|stage| never_acted(stage, evidence))
        .collect()
}

fn never_acted(stage: &Stage, evidence: &Evidence<'_>) -> Option<Finding> {
    let limits: Vec<(&TrialRecord, f64)> = evidence
        .trials
        .iter()
        .filter_map(|trial| Some((*trial, limit_in(trial, stage)?)))
        .collect();
    let smallest = limits.iter().map(|(_, limit)| *limit).reduce(f64::min)?;
    let largest = limits.iter().map(|(_, limit)| *limit).reduce(f64::max)?;
    if smallest >= largest {
        return None;
    }
    let fullest = limits
        .iter()
        .map(|(trial, _)| Some((*trial, occupancy(trial, &stage.name)?)))
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (trial, most) = fullest;
    if most >= NEAR * smallest {
        return None;
    }
    let ids: Vec<u32> = limits.iter().map(|(trial, _)| trial.id).collect();
    let says = format!(
        "The limit of {} cannot act at this load: it was varied from {smallest} to {largest}, and at most \
         {most:.1} were in the stage ({}, trial {}). Differences between these trials are not its doing.",
        stage.name,
        name(trial),
        trial.id
    );
    Some(
        Finding::new("cannot-bind", says, &ids)
            .of_stage(&stage.name)
            .with(&format!("{}.occupancy", stage.name), most)
            .change(format!(
                "nothing; it would act with more than {smallest} in the stage, which takes more users or \
                 slower answers"
            )),
    )
}

/// The limit in a trial: as set, else as found.
fn limit_in(trial: &TrialRecord, stage: &Stage) -> Option<f64> {
    trial.level(&stage.name).or(stage.limit)
}

#[cfg(test)]
mod tests {
    use weir_record::Level;

    use super::super::made::{facts, trial};
    use super::*;

    fn with_limit(id: u32, stage: &str, limit: f64, signals: &[(&str, f64)]) -> TrialRecord {
        let mut trial = trial(id, 100.0, signals);
        trial.levels.insert(stage.to_owned(), Level::Number(limit));
        trial
    }

    fn found(stage: &str, trials: &[TrialRecord]) -> Option<Finding> {
        let facts = facts(&[(stage, 100.0)]);
        let evidence = Evidence {
            trials: trials.iter().collect(),
            facts: &facts,
            fit: None,
        };
        varied(&evidence).pop()
    }

    #[test]
    fn a_backlog_that_nobody_waits_in_cannot_act() {
        let queue = [("tcp.8080.accept-queue", 0.2)];
        let trials = [
            with_limit(1, "backlog", 10.0, &queue),
            with_limit(2, "backlog", 200.0, &queue),
        ];
        let finding = found("backlog", &trials).expect("it cannot act");
        assert_eq!(finding.stage.as_deref(), Some("backlog"));
        assert_eq!(finding.trials, [1, 2]);
    }

    #[test]
    fn a_limit_that_was_reached_or_not_varied_or_not_seen_is_not_named() {
        let full = [("connections.occupancy", 99.0)];
        let half = [("connections.occupancy", 20.0)];
        let reached = [
            with_limit(1, "connections", 100.0, &full),
            with_limit(2, "connections", 8192.0, &half),
        ];
        assert_eq!(found("connections", &reached), None);
        let same = [
            with_limit(1, "connections", 100.0, &half),
            with_limit(2, "connections", 100.0, &half),
        ];
        assert_eq!(found("connections", &same), None);
        let unseen = [
            with_limit(1, "connections", 100.0, &[]),
            with_limit(2, "connections", 8192.0, &half),
        ];
        assert_eq!(found("connections", &unseen), None);
    }
}
