//! Who hears of a study while it runs.

use weir_record::{NoObserver, Treatment, TrialObserver, TrialRecord};

/// Hears of every trial as it starts and ends, and of its seconds.
pub trait StudyObserver: TrialObserver {
    /// A trial is about to start; `why` says what it is for.
    fn trial_starts(&mut self, treatment: &Treatment, why: &str);

    /// A trial has ended, valid or not; whoever stores trials does it now.
    fn trial_ended(&mut self, record: &TrialRecord);
}

impl StudyObserver for NoObserver {
    fn trial_starts(&mut self, _: &Treatment, _: &str) {}

    fn trial_ended(&mut self, _: &TrialRecord) {}
}
