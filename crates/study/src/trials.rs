//! The trials of a study: numbered, told to the observer, kept, and paid for from the budget.

use std::time::Duration;

use weir_record::{
    InvalidReason, Levels, RaisedLimit, Role, TargetFacts, Treatment, TrialError, TrialRecord,
    TrialRunner, Window,
};

use crate::observer::StudyObserver;
use crate::raise;
use crate::search;

/// Seconds of load behind a measured window, until the running samples have ended.
const DRAIN_S: f64 = 1.0;
/// The whole load with all attempts that were thrown away, over the budget, at most.
const THROWN: f64 = 2.0;
/// A trial far from the answer only shows the way: this relative half-width is enough for it …
const ROUGH_PRECISION: f64 = 0.05;
/// … and it takes at most so much longer than the shortest window.
const ROUGH_EXTRA: Duration = Duration::from_secs(5);

/// A window that may vary holds at least so many of the longest requests one after the other, so
/// that those cut off at its ends are few …
const LEAST_OF_LONGEST: u32 = 6;
/// … and may become as long as so many.
const MOST_OF_LONGEST: u32 = 12;
/// … as far as this part of what is left of the budget reaches: a search needs several trials.
const LONGEST_OF_BUDGET: f64 = 4.0;

/// Why a study goes no further.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The runner gave no record.
    Error(TrialError),
    /// A trial was invalid twice.
    Invalid {
        /// The second of the two.
        trial: u32,
        because: String,
    },
}

impl From<TrialError> for Stop {
    fn from(error: TrialError) -> Self {
        Self::Error(error)
    }
}

/// How well a trial has to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Only enough to choose the next level.
    Rough,
    /// As well as the window allows.
    Full,
}

/// A trial that is asked for.
pub(crate) struct Wanted<'a> {
    pub(crate) role: Role,
    pub(crate) case: Option<&'a str>,
    pub(crate) levels: Levels,
    pub(crate) window: Window,
    /// What it is for, in words.
    pub(crate) why: &'a str,
}

/// The search before a limit was raised.
#[derive(Debug)]
struct BeforeRaising {
    raised: Vec<RaisedLimit>,
    /// How many trials there were.
    trials: usize,
}

/// Runs trials and keeps their records.
pub(crate) struct Trials<'a> {
    runner: &'a mut dyn TrialRunner,
    observer: &'a mut dyn StudyObserver,
    records: Vec<TrialRecord>,
    seed: u64,
    budget: Option<Budget>,
    block: Option<u32>,
    /// Whether the question says how many requests may fail.
    bounds_errors: bool,
    raised: Vec<RaisedLimit>,
    before_raising: Vec<BeforeRaising>,
    /// Trials with a limit that was raised in vain.
    set_aside: Vec<u32>,
}

impl<'a> Trials<'a> {
    pub(crate) fn new(
        runner: &'a mut dyn TrialRunner,
        observer: &'a mut dyn StudyObserver,
        seed: u64,
        budget: Option<Duration>,
    ) -> Self {
        Self {
            runner,
            observer,
            records: Vec::new(),
            seed,
            budget: budget.map(Budget::new),
            block: None,
            bounds_errors: false,
            raised: Vec::new(),
            before_raising: Vec::new(),
            set_aside: Vec::new(),
        }
    }

    /// The question says how many requests may fail: a trial in which most do answers it.
    pub(crate) fn bound_errors(&mut self) {
        self.bounds_errors = true;
    }

    /// All trials from here on belong to this block, counted from 1.
    pub(crate) fn begin_block(&mut self, block: u32) {
        self.block = Some(block);
    }

    /// From here on the search is that of the server with this limit raised. What the trials took
    /// in which the lower one acted is not charged to it.
    pub(crate) fn raise(&mut self, limit: RaisedLimit) {
        let counted: Vec<u32> = self.valid().iter().map(|trial| trial.id).collect();
        self.before_raising.push(BeforeRaising {
            raised: self.raised.clone(),
            trials: self.records.len(),
        });
        self.raised.retain(|before| before.stage != limit.stage);
        self.raised.push(limit);
        let count: Vec<u32> = self.valid().iter().map(|trial| trial.id).collect();
        let Some(budget) = &mut self.budget else {
            return;
        };
        for trial in &self.records {
            if counted.contains(&trial.id) && !count.contains(&trial.id) {
                budget.give_back(trial);
            }
        }
    }

