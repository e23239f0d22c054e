//! Users who had no answer at all, of whom no response time tells.

use weir_record::{Finding, TrialRecord};

use super::{Evidence, most, name};

/// Says how many had none where there were most of them.
pub(super) fn users(evidence: &Evidence<'_>) -> Vec<Finding> {
    let Some((trial, starved, trials)) = most(evidence, TrialRecord::starved) else {
        return Vec::new();
    };
    let mean_ms = trial.mean_of_all_ms().unwrap_or_default();
    let says = format!(
        "{starved:.1} requests in flight had no answer in {} (trial {}), in the whole window of {:.0} s, while others had \
         theirs after {:.0} ms: response times of the samples say nothing of them. Over all requests the mean is {mean_ms:.0} ms by Little's law, \
         and requirements on response times are judged with them.",
        name(trial),
        trial.id,
        trial.window_s,
        trial.response_time_ms.mean
    );
    vec![Finding::new("users-starved", says, &trials)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::made::{facts, trial};

    fn found(in_flight: f64, mean_ms: f64) -> Vec<String> {
        let mut trial = trial(4, 157.0, &[("in-flight", in_flight)]);
        trial.response_time_ms.mean = mean_ms;
        (trial.window_s, trial.population) = (20.0, 40);
        let facts = facts(&[]);
        let evidence = Evidence {
            trials: vec![&trial],
            facts: &facts,
            fit: None,
        };
        users(&evidence)
            .into_iter()
            .map(|found| found.says)
            .collect()
    }

    #[test]
    fn users_without_an_answer_are_counted() {
        // Eight processes, sixteen connections that are kept: half of them are never accepted.
        let says = found(16.0, 51.0);
        assert!(
            says[0].contains("8.0 requests in flight had no answer"),
            "{says:?}"
        );
        assert!(says[0].contains("the mean is 102 ms"), "{says:?}");
        assert_eq!(found(8.0, 51.0), [""; 0]);
        assert_eq!(found(9.8, 51.0), [""; 0], "chance, of users that think");
        // A window's edges: a few requests more were in flight than ended.
        assert_eq!(found(16.5, 100.0), [""; 0]);
    }
}
