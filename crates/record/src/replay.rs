//! Trials that were run before.

use std::collections::VecDeque;

use crate::runner::{TargetFacts, TrialError, TrialObserver, TrialRunner};
use crate::treatment::{Levels, Treatment, start_levels};
use crate::trial::TrialRecord;

/// Gives back the trials of a stored run in their order, then hands over to another runner.
///
/// A search is deterministic: given the same records it asks for the same treatments. So a study
/// that was interrupted continues by replaying what it has and running the rest.
///
/// A server that was warmed up before the interruption is not the one that goes on: where the rest
/// begins in the middle of an environment, its warm-up is run once more, of which nothing is kept.
pub struct Replay<'a> {
    facts: TargetFacts,
    stored: VecDeque<TrialRecord>,
    then: Option<&'a mut dyn TrialRunner>,
    /// The last warm-up among the stored trials, while the other runner has not been asked for
    /// anything.
    warm_up: Option<Treatment>,
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
            warm_up: None,
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

/// Whether this warm-up was that of the environment in which this trial is run: they are all of one
/// block, and start the server alike.
fn warms_up(warm_up: &Treatment, treatment: &Treatment) -> bool {
    warm_up.block == treatment.block
        && start_levels(&warm_up.levels).eq(start_levels(&treatment.levels))
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
            if treatment.is_warm_up() {
                self.warm_up = Some(treatment.clone());
            }
            return self
                .stored
                .pop_front()
                .ok_or_else(|| TrialError::NotStored(format!("{:?}", treatment.levels)));
        }
        // From the first treatment that differs on, nothing that is stored can be trusted to be
        // what the search would have seen.
        self.stored.clear();
        let Some(runner) = &mut self.then else {
            return Err(TrialError::NotStored(format!("{:?}", treatment.levels)));
        };
        let warm_up = self.warm_up.take();
        let again =
            warm_up.filter(|warm_up| !treatment.is_warm_up() && warms_up(warm_up, treatment));
        if let Some(warm_up) = again {
            observer.note(
                "the server was started anew: its warm-up is run again, of which nothing is used",
            );
            // Under the number of the trial, whose samples take the place of these.
            let warm_up = Treatment {
                id: treatment.id,
                ..warm_up
            };
            runner.run(&warm_up, observer)?;
        }
        runner.run(treatment, observer)
    }
}
