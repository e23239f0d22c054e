//! Stages that hold more than their limit says.

use weir_record::{Finding, TrialRecord};

use super::{Evidence, most, name};

/// More than this above the limit, on average: a reading in the middle of a change is less.
const ABOVE: f64 = 1.02;
/// The stages whose limit is counted in what occupies them.
const COUNTED: [&str; 2] = ["threads", "pool."];

/// A limit that does not hold, such as a thread pool that may grow beyond its maximum: it cannot
/// hold the flow either.
pub(super) fn beyond_limit(evidence: &Evidence<'_>) -> Vec<Finding> {
    let stages = evidence.facts.stages.iter();
    stages
        .filter(|stage| {
            COUNTED
                .iter()
                .any(|counted| stage.name.starts_with(counted))
        })
        .filter_map(|stage| worst(&stage.name, evidence))
        .collect()
}

fn worst(stage: &str, evidence: &Evidence<'_>) -> Option<Finding> {
    let beyond = |trial: &TrialRecord| {
        let share = trial.taken(stage, evidence.facts)?;
        (share > ABOVE).then_some(share)
    };
    let (trial, _, ids) = most(evidence, beyond)?;
    let occupancy = trial.occupancy(stage)?;
    let says = format!(
        "The limit of {stage} does not hold: {occupancy:.1} on average in {} (trial {}), where at most {} are allowed.",
        name(trial),
        trial.id,
        trial.limit(stage, evidence.facts)?
    );
    let found = Finding::new("beyond-limit", says, &ids).of_stage(stage);
    Some(
        found
            .with(&format!("{stage}.occupancy"), occupancy)
            .change("switch growth beyond the maximum off: a limit that gives way holds nothing"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made::{findings, trial};

    #[test]
    fn a_pool_of_threads_that_grows_is_named() {
        let grown = trial(1, 10.0, &[("threads.occupancy", 57.0)]);
        let found = findings(beyond_limit, &[("threads", 50.0)], &[grown]);
        assert_eq!(found[0].stage.as_deref(), Some("threads"));
        assert!(found[0].says.contains("57.0 on average"), "{found:?}");
    }

    #[test]
    fn a_limit_that_holds_is_not() {
        let full = trial(1, 10.0, &[("threads.occupancy", 50.0)]);
        assert_eq!(findings(beyond_limit, &[("threads", 50.0)], &[full]), []);
        // A server without a limit has nothing to exceed.
        let free = trial(1, 10.0, &[("threads.occupancy", 50.0)]);
        assert_eq!(findings(beyond_limit, &[], &[free]), []);
    }
}
