//! The search for the largest number of users that meets the requirements, or of requests that a
//! gateway lets in at a time.
//!
//! Each step looks at all trials so far and names the next level, or the end: [`next`] is a pure
//! function of the records, so that a search can be replayed. Far from the goal the closed model of
//! [`cpu`] leaps towards it; near the goal trials alternate at about 1.09 and 0.91 times the root
//! until its interval is narrow enough. Source: the search of the project's method notes, which
//! needs about a third of the trials of a sweep for the same error.

pub(crate) mod bounded;
pub(crate) mod cpu;
mod few;
pub(crate) mod model;
mod noise;
pub(crate) mod plateau;
pub(crate) mod root;
mod start;
pub(crate) mod users;

use weir_metric::{Metric, Requirement, names};
use weir_record::{Level, Levels, Role, TargetFacts, TrialError, TrialRecord};

use crate::at_rate;
use crate::file::{FindSpec, Varied};
use crate::trials::{Effort, Stop, Trials, Wanted};
use bounded::Bounded;
use cpu::CpuFit;
use plateau::Plateau;
use root::{By, NEAR, Root};

/// The factor that is varied most often.
pub(crate) const USERS: &str = "users";
const RATE: &str = "rate";
/// Of a load that keeps up, what was due and has ended differ by less: those in flight are more at
/// the end of a window than at its beginning by chance alone.
const BEHIND: f64 = 0.02;
/// A trial is far from the root when it has less than half its level: then the next goes to three
/// quarters of the root, which is far enough to show the bend and low enough to be safe.
const FAR: f64 = 0.5;
const APPROACH: f64 = 0.75;
/// Arrivals a second and CPU, at first: the CPU that they take is seen, and ten requests of 100 ms
/// are no more than a CPU can do.
const FIRST_RATE: u32 = 10;
/// A gateway lets in at first one of so many users.
const GATE_OPENS: u32 = 8;
/// No leap multiplies the users by more than this: the first trials say little about the demand.
const LEAP: f64 = 8.0;
/// Steps to both sides of the root. Response times bend more than CPU, so that closer ones are
/// straighter.
const STEP_CPU: f64 = 0.09;
const STEP_OTHER: f64 = 0.06;
/// … and where they hardly bend, trials further away say more.
const STEP_FLAT: f64 = 0.25;
/// A trial this far beyond the root shows that it is one.
const BEYOND: f64 = 1.5;
/// Near trials without which no search ends by itself …
const NEAR_MIN: usize = 5;
/// … and one more for each of these spreads between trials that the near ones exceed: the noisier
/// the machine, the more likely few trials agree by luck (tried with `cargo xtask bench search`).
const NOISY: [f64; 3] = [0.018, 0.035, 0.045];
/// No search ends by itself before the CPU at the answer is known so well, as a share of the CPUs
/// (95 %): where it is steep, or users are few, the level alone says too little of it.
const CPU_DOUBT: f64 = 0.042;
/// Trials that a search leaves out at most: more of them are no outliers.
const OUTLIERS_MAX: usize = 2;
/// A search that has not ended by then ends with what it knows.
pub(crate) const TRIALS_MAX: usize = 24;

/// How the search ended.
#[derive(Debug, Clone)]
pub(crate) enum Found {
    /// A level with its interval.
    Level {
        root: Root,
        /// Index of the requirement that binds.
        binding: usize,
        /// The answer is the end of the range, and the requirements still hold there.
        at_range_end: bool,
    },
    /// Even the smallest level breaks a requirement.
    Broken { binding: usize },
    /// The CPU never reaches its goal.
    Never {
        stage: Option<String>,
        trials: [u32; 2],
    },
    /// The trials do not decide it.
    Undecided(String),
}

/// What the search does next.
#[derive(Debug, Clone)]
enum Step {
    Try {
        level: u32,
        effort: Effort,
        why: String,
    },
    End(Found),
}

/// The requirements that more users break, and those that they help.
#[derive(Debug)]
pub(crate) struct Goals {
    /// CPU goal and its index, at most one: the tightest.
    pub(crate) cpu: Option<(usize, f64)>,
    others: Vec<(usize, Bounded)>,
}

