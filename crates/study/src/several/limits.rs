//! The settings that are varied, and which of them can limit at this load.
//!
//! A limit acts only when as many want to be in its stage as it lets in. In front of the threads
//! that is known from the load: no more connections are wanted than users have, and none waits in
//! the backlog while all of them are let in. Inside the server it is known from a trial with all
//! limits open: how full a stage was then is the most that any limit of it can hold back. A setting
//! that cannot limit is not searched, and one that can is searched only as far as it can.

use weir_record::{SettingEvidence, Stage, TargetFacts, TrialRecord, WhenFull};

use crate::file::{SeveralSpec, is_spare};
use crate::findings::cannot_bind::NEAR;
use crate::fullness::full;
use crate::settings::{BACKLOG, CONNECTIONS, THREADS, quantile};

/// Where a study and the target say nothing, no more threads are tried than this …
const THREADS_MAX: u32 = 400;
/// … and no more connections of a pool.
const POOL_MAX: u32 = 100;
/// Connections that are closing may overlap with their users' next ones.
const OVERLAP: f64 = 1.1;
/// A stage is taken as large enough if more than its limit are wanted at most this share of the
/// time.
const WANTED_MORE: f64 = 0.001;

/// One of the settings that are varied.
#[derive(Debug, Clone)]
pub(super) struct Limit {
    pub(super) stage: String,
    /// The limit as found.
    pub(super) found: Option<f64>,
    /// The levels that may be tried.
    pub(super) within: (u32, u32),
    pub(super) standing: Standing,
}

/// What is done about a setting.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Standing {
    /// It is searched, up to a level from which on it cannot limit.
    Searched { reach: u32, says: String },
    /// It stays as found.
    Left {
        evidence: SettingEvidence,
        because: String,
        trials: Vec<u32>,
    },
}

impl Standing {
    fn cannot_bind(because: String, trial: u32) -> Self {
        Self::Left {
            evidence: SettingEvidence::CannotBind,
            because,
            trials: vec![trial],
        }
    }
}

/// The place in the order of the search: the backlog holds what connections do not let in, so that
/// it comes behind them.
fn rank(stage: &str) -> u32 {
    match stage {
        CONNECTIONS => 0,
        BACKLOG => 1,
        THREADS => 2,
        name if name.starts_with("pool.") => 3,
        _ => 4,
    }
}

/// The settings in the order of the funnel, all still to be judged; or what the target does not
/// have.
pub(super) fn limits(
    spec: &SeveralSpec,
    facts: &TargetFacts,
    population: u32,
) -> Result<Vec<Limit>, String> {
    let mut limits = spec
        .vary
        .iter()
        .map(|name| limit(spec, facts, population, name))
        .collect::<Result<Vec<Limit>, String>>()?;
    limits.sort_by_key(|limit| rank(&limit.stage));
    Ok(limits)
}

fn limit(
    spec: &SeveralSpec,
    facts: &TargetFacts,
    population: u32,
    name: &str,
) -> Result<Limit, String> {
    let stage = facts.stage(name);
    if stage.is_none() && !is_spare(name) {
        let known = facts.stages.iter().filter(|stage| stage.settable);
        let known: Vec<&str> = known.map(|stage| stage.name.as_str()).collect();
        return Err(format!(
            "`vary` names `{name}`, which this target does not have; it has {}",
            known.join(", ")
        ));
    }
    let found = stage.and_then(|stage| stage.limit);
    let within = spec.within.get(name).copied();
    Ok(Limit {
        stage: name.to_owned(),
        found,
        within: within.unwrap_or_else(|| default_range(name, found, facts, population)),
        standing: unjudged(name, stage),
    })
}

fn unjudged(name: &str, stage: Option<&Stage>) -> Standing {
    let left = |evidence, because: &str| Standing::Left {
        evidence,
        because: because.to_owned(),
        trials: Vec::new(),
    };
    if is_spare(name) {
        return left(
            SettingEvidence::CannotBind,
            "does not limit at this load: a minimum of idle ones is used when the load rises. Every trial has the same \
             number of users from start to end",
        );
    }
    if stage.is_some_and(|stage| stage.settable) {
        return Standing::Searched {
            reach: u32::MAX,
            says: String::new(),
        };
    }
    left(SettingEvidence::NotSettable, "Weir cannot set it here")
}

/// The range of a setting for which the study names none.
pub(super) fn default_range(
    name: &str,
    found: Option<f64>,
    facts: &TargetFacts,
    population: u32,
) -> (u32, u32) {
    let found = found.map_or(0, |found| found as u32);
    let database = facts.stage("database").and_then(|stage| stage.limit);
    let high = match name {
        CONNECTIONS | BACKLOG => everybody(population),
        THREADS => found.max(THREADS_MAX),
        _ => {
            let allowed = database.map_or(u32::MAX, |limit| limit as u32);
            found.max(POOL_MAX).min(allowed)
        }
    };
    (1, high.max(2))
}

/// The connections of so many users.
fn everybody(population: u32) -> u32 {
    (OVERLAP * f64::from(population)).ceil() as u32
}

impl Limit {
    pub(super) fn is_searched(&self) -> bool {
        matches!(self.standing, Standing::Searched { .. })
    }

