//! The study under way: its trials, from the one with all limits open to the blocks that decide.

use std::collections::BTreeMap;

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use weir_record::{Role, TargetFacts, TrialRecord, WhenFull};

use super::found::{By, Chosen, Found};
use super::joint::Joint;
use super::limits::Limit;
use super::walk::Beside;
use super::{End, Out, Point, contenders_max};
use crate::best::Scale;
use crate::contest::LOOKS;
use crate::file::{BestGoal, SeveralSpec};
use crate::settings::{CONNECTIONS, THREADS};
use crate::trials::{Effort, Stop, Trials, Wanted, least_cost_s};

/// A trial of a search, by its point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tried {
    pub(super) value: Option<f64>,
    pub(super) trial: u32,
}

/// The study under way.
pub(super) struct Study<'a> {
    pub(super) spec: &'a SeveralSpec,
    pub(super) facts: &'a TargetFacts,
    /// Users, where they are known before the first trial; else 0.
    pub(super) population: u32,
    pub(super) trials: Trials<'a>,
    pub(super) random: Xoshiro256PlusPlus,
    pub(super) tried: BTreeMap<Point, Tried>,
    pub(super) found: Found,
}

impl<'a> Study<'a> {
    pub(super) fn new(
        spec: &'a SeveralSpec,
        facts: &'a TargetFacts,
        limits: Vec<Limit>,
        population: u32,
        trials: Trials<'a>,
    ) -> Self {
        Self {
            spec,
            facts,
            population,
            trials,
            random: Xoshiro256PlusPlus::seed_from_u64(spec.seed),
            tried: BTreeMap::new(),
            found: Found {
                scale: Scale::new(&spec.of, spec.margin, &spec.requirements),
                limits,
                searched: Vec::new(),
                open: Point::new(),
                proposal: Point::new(),
                chosen: Vec::new(),
                joint: None,
                out: Vec::new(),
                nothing_meets: false,
            },
        }
    }

    pub(super) fn into_found(self) -> (Found, Vec<TrialRecord>) {
        (self.found, self.trials.into_records())
    }

    pub(super) fn run(&mut self) -> Result<(), End> {
        self.all_open()?;
        if self.found.searched.is_empty() {
            return Ok(());
        }
        match self.search() {
            Err(End::Budget) => self.derive_the_rest(),
            other => other?,
        }
        if self.found.nothing_meets {
            return Ok(());
        }
        self.compare()
    }

    /// The trial with all limits open, and what it says of each.
    fn all_open(&mut self) -> Result<(), End> {
        let open: Vec<Option<u32>> = self
            .found
            .limits
            .iter()
            .map(|limit| limit.open(self.population))
            .collect();
        self.found.searched = (0..open.len()).filter(|&at| open[at].is_some()).collect();
        let point: Point = open.into_iter().flatten().collect();
        let why = "all limits open";
        let (record, value) = self.measure(&point, Role::Reference, Effort::Full, why, 0.0)?;
        let Some(record) = record else {
            return Err(End::Stop(Stop::Invalid {
                trial: 1,
                because: "the trial with all limits open cannot be used".to_owned(),
            }));
        };
        let trial = record.id;
        self.judge(&record);
        // Those that cannot bind leave the point.
        let all = std::mem::take(&mut self.found.searched)
            .into_iter()
            .zip(point);
        let kept: Vec<(usize, u32)> = all
            .filter(|(at, _)| self.found.limits[*at].is_searched())
            .collect();
        (self.found.searched, self.found.open) = kept.into_iter().unzip();
        // One that turned out to bind as found was not open in the trial: it is from here on, and
        // that is another point.
        let mut is_that_point = true;
        for at in 0..self.found.limits.len() {
            let limit = &self.found.limits[at];
            if limit.is_searched() && !self.found.searched.contains(&at) {
                let place = self.found.searched.partition_point(|&other| other < at);
                self.found.searched.insert(place, at);
                self.found.open.insert(place, limit.within.1);
                is_that_point = false;
            }
        }
        if is_that_point {
            let tried = Tried { value, trial };
            self.tried.insert(self.found.open.clone(), tried);
        }
        self.found.proposal = self.found.open.clone();
        self.found.chosen = self
            .found
            .searched
            .iter()
            .map(|&at| Chosen {
                within: self.found.limits[at].within,
                below: None,
                above: None,
                by: By::Open,
            })
            .collect();
        Ok(())
    }

