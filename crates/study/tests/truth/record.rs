//! A made trial as a record.

use std::collections::BTreeMap;

use weir_record::{
    CpuRecord, CpuScope, Errors, ResponseTime, Stage, TargetFacts, Treatment, TrialRecord,
};

/// What a trial measured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) throughput_per_s: f64,
    pub(crate) response_s: f64,
    /// Share of the CPUs; absent where nothing is said of them.
    pub(crate) cpu: Option<f64>,
}

/// What is known of a made server before its first trial.
pub(crate) fn facts(stages: Vec<Stage>) -> TargetFacts {
    TargetFacts {
        name: "made".to_owned(),
        kind: "made".to_owned(),
        recognised: None,
        cpus: 4,
        cpu_scope: CpuScope::Unknown,
        stages,
    }
}

/// The record of a valid trial.
pub(crate) fn record(treatment: &Treatment, population: u32, seen: &Seen) -> TrialRecord {
    TrialRecord {
        id: treatment.id,
        role: treatment.role,
        case: treatment.case.clone(),
        block: treatment.block,
        levels: treatment.levels.clone(),
        population,
        warm_up_s: treatment.window.warm_up_min.as_secs_f64(),
        window_s: treatment.window.max.as_secs_f64(),
        repeats: 0,
        valid: true,
        invalid_because: Vec::new(),
        invalid: Vec::new(),
        notes: Vec::new(),
        adjustments: Vec::new(),
        throughput_per_s: seen.throughput_per_s,
        response_time_ms: exponential(1e3 * seen.response_s),
        errors: Errors::default(),
        succeeded_by_code: BTreeMap::new(),
        cpu: seen.cpu.map(|cpu| CpuRecord {
            user: cpu,
            total: cpu,
            ..CpuRecord::default()
        }),
        signals: BTreeMap::new(),
        signal_origins: BTreeMap::new(),
        own_units: BTreeMap::new(),
        not_read: BTreeMap::new(),
        classes: BTreeMap::new(),
        open: None,
        intervals: BTreeMap::new(),
    }
}

/// Quantiles of an exponential distribution with this mean.
fn exponential(mean: f64) -> ResponseTime {
    let quantile = |q: f64| -mean * (1.0 - q).ln();
    ResponseTime {
        mean,
        p50: quantile(0.5),
        p90: quantile(0.9),
        p95: quantile(0.95),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: quantile(0.9999),
    }
}
