//! The figures of trials that decisions rest on, and their means.

use std::collections::BTreeMap;

use weir_record::TrialRecord;

use super::Response;
use crate::evidence::Evidence;
use crate::hypotheses::locks::rest;

/// The figures of a trial that decisions rest on.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialFigures {
    /// Requests answered per second.
    pub throughput_per_s: f64,
    /// Mean response time in milliseconds.
    pub mean_ms: f64,
    /// 99th percentile of the response time in milliseconds.
    pub p99_ms: f64,
    /// Mean response time of each class of requests in milliseconds.
    pub class_means_ms: BTreeMap<String, f64>,
    /// Share of the time in which a garbage collector had stopped the application.
    pub stopped: Option<f64>,
    /// Mean time of a request, in milliseconds, that is neither work nor a wait that is counted;
    /// where that can be told.
    pub unaccounted_ms: Option<f64>,
    /// Busy share of the CPUs that the server may use.
    pub cpu: Option<f64>,
    /// Share of the samples that failed.
    pub failed: f64,
}

impl TrialFigures {
    /// Those of a record.
    pub fn of(record: &TrialRecord) -> Self {
        let classes = record.classes.iter();
        let evidence = Evidence::of_trial("", record, None, None);
        let unaccounted = rest(&evidence).zip(evidence.mean_s);
        Self {
            throughput_per_s: record.throughput_per_s,
            mean_ms: record.response_time_ms.mean,
            p99_ms: record.response_time_ms.p99,
            class_means_ms: classes
                .map(|(label, class)| (label.clone(), class.response_time_ms.mean))
                .collect(),
            stopped: record.signals.get("gc.time").copied(),
            unaccounted_ms: unaccounted.map(|(share, mean_s)| share * mean_s * 1e3),
            cpu: record.cpu.map(|cpu| cpu.total),
            failed: record.errors.share,
        }
    }
}

/// The means over the trials of a case; `None` without any.
pub(super) fn response(trials: &[TrialFigures]) -> Option<Response> {
    let mean = |of: fn(&TrialFigures) -> f64| mean(trials.iter().map(of));
    Some(Response {
        throughput_per_s: mean(|trial| trial.throughput_per_s)?,
        mean_ms: mean(|trial| trial.mean_ms)?,
        p99_ms: mean(|trial| trial.p99_ms)?,
        stopped: stopped(trials),
    })
}

/// Share of the time in which a collector had stopped the application, where that was told.
pub(super) fn stopped(trials: &[TrialFigures]) -> Option<f64> {
    mean(trials.iter().filter_map(|trial| trial.stopped))
}

/// The mean; `None` of nothing.
pub(super) fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
