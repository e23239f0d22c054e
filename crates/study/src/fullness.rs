//! How a trial shows that a stage was full at times.

use weir_record::TrialRecord;

use crate::figure::occupancy;
use crate::findings::cannot_bind::NEAR;

/// From this mean number of waiters on, or refusals a second, a stage was full at times.
pub(crate) const WAITING_MIN: f64 = 0.1;

/// By how many were in it or waited for it; in words.
pub(crate) fn full(trial: &TrialRecord, stage: &str, limit: f64) -> Option<String> {
    if let Some(occupied) = occupancy(trial, stage).filter(|most| *most >= NEAR * limit) {
        return Some(format!(
            "on average {occupied:.1} of {limit} were in {stage}"
        ));
    }
    let waiting = trial.waiting(stage).filter(|mean| *mean >= WAITING_MIN)?;
    Some(format!("on average {waiting:.1} waited for {stage}"))
}
