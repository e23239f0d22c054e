//! The trials of a run as a model sees them, and those that it must not see.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use weir_record::{Levels, TargetFacts, TrialRecord};

/// A trial with more failed samples than this is another workload: failures are quick or wait for a
/// time-out.
const ERRORS_MAX: f64 = 0.01;
/// A kind of request whose share of all is off by so much of the usual share …
const MIX_RELATIVE: f64 = 0.25;
/// … and by so many points makes another mix.
const MIX_POINTS: f64 = 0.03;
/// The window has to hold so many times the mean response time; else completions say little about
/// what is inside.
const CYCLES_MIN: f64 = 5.0;
const USERS: &str = "users";
const THREADS: &str = "threads";

/// One trial that can be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Number of the trial.
    pub trial: u32,
    /// Level of the factor `users`, or the population where it has none.
    pub users: f64,
    /// Virtual users of all groups.
    pub population: u32,
    /// Limits in force.
    pub limits: Limits,
    /// Requests per second.
    pub throughput_per_s: f64,
    /// Mean response time.
    pub response_time_s: f64,
    /// Busy share of the target's CPUs.
    pub utilization: f64,
    /// Mean number of busy threads.
    pub threads_busy: Option<f64>,
    /// Mean number of requests in front of the threads.
    pub queued: Option<f64>,
    /// Connections in use, and threads that wait for one.
    pub pool: Option<PoolOf>,
    /// Relative standard error of throughput, CPU and response time within the trial.
    pub noise: [f64; 3],
}

/// Limits in force during a trial; absent ones hold nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, JsonSchema)]
pub struct Limits {
    /// Thread limit.
    pub threads: Option<u32>,
    /// Limit of the pool.
    pub pool: Option<u32>,
}

/// A pool in one trial.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PoolOf {
    /// Connections in use.
    pub busy: f64,
    /// Threads that wait for one.
    pub waiting: f64,
}

/// A trial that was left out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LeftOut {
    /// Number of the trial.
    pub trial: u32,
    /// Why.
    pub because: String,
}

/// The trials of a run, sorted into those that can be used and those that cannot.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialSet {
    /// CPUs of the target.
    pub servers: u32,
    /// The stage of the pool in the model, where there is one.
    pub pool: Option<String>,
    /// Trials that can be used.
    pub trials: Vec<Measured>,
    /// Trials that cannot.
    pub left_out: Vec<LeftOut>,
    /// Mean response time of each kind of request.
    pub kinds: BTreeMap<String, f64>,
}

impl TrialSet {
    /// Sorts the trials of a run.
    pub fn of(records: &[TrialRecord], target: &TargetFacts) -> Self {
        let mut set = Self {
            servers: target.cpus.max(1),
            pool: busiest_pool(records),
            trials: Vec::new(),
            left_out: Vec::new(),
            kinds: BTreeMap::new(),
        };
        let mut usable: Vec<&TrialRecord> = Vec::new();
        for record in records {
            match unusable(record) {
                Some(because) => set.leave_out(record, because),
                None => usable.push(record),
            }
        }
        let usable = set.of_one_workload(usable);
        let usable = set.of_one_mix(usable);
        set.kinds = kinds(&usable);
        let pool = set.pool.clone();
        set.trials = usable
            .iter()
            .map(|record| Measured::of(record, pool.as_deref()))
            .collect();
        set
    }

    /// Users of all groups for a level of the factor `users`.
    pub fn population(&self, users: f64) -> f64 {
        let ratios = self
            .trials
            .iter()
            .map(|trial| f64::from(trial.population) / trial.users);
        let (sum, count) =
            ratios.fold((0.0, 0.0), |(sum, count), ratio| (sum + ratio, count + 1.0));
        users * if count > 0.0 { sum / count } else { 1.0 }
    }

    /// The limits that most trials have.
    pub fn usual_limits(&self) -> Limits {
        let mut counts: BTreeMap<Limits, u32> = BTreeMap::new();
        for trial in &self.trials {
            *counts.entry(trial.limits).or_default() += 1;
        }
        let usual = counts.into_iter().max_by_key(|(_, count)| *count);
        usual.map(|(limits, _)| limits).unwrap_or_default()
    }

