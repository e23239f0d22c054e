//! A server with one setting whose two levels differ by a known share.

use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use weir_record::{
    Level, Levels, TargetFacts, Treatment, TrialError, TrialObserver, TrialRecord, TrialRunner,
};

use super::noisy;
use super::record::{Seen, facts, record};

/// The setting, and its two levels.
pub(crate) const FACTOR: &str = "backlog";
pub(crate) const LEVELS: [f64; 2] = [10.0, 500.0];
/// Users in every trial, and the throughput at the first level.
const USERS: f64 = 50.0;
const THROUGHPUT_PER_S: f64 = 200.0;

/// The second level has this many times the throughput of the first.
#[derive(Debug)]
pub(crate) struct Server {
    ratio: f64,
    sigma: f64,
    facts: TargetFacts,
}

impl Server {
    pub(crate) fn new(ratio: f64, sigma: f64) -> Self {
        Self {
            ratio,
            sigma,
            facts: facts(Vec::new()),
        }
    }
}

impl TrialRunner for Server {
    fn facts(&self) -> &TargetFacts {
        &self.facts
    }

    fn population(&self, _: &Levels) -> u32 {
        USERS as u32
    }

    fn run(
        &mut self,
        treatment: &Treatment,
        _: &mut dyn TrialObserver,
    ) -> Result<TrialRecord, TrialError> {
        let level = treatment.levels.get(FACTOR).and_then(Level::number);
        let second = level.is_some_and(|level| level > LEVELS[0]);
        let truth = THROUGHPUT_PER_S * if second { self.ratio } else { 1.0 };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(treatment.seed);
        let seen = Seen {
            throughput_per_s: noisy(truth, self.sigma, &mut random),
            response_s: USERS / noisy(truth, self.sigma, &mut random),
            cpu: None,
        };
        Ok(record(treatment, USERS as u32, &seen))
    }
}
