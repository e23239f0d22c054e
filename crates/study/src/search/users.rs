//! From the level that is varied to the customers of the closed model, and back.

use weir_record::TrialRecord;

use super::level;
use crate::file::Varied;

/// A straight line from level to population, taken from the trials themselves.
///
/// A level counts per thread group of a plan, and other groups may be fixed; so the population is
/// some multiple of the level plus a constant. Trials say both.
///
/// Behind a gateway that is always full the customers are the requests that it lets in: one leaves,
/// and the next comes in without thinking.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Users {
    per_level: f64,
    fixed: f64,
}

impl Users {
    /// From trials that have a level; `None` without any.
    pub(crate) fn of(trials: &[&TrialRecord]) -> Option<Self> {
        let pair = |trial: &&TrialRecord| Some((level(trial)?, customers(trial)));
        let pairs: Vec<(f64, f64)> = trials.iter().filter_map(pair).collect();
        let by_level = |a: &&(f64, f64), b: &&(f64, f64)| a.0.total_cmp(&b.0);
        let (first, last) = (
            pairs.iter().min_by(by_level)?,
            pairs.iter().max_by(by_level)?,
        );
        if last.0 > first.0 {
            let per_level = (last.1 - first.1) / (last.0 - first.0);
            let fixed = first.1 - per_level * first.0;
            return Some(Self { per_level, fixed });
        }
        let per_level = first.1 / first.0;
        Some(Self {
            per_level,
            fixed: 0.0,
        })
    }

    pub(crate) fn population(&self, level: f64) -> f64 {
        self.fixed + self.per_level * level
    }

    pub(crate) fn level(&self, population: f64) -> f64 {
        if self.per_level > 0.0 {
            (population - self.fixed) / self.per_level
        } else {
            f64::INFINITY
        }
    }
}

/// How many send requests to the server of a trial: its users, or what a gateway lets in of them.
pub(crate) fn customers(trial: &TrialRecord) -> f64 {
    let let_in = trial.level(Varied::GateConcurrency.factor());
    let_in.unwrap_or_else(|| f64::from(trial.population))
}