    /// The limit that was raised last is as it was before, and so is the search: the trials made
    /// since say nothing of it.
    pub(crate) fn lower(&mut self) {
        let Some(before) = self.before_raising.pop() else {
            return;
        };
        self.raised = before.raised;
        let made = self.records.iter().skip(before.trials);
        self.set_aside.extend(made.map(|trial| trial.id));
    }

    /// The limits that are raised.
    pub(crate) fn raised(&self) -> &[RaisedLimit] {
        &self.raised
    }

    /// The levels of the limits that are raised.
    pub(crate) fn raised_levels(&self) -> Levels {
        raise::levels(&self.raised)
    }

    /// Tells the user something that he should read now.
    pub(crate) fn note(&mut self, says: &str) {
        self.observer.note(says);
    }

    pub(crate) fn facts(&self) -> &TargetFacts {
        self.runner.facts()
    }

    /// Users of all kinds at these levels.
    pub(crate) fn population(&self, levels: &Levels) -> u32 {
        self.runner.population(levels)
    }

    /// All trials so far, invalid ones included.
    pub(crate) fn records(&self) -> &[TrialRecord] {
        &self.records
    }

    /// The trials whose figures may be used: not those in which a limit acted that was raised
    /// since, nor those with a limit that was raised in vain.
    pub(crate) fn valid(&self) -> Vec<&TrialRecord> {
        let facts = self.facts();
        let valid = self.records.iter().filter(|trial| trial.valid);
        let valid = valid.filter(|trial| !self.set_aside.contains(&trial.id));
        valid
            .filter(|trial| raise::still_counts(trial, &self.raised, facts))
            .collect()
    }

    pub(crate) fn into_records(self) -> Vec<TrialRecord> {
        self.records
    }

    /// Runs a trial; one that is not valid is run once more, with twice the longest window if its
    /// length may vary (it may have been too short to become steady). A server that still warms up
    /// at the beginning of a study is given a third one.
    pub(crate) fn run(&mut self, wanted: &Wanted<'_>) -> Result<TrialRecord, Stop> {
        let mut trial = self.attempt(wanted, wanted.window, wanted.why)?;
        let mut repeats = 0;
        while !trial.valid {
            if repeats >= 1 && !(repeats == 1 && self.still_warms_up(&trial, wanted)) {
                return Err(Stop::Invalid {
                    trial: trial.id,
                    because: trial.invalid_because.join("; "),
                });
            }
            repeats += 1;
            let mut window = wanted.window;
            if window.max > window.min {
                window.max *= 2;
                let affordable = self.window(window, Effort::Full, 0.0);
                window = affordable.unwrap_or(wanted.window);
            }
            let because = trial.invalid_because.join("; ");
            let again = format!("again, because trial {} is not valid: {because}", trial.id);
            trial = self.attempt(wanted, window, &again)?;
        }
        Ok(trial)
    }

    /// Whether no trial of the study was steady yet, this one neither, and there is load left.
    fn still_warms_up(&self, trial: &TrialRecord, wanted: &Wanted<'_>) -> bool {
        let mut reasons = trial.invalid.iter().map(|invalid| &invalid.reason);
        let of_warm_up = !trial.invalid.is_empty()
            && reasons.all(|reason| matches!(reason, InvalidReason::NotSteady { .. }));
        of_warm_up
            && !self.records.iter().any(|trial| trial.valid)
            && self.window(wanted.window, Effort::Full, 0.0).is_some()
    }

    /// Runs a trial of which nothing is used; whether it is valid does not matter.
    pub(crate) fn run_once(&mut self, wanted: &Wanted<'_>) -> Result<TrialRecord, Stop> {
        self.attempt(wanted, wanted.window, wanted.why)
    }

    fn attempt(
        &mut self,
        wanted: &Wanted<'_>,
        window: Window,
        why: &str,
    ) -> Result<TrialRecord, Stop> {
        let id = self.records.len() as u32 + 1;
        let treatment = Treatment {
            id,
            role: wanted.role,
            case: wanted.case.map(str::to_owned),
            block: self.block,
            levels: wanted.levels.clone(),
            window,
            seed: mixed(self.seed, u64::from(id)),
        };
        self.observer.trial_starts(&treatment, why);
        let mut record = self.runner.run(&treatment, &mut *self.observer)?;
        // Of trials that were stored before blocks were, the record does not say.
        record.block = treatment.block;
        if search::fell_behind(&record) {
            record.count_as_fallen_behind();
        }
        if self.bounds_errors {
            record.count_as_failing();
        }
        self.observer.trial_ended(&record);
        if let Some(budget) = &mut self.budget {
            budget.charge(&record);
        }
        self.records.push(record.clone());
        Ok(record)
    }