impl Goals {
    pub(crate) fn of(requirements: &[Requirement]) -> Self {
        let from_above = requirements
            .iter()
            .enumerate()
            .filter(|(_, requirement)| requirement.comparison.bounds_from_above());
        let mut goals = Self {
            cpu: None,
            others: Vec::new(),
        };
        for (at, requirement) in from_above {
            let bound = requirement.bound_base();
            match requirement.metric {
                Metric::Cpu => {
                    if goals.cpu.is_none_or(|(_, tightest)| bound < tightest) {
                        goals.cpu = Some((at, bound));
                    }
                }
                _ => goals
                    .others
                    .extend(Bounded::new(requirement).map(|bounded| (at, bounded))),
            }
        }
        goals
    }

    /// Index, root and kind of the requirement that breaks first.
    fn first_to_break(&self, trials: &[&TrialRecord], servers: u32) -> Option<(usize, Root)> {
        let cpu = self
            .cpu
            .and_then(|(at, target)| Some((at, CpuFit::of(trials, servers, target)?.root())));
        cpu.into_iter()
            .chain(self.first_other(trials))
            .min_by(|a, b| a.1.level.total_cmp(&b.1.level))
    }

    /// As `first_to_break`, without the CPU.
    fn first_other(&self, trials: &[&TrialRecord]) -> Option<(usize, Root)> {
        self.others
            .iter()
            .map(|(at, bounded)| (*at, bounded.root(trials)))
            .min_by(|a, b| a.1.level.total_cmp(&b.1.level))
    }

    /// The trials but for those near the goal whose CPU the others contradict beyond chance:
    /// something disturbed them that no instrument saw.
    pub(crate) fn without_outliers<'a>(
        &self,
        trials: &[&'a TrialRecord],
        servers: u32,
    ) -> Vec<&'a TrialRecord> {
        let mut kept = trials.to_vec();
        let Some((_, target)) = self.cpu else {
            return kept;
        };
        for _ in 0..OUTLIERS_MAX {
            if kept.len() < noise::OUTLIER_AMONG {
                break;
            }
            let outlier = CpuFit::of(&kept, servers, target).and_then(|fit| fit.outlier());
            let Some(outlier) = outlier else {
                break;
            };
            kept.retain(|trial| trial.id != outlier);
        }
        kept
    }

    /// The requirements other than the CPU's, but for errors, of which a check allows none.
    pub(crate) fn others(&self) -> impl Iterator<Item = &Bounded> {
        let others = self.others.iter().map(|(_, bounded)| bounded);
        others.filter(|bounded| bounded.requirement.metric != Metric::Errors)
    }

    /// A level clearly beyond the root, where no trial has been: a response time that trials below
    /// it made by chance falls there. `None` where there is such a trial, or no need of one.
    fn beyond(
        &self,
        index: usize,
        spec: &FindSpec,
        root: f64,
        trials: &[&TrialRecord],
    ) -> Option<u32> {
        let (_, bounded) = self.others.iter().find(|(at, _)| *at == index)?;
        let largest = trials.iter().filter_map(|trial| level(trial));
        let tried = largest.fold(0.0, f64::max) >= NEAR.end() * root;
        let next = (BEYOND * root).ceil().min(f64::from(spec.within.1));
        (bounded.is_response() && !tried && next > NEAR.end() * root).then_some(next as u32)
    }

    pub(crate) fn is_cpu(&self, index: usize) -> bool {
        self.cpu.is_some_and(|(at, _)| at == index)
    }

    /// Whether a trial meets a requirement by its own figure, whatever a curve through all of them
    /// says.
    fn met(&self, index: usize, spec: &FindSpec, trial: &TrialRecord) -> bool {
        if self.is_cpu(index) {
            return trial
                .cpu
                .is_some_and(|cpu| spec.requirements[index].met_by(cpu.total));
        }
        let other = self.others.iter().find(|(at, _)| *at == index);
        other.is_some_and(|(_, bounded)| {
            bounded
                .value(trial)
                .is_some_and(|value| bounded.met_by(value))
        })
    }

    /// The first requirement whose figure a trial does not have.
    fn unread(&self, trial: &TrialRecord, requirements: &[Requirement]) -> Option<String> {
        if let Some((at, _)) = self.cpu.filter(|_| trial.cpu.is_none()) {
            return Some(requirements[at].to_string());
        }
        let unread = self
            .others
            .iter()
            .find(|(_, bounded)| bounded.value(trial).is_none());
        unread.map(|(_, bounded)| bounded.requirement.to_string())
    }
}

