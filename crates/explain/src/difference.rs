//! Two runs that differ: whose time grew by as much as the response time did.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::diagnosis::Diagnosis;
use crate::hypothesis::Verdict;
use crate::threshold::MATTERS;
use crate::words::{percent, time};

/// The smallest change of the mean response time that there is something to explain of: `weir compare`'s own margin.
const DIFFERENCE_MIN: f64 = 0.05;

/// Why two runs differ.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DifferenceDiagnosis {
    /// How much longer a request took in the second run, in milliseconds; negative: shorter.
    pub response_mean_grew_ms: Option<f64>,
    /// Each hypothesis' part in that.
    pub hypotheses: Vec<ChangedTime>,
    /// The hypothesis with the largest part; null when none is supported.
    pub first: Option<String>,
    /// The answer in a sentence.
    pub summary: String,
}

/// A hypothesis in two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedTime {
    /// The hypothesis.
    pub id: String,
    /// Whether it explains the difference.
    pub verdict: Verdict,
    /// Time of a request that it accounts for in each run, in milliseconds; null where that was not recorded.
    pub time_ms: [Option<f64>; 2],
    /// Its part in the difference of the response times, as a share; above 1: something else made up for a part of it.
    pub part: Option<f64>,
}

/// Says which hypotheses explain that the second run's requests took another time than the first one's.
pub fn diagnose_difference(first: &Diagnosis, second: &Diagnosis) -> DifferenceDiagnosis {
    let grew_ms = second
        .response_mean_ms
        .zip(first.response_mean_ms)
        .map(|(second, first)| second - first);
    let matters = grew_ms
        .zip(first.response_mean_ms)
        .map(|(grew, first)| grew.abs() >= DIFFERENCE_MIN * first);
    let slower = if grew_ms.is_some_and(|grew| grew < 0.0) {
        first
    } else {
        second
    };
    let hypotheses: Vec<ChangedTime> = first
        .hypotheses
        .iter()
        .map(|hypothesis| {
            let time_ms = [first, second].map(|run| time_of(run, &hypothesis.id));
            // Time that may be somebody else's explains nothing.
            let part = part(time_ms, grew_ms).filter(|_| !is_open(slower, &hypothesis.id));
            let verdict = match (matters, part) {
                (Some(false), _) => Verdict::NotSupported,
                (_, None) => Verdict::NotMeasured,
                (_, Some(part)) if part >= MATTERS => Verdict::Supported,
                _ => Verdict::NotSupported,
            };
            ChangedTime {
                id: hypothesis.id.clone(),
                verdict,
                time_ms,
                part,
            }
        })
        .collect();
    let largest = hypotheses
        .iter()
        .filter(|changed| changed.verdict == Verdict::Supported)
        .max_by(|a, b| rank(a).total_cmp(&rank(b)));
    let summary = summary(grew_ms, matters, largest);
    DifferenceDiagnosis {
        response_mean_grew_ms: grew_ms,
        first: largest.map(|changed| changed.id.clone()),
        hypotheses,
        summary,
    }
}

/// The broad hypotheses contain the narrow ones' time, and come after them.
fn rank(changed: &ChangedTime) -> f64 {
    let part = changed.part.unwrap_or(0.0).min(1.0);
    match changed.id.as_str() {
        "cpu" => part - 1.0,
        "scheduler" => part - 2.0,
        _ => part,
    }
}

fn time_of(run: &Diagnosis, id: &str) -> Option<f64> {
    let hypothesis = run.hypothesis(id)?;
    Some(hypothesis.share? * run.response_mean_ms?)
}

fn is_open(run: &Diagnosis, id: &str) -> bool {
    run.hypothesis(id)
        .is_none_or(|hypothesis| hypothesis.verdict == Verdict::NotMeasured)
}

fn part([first, second]: [Option<f64>; 2], grew_ms: Option<f64>) -> Option<f64> {
    let grew_ms = grew_ms.filter(|grew| *grew != 0.0)?;
    Some((second? - first?) / grew_ms)
}

fn summary(grew_ms: Option<f64>, matters: Option<bool>, largest: Option<&ChangedTime>) -> String {
    let (Some(grew_ms), Some(matters)) = (grew_ms, matters) else {
        return "The response times of one of the two are not known: there is no difference to explain.".to_owned();
    };
    if !matters {
        return format!(
            "The mean response times differ by {}, less than 5 %: nothing to explain.",
            time(grew_ms.abs() / 1e3)
        );
    }
    let word = if grew_ms > 0.0 { "longer" } else { "shorter" };
    let took = format!("Requests took {} {word}", time(grew_ms.abs() / 1e3));
    match largest {
        Some(changed) => {
            let times = changed
                .time_ms
                .map(|ms| ms.map_or_else(|| "?".to_owned(), |ms| time(ms / 1e3)));
            format!(
                "{took}; {} of that is explained by `{}`: {} of a request before, {} now.",
                percent(changed.part.unwrap_or_default()),
                changed.id,
                times[0],
                times[1]
            )
        }
        None => {
            format!("{took}; no hypothesis that was measured in both explains a tenth of that.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnosis::diagnose;
    use crate::evidence::made::evidence;

    /// A run with requests of so many seconds and these signals.
    fn run(mean_s: f64, signals: &[(&str, f64)]) -> Diagnosis {
        let mut made = evidence(signals);
        made.mean_s = Some(mean_s);
        made.in_flight = Some(mean_s * 100.0);
        diagnose(&made)
    }

    const BEFORE: [(&str, f64); 4] = [
        ("target.run-queue-wait", 0.5),
        ("target.blocked", 0.0),
        ("pool.db.waiting", 0.0),
        ("pool.db.occupancy", 2.0),
    ];

    #[test]
    fn what_grew_with_the_response_time_explains_it() {
        let after = [("target.run-queue-wait", 0.5), ("target.blocked", 9.0)];
        let found = diagnose_difference(&run(0.1, &BEFORE), &run(0.2, &after));
        assert_eq!(found.first.as_deref(), Some("disk"), "{found:#?}");
        assert!(found.summary.contains("90 % of that"), "{}", found.summary);
        let scheduler = found
            .hypotheses
            .iter()
            .find(|changed| changed.id == "scheduler");
        assert_eq!(
            scheduler.map(|changed| changed.verdict),
            Some(Verdict::NotSupported)
        );
    }

    #[test]
    fn runs_that_do_not_differ_have_nothing_to_explain() {
        let found = diagnose_difference(&run(0.1, &BEFORE), &run(0.102, &BEFORE));
        assert_eq!(found.first, None);
        assert!(
            found.summary.ends_with("nothing to explain."),
            "{}",
            found.summary
        );
    }

    #[test]
    fn what_one_run_does_not_tell_is_not_measured() {
        let found = diagnose_difference(&run(0.1, &[]), &run(0.2, &BEFORE));
        assert!(
            found
                .hypotheses
                .iter()
                .all(|changed| changed.verdict == Verdict::NotMeasured),
            "{found:#?}"
        );
    }
}