    fn left_s(&self) -> Option<f64> {
        self.budget.as_ref().map(Budget::left_s)
    }

    /// The window that `effort` asks for and the budget allows, if `reserve_s` seconds of load
    /// have to be left for what comes later; `None` when not even the shortest does.
    ///
    /// A fixed window is as long as the user said, whatever it costs.
    pub(crate) fn window(&self, wished: Window, effort: Effort, reserve_s: f64) -> Option<Window> {
        let mut window = wished;
        if window.max <= window.min {
            let cost = cost_s(window);
            let fits = self.left_s().is_none_or(|left| left - reserve_s >= cost);
            return fits.then_some(window);
        }
        if effort == Effort::Rough {
            window.max = window.max.min(window.min + ROUGH_EXTRA);
            window.precision = window.precision.max(ROUGH_PRECISION);
        }
        if let Some(request) = self.longest_request().filter(|_| effort == Effort::Full) {
            let most = self.left_s().map(|left| left / LONGEST_OF_BUDGET);
            let most = most.and_then(|most| Duration::try_from_secs_f64(most).ok());
            let longest = (MOST_OF_LONGEST * request).min(most.unwrap_or(Duration::MAX));
            window.max = window.max.max(longest);
            // Half of it at most: one that may not vary is not tested for steadiness.
            let shortest = (LEAST_OF_LONGEST * request).min(window.max / 2);
            window.min = window.min.max(shortest);
        }
        let Some(left) = self.left_s() else {
            return Some(window);
        };
        let longest = left - reserve_s - DRAIN_S - window.warm_up_min.as_secs_f64();
        if longest < wished.min.as_secs_f64() {
            return None;
        }
        window.min = window.min.min(Duration::from_secs_f64(longest));
        // A second longer than the shortest, so that the window still counts as one that varies
        // and is tested for steadiness.
        let longest = Duration::from_secs_f64(longest).max(window.min + Duration::from_secs(1));
        window.max = window.max.min(longest);
        Some(window)
    }

    /// How long the slowest hundredth of the requests takes where the load is lightest: what no
    /// queue has made longer.
    fn longest_request(&self) -> Option<Duration> {
        let valid = self.records.iter().filter(|trial| trial.valid);
        let p99_ms = valid
            .map(|trial| trial.response_time_ms.p99)
            .filter(|p99| *p99 > 0.0)
            .min_by(f64::total_cmp)?;
        Duration::try_from_secs_f64(p99_ms / 1e3).ok()
    }
}

/// Seconds of load that may still be spent.
///
/// An attempt that was thrown away because others used the machine is not the study's doing, and a
/// trial in which a limit acted that was raised since says nothing of the answer: they are charged
/// only when the whole load would otherwise exceed twice the budget.
#[derive(Debug)]
struct Budget {
    left_s: f64,
    left_with_thrown_s: f64,
}

impl Budget {
    fn new(budget: Duration) -> Self {
        Self {
            left_s: budget.as_secs_f64(),
            left_with_thrown_s: THROWN * budget.as_secs_f64(),
        }
    }

    fn charge(&mut self, record: &TrialRecord) {
        let attempt_s = spent_s(record);
        self.left_s -= attempt_s;
        self.left_with_thrown_s -= attempt_s * (1.0 + f64::from(record.repeats));
    }

    /// A trial is not the search's any more; it stays part of the whole load.
    fn give_back(&mut self, record: &TrialRecord) {
        self.left_s += spent_s(record);
    }

    fn left_s(&self) -> f64 {
        self.left_s.min(self.left_with_thrown_s)
    }
}

/// The seconds of load that a trial took, attempts that were thrown away left out.
fn spent_s(record: &TrialRecord) -> f64 {
    record.warm_up_s + record.window_s + DRAIN_S
}

/// The most seconds of load that a trial with this window takes.
pub(crate) fn cost_s(window: Window) -> f64 {
    (window.warm_up_min + window.max).as_secs_f64() + DRAIN_S
}

/// The fewest seconds of load that a trial with this window takes.
pub(crate) fn least_cost_s(window: Window) -> f64 {
    (window.warm_up_min + window.min).as_secs_f64() + DRAIN_S
}

/// Spreads a seed and a number over all bits (the finalizer of `SplitMix64`; Steele, Lea and Flood
/// 2014), so that neighbouring trials get unrelated seeds.
pub(crate) fn mixed(seed: u64, number: u64) -> u64 {
    let mut bits = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