/// Searches until the answer is good enough, the budget is spent but for `reserve_s`, or nothing
/// more can be learned.
pub(crate) fn search(
    spec: &FindSpec,
    goals: &Goals,
    trials: &mut Trials<'_>,
    reserve_s: f64,
) -> Result<Found, Stop> {
    let facts = trials.facts().clone();
    let mut step = if trials.valid().is_empty() {
        let population = trials.population(&levels(spec, spec.within.0));
        first(spec, facts.cpus, population)
    } else {
        next(spec, goals, &trials.valid(), &facts)
    };
    loop {
        let (level, effort, why) = match step {
            Step::End(found) => return Ok(found),
            Step::Try { level, effort, why } => (level, effort, why),
        };
        // What is kept for the settings counts once there is an answer to derive them from. A
        // gate's check is a trial at the answer itself, so that it tells of the answer what
        // another trial of the search would.
        let near = |used: &[&TrialRecord]| near_count(goals, used, facts.cpus);
        let least = match spec.varied {
            Varied::Users => NEAR_MIN,
            Varied::GateConcurrency | Varied::Rate => 1,
        };
        let enough =
            reserve_s > 0.0 && near(&goals.without_outliers(&trials.valid(), facts.cpus)) >= least;
        let reserve_s = if enough { reserve_s } else { 0.0 };
        let Some(window) = trials.window(spec.window, effort, reserve_s) else {
            return Ok(best_so_far(spec, goals, &trials.valid(), &facts));
        };
        let mut levels = levels(spec, level);
        levels.extend(trials.raised_levels());
        let record = trials.run(&Wanted {
            role: Role::Search,
            case: None,
            levels,
            window,
            why: &why,
        })?;
        if let Some(requirement) = goals.unread(&record, &spec.requirements) {
            return Err(Stop::Error(TrialError::Input(format!(
                "judge `{requirement}`: trial {} has no such figure",
                record.id
            ))));
        }
        if spec.varied == Varied::Rate {
            at_rate::check_unit(&record)?;
        }
        step = next(spec, goals, &trials.valid(), &facts);
    }
}

/// Where the search begins: with little, so that it shows what a request costs. Behind a gateway
/// that lets in one at a time a large load would take a trial of its own to pass once.
fn first(spec: &FindSpec, cpus: u32, population: u32) -> Step {
    let (least, why) = match spec.varied {
        Varied::Users => (cpus, "as many users as CPUs: what one request costs"),
        Varied::GateConcurrency => (
            cpus.max(population / GATE_OPENS),
            "a gate that is hardly open: what one request costs",
        ),
        Varied::Rate => (
            FIRST_RATE.saturating_mul(cpus),
            "a low rate: what one request costs",
        ),
    };
    Step::Try {
        level: least.clamp(spec.within.0, spec.within.1),
        effort: Effort::Rough,
        why: why.to_owned(),
    }
}

/// The levels of a trial of the search.
pub(crate) fn levels(spec: &FindSpec, level: u32) -> Levels {
    let mut levels = spec.set.clone();
    let factor = spec.varied.factor().to_owned();
    levels.insert(factor, Level::Number(f64::from(level)));
    levels
}

/// The level of what the search varies. Where that is a gateway, the load is the same in every
/// trial; where it is a rate, the users are only those who may send it.
pub(crate) fn level(trial: &TrialRecord) -> Option<f64> {
    let gate = trial.level(Varied::GateConcurrency.factor());
    gate.or_else(|| trial.level(RATE))
        .or_else(|| trial.level(USERS))
}

