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
            findings.push(Finding::new(
                "instrument-doubt",
                doubt(&stage.name, trial, worst),
                &[trial.id],
            ));
        } else if stage.name.starts_with("pool.")
            && let Some((trial, most)) = checked
                .iter()
                .max_by(|a, b| a.1.waiting.total_cmp(&b.1.waiting))
        {
            let ids: Vec<u32> = checked.iter().map(|(trial, _)| trial.id).collect();
            findings.push(Finding::new(
                "littles-law",
                agrees(&stage.name, trial, most),
                &ids,
            ));
        }
    }
    findings
}

struct Agreement {
    waiting: f64,
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

    fn holds(&self) -> bool {
        self.off() <= TOLERANCE
    }
}

/// `None` where nobody waits or nothing can be compared.
fn agreement(trial: &TrialRecord, stage: &str) -> Option<Agreement> {
    let waiting = trial
        .waiting(stage)
        .filter(|waiting| *waiting >= WAITING_MIN)?;
    let wait_s = trial.wait_s(stage)?;
    // `STAGE.wait` is the mean over all that got in, waited or not, so the entries are its rate.
    let rate_per_s = trial.signals.get(&format!("{stage}.entries")).copied()?;
    Some(Agreement {
        waiting,
        rate_per_s,
        wait_s,
    })
}

fn doubt(stage: &str, trial: &TrialRecord, seen: &Agreement) -> String {
    format!(
        "The figures of {stage} contradict each other in {} (trial {}): {:.1} wait on average, but \
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
