//! Instruments that contradict each other.

use weir_record::{Finding, TrialRecord};

use super::{Evidence, name};

/// Waiting counts from half a request on average; below it the noise of a window is larger than the
/// tolerance.
const WAITING_MIN: f64 = 0.5;
/// Little's law has to agree within this share: what a window cuts off at its ends is less.
const TOLERANCE: f64 = 0.05;

/// Little's law between how many wait for a stage, how often and how long: it needs no assumption,
/// so a disagreement is in the instruments.
pub(super) fn littles_law(evidence: &Evidence<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for stage in &evidence.facts.stages {
        let checked: Vec<(&TrialRecord, Agreement)> = evidence
            .trials
            .iter()
            .filter_map(|trial| Some((*trial, agreement(trial, &stage.name)?)))
            .collect();
        let doubtful = checked.iter().filter(|(_, agreement)| !agreement.holds());
        if let Some((trial, worst)) = doubtful.max_by(|a, b| a.1.off().total_cmp(&b.1.off())) {
            let says = doubt(&stage.name, trial, worst);
            let found = Finding::new("instrument-doubt", says, &[trial.id])
                .of_stage(&stage.name)
                .change("nothing, until it is known which of the figures is wrong");
            findings.push(found);
        } else if stage.name.starts_with("pool.")
            && let Some((trial, most)) = checked
                .iter()
                .max_by(|a, b| a.1.waiting.total_cmp(&b.1.waiting))
        {
            let ids: Vec<u32> = checked.iter().map(|(trial, _)| trial.id).collect();
            let says = agrees(&stage.name, trial, most);
            findings.push(Finding::new("littles-law", says, &ids).of_stage(&stage.name));
        }
    }
    findings
}

struct Agreement {
    waiting: f64,
    /// Of 95 %, where there is one.
    interval: Option<(f64, f64)>,
    rate_per_s: f64,
    wait_s: f64,
}

impl Agreement {
    fn product(&self) -> f64 {
        self.rate_per_s * self.wait_s
    }

    fn off(&self) -> f64 {
        (self.product() / self.waiting - 1.0).abs()
    }

    /// What is within the interval of what waits is no contradiction either: who waited long when
    /// the window began counts with all of it when it gets in.
    fn holds(&self) -> bool {
        let is_likely = self
            .interval
            .is_some_and(|(low, high)| (low..=high).contains(&self.product()));
        self.off() <= TOLERANCE || is_likely
    }
}

/// `None` where nobody waits or nothing can be compared.
fn agreement(trial: &TrialRecord, stage: &str) -> Option<Agreement> {
    let waiting = trial
        .waiting(stage)
        .filter(|waiting| *waiting >= WAITING_MIN)?;
    let interval = trial.intervals.get(&format!("{stage}.waiting"));
    let wait_s = trial.wait_s(stage)?;
    // `STAGE.wait` is the mean over all that got in, waited or not, so the entries are its rate.
    let rate_per_s = trial.signals.get(&format!("{stage}.entries")).copied()?;
    Some(Agreement {
        waiting,
        interval: interval.map(|waiting| (waiting.low, waiting.high)),
        rate_per_s,
        wait_s,
    })
}

fn doubt(stage: &str, trial: &TrialRecord, seen: &Agreement) -> String {
    format!(
        "The figures of {stage} contradict each other in {} (trial {}): {:.1} wait on average. But \
         {:.2} a second that wait {:.0} ms each make {:.1} (Little's law). Do not rest anything on \
         them.",
        name(trial),
        trial.id,
        seen.waiting,
        seen.rate_per_s,
        seen.wait_s * 1e3,
        seen.product()
    )
}

fn agrees(stage: &str, trial: &TrialRecord, seen: &Agreement) -> String {
    format!(
        "Little's law agrees for {stage}: {:.2} a second that wait {:.0} ms each make {:.1}, and {:.1} \
         wait on average ({}, trial {}).",
        seen.rate_per_s,
        seen.wait_s * 1e3,
        seen.product(),
        seen.waiting,
        name(trial),
        trial.id
    )
}

#[cfg(test)]
mod tests {
    use weir_stats::{Estimate, Method};

    use super::*;
    use crate::findings::made::{findings, trial};

    fn ids(waiting: f64) -> Vec<String> {
        let signals = [
            ("pool.db.waiting", waiting),
            ("pool.db.entries", 5.6),
            ("pool.db.wait", 2.5),
        ];
        let found = findings(
            littles_law,
            &[("pool.db", 10.0)],
            &[trial(1, 5.6, &signals)],
        );
        found.into_iter().map(|finding| finding.id).collect()
    }

    #[test]
    fn entries_times_wait_is_what_waits() {
        assert_eq!(ids(14.0), ["littles-law"]);
        assert_eq!(ids(14.5), ["littles-law"]);
        assert_eq!(ids(20.0), ["instrument-doubt"]);
        assert_eq!(ids(0.1), [""; 0], "too few to say");
    }

    /// A gate before a Liberty: 1.9 wait, between 1.7 and 2.1, where the entries make 2.0.
    #[test]
    fn what_is_within_its_interval_is_no_contradiction() {
        let signals = [
            ("gate.waiting", 1.907),
            ("gate.entries", 16.19),
            ("gate.wait", 0.1245),
        ];
        let found = |interval: Option<(f64, f64)>| {
            let mut seen = trial(1, 16.2, &signals);
            if let Some((low, high)) = interval {
                let waiting = Estimate {
                    value: 1.907,
                    low,
                    high,
                    confidence: 0.95,
                    count: 120,
                    method: Method::BatchMeans,
                };
                seen.intervals.insert("gate.waiting".to_owned(), waiting);
            }
            findings(littles_law, &[("gate", 40.0)], &[seen]).len()
        };
        assert_eq!(found(Some((1.692, 2.122))), 0);
        assert_eq!(found(Some((1.85, 1.95))), 1);
        assert_eq!(found(None), 1);
    }
}
