//! The check of derived settings: half as many users again, with the settings applied, and
//! everything holds.

pub(crate) mod at_answer;
pub(crate) mod gate;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use weir_metric::{SignalUnit, is_pool};
use weir_queueing::laws;
use weir_record::{Held, RequirementCheck, TargetFacts, TrialRecord};
use weir_stats::{Estimate, mean_of_independent};

use crate::search::root::CONFIDENCE;
use crate::settings::{BACKLOG, CONNECTIONS, GATE, REQUEST_QUEUE, THREADS, in_server};

/// The users of the check over those of the answer.
pub(crate) const SURPLUS: f64 = 1.5;
/// The CPU may lie this far below its goal: less means that the limit holds back work that fits …
const CPU_BELOW: f64 = 0.05;
/// … and this far above: what a trial of half a minute cannot tell from the goal.
const CPU_ABOVE: f64 = 0.01;
/// The throughput keeps at least this share of that at the answer.
const THROUGHPUT: f64 = 0.97;
/// Nobody waits below the threads: on average at most a tenth of a request does. A pool chosen to
/// be short once in a thousand moments shows some thousandths.
pub(crate) const WAITING_BELOW: f64 = 0.1;
/// The surplus in front of the threads agrees with users − busy − thinking within this share of it,
/// or within this many requests.
const SURPLUS_SHARE: f64 = 0.1;
const SURPLUS_REQUESTS: f64 = 1.0;

/// What the check compares with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Expected {
    /// The CPU goal.
    pub(crate) cpu: f64,
    /// Fitted throughput at the answer.
    pub(crate) throughput_per_s: f64,
    /// Mean think time of a user.
    pub(crate) think_s: f64,
    /// A trial with one place more that exceeded the CPU's goal: then no whole number of them keeps
    /// more than this one does.
    pub(crate) one_more: Option<OneMore>,
}

/// A trial with one place more than another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct OneMore {
    pub(crate) places: u32,
    /// What the places are: threads, or requests that a gateway lets in.
    pub(crate) noun: &'static str,
    pub(crate) cpu: f64,
    pub(crate) trial: u32,
}

impl OneMore {
    /// What is said of a bound that needs more than the largest whole number of places keeps.
    fn says(self, bound: &str) -> String {
        format!(
            "{bound}, or the most that whole {} keep: with {} the CPU is {:.1} % (trial {})",
            self.noun,
            self.places,
            self.cpu * 100.0,
            self.trial
        )
    }
}

/// A figure of the check: its mean over the trials and the widest of their intervals.
#[derive(Debug, Clone, Copy)]
struct Seen {
    value: f64,
    low: f64,
    high: f64,
}

impl Seen {
    fn without_interval(value: f64) -> Self {
        Self {
            value,
            low: value,
            high: value,
        }
    }
}

/// Judges the trials of the check, which all have the same levels.
pub(crate) fn judge(trials: &[&TrialRecord], expected: &Expected, facts: &TargetFacts) -> Held {
    let mut requirements = vec![
        cpu(trials, expected),
        throughput(trials, expected),
        errors(trials),
    ];
    requirements.extend(
        facts
            .stages
            .iter()
            .filter_map(|stage| nobody_waits(trials, &stage.name)),
    );
    if is_gated(trials) {
        requirements.push(gate::nobody_turned_away(trials));
    }
    requirements.extend(surplus(trials, expected));
    held(trials, requirements, facts)
}

/// What was asked and found, with who waits where.
fn held(trials: &[&TrialRecord], requirements: Vec<RequirementCheck>, facts: &TargetFacts) -> Held {
    let means = |suffix: &str, factor: f64| -> BTreeMap<String, f64> {
        facts
            .stages
            .iter()
            .filter_map(|stage| {
                let name = format!("{}.{suffix}", stage.name);
                Some((
                    stage.name.clone(),
                    factor * mean(trials, |trial| trial.signals.get(&name).copied())?,
                ))
            })
            .collect()
    };
    Held {
        population: trials.first().map_or(0, |trial| trial.population),
        passed: requirements.iter().all(|requirement| requirement.met),
        trials: trials.iter().map(|trial| trial.id).collect(),
        requirements,
        waiting: means("waiting", 1.0),
        wait_ms: means("wait", 1e3),
        cost_at_answer: None,
        cost: None,
        before_and_after: None,
    }
}

/// The CPU between which the check passes.
fn cpu_bounds(goal: f64) -> RangeInclusive<f64> {
    goal - CPU_BELOW..=goal + CPU_ABOVE
}

/// Whether a CPU is more than the check lets pass.
pub(crate) fn exceeds(cpu: f64, goal: f64) -> bool {
    cpu > *cpu_bounds(goal).end()
}

/// Whether a CPU passes the check.
pub(crate) fn cpu_fits(cpu: f64, goal: f64) -> bool {
    cpu_bounds(goal).contains(&cpu)
}

