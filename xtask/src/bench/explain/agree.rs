//! Whether what the study found by itself agrees with what `weir explain` says of the same trial.

use std::path::Path;

use serde::Deserialize;

use super::{Diagnosis, Hypothesis};
use crate::error::TaskError;

/// Findings that name a cause, and the hypotheses one of which must not be refused then.
const SAME: [(&str, &[&str]); 12] = [
    ("threads-saturated", &["limit", "locks"]),
    ("pool-waits", &["limit"]),
    ("database-full", &["limit"]),
    ("refused-by-connections", &["limit"]),
    ("gate-holds", &["limit"]),
    ("gate-turns-away", &["limit"]),
    ("backlog-overflow", &["network", "limit", "spawn-rate"]),
    ("spawn-rate-plateau", &["spawn-rate"]),
    ("idle-threads-wake", &["idle-threads"]),
    ("cpu-throttled", &["quota"]),
    ("cpu-saturated", &["cpu", "garbage-collection", "quota"]),
    ("gc-pressure", &["garbage-collection"]),
];

#[derive(Debug, Deserialize)]
struct Study {
    findings: Vec<Finding>,
}

#[derive(Debug, Deserialize)]
struct Finding {
    id: String,
}

/// The findings of a study of one trial that its explanation contradicts: every hypothesis that
/// says the same is not supported.
pub(super) fn contradictions(result: &Path, of: &Diagnosis) -> Result<Vec<String>, TaskError> {
    let text = std::fs::read_to_string(result).map_err(TaskError::file("read", result))?;
    let study: Study = serde_json::from_str(&text).map_err(|error| TaskError::Form {
        what: result.display().to_string(),
        why: error.to_string(),
    })?;
    let is_refused = |id: &&str| {
        let hypothesis = of.hypotheses.iter().find(|found| found.id == **id);
        hypothesis.is_none_or(Hypothesis::is_refused)
    };
    let contradicted = study.findings.into_iter().filter(|finding| {
        let same = SAME.iter().find(|(id, _)| *id == finding.id);
        same.is_some_and(|(_, hypotheses)| hypotheses.iter().all(is_refused))
    });
    Ok(contradicted.map(|finding| finding.id).collect())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_finding_whose_hypothesis_is_not_supported_is_a_contradiction() {
        let folder = tempfile::tempdir().unwrap();
        let result = folder.path().join("result.json");
        let findings = r#"{"findings": [{"id": "threads-saturated"}, {"id": "littles-law"}]}"#;
        std::fs::write(&result, findings).unwrap();
        let with = |verdict: &str| Diagnosis {
            throughput_per_s: None,
            response_mean_ms: None,
            hypotheses: vec![Hypothesis {
                id: "limit".to_owned(),
                verdict: verdict.to_owned(),
                share: None,
            }],
            first: None,
        };
        let of = |verdict| contradictions(&result, &with(verdict)).unwrap();
        assert_eq!(of("supported"), Vec::<String>::new());
        assert_eq!(of("not-measured"), Vec::<String>::new());
        assert_eq!(of("not-supported"), ["threads-saturated"]);
    }
}