    /// The trials that were left out, in a sentence.
    pub(crate) fn left_out_text(&self) -> String {
        self.left_out.iter().fold(String::new(), |text, left| {
            format!("{text}; trial {} is left out: {}", left.trial, left.because)
        })
    }

    fn leave_out(&mut self, record: &TrialRecord, because: String) {
        self.left_out.push(LeftOut {
            trial: record.id,
            because,
        });
    }

    /// The trials with the request parameters that most trials have.
    fn of_one_workload<'a>(&mut self, records: Vec<&'a TrialRecord>) -> Vec<&'a TrialRecord> {
        let mut groups: Vec<(String, u32)> = Vec::new();
        for record in &records {
            let workload = workload(&record.levels);
            match groups.iter_mut().find(|(other, _)| *other == workload) {
                Some((_, count)) => *count += 1,
                None => groups.push((workload, 1)),
            }
        }
        let Some((usual, _)) = groups.iter().max_by_key(|(_, count)| *count).cloned() else {
            return records;
        };
        self.keep(records, |record| {
            let own = workload(&record.levels);
            (own != usual).then(|| format!("its requests are others ({own} instead of {usual})"))
        })
    }

    /// The trials with the usual mix of kinds of requests.
    fn of_one_mix<'a>(&mut self, records: Vec<&'a TrialRecord>) -> Vec<&'a TrialRecord> {
        let usual = median_shares(&records);
        self.keep(records, |record| {
            let other = usual.iter().find_map(|(kind, usual)| {
                let own = share(record, kind);
                let off = (own - usual).abs();
                (off > MIX_POINTS && off > MIX_RELATIVE * usual).then_some((kind, own, usual))
            });
            other.map(|(kind, own, usual)| {
                format!(
                    "its mix is another: {:.0} % of its requests are `{kind}`, {:.0} % otherwise",
                    own * 100.0,
                    usual * 100.0
                )
            })
        })
    }

    fn keep<'a>(
        &mut self,
        records: Vec<&'a TrialRecord>,
        wrong: impl Fn(&TrialRecord) -> Option<String>,
    ) -> Vec<&'a TrialRecord> {
        let mut kept = Vec::new();
        for record in records {
            match wrong(record) {
                Some(because) => self.leave_out(record, because),
                None => kept.push(record),
            }
        }
        kept
    }
}

impl Measured {
    fn of(record: &TrialRecord, pool: Option<&str>) -> Self {
        let limit = |stage: &str| {
            let set = record.level(stage);
            let seen = record.signals.get(&format!("{stage}.limit")).copied();
            set.or(seen)
                .filter(|limit| *limit >= 1.0)
                .map(|limit| limit.round() as u32)
        };
        let noise = |figure: &str, value: f64| {
            record
                .intervals
                .get(figure)
                .filter(|_| value > 0.0)
                .map_or(0.0, |interval| interval.half_width() / 2.0 / value)
        };
        let cpu = record.cpu.map_or(0.0, |cpu| cpu.total);
        let response_ms = record.response_time_ms.mean;
        Self {
            trial: record.id,
            users: record.level(USERS).unwrap_or(f64::from(record.population)),
            population: record.population,
            limits: Limits {
                threads: limit(THREADS),
                pool: pool.and_then(limit),
            },
            throughput_per_s: record.throughput_per_s,
            response_time_s: response_ms / 1e3,
            utilization: cpu,
            threads_busy: record.occupancy(THREADS),
            queued: record.waiting("request-queue"),
            pool: pool.and_then(|pool| {
                Some(PoolOf {
                    busy: record.occupancy(pool)?,
                    waiting: record.waiting(pool).unwrap_or(0.0),
                })
            }),
            noise: [
                noise("throughput_per_s", record.throughput_per_s),
                noise("cpu", cpu),
                noise("response_time_ms.mean", response_ms),
            ],
        }
    }