/// Whether the search varies a rate.
pub(crate) fn is_open(trial: &TrialRecord) -> bool {
    trial.level(RATE).is_some() && trial.level(Varied::GateConcurrency.factor()).is_none()
}

/// Whether a load fell so far behind its rate that requests pile up: its response times say how
/// long the trial took, and nothing else.
pub(crate) fn fell_behind(trial: &TrialRecord) -> bool {
    answered_behind(trial).is_some()
}

/// What was answered of the rate by a load that fell behind it.
fn answered_behind(trial: &TrialRecord) -> Option<f64> {
    let missed = trial.signals.get(names::MISSED).copied();
    let missed = missed.filter(|missed| is_open(trial) && *missed > BEHIND)?;
    Some(level(trial)? * (1.0 - missed))
}

/// What to do after these trials.
fn next(spec: &FindSpec, goals: &Goals, all: &[&TrialRecord], facts: &TargetFacts) -> Step {
    let (low, high) = (f64::from(spec.within.0), f64::from(spec.within.1));
    let largest = all
        .iter()
        .filter_map(|trial| level(trial))
        .fold(0.0, f64::max);
    if all.len() >= TRIALS_MAX {
        return Step::End(best_so_far(spec, goals, all, facts));
    }
    let trials = &goals.without_outliers(all, facts.cpus);
    // What keeps a rate from being answered shows in what is missed, whatever it is.
    let plateau = goals
        .cpu
        .filter(|_| spec.varied != Varied::Rate)
        .and_then(|(_, target)| plateau::look(trials, facts, target, high));
    let first = if matches!(plateau, Some(Plateau::Confirmed { .. })) {
        goals.first_other(trials)
    } else {
        goals.first_to_break(trials, facts.cpus)
    };
    if let Some(step) = plateau.and_then(|plateau| follow(plateau, goals, first.as_ref(), high)) {
        return step;
    }
    let Some((binding, root)) = first else {
        return Step::End(Found::Undecided(why_nothing(all)));
    };
    // Far below: leap towards the root, but not beyond the range.
    let reach = (APPROACH * root.level).min(high).min(LEAP * largest);
    if largest < FAR * root.level && reach.floor() > largest {
        return Step::Try {
            level: reach.floor() as u32,
            effort: Effort::Rough,
            why: leap_why(spec, root.level),
        };
    }
    if root.level >= high {
        return at_range_end(spec, binding, root, trials);
    }
    if root.level < low {
        return start::below_range(spec, goals, (binding, root), all, trials);
    }
    near(spec, goals, binding, root, trials)
}

/// Why no trial says anything of a requirement.
fn why_nothing(trials: &[&TrialRecord]) -> String {
    let Some(failing) = trials.iter().find(|trial| trial.fails()) else {
        return "no trial used any CPU".to_owned();
    };
    let codes = failing.errors.by_code.iter();
    let most = codes.max_by_key(|(_, count)| **count);
    let code = most.map_or(String::new(), |(code, _)| {
        format!(", most of them with {code}")
    });
    format!(
        "{:.1} % of the requests failed in trial {}{code}. Look at what is asked for: weir run URL says why requests fail",
        failing.errors.share * 100.0,
        failing.id
    )
}

fn leap_why(spec: &FindSpec, root: f64) -> String {
    if root.is_finite() {
        let about = root.min(f64::from(spec.within.1)).round();
        format!("on the way to about {about} {}", spec.varied.noun())
    } else {
        "nothing is broken yet".to_owned()
    }
}

/// Follows a suspicion that the CPU never reaches its goal; `first` is what breaks first otherwise.
fn follow(
    plateau: Plateau,
    goals: &Goals,
    first: Option<&(usize, Root)>,
    high: f64,
) -> Option<Step> {
    match plateau {
        // Another requirement may still end the range.
        Plateau::Confirmed { .. } if first.is_some_and(|(_, root)| root.level < high) => None,
        Plateau::Confirmed { stage, trials } => Some(Step::End(Found::Never { stage, trials })),
        // Another requirement breaks before the suspicion matters.
        Plateau::Suspected { level }
            if first.is_some_and(|(at, root)| !goals.is_cpu(*at) && root.level < level) =>
        {
            None
        }
        Plateau::Suspected { level } => Some(Step::Try {
            level: level.round() as u32,
            effort: Effort::Full,
            why: "whether the CPU rises at all with more of them".to_owned(),
        }),
    }
}

