//! Whether the setting acted as a limit, and with what load it should.
//!
//! "No difference" is an answer about the load that was tried. It is one about the setting only if
//! the setting was reached: if as many wanted to be in its stage as it lets in. That is read from
//! the stage's occupancy, its waits and what it refused, in the trials with the smaller limit.

use weir_record::{Binding, Level, Levels, TargetFacts, TrialRecord};

use super::pairs::Pairs;
use crate::figure::occupancy;
use crate::file::MattersSpec;
use crate::fullness::{WAITING_MIN, full};
use crate::search::USERS;
use crate::settings::BACKLOG;

/// What would fill the stage by the figures of the pairs is multiplied by this: more users also
/// wait longer elsewhere.
const AMPLE: f64 = 1.5;
/// Users are multiplied by at most this to make a setting bind: far outside its load a server shows
/// other limits.
const USERS_TIMES_MAX: f64 = 20.0;
const USERS_MAX: f64 = 60_000.0;

/// What is known of the setting as a limit.
#[derive(Debug, Default)]
pub(super) struct Mechanism {
    /// The smaller limit, and the most that were in its stage: number, trial, users.
    most: Option<(f64, Most)>,
    /// It acted in the pairs themselves.
    pub(super) in_pairs: Option<Binding>,
    /// It acted in the trial that was to make it.
    pub(super) elsewhere: Option<Binding>,
    /// Why the trial that was to make it bind did not.
    pub(super) did_not: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Most {
    occupancy: f64,
    trial: u32,
}

/// The slot of the smaller limit: the one that acts first.
pub(super) fn smaller(spec: &MattersSpec, facts: &TargetFacts) -> usize {
    match (limit(spec, facts, 0), limit(spec, facts, 1)) {
        (Some(first), Some(second)) if second < first => 1,
        _ => 0,
    }
}

/// A limit as set, else as found.
fn limit(spec: &MattersSpec, facts: &TargetFacts, slot: usize) -> Option<f64> {
    match &spec.levels[slot] {
        Some(level) => level.number(),
        None => facts.stage(&spec.vary)?.limit,
    }
}

impl Mechanism {
    /// From the pairs.
    pub(super) fn of(spec: &MattersSpec, facts: &TargetFacts, pairs: &Pairs) -> Self {
        let slot = smaller(spec, facts);
        let Some(limit) = limit(spec, facts, slot).filter(|_| facts.stage(&spec.vary).is_some())
        else {
            return Self::default();
        };
        let most = pairs
            .at(slot)
            .filter_map(|trial| {
                let occupancy = occupancy(trial, &spec.vary)?;
                Some(Most {
                    occupancy,
                    trial: trial.id,
                })
            })
            .max_by(|a, b| a.occupancy.total_cmp(&b.occupancy));
        let full = pairs
            .at(slot)
            .filter_map(|trial| Some((trial, acted(trial, &spec.vary, limit)?)));
        Self {
            most: most.map(|most| (limit, most)),
            in_pairs: full.last().map(|(trial, says)| binding(trial, says)),
            ..Self::default()
        }
    }

    /// The levels with which it should act, where it did not in the pairs: as the study says, else
    /// so many users that, by the occupancy seen, the stage is full.
    pub(super) fn to_try(&self, spec: &MattersSpec) -> Option<Levels> {
        if self.in_pairs.is_some() {
            return None;
        }
        let mut levels = spec.set.clone();
        if spec.binds_at.is_empty() {
            let (limit, most) = self.most.filter(|(_, most)| most.occupancy > 0.0)?;
            let users = levels.get(USERS).and_then(Level::number)?;
            let wanted = (AMPLE * users * limit / most.occupancy).ceil();
            let reachable = wanted <= USERS_MAX && wanted <= USERS_TIMES_MAX * users;
            levels.insert(USERS.to_owned(), reachable.then_some(wanted)?.into());
        } else {
            levels.extend(spec.binds_at.clone());
        }
        Some(levels)
    }

    /// Notes what came of the trial that was to make it bind.
    pub(super) fn made_to_bind(
        &mut self,
        spec: &MattersSpec,
        facts: &TargetFacts,
        trial: &TrialRecord,
    ) {
        let full = limit(spec, facts, smaller(spec, facts))
            .and_then(|limit| acted(trial, &spec.vary, limit));
        match full {
            Some(says) => self.elsewhere = Some(binding(trial, says)),
            None => {
                self.did_not = Some(format!(
                    "nor was it with {} (trial {}), which was to make it bind",
                    words(&trial.levels, &spec.vary),
                    trial.id
                ));
            }
        }
    }

    pub(super) fn failed(&mut self, because: &str) {
        if !self.bound() {
            self.did_not = Some(format!(
                "the trial that was to make it bind is not valid: {because}"
            ));
        }
    }

    pub(super) fn bound(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// That nothing near the limit was seen, in words.
    pub(super) fn not_reached(&self, stage: &str) -> String {
        match self.most {
            Some((limit, most)) => format!(
                "at most {:.1} of {limit} were in {stage} (trial {})",
                most.occupancy, most.trial
            ),
            None => format!("nothing that was watched tells how full {stage} was"),
        }
    }
}

fn binding(trial: &TrialRecord, says: String) -> Binding {
    Binding {
        trial: trial.id,
        levels: trial.levels.clone(),
        says,
    }
}

/// `users 400`: the levels beside the one that is varied.
pub(super) fn words(levels: &Levels, vary: &str) -> String {
    let others = levels.iter().filter(|(name, _)| name.as_str() != vary);
    let words: Vec<String> = others
        .map(|(name, level)| format!("{name} {level}"))
        .collect();
    if words.is_empty() {
        "the same load".to_owned()
    } else {
        words.join(", ")
    }
}

/// How a trial shows that the stage was full at times, by what it refused too.
fn acted(trial: &TrialRecord, stage: &str, limit: f64) -> Option<String> {
    full(trial, stage, limit).or_else(|| {
        let refused = refused(trial, stage).filter(|refused| *refused >= WAITING_MIN)?;
        Some(format!("{stage} refused {refused:.1} a second"))
    })
}

/// Refusals a second: of the backlog it is the kernel that counts them.
fn refused(trial: &TrialRecord, stage: &str) -> Option<f64> {
    let own = trial.signals.get(&format!("{stage}.refused")).copied();
    if stage != BACKLOG {
        return own;
    }
    let kernel = trial
        .signals
        .iter()
        .filter(|(name, _)| name.ends_with(".listen-overflows") || name.ends_with(".listen-drops"))
        .map(|(_, count)| *count);
    kernel.chain(own).reduce(f64::max)
}