    /// The treatment: trials that share it are left out together.
    pub(crate) fn treatment(&self) -> (u32, Limits) {
        (self.population, self.limits)
    }

    /// Mean time in the server as its own instruments tell, by Little's law; the response time
    /// where they do not.
    pub(crate) fn in_server_s(&self) -> f64 {
        let inside = self
            .threads_busy
            .map(|busy| (busy + self.queued.unwrap_or(0.0)) / self.throughput_per_s);
        inside.map_or(self.response_time_s, |inside| {
            inside.min(self.response_time_s)
        })
    }
}

/// Why a trial cannot be used at all.
fn unusable(record: &TrialRecord) -> Option<String> {
    if !record.valid {
        return Some(format!("not valid ({})", record.invalid_because.join("; ")));
    }
    if record.open.is_some() {
        return Some("its load is open: arrivals do not wait for answers".to_owned());
    }
    if record.errors.share > ERRORS_MAX {
        return Some(format!(
            "{:.1} % of its samples failed",
            record.errors.share * 100.0
        ));
    }
    if record.cpu.is_none_or(|cpu| cpu.total <= 0.0) {
        return Some("the target's CPU was not read".to_owned());
    }
    let response_s = record.response_time_ms.mean / 1e3;
    if !(record.throughput_per_s > 0.0 && response_s > 0.0) {
        return Some("nothing was answered".to_owned());
    }
    if record.window_s < CYCLES_MIN * response_s {
        return Some(format!(
            "its window of {:.0} s is short for responses that take {response_s:.1} s",
            record.window_s
        ));
    }
    None
}

/// Parameters of requests, and everything else that is neither the users nor a limit.
fn workload(levels: &Levels) -> String {
    let parts: Vec<String> = levels
        .iter()
        .filter(|(name, level)| name.starts_with("param.") || level.number().is_none())
        .map(|(name, level)| format!("{name} = {level}"))
        .collect();
    if parts.is_empty() {
        "none set".to_owned()
    } else {
        parts.join(", ")
    }
}

/// The pool that comes nearest to its limit in any trial.
fn busiest_pool(records: &[TrialRecord]) -> Option<String> {
    let fullness = |record: &TrialRecord, stage: &str| {
        let limit = record.signals.get(&format!("{stage}.limit"))?;
        Some((record.occupancy(stage)? / limit, stage.to_owned()))
    };
    records
        .iter()
        .flat_map(|record| {
            record.signals.keys().filter_map(move |signal| {
                let stage = signal.strip_suffix(".occupancy")?;
                stage
                    .starts_with("pool.")
                    .then(|| fullness(record, stage))
                    .flatten()
            })
        })
        .max_by(|left, right| left.0.total_cmp(&right.0))
        .map(|(_, stage)| stage)
}

fn share(record: &TrialRecord, kind: &str) -> f64 {
    record.classes.get(kind).map_or(0.0, |class| {
        class.throughput_per_s / record.throughput_per_s
    })
}

/// The median share of each kind: what most trials agree on.
fn median_shares(records: &[&TrialRecord]) -> BTreeMap<String, f64> {
    let mut shares: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for kind in records.iter().flat_map(|record| record.classes.keys()) {
        if !shares.contains_key(kind) {
            let all = records.iter().map(|record| share(record, kind)).collect();
            shares.insert(kind.clone(), all);
        }
    }
    shares
        .into_iter()
        .map(|(kind, mut all)| {
            all.sort_by(f64::total_cmp);
            let middle = all[all.len() / 2];
            (kind, middle)
        })
        .collect()
}

/// Mean response time of each kind in the trial with the fewest users.
fn kinds(records: &[&TrialRecord]) -> BTreeMap<String, f64> {
    let first = records.iter().min_by_key(|record| record.population);
    first.map_or_else(BTreeMap::new, |record| {
        record
            .classes
            .iter()
            .map(|(kind, class)| (kind.clone(), class.response_time_ms.mean / 1e3))
            .collect()
    })
}