    /// The level at which it holds back least; `None` where what was found does not hold back
    /// anybody.
    pub(super) fn open(&self, population: u32) -> Option<u32> {
        let in_front = self.stage == CONNECTIONS || self.stage == BACKLOG;
        let enough = self.found.is_none_or(|found| {
            found >= f64::from(everybody(population)) || found >= f64::from(self.within.1)
        });
        if !self.is_searched() || in_front && enough {
            return None;
        }
        Some(self.within.1)
    }

    /// Judges whether it can limit, by the trial with all limits open. `connections` is the
    /// smallest limit of connections that may be in force, and what a connection does that
    /// finds it reached.
    pub(super) fn judge(
        &mut self,
        open: &TrialRecord,
        connections: Option<(f64, WhenFull)>,
        threads: u32,
    ) {
        if !self.is_searched() {
            return;
        }
        self.standing = match self.stage.as_str() {
            CONNECTIONS => self.connections(open),
            BACKLOG => self.backlog(open, connections),
            THREADS => self.inside(open, open.population),
            _ => self.inside(open, threads),
        };
    }

    fn connections(&self, open: &TrialRecord) -> Standing {
        let wanted = everybody(open.population);
        let Some(found) = self.found else {
            return self.unknown(open);
        };
        let in_force = open.level(CONNECTIONS).unwrap_or(found);
        if found >= f64::from(wanted) && full(open, CONNECTIONS, in_force).is_none() {
            return Standing::cannot_bind(
                format!(
                    "does not limit at this load: {} users have at most {wanted} connections open, those that are closing \
                     included, and the limit is {found}",
                    open.population
                ),
                open.id,
            );
        }
        self.searched(
            wanted.max(in_force as u32),
            format!("{} users want to connect", open.population),
            open,
        )
    }

    fn backlog(&self, open: &TrialRecord, connections: Option<(f64, WhenFull)>) -> Standing {
        let users = f64::from(open.population);
        let Some(found) = self.found else {
            return self.unknown(open);
        };
        let waiting = match connections {
            // Without a limit of connections they are accepted as they come.
            Some((_, WhenFull::Refuse)) | None => 0.0,
            Some((limit, _)) => (users - limit).max(0.0),
        };
        if waiting <= found && full(open, BACKLOG, found).is_none() {
            let why = match connections {
                Some((limit, WhenFull::Refuse)) => {
                    format!("a connection beyond {limit} is refused, not left waiting")
                }
                Some((limit, _)) if waiting == 0.0 => {
                    format!(
                        "all {users} users are let in at once, by a limit of {limit} connections"
                    )
                }
                Some((limit, _)) => format!(
                    "at most {waiting} of {users} users wait behind {limit} connections, and it holds {found}"
                ),
                None => "connections are accepted as they come".to_owned(),
            };
            return Standing::cannot_bind(format!("does not limit at this load: {why}"), open.id);
        }
        self.searched(
            waiting.ceil().max(1.0) as u32,
            format!("at most {waiting} users wait in it"),
            open,
        )
    }

    /// Threads and pools: as many as were wanted when nothing held them back.
    fn inside(&self, open: &TrialRecord, most: u32) -> Standing {
        let stage = &self.stage;
        let Some(occupied) = open.occupancy(stage) else {
            return self.searched(most, format!("nothing tells how many are in {stage}"), open);
        };
        if occupied <= 0.0 {
            return Standing::cannot_bind(
                format!(
                    "does not limit at this load: no request was in {stage} in trial {}",
                    open.id
                ),
                open.id,
            );
        }
        let wanted = wanted(occupied, most);
        let says = format!(
            "with all limits open {occupied:.1} are in it on average, and hardly ever more than {wanted}"
        );
        self.searched(wanted, says, open)
    }

    /// It is searched up to what can be wanted, if that leaves anything to choose from.
    fn searched(&self, wanted: u32, says: String, open: &TrialRecord) -> Standing {
        let (low, high) = self.within;
        let reach = wanted.min(high);
        if reach <= low {
            return Standing::cannot_bind(
                format!(
                    "does not limit at this load: {says}, and it was not to be less than {low}"
                ),
                open.id,
            );
        }
        Standing::Searched { reach, says }
    }

    fn unknown(&self, open: &TrialRecord) -> Standing {
        Standing::Left {
            evidence: SettingEvidence::CannotBind,
            because: format!(
                "was not seen to limit at this load: the limit of {} as found is not known, and nobody was held back by it",
                self.stage
            ),
            trials: vec![open.id],
        }
    }
}

/// How many places a stage needs so that hardly ever more are wanted, if so many of `most` are in
/// it on average.
///
/// As if each of them were in it independently of the others (binomial), and a quarter more,
/// because in a queue they are not, and because a stage may be full at moments from four fifths of
/// its limit on.
pub(super) fn wanted(occupied: f64, most: u32) -> u32 {
    let share = (occupied / f64::from(most.max(1))).min(1.0);
    let at_moments = f64::from(quantile(most, share, WANTED_MORE).max(1)) / NEAR;
    (at_moments.ceil() as u32).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_lies_between_the_mean_and_everybody() {
        assert_eq!(wanted(40.0, 40), 40, "all of them all the time");
        // binomial(40, 0.1): P(X <= 10) = 0.9985, P(X <= 11) = 0.9996 (standard tables); 11 / 0.8 =
        // 13.75.
        assert_eq!(wanted(4.0, 40), 14);
        assert_eq!(wanted(1e-9, 40), 2);
    }
}
