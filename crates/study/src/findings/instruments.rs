//! Instruments that contradict each other.

use weir_record::{Finding, TrialRecord};

use super::{Evidence, finding, name};

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
        let doubtful = checked.iter().filter(|(_, agreement)| !agreement.holds);
        if let Some((trial, worst)) = doubtful.max_by(|a, b| a.1.off().total_cmp(&b.1.off())) {
            findings.push(finding(
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
            findings.push(finding(
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
    holds: bool,
}

impl Agreement {
    fn product(&self) -> f64 {
        self.rate_per_s * self.wait_s
    }

    fn off(&self) -> f64 {
        (self.product() / self.waiting - 1.0).abs()
    }
}

/// `None` where nobody waits or nothing can be compared.
fn agreement(trial: &TrialRecord, stage: &str) -> Option<Agreement> {
    let waiting = trial
        .waiting(stage)
        .filter(|waiting| *waiting >= WAITING_MIN)?;
    let wait_s = trial.wait_s(stage)?;
    let signal = |name: &str| trial.signals.get(&format!("{stage}.{name}")).copied();
    // The mean wait may be over all that came or only over those that had to wait. Where the number
    // that had to wait is not told, the product over all can only be too large.
    let exact = signal("waits");
    let rate_per_s = exact.or_else(|| signal("entries"))?;
    let mut agreement = Agreement {
        waiting,
        rate_per_s,
        wait_s,
        holds: true,
    };
    let ratio = agreement.product() / waiting;
    let too_small = ratio < 1.0 - TOLERANCE;
    let too_large = ratio > 1.0 + TOLERANCE;
    if exact.is_none() && too_large {
        return None;
    }
    agreement.holds = !too_small && !too_large;
    Some(agreement)
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
