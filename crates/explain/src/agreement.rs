//! Whether the hypotheses agree with what a study found by itself in the same trials.
//!
//! Both judge the same figures. Where a finding names a cause and every hypothesis that says the
//! same is refused, one of the two is wrong, and neither is to be taken for sure.

use weir_record::{Finding, TrialRecord};

use crate::diagnosis::Diagnosis;
use crate::hypothesis::Verdict;

/// Findings that name a cause, and the hypotheses one of which must not be refused then.
const SAME: [(&str, &[&str]); 12] = [
    // It says that threads are full, and not why: something behind them may hold those that are.
    (
        "threads-saturated",
        &[
            "limit",
            "locks",
            "cpu",
            "disk",
            "garbage-collection",
            "compilation",
            "neighbour",
            "quota",
            "scheduler",
        ],
    ),
    // Nor does it say why a pool is full: those that have a connection may wait for a CPU.
    (
        "pool-waits",
        &[
            "limit",
            "cpu",
            "garbage-collection",
            "compilation",
            "neighbour",
            "quota",
            "scheduler",
        ],
    ),
    ("database-full", &["limit"]),
    ("refused-by-connections", &["limit"]),
    ("gate-holds", &["limit"]),
    ("gate-turns-away", &["limit"]),
    ("backlog-overflow", &["network", "limit", "spawn-rate"]),
    ("spawn-rate-plateau", &["spawn-rate"]),
    ("idle-threads-wake", &["idle-threads"]),
    ("cpu-throttled", &["quota"]),
    // It says that the CPU is full, and not always with whose work.
    (
        "cpu-saturated",
        &[
            "cpu",
            "garbage-collection",
            "compilation",
            "quota",
            "idle-threads",
            "neighbour",
            "scheduler",
        ],
    ),
    ("gc-pressure", &["garbage-collection"]),
];

/// The findings resting on this trial that are contradicted in every trial they rest on: each
/// hypothesis that says the same is tested there and not supported.
pub fn contradicted<'a>(
    findings: &'a [Finding],
    trials: &[TrialRecord],
    trial: u32,
    diagnosis: impl Fn(&TrialRecord) -> Diagnosis,
) -> Vec<&'a Finding> {
    let resting = findings
        .iter()
        .filter(|finding| finding.trials.contains(&trial));
    resting
        .filter(|finding| {
            let same = SAME.iter().find(|(id, _)| *id == finding.id);
            let mut of_finding = trials
                .iter()
                .filter(|record| finding.trials.contains(&record.id));
            same.is_some_and(|(_, same)| of_finding.all(|record| refuses(&diagnosis(record), same)))
        })
        .collect()
}

/// What a reader of both is told.
pub fn disagreement(findings: &[&Finding]) -> Option<String> {
    let names: Vec<String> = findings
        .iter()
        .map(|finding| format!("`{}`", finding.id))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "the study found {} in this trial, which the figures below speak against: take neither for sure \
             before the trial was run again",
            names.join(", ")
        )
    })
}

fn refuses(diagnosis: &Diagnosis, hypotheses: &[&str]) -> bool {
    hypotheses.iter().all(|id| {
        let tested = diagnosis.hypothesis(id);
        tested.is_none_or(|tested| tested.verdict == Verdict::NotSupported)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Evidence, diagnose};

    fn trial(id: u32, busy: f64) -> TrialRecord {
        let times = json!({
            "mean": 100.0, "p50": 100.0, "p90": 100.0, "p95": 100.0, "p99": 100.0, "p999": 100.0, "max": 100.0
        });
        let record = json!({
            "id": id, "role": "search", "case": null, "levels": {}, "population": 40, "warm_up_s": 5.0,
            "window_s": 30.0, "repeats": 0, "valid": true, "invalid_because": [], "notes": [],
            "throughput_per_s": 400.0, "response_time_ms": times, "cpu": null, "classes": {}, "intervals": {},
            "errors": { "count": 0, "share": 0.0, "by_code": {} },
            "signals": { "threads.limit": 40.0, "threads.occupancy": busy, "request-queue.waiting": 0.0 },
        });
        serde_json::from_value(record).expect("a trial")
    }

    #[test]
    fn a_finding_is_contradicted_where_every_trial_of_it_refuses_the_cause() {
        let idle = trial(1, 4.0);
        let diagnosis =
            |record: &TrialRecord| diagnose(&Evidence::of_trial("r", record, None, None));
        let limit = diagnosis(&idle);
        let limit = limit.hypothesis("limit").expect("it is always tested");
        assert_eq!(limit.verdict, Verdict::NotSupported, "{}", limit.says);
        let findings = [
            Finding::new("gate-holds", "", &[1]),
            Finding::new("littles-law", "", &[1]),
            Finding::new("pool-waits", "", &[2]),
        ];
        let found = contradicted(&findings, std::slice::from_ref(&idle), 1, diagnosis);
        assert_eq!(found, [&findings[0]]);
        assert!(disagreement(&found).is_some_and(|says| says.contains("`gate-holds`")));
        assert_eq!(disagreement(&[]), None);
    }
}