/// The root lies beyond the range: the end of the range is the answer, once a trial there has shown
/// it, and a second one if the first leaves doubt.
fn at_range_end(spec: &FindSpec, binding: usize, root: Root, trials: &[&TrialRecord]) -> Step {
    let high = spec.within.1;
    let tried = count_at(trials, high);
    let end = f64::from(high);
    // Far from the root one trial is enough, and the end itself is the interval.
    let far = end < NEAR.start() * root.level;
    if tried == 0 || (tried == 1 && !far && root.low < end) {
        return Step::Try {
            level: high,
            effort: Effort::Full,
            why: "the end of the range: whether it still holds there".to_owned(),
        };
    }
    let low = if far { end } else { root.low.min(end) };
    Step::End(Found::Level {
        root: Root {
            low,
            high: end,
            ..root
        },
        binding,
        at_range_end: true,
    })
}

fn near(
    spec: &FindSpec,
    goals: &Goals,
    binding: usize,
    root: Root,
    trials: &[&TrialRecord],
) -> Step {
    if let Some(step) = few::next(spec, goals, binding, root, trials) {
        return step;
    }
    let levels = |wanted: &dyn Fn(f64) -> bool| {
        let levels = trials.iter().filter_map(|trial| level(trial));
        levels
            .filter(|level| NEAR.contains(&(level / root.level)) && wanted(*level))
            .count()
    };
    let below = levels(&|level| level <= root.level);
    let above = levels(&|level| level > root.level);
    let enough = match root.by {
        By::Line => {
            below + above >= near_min(&root)
                && root.cpu_doubt <= CPU_DOUBT
                && root.doubt <= (spec.precision * root.level).max(0.5)
        }
        By::Bracket | By::Step => root.doubt <= (2.0 * spec.precision * root.level).max(0.0),
        By::Guess => false,
    };
    if enough && let Some(level) = goals.beyond(binding, spec, root.level, trials) {
        return Step::Try {
            level,
            effort: Effort::Full,
            why: "whether it is the load that breaks it, and not chance".to_owned(),
        };
    }
    if enough {
        return Step::End(Found::Level {
            root: root.answer(),
            binding,
            at_range_end: false,
        });
    }
    let (held, broken) = root.between;
    let apart = broken - held > 2.0 * spec.precision * root.level;
    if root.by.is_between() && (apart || root.doubt <= broken - held) {
        return halve(spec, root, trials);
    }
    let step = if goals.is_cpu(binding) {
        STEP_CPU
    } else {
        // Where the curve is flat, trials next to the root say nothing.
        (root.doubt / root.level / 4.0).clamp(STEP_OTHER, STEP_FLAT)
    };
    let (side, ideal) = if above <= below {
        ("above", root.level * (1.0 + step))
    } else {
        ("below", root.level * (1.0 - step))
    };
    Step::Try {
        level: free_level(spec, trials, root.level, ideal),
        effort: Effort::Full,
        why: format!(
            "just {side} the {:.1} {} that are expected",
            root.level,
            spec.varied.noun()
        ),
    }
}

fn near_min(root: &Root) -> usize {
    NEAR_MIN + NOISY.iter().filter(|noisy| root.noise > **noisy).count()
}

/// Between the largest level at which it held and the smallest at which it did not.
fn halve(spec: &FindSpec, root: Root, trials: &[&TrialRecord]) -> Step {
    let (held, last) = root.between;
    let middle = f64::midpoint(held, last + 1.0);
    // The curve's own guess, if it lies well inside.
    let margin = 0.3 * (last - held);
    let inside = held + margin..=last + 1.0 - margin;
    let ideal = if inside.contains(&root.level) {
        root.level
    } else {
        middle
    };
    let level = (ideal.round() as u32).clamp(held as u32 + 1, (last as u32).max(held as u32 + 1));
    let level = level.clamp(spec.within.0, spec.within.1);
    if count_at(trials, level) >= 2 {
        // Nothing new can be learned by halving.
        return Step::End(Found::Undecided(format!(
            "trials at {level} {} contradict each other",
            spec.varied.noun()
        )));
    }
    Step::Try {
        level,
        effort: Effort::Full,
        why: format!(
            "between {} {}, where it holds, and {}, where it does not",
            held,
            spec.varied.noun(),
            last + 1.0
        ),
    }
}

