//! Made trials and targets for the tests of rules.

use std::collections::BTreeMap;

use super::Evidence;
use weir_record::{
    CpuScope, Errors, Finding, Levels, ResponseTime, Role, Stage, TargetFacts, TrialRecord,
    WhenFull,
};

/// A valid case with these signals.
pub(crate) fn trial(id: u32, throughput_per_s: f64, signals: &[(&str, f64)]) -> TrialRecord {
    let named = |(name, value): &(&str, f64)| ((*name).to_owned(), *value);
    TrialRecord {
        id,
        role: Role::Case,
        case: Some(format!("case {id}")),
        block: None,
        levels: Levels::new(),
        population: 1,
        warm_up_s: 0.0,
        window_s: 60.0,
        repeats: 0,
        valid: true,
        invalid_because: Vec::new(),
        invalid: Vec::new(),
        notes: Vec::new(),
        adjustments: Vec::new(),
        throughput_per_s,
        response_time_ms: ResponseTime::default(),
        errors: Errors::default(),
        succeeded_by_code: BTreeMap::new(),
        cpu: None,
        signals: signals.iter().map(named).collect(),
        signal_origins: BTreeMap::new(),
        own_units: BTreeMap::new(),
        not_read: BTreeMap::new(),
        classes: BTreeMap::new(),
        open: None,
        intervals: BTreeMap::new(),
    }
}

/// What a rule finds in these trials of a target with these limits.
pub(super) fn findings(
    rule: super::Rule,
    limits: &[(&str, f64)],
    trials: &[TrialRecord],
) -> Vec<Finding> {
    rule(&Evidence {
        trials: trials.iter().collect(),
        facts: &facts(limits),
        fit: None,
    })
}

/// A target on one CPU with these limits.
pub(super) fn facts(limits: &[(&str, f64)]) -> TargetFacts {
    let stage = |(name, limit): &(&str, f64)| Stage {
        name: (*name).to_owned(),
        native: None,
        limit: Some(*limit),
        settable: true,
        when_full: WhenFull::Wait,
    };
    TargetFacts {
        name: "made".to_owned(),
        kind: "made".to_owned(),
        recognised: None,
        cpus: 1,
        cpu_scope: CpuScope::OwnCpus,
        stages: limits.iter().map(stage).collect(),
    }
}