fn cpu(trials: &[&TrialRecord], expected: &Expected) -> RequirementCheck {
    let bounds = cpu_bounds(expected.cpu);
    let check = cpu_between(trials, bounds.clone());
    let is_below = check.value < *bounds.start();
    as_near_as_threads_allow(check, is_below, expected)
}

/// A bound from below that the most places within the goal miss is met: nothing would keep more.
fn as_near_as_threads_allow(
    check: RequirementCheck,
    is_below: bool,
    expected: &Expected,
) -> RequirementCheck {
    match expected.one_more.filter(|_| !check.met && is_below) {
        Some(more) => RequirementCheck {
            says: more.says(&check.says),
            met: true,
            ..check
        },
        None => check,
    }
}

/// Whether only the CPU or the throughput is missed, and from below: a place more could help.
pub(crate) fn could_keep_more(
    trials: &[&TrialRecord],
    expected: &Expected,
    facts: &TargetFacts,
) -> bool {
    let held = judge(trials, expected, facts);
    // As `judge` has them.
    let [cpu, _throughput, others @ ..] = held.requirements.as_slice() else {
        return false;
    };
    !held.passed && cpu.value <= expected.cpu && others.iter().all(|found| found.met)
}

fn cpu_between(trials: &[&TrialRecord], bounds: RangeInclusive<f64>) -> RequirementCheck {
    let seen = with_interval(trials, "cpu", |trial| Some(trial.cpu?.total));
    check(
        SignalUnit::Share,
        format!(
            "cpu between {:.1} % and {:.1} %",
            bounds.start() * 100.0,
            bounds.end() * 100.0
        ),
        seen,
        &[*bounds.start(), *bounds.end()],
        |value| bounds.contains(&value),
    )
}

fn throughput(trials: &[&TrialRecord], expected: &Expected) -> RequirementCheck {
    let seen = with_interval(trials, "throughput_per_s", |trial| {
        Some(trial.throughput_per_s)
    });
    let bound = THROUGHPUT * expected.throughput_per_s;
    let check = check(
        SignalUnit::PerSecond,
        format!(
            "throughput >= {bound:.1} /s, {:.0} % of that at the answer",
            THROUGHPUT * 100.0
        ),
        seen,
        &[bound],
        |value| value >= bound,
    );
    as_near_as_threads_allow(check, true, expected)
}

fn errors(trials: &[&TrialRecord]) -> RequirementCheck {
    let seen = with_interval(trials, "errors.share", |trial| Some(trial.errors.share));
    check(
        SignalUnit::Share,
        "errors == 0 %".to_owned(),
        seen,
        &[0.0],
        |value| value <= 0.0,
    )
}

/// Nobody waits for a stage behind the threads.
fn nobody_waits(trials: &[&TrialRecord], stage: &str) -> Option<RequirementCheck> {
    if !is_pool(stage) && stage != "database" {
        return None;
    }
    let seen = mean(trials, |trial| trial.waiting(stage)).map(Seen::without_interval)?;
    let seen = Some(seen);
    Some(check(
        SignalUnit::Number,
        format!("waiting({stage}) <= {WAITING_BELOW}: nobody waits below the threads"),
        seen,
        &[WAITING_BELOW],
        |value| value <= WAITING_BELOW,
    ))
}

/// Whether there is a gateway in front of the server.
fn is_gated(trials: &[&TrialRecord]) -> bool {
    trials.iter().any(|trial| trial.waiting(GATE).is_some())
}

/// Who is neither in the server nor thinking waits in front of its threads.
fn surplus(trials: &[&TrialRecord], expected: &Expected) -> Option<RequirementCheck> {
    let value = mean(trials, waiting_in_front)?;
    let foretold = mean(trials, |trial| {
        let thinking = laws::number_present(trial.throughput_per_s, expected.think_s);
        Some(f64::from(trial.population) - in_server(trial)? - thinking)
    })?;
    let tolerance = SURPLUS_REQUESTS.max(SURPLUS_SHARE * foretold.abs());
    let seen = Some(Seen::without_interval(value));
    let place = if is_gated(trials) {
        "in the gate and behind it in front of the threads"
    } else {
        "in front of the threads"
    };
    Some(check(
        SignalUnit::Number,
        format!("{foretold:.1} ± {tolerance:.1} requests wait {place}: users − busy − thinking"),
        seen,
        &[foretold - tolerance, foretold + tolerance],
        |value| (value - foretold).abs() <= tolerance,
    ))
}

/// Requests in front of the threads: in a gateway, in the queue, in the backlog, waiting for a
/// connection.
pub(crate) fn waiting_in_front(trial: &TrialRecord) -> Option<f64> {
    let gate = trial.waiting(GATE);
    let queue = trial
        .waiting(REQUEST_QUEUE)
        .or_else(|| trial.occupancy(REQUEST_QUEUE))
        .or_else(|| trial.waiting(THREADS))
        .or_else(|| gate.map(|_| 0.0))?;
    let outside = trial
        .occupancy(BACKLOG)
        .or_else(|| trial.waiting(CONNECTIONS))
        .unwrap_or(0.0);
    Some(gate.unwrap_or(0.0) + queue + outside)
}