/// The level nearest to the ideal one on its side of the root that was tried least: the same level
/// twice tells less than its neighbour does.
fn free_level(spec: &FindSpec, trials: &[&TrialRecord], root: f64, ideal: f64) -> u32 {
    let (low, high) = if ideal > root {
        (root.floor() as u32 + 1, (NEAR.end() * root).ceil() as u32)
    } else {
        ((NEAR.start() * root).ceil() as u32, root.floor() as u32)
    };
    let low = low.clamp(spec.within.0, spec.within.1);
    let high = high.clamp(low, spec.within.1.max(low));
    let reach = (0.06 * root).max(1.0);
    let key = |level: u32| {
        let away = (f64::from(level) - ideal).abs();
        // Within reach the least tried comes first; outside only distance counts.
        let tried = if away <= reach {
            count_at(trials, level)
        } else {
            usize::MAX
        };
        (tried, away)
    };
    (low..=high)
        .min_by(|a, b| {
            let (a, b) = (key(*a), key(*b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
        .unwrap_or(low)
}

fn count_at(trials: &[&TrialRecord], level: u32) -> usize {
    let at = f64::from(level);
    trials
        .iter()
        .filter(|trial| self::level(trial) == Some(at))
        .count()
}

/// How many trials lie near the root.
fn near_count(goals: &Goals, trials: &[&TrialRecord], servers: u32) -> usize {
    let Some((_, root)) = goals.first_to_break(trials, servers) else {
        return 0;
    };
    trials
        .iter()
        .filter_map(|trial| level(trial))
        .filter(|level| NEAR.contains(&(level / root.level)))
        .count()
}

/// The answer of a search that has to end now.
fn best_so_far(spec: &FindSpec, goals: &Goals, all: &[&TrialRecord], facts: &TargetFacts) -> Found {
    let servers = facts.cpus;
    let trials = &goals.without_outliers(all, servers);
    let undecided = |why: &str| Found::Undecided(why.to_owned());
    let Some((binding, root)) = goals.first_to_break(trials, servers) else {
        return undecided("the budget ended before any trial");
    };
    if !root.level.is_finite() {
        return undecided("the budget ended before anything was broken");
    }
    if let Some(root) = few::between_neighbours(goals, binding, root, trials) {
        return Found::Level {
            root,
            binding,
            at_range_end: false,
        };
    }
    let is_near = near_count(goals, trials, servers) > 0;
    // What the model expects beyond the last trial is not to be had where a limit holds it.
    let is_beyond = trials
        .iter()
        .filter_map(|trial| level(trial))
        .all(|level| level < root.level);
    let flat = goals
        .cpu
        .filter(|(at, _)| spec.varied != Varied::Rate && *at == binding)
        .and_then(|(_, target)| plateau::in_doubt(trials, facts, target, f64::from(spec.within.1)));
    if let Some(seen) = flat.filter(|_| is_beyond || !is_near) {
        return Found::Undecided(format!(
            "the budget ended before it showed whether the CPU rises at all with more {}: {seen}",
            spec.varied.noun()
        ));
    }
    if !is_near {
        return Found::Undecided(format!(
            "the budget ended before the search came near the answer, which the model expects at \
             about {:.0} {}",
            root.level,
            spec.varied.noun()
        ));
    }
    let (low, high) = (f64::from(spec.within.0), f64::from(spec.within.1));
    if root.level < low {
        return start::below_range_at_end(spec, goals, (binding, root), all);
    }
    Found::Level {
        root: root.answer(),
        binding,
        at_range_end: root.level >= high,
    }
}