    fn judge(&mut self, open: &TrialRecord) {
        let in_force = |limit: &Limit| {
            if limit.is_searched() {
                Some(f64::from(limit.within.0))
            } else {
                limit.found
            }
        };
        let stage = self.facts.stage(CONNECTIONS);
        let found = stage.and_then(|stage| stage.limit);
        let when_full = stage.map_or(WhenFull::Wait, |stage| stage.when_full);
        let mut connections = found;
        let threads = self.threads_open().unwrap_or(u32::MAX).min(open.population);
        for limit in &mut self.found.limits {
            limit.judge(open, connections.map(|limit| (limit, when_full)), threads);
            if limit.stage == CONNECTIONS {
                connections = in_force(limit);
            }
        }
    }

    /// The limit of threads in the trial with all limits open.
    fn threads_open(&self) -> Option<u32> {
        let own = self
            .found
            .limits
            .iter()
            .find(|limit| limit.stage == THREADS);
        let open = own.and_then(|limit| limit.open(self.population));
        let found = || self.facts.stage(THREADS).and_then(|stage| stage.limit);
        open.or_else(|| found().map(|found| found as u32))
    }

    /// Seconds of load that the blocks need at least.
    pub(super) fn reserve_s(&self) -> f64 {
        let contenders = contenders_max(self.spec.goal, self.found.searched.len());
        (LOOKS[0] * contenders) as f64 * least_cost_s(self.spec.window)
    }

    /// The blocks that decide.
    fn compare(&mut self) -> Result<(), End> {
        let mut joint = Joint::new(self.spec.goal, self.found.scale.margin(), self.contenders());
        let mut random = self.random.clone();
        let ended = joint.run(&mut random, &mut |point: &Point, why: &str| {
            self.measure(point, Role::Check, Effort::Full, why, 0.0)
                .map(|(_, value)| value)
        });
        self.random = random;
        self.found.joint = Some(joint);
        ended
    }

    /// The proposal, its neighbours, and all limits open, as far as they met the requirements.
    fn contenders(&self) -> Vec<Point> {
        let proposal = &self.found.proposal;
        let beside = |at: usize, beside: Option<Beside>| {
            let mut point = proposal.clone();
            point[at] = beside.filter(|beside| beside.usable)?.level;
            Some(point)
        };
        let chosen = self.found.chosen.iter().enumerate();
        let mut contenders = vec![proposal.clone(), self.found.open.clone()];
        contenders.extend(
            chosen
                .clone()
                .filter_map(|(at, chosen)| beside(at, chosen.below)),
        );
        match self.spec.goal {
            BestGoal::Best => {
                contenders.extend(chosen.filter_map(|(at, chosen)| beside(at, chosen.above)));
            }
            BestGoal::SmallestNearBest => {
                let up = chosen.map(|(at, chosen)| {
                    let above = chosen.above.filter(|above| above.usable);
                    above.map_or(proposal[at], |above| above.level)
                });
                contenders.push(up.collect());
            }
        }
        let is_out = |point: &Point| {
            self.tried
                .get(point)
                .is_some_and(|tried| tried.value.is_none())
        };
        contenders.retain(|point| !is_out(point));
        contenders.sort_unstable();
        contenders.dedup();
        contenders
    }

    /// Runs a trial and gives its figure as the searches want it; none when the point is out, and
    /// no record when not even that can be said of it.
    pub(super) fn measure(
        &mut self,
        point: &Point,
        role: Role,
        effort: Effort,
        why: &str,
        reserve_s: f64,
    ) -> Result<(Option<TrialRecord>, Option<f64>), End> {
        let Some(window) = self.trials.window(self.spec.window, effort, reserve_s) else {
            return Err(End::Budget);
        };
        let name = match self.found.name(point) {
            name if name.is_empty() => "as found".to_owned(),
            name => name,
        };
        let run = self.trials.run(&Wanted {
            role,
            case: Some(&name),
            levels: self.found.levels(&self.spec.set, point),
            window,
            why,
        });
        let (record, read) = match run {
            Ok(record) => {
                let read = self.found.scale.read(&record);
                (Some(record), read)
            }
            Err(Stop::Invalid { because, .. }) => (None, Err(because)),
            Err(stop @ Stop::Error(_)) => return Err(End::Stop(stop)),
        };
        let value = match read {
            Ok(value) => Some(value),
            Err(because) => {
                self.found.out.push(Out {
                    point: name,
                    because,
                });
                None
            }
        };
        Ok((record, value))
    }
}