fn check(
    unit: SignalUnit,
    says: String,
    seen: Option<Seen>,
    bounds: &[f64],
    met: impl Fn(f64) -> bool,
) -> RequirementCheck {
    let bounds = bounds.to_vec();
    let unit = unit.symbol().to_owned();
    // A figure that was not read meets nothing.
    let Some(Seen { value, low, high }) = seen else {
        return RequirementCheck {
            says: format!("{says} (not read)"),
            value: f64::MAX,
            unit,
            low: f64::MAX,
            high: f64::MAX,
            met: false,
            bounds,
        };
    };
    let mut check = RequirementCheck {
        says,
        value,
        unit,
        low,
        high,
        met: met(value),
        bounds,
    };
    if check.is_open() {
        check.says += "; missed by less than these trials can tell, a longer window can";
    }
    check
}

fn mean(trials: &[&TrialRecord], of: impl Fn(&TrialRecord) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = trials.iter().map(|trial| of(trial)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

fn with_interval(
    trials: &[&TrialRecord],
    name: &str,
    of: impl Fn(&TrialRecord) -> Option<f64>,
) -> Option<Seen> {
    let value = mean(trials, &of)?;
    let own: Option<Vec<Estimate>> = trials
        .iter()
        .map(|trial| trial.intervals.get(name).copied())
        .collect();
    let Some(own) = own else {
        return Some(Seen::without_interval(value));
    };
    // The interval of a mean of independent trials is narrower by the root of their number.
    let root = (own.len() as f64).sqrt();
    let below = own
        .iter()
        .map(|own| own.value - own.low)
        .fold(0.0, f64::max)
        / root;
    let above = own
        .iter()
        .map(|own| own.high - own.value)
        .fold(0.0, f64::max)
        / root;
    // A host that is faster in one trial than in another makes them differ by more than each by
    // itself tells.
    let values: Vec<f64> = trials.iter().filter_map(|trial| of(trial)).collect();
    let between = mean_of_independent(&values, CONFIDENCE).map_or(0.0, |mean| mean.half_width());
    Some(Seen {
        value,
        low: (value - below.max(between)).max(0.0),
        high: value + above.max(between),
    })
}

#[cfg(test)]
mod tests {
    use weir_metric::SignalUnit;
    use weir_record::{CpuRecord, TrialRecord};
    use weir_stats::mean_of_independent;

    use super::{CONFIDENCE, Seen, check, cpu_between};
    use crate::findings::made;

    fn judged(low: f64, value: f64, high: f64) -> (bool, String) {
        let seen = Some(Seen { value, low, high });
        let judged = check(
            SignalUnit::Number,
            "x >= 10".to_owned(),
            seen,
            &[10.0],
            |value| value >= 10.0,
        );
        (judged.met, judged.says)
    }

    /// E1 on Liberty: the same settings three times, while the host became faster.
    #[test]
    fn trials_that_differ_leave_open_what_each_would_decide() {
        let trial = |id: u32, cpu: f64| {
            let seconds = [-0.02, -0.01, 0.0, 0.01, 0.02].map(|off| cpu + off);
            let own = mean_of_independent(&seconds, CONFIDENCE).expect("five values");
            let total = CpuRecord {
                user: cpu,
                system: 0.0,
                steal: 0.0,
                total: cpu,
            };
            TrialRecord {
                cpu: Some(total),
                intervals: [("cpu".to_owned(), own)].into(),
                ..made::trial(id, 12.2, &[])
            }
        };
        let all = [trial(12, 0.766), trial(13, 0.781), trial(14, 0.689)];
        let seen = cpu_between(&all.each_ref(), 0.75..=0.81);
        assert!(!seen.met && seen.is_open(), "{seen:?}");
        assert!(seen.low < 0.63 && seen.high > 0.86, "{seen:?}");
        // Trials that agree decide.
        let all = [trial(1, 0.690), trial(2, 0.692), trial(3, 0.688)];
        let seen = cpu_between(&all.each_ref(), 0.75..=0.81);
        assert!(!seen.met && !seen.is_open(), "{seen:?}");
    }

    #[test]
    fn a_near_miss_is_called_one() {
        let near = "x >= 10; missed by less than these trials can tell, a longer window can";
        assert_eq!(judged(9.0, 9.8, 10.6), (false, near.to_owned()));
        assert_eq!(judged(9.0, 9.4, 9.8), (false, "x >= 10".to_owned()));
        assert_eq!(judged(9.0, 10.1, 11.2), (true, "x >= 10".to_owned()));
    }
}
