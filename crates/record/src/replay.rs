//! Trials that were run before.

use std::collections::VecDeque;

use crate::runner::{TargetFacts, TrialError, TrialObserver, TrialRunner};
use crate::treatment::{Levels, Treatment};
use crate::trial::TrialRecord;

/// Gives back the trials of a stored run in their order, then hands over to another runner.
///
/// A search is deterministic: given the same records it asks for the same treatments. So a study
/// that was interrupted continues by replaying what it has and running the rest.
pub struct Replay<'a> {
    facts: TargetFacts,
    stored: VecDeque<TrialRecord>,
    then: Option<&'a mut dyn TrialRunner>,
}

impl<'a> Replay<'a> {
    /// Replays these trials; without a runner to continue with, asking for more is an error.
    pub fn new(
        facts: TargetFacts,
        stored: Vec<TrialRecord>,
        then: Option<&'a mut dyn TrialRunner>,
    ) -> Self {
        Self {
            facts,
            stored: stored.into(),
            then,
        }
    }

    /// Trials that have not been given back yet.
    pub fn left(&self) -> usize {
        self.stored.len()
    }
}

fn matches(record: &TrialRecord, treatment: &Treatment) -> bool {
    record.role == treatment.role
        && record.case == treatment.case
        && record.levels == treatment.levels
}

impl TrialRunner for Replay<'_> {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, levels: &Levels) -> u32 {
        self.then.as_ref().map_or_else(
            || {
                self.stored
                    .iter()
                    .find(|record| record.levels == *levels)
                    .map_or(0, |record| record.population)
            },
            |runner| runner.population(levels),
        )
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        observer: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        if self
            .stored
            .front()
            .is_some_and(|record| matches(record, treatment))
        {
            return self
                .stored
                .pop_front()
                .ok_or_else(|| TrialError::NotStored(format!("{:?}", treatment.levels)));
        }
        // From the first treatment that differs on, nothing that is stored can be trusted to be
        // what the search would have seen.
        self.stored.clear();
        match &mut self.then {
            Some(runner) => runner.run(treatment, observer),
            None => Err(TrialError::NotStored(format!("{:?}", treatment.levels))),
        }
    }
}
