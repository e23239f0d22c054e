//! Settings that were varied and could not act at this load.
//!
//! A limit acts only when as many want to be in its stage as it lets in. If no trial came near the
//! smallest limit that was tried, no difference between the trials is this setting's.

use std::collections::BTreeSet;

use weir_record::{Finding, Stage, TrialRecord};

use super::{Evidence, name};
use crate::figure::occupancy;
use crate::settings::THREADS;

/// From this share of its limit a stage may have been full at moments.
pub(crate) const NEAR: f64 = 0.8;

/// All stages whose limits were varied and never reached, in one finding. The threads have a rule
/// of their own.
pub(super) fn varied(evidence: &Evidence<'_>) -> Vec<Finding> {
    let stages = evidence.facts.stages.iter();
    let idle: Vec<Idle<'_>> = stages
        .filter(|stage| stage.name != THREADS)
        .filter_map(|stage| never_acted(stage, evidence))
        .collect();
    match idle.as_slice() {
        [] => Vec::new(),
        [one] => vec![one.alone()],
        all => vec![together(all)],
    }
}

/// A limit that was varied and never reached.
struct Idle<'e> {
    stage: &'e str,
    smallest: f64,
    largest: f64,
    /// The most that were in the stage, and in which trial.
    most: f64,
    fullest: &'e TrialRecord,
    trials: Vec<u32>,
}

fn never_acted<'e>(stage: &'e Stage, evidence: &Evidence<'e>) -> Option<Idle<'e>> {
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
    let (fullest, most) = limits
        .iter()
        .map(|(trial, _)| Some((*trial, occupancy(trial, &stage.name)?)))
        .collect::<Option<Vec<_>>>()?
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    (most < NEAR * smallest).then(|| Idle {
        stage: &stage.name,
        smallest,
        largest,
        most,
        fullest,
        trials: limits.iter().map(|(trial, _)| trial.id).collect(),
    })
}

impl Idle<'_> {
    fn alone(&self) -> Finding {
        let Self {
            stage,
            smallest,
            largest,
            most,
            fullest,
            trials,
        } = self;
        let says = format!(
            "Not reached at this load: the limit of {stage}, varied from {smallest} to {largest} (peak {most:.1} in \
             {}, trial {}). It causes no difference between these trials.",
            name(fullest),
            fullest.id
        );
        Finding::new("cannot-bind", says, trials)
            .of_stage(stage)
            .with(&format!("{stage}.occupancy"), *most)
            .change(format!(
                "nothing; it would act with more than {smallest} in the stage, which takes more users or \
                 slower answers"
            ))
    }
}

fn together(all: &[Idle<'_>]) -> Finding {
    let parts = all.iter().map(|idle| {
        format!(
            "{} ({} to {}, peak {:.1} in trial {})",
            idle.stage, idle.smallest, idle.largest, idle.most, idle.fullest.id
        )
    });
    let parts: Vec<String> = parts.collect();
    let says = format!(
        "Not reached at this load: the limits of {}. They cause no difference between these trials.",
        parts.join(", ")
    );
    let trials: BTreeSet<u32> = all.iter().flat_map(|idle| idle.trials.clone()).collect();
    let trials: Vec<u32> = trials.into_iter().collect();
    let finding = Finding::new("cannot-bind", says, &trials);
    all.iter()
        .fold(finding, |finding, idle| {
            finding.with(&format!("{}.occupancy", idle.stage), idle.most)
        })
        .change("nothing; they would act with more users or slower answers")
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
    fn several_limits_that_cannot_act_are_one_finding() {
        let idle = [
            ("tcp.8080.accept-queue", 0.2),
            ("connections.occupancy", 20.0),
        ];
        let mut trials = [
            with_limit(1, "backlog", 10.0, &idle),
            with_limit(2, "backlog", 200.0, &idle),
        ];
        for (trial, limit) in trials.iter_mut().zip([100.0, 8192.0]) {
            let limit = Level::Number(limit);
            trial.levels.insert("connections".to_owned(), limit);
        }
        let facts = facts(&[("backlog", 100.0), ("connections", 100.0)]);
        let evidence = Evidence {
            trials: trials.iter().collect(),
            facts: &facts,
            fit: None,
        };
        let found = varied(&evidence);
        let [finding] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!(finding.trials, [1, 2]);
        assert!(
            finding.stage.is_none() && finding.evidence.len() == 2,
            "{finding:?}"
        );
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
