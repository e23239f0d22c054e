//! `weir tune`: the largest number of users, or the cap of a gateway; the settings, the check, the
//! findings.

use weir_metric::{Metric, Requirement};
use weir_record::{
    Answer, AnswerCost, BeforeAndAfter, Finding, Held, RaisedLimit, Role, Side, Status,
    TargetFacts, TrialRecord, TrialRunner,
};

use crate::answer;
use crate::at_answer;
use crate::at_rate;
use crate::check;
use crate::confirm::{self, AnswerPoint, Hold};
use crate::figure::Figure;
use crate::file::{FindSpec, Varied};
use crate::findings;
use crate::hold_by_gate;
use crate::learned::Learned;
use crate::observer::StudyObserver;
use crate::outcome::Outcome;
use crate::raise;
use crate::search::cpu::CpuFit;
use crate::search::{self, Found, Goals};
use crate::settings::classes::OfGate;
use crate::settings::{Demand, GATE, Settings, THREADS};
use crate::summary;
use crate::trials::{Effort, Stop, Trials, Wanted, least_cost_s};

/// An interval wider than this share of the answer decides nothing.
const WIDTH_MAX: f64 = 0.6;

/// Shortest trials that the search leaves room for: three of the check with a longer window for one
/// of them, one with the limits as found, and one for the cost.
const RESERVED: f64 = 7.0;

/// Finds the largest number of users that meets the requirements, derives the settings that hold
/// the server there, and checks that they do; or finds and checks the cap of a gateway in front of
/// it.
pub fn find(
    spec: &FindSpec,
    runner: &mut dyn TrialRunner,
    observer: &mut dyn StudyObserver,
) -> Outcome {
    let facts = runner.facts().clone();
    let mut trials = Trials::new(runner, observer, spec.seed, spec.budget);
    let mut requirements = spec.requirements.iter();
    if requirements.any(|requirement| requirement.metric == Metric::Errors) {
        trials.bound_errors();
    }
    let mut learned = Learned::default();
    let stop = run(spec, &facts, &mut trials, &mut learned).err();
    outcome(spec, facts, trials.into_records(), learned, stop)
}

fn run(
    spec: &FindSpec,
    facts: &TargetFacts,
    trials: &mut Trials<'_>,
    learned: &mut Learned,
) -> Result<(), Stop> {
    let goals = Goals::of(&spec.requirements);
    let reserve_s = reserve_s(spec, facts, &goals);
    let found = search(spec, &goals, trials, reserve_s, learned)?;
    learned.found = Some(found.clone());
    let Found::Level {
        root,
        binding,
        at_range_end,
    } = found
    else {
        return Ok(());
    };
    let all = trials.valid();
    let searched = goals.without_outliers(&all, facts.cpus);
    learned.outliers = all
        .iter()
        .map(|trial| trial.id)
        .filter(|id| searched.iter().all(|kept| kept.id != *id))
        .collect();
    learned.fit = goals
        .cpu
        .and_then(|(_, target)| CpuFit::of(&searched, facts.cpus, target));
    let fit = learned.fit.as_ref();
    let (answer, point) = answer::answer(spec, &searched, fit, facts.cpus, &root, binding);
    let answer = Answer {
        limited_by: at_range_end.then(|| "within".to_owned()),
        ..answer
    };
    learned.unmet = unmet(&spec.requirements, &answer, &searched);
    if spec.varied == Varied::GateConcurrency {
        learned.answer = Some(answer);
        return hold_by_gate::confirm(spec, &goals, trials, &point, learned);
    }
    if spec.varied == Varied::Rate {
        learned.answer = Some(answer);
        return at_rate::confirm(spec, &goals, trials, learned);
    }
    let cpu_binds = goals.cpu.is_some_and(|(index, _)| index == binding);
    let hold = hold(&searched, &answer, facts);
    let obstacle = obstacle(&answer, hold.as_ref().err().copied(), cpu_binds);
    let demand = fit.and_then(|fit| Demand::of(&searched, answer.value, fit.closed()?, facts));
    learned.answer = Some(answer);
    let hold = hold.ok().filter(|_| obstacle.is_none());
    let (Some(hold), Some(demand), Some((_, goal))) = (hold, demand, goals.cpu) else {
        let why = obstacle.unwrap_or(NOT_TOLD);
        return with_raised_limits(spec, &goals, facts, trials, why, learned);
    };
    let at = (goal, &point);
    confirm::confirm(spec, trials, hold, demand, at, &mut learned.confirmed)?;
    if learned.confirmed.is_none() {
        return with_raised_limits(spec, &goals, facts, trials, NO_THREADS, learned);
    }
    let users = confirm::users_of_check(&point);
    before_and_after(spec, facts, trials, users, learned)?;
    cost_at_answer(spec, facts, trials, &point, learned)
}

/// Without settings that hold the CPU: limits that were raised are the settings, and the answer is
/// checked with them.
fn with_raised_limits(
    spec: &FindSpec,
    goals: &Goals,
    facts: &TargetFacts,
    trials: &mut Trials<'_>,
    why_no_others: &str,
    learned: &mut Learned,
) -> Result<(), Stop> {
    let Some(settings) = raise::settings(&learned.raised, facts) else {
        learned.no_settings = Some(why_no_others.to_owned());
        return Ok(());
    };
    learned.settings = Some(settings.clone());
    let answer = learned.answer.as_ref();
    let Some(answer) =
        answer.filter(|answer| !too_wide(Some(answer)) && answer.limited_by.is_none())
    else {
        return Ok(());
    };
    let users = answer.value as u32;
    at_answer::check(spec, goals, trials, settings, learned)?;
    before_and_after(spec, facts, trials, users, learned)
}

/// Searches, and goes on with a higher limit where one that may be raised ends the search.
fn search(
    spec: &FindSpec,
    goals: &Goals,
    trials: &mut Trials<'_>,
    reserve_s: f64,
    learned: &mut Learned,
) -> Result<Found, Stop> {
    let mut before: Option<Before> = None;
    loop {
        let found = match (
            search::search(spec, goals, trials, reserve_s),
            before.take(),
        ) {
            (Err(stop @ Stop::Error(_)), _) | (Err(stop), None) => return Err(stop),
            (Ok(found), None) => found,
            (Ok(found), Some(known)) if raise::gains(&known.found, &found) => found,
            // Another limit may end it now.
            (Ok(found @ Found::Never { .. }), Some(known)) => {
                before = Some(known);
                found
            }
            (_, Some(known)) => return Ok(known.again(trials, learned)),
        };
        let Some(limit) = raise::next(spec, goals, &found, trials, &learned.raised) else {
            return Ok(match before {
                Some(known) => known.again(trials, learned),
                None => found,
            });
        };
        trials.note(&format!(
            "`{}` is the limit at {}, and may be set: it is raised to {}, and the search goes on",
            limit.stage, limit.from, limit.to
        ));
        before = match before {
            Some(known) => Some(Before {
                raised_since: known.raised_since + 1,
                ..known
            }),
            None => matches!(found, Found::Level { .. }).then_some(Before {
                found,
                raised_since: 1,
            }),
        };
        trials.raise(limit.clone());
        learned.raised.push(limit);
    }
}

/// An answer that there was before limits were raised to better it.
struct Before {
    found: Found,
    /// Limits that were raised since.
    raised_since: usize,
}

impl Before {
    /// It is the answer after all: nothing that was raised since counts.
    fn again(self, trials: &mut Trials<'_>, learned: &mut Learned) -> Found {
        for _ in 0..self.raised_since {
            trials.lower();
            learned.in_vain = learned.raised.pop();
        }
        if let Some(limit) = &learned.in_vain {
            trials.note(&format!(
                "with `{}` raised to {} the answer is no better: it stays at {}",
                limit.stage, limit.to, limit.from
            ));
        }
        self.found
    }
}

const NO_THREADS: &str = "no number of threads holds the CPU at its goal as fitted, or the budget \
                          ended before one could be tried";
const NOT_TOLD: &str = "the target does not tell how many of its threads are busy";

/// What can hold the flow: a cap for each class, where a gateway in front tells classes apart, else
/// the threads.
fn hold(
    trials: &[&TrialRecord],
    answer: &Answer,
    facts: &TargetFacts,
) -> Result<Hold, &'static str> {
    let threads = facts.stage(THREADS).is_some_and(|stage| stage.settable);
    match OfGate::of(trials, answer.value) {
        OfGate::Free(classes) => Ok(Hold::Classes(classes)),
        OfGate::Others => Err(
            "more than one request in twenty belongs to no class of the gateway. With a `[[gate.class]]` for them, too, \
             each class gets a cap",
        ),
        OfGate::None if threads => Ok(Hold::Threads),
        OfGate::None => Err("the target has no thread limit that Weir can set"),
    }
}

/// Why no settings can be derived, if so.
fn obstacle(
    answer: &Answer,
    no_hold: Option<&'static str>,
    cpu_binds: bool,
) -> Option<&'static str> {
    if too_wide(Some(answer)) {
        Some(
            "the interval of the answer is too wide to rest settings on; more load (a larger \
             `budget`) or a quieter machine narrows it",
        )
    } else if no_hold.is_some() {
        no_hold
    } else if answer.limited_by.is_some() {
        Some(
            "the requirements hold up to the end of the range, so there is nothing to hold back. \
             A wider `within` may find where they end",
        )
    } else if !cpu_binds {
        Some(
            "a thread limit holds the CPU, and the limiting requirement here is another one. \
             With fewer threads requests wait in front of them instead, and take as long",
        )
    } else {
        None
    }
}

/// Whether an interval says so little that the answer is none.
fn too_wide(answer: Option<&Answer>) -> bool {
    answer.is_some_and(|answer| {
        let width = answer.high - answer.low;
        width > (WIDTH_MAX * answer.value).max(3.0)
    })
}

/// Seconds of load that the settings need after the search.
fn reserve_s(spec: &FindSpec, facts: &TargetFacts, goals: &Goals) -> f64 {
    if matches!(spec.varied, Varied::GateConcurrency | Varied::Rate) {
        return least_cost_s(spec.window);
    }
    let settable = facts.stage(THREADS).is_some_and(|stage| stage.settable);
    let gated = facts.stage(GATE).is_some();
    if (settable || gated) && goals.cpu.is_some() {
        RESERVED * least_cost_s(spec.window)
    } else {
        0.0
    }
}

/// Requirements from below that the answer misses, by the trial nearest to it.
fn unmet(requirements: &[Requirement], answer: &Answer, trials: &[&TrialRecord]) -> Vec<String> {
    let distance = |trial: &&&TrialRecord| {
        let level = search::level(trial).unwrap_or(f64::MAX);
        (level - answer.value).abs()
    };
    let Some(nearest) = trials
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
    else {
        return Vec::new();
    };
    requirements
        .iter()
        .filter(|requirement| !requirement.comparison.bounds_from_above())
        .filter_map(|requirement| {
            let figure = Figure::of(requirement)?;
            let fitted = answer.at_value.get(&figure.to_string()).copied();
            let value = fitted.or_else(|| Some(figure.read(nearest)?.value))?;
            let met = requirement.met_by(value * figure.to_base());
            let value = figure.unit(&[]).text(value);
            (!met).then(|| format!("{requirement} (it is {value})"))
        })
        .collect()
}

/// The load of the check once more with the limits as found: what the settings change for it.
fn before_and_after(
    spec: &FindSpec,
    facts: &TargetFacts,
    trials: &mut Trials<'_>,
    users: u32,
    learned: &mut Learned,
) -> Result<(), Stop> {
    let Some(confirmed) = &mut learned.confirmed else {
        return Ok(());
    };
    let changes = confirmed.settings.changed(facts).next().is_some();
    let after = confirmed.held.trials.last().copied();
    let after = after.and_then(|id| trials.records().iter().find(|trial| trial.id == id));
    let Some(after) = after.filter(|_| confirmed.held.passed && changes).cloned() else {
        return Ok(());
    };
    // With too many users it takes long to become steady; where a limit had to be raised, what that
    // buys is worth more than what it costs at the answer.
    let later_s = if learned.raised.is_empty() {
        2.0 * least_cost_s(spec.window)
    } else {
        0.0
    };
    let Some(window) = trials.window(spec.window, Effort::Full, later_s) else {
        return Ok(());
    };
    // The answer and its check stand without it.
    let before = trials.run_once(&Wanted {
        role: Role::Control,
        case: None,
        levels: confirm::levels(users, &Settings::default(), facts),
        window,
        why: "the same users with the limits as found",
    })?;
    confirmed.held.before_and_after = before.valid.then(|| BeforeAndAfter {
        users: before.population,
        before: Side::of(&before),
        after: Side::of(&after),
    });
    Ok(())
}

/// One trial at the answer itself with the settings applied: what they cost those who need no
/// limit.
fn cost_at_answer(
    spec: &FindSpec,
    facts: &TargetFacts,
    trials: &mut Trials<'_>,
    at: &AnswerPoint,
    learned: &mut Learned,
) -> Result<(), Stop> {
    let Some(confirmed) = learned
        .confirmed
        .as_mut()
        .filter(|confirmed| confirmed.held.passed)
    else {
        return Ok(());
    };
    let Some(window) = trials.window(spec.window, Effort::Full, 0.0) else {
        return Ok(());
    };
    // The answer and its check stand without it.
    let record = trials.run_once(&Wanted {
        role: Role::Check,
        case: None,
        levels: confirm::levels(at.users, &confirmed.settings, facts),
        window,
        why: "what the settings cost at the answer itself",
    })?;
    if !record.valid {
        return Ok(());
    }
    let cost = cost(&record, at);
    confirmed.held.cost_at_answer = Some(cost.to_string());
    confirmed.held.cost = Some(cost);
    Ok(())
}

fn cost(record: &TrialRecord, at: &AnswerPoint) -> AnswerCost {
    AnswerCost {
        trial: record.id,
        users: record.population,
        throughput_per_s: record.throughput_per_s,
        throughput_without_per_s: at.throughput_per_s,
        response_time_ms: record.response_time_ms.mean,
        response_time_without_ms: at.response_ms,
        waiting: check::waiting_in_front(record),
    }
}

/// A limit that was raised in vain.
fn in_vain(limit: &RaisedLimit) -> Finding {
    let says = format!(
        "`{}` is full at the answer, and with {} in place of {} the answer is no better: what takes the time lies behind it. \
         The answer is that with {}.",
        limit.stage, limit.to, limit.from, limit.from
    );
    Finding::new("raise-gains-nothing", says, &limit.trials)
}

/// Settings that no trial has shown to hold.
fn unchecked(learned: &Learned) -> Option<Finding> {
    // Raised limits were in force in the trials that the answer rests on.
    let tried = !learned.raised.is_empty();
    (learned.settings.is_some() && learned.confirmed.is_none() && !tried).then(|| {
        Finding::new(
            "answer-not-checked",
            "The answer follows from the trials of the search; no trial was made with it in force, because the budget of load was \
             spent before or the study was stopped. A larger `budget` checks it."
                .to_owned(),
            &[],
        )
    })
}

fn outcome(
    spec: &FindSpec,
    facts: TargetFacts,
    trials: Vec<TrialRecord>,
    learned: Learned,
    stop: Option<Stop>,
) -> Outcome {
    let held = learned
        .confirmed
        .as_ref()
        .map(|confirmed| confirmed.held.clone());
    let status = status(&learned, held.as_ref(), stop.as_ref());
    let summary = summary::of_find(spec, &facts, &trials, &learned, stop.as_ref());
    let mut all = findings::of_find(&trials, &facts, learned.fit.as_ref());
    all.extend(plateau(spec, &learned));
    all.extend(outliers(&learned));
    if let (Some(why), Some(_)) = (&learned.no_settings, &learned.answer) {
        all.push(Finding::new(
            "settings-not-derived",
            format!("No settings were derived: {why}."),
            &[],
        ));
    }
    all.extend(unchecked(&learned));
    all.extend(learned.in_vain.as_ref().map(in_vain));
    if spec.varied == Varied::Rate {
        all.extend(at_rate::of_all_arrivals(&trials));
    }
    let confirmed = learned.confirmed.map(|confirmed| confirmed.settings);
    let settings = confirmed.or(learned.settings).unwrap_or_default();
    Outcome {
        status,
        question: spec.question.clone(),
        target: facts,
        summary,
        answer: learned.answer,
        raised: learned.raised,
        settings: settings.limits,
        settings_detail: settings.details,
        held,
        table: None,
        comparison: None,
        joint: None,
        difference: None,
        findings: all,
        trials,
        stopped_by: match stop {
            Some(Stop::Error(error)) => Some(error),
            _ => None,
        },
    }
}

/// A plateau that no stage explains, below the goal or at it.
fn plateau(spec: &FindSpec, learned: &Learned) -> Option<Finding> {
    if let Some(Found::Never {
        stage: None,
        trials,
    }) = &learned.found
    {
        let says = match spec.varied {
            Varied::Users => "More users bring no more CPU, and no stage that was watched is full.",
            Varied::GateConcurrency => {
                "A gate that lets in more brings no more CPU, and no stage of the server that was watched is full."
            }
            Varied::Rate => {
                "A higher rate brings no more CPU, and no stage that was watched is full."
            }
        };
        let says = says.to_owned();
        return Some(Finding::new("plateau-unexplained", says, trials));
    }
    let answer = learned.answer.as_ref()?;
    let free = learned.fit.as_ref()?.disagreement()?;
    let says = format!(
        "The trials do not follow the curve of a server that only lacks CPU. A rising curve without \
         a model meets the goal at {free:.0} {}, the fitted one at {}. Read the trials themselves.",
        spec.varied.noun(),
        answer.value
    );
    Some(Finding::new("plateau-unexplained", says, &[]))
}

/// Trials that were left out because the others contradict them.
fn outliers(learned: &Learned) -> Option<Finding> {
    let numbers: Vec<String> = learned.outliers.iter().map(u32::to_string).collect();
    let says = format!(
        "The CPU of trial {} lies further from what the other trials near the answer say than chance explains; the answer \
         does not rest on it.",
        numbers.join(" and of trial ")
    );
    (!numbers.is_empty()).then(|| Finding::new("trial-outlying", says, &learned.outliers))
}

fn status(learned: &Learned, held: Option<&Held>, stop: Option<&Stop>) -> Status {
    match (stop, &learned.found) {
        (Some(Stop::Error(_)), _) => Status::Interrupted,
        (Some(Stop::Invalid { .. }), _) => Status::Invalid,
        (None, None | Some(Found::Undecided(_))) => Status::Undecided,
        (None, Some(Found::Never { .. })) => Status::Never,
        (None, Some(Found::Broken { .. })) => Status::NotMet,
        (None, Some(Found::Level { .. })) if too_wide(learned.answer.as_ref()) => Status::Undecided,
        (None, Some(Found::Level { .. })) => match held.filter(|held| !held.passed) {
            _ if !learned.unmet.is_empty() => Status::NotMet,
            Some(held) if held.is_open() => Status::Undecided,
            Some(_) => Status::NotMet,
            None => Status::Answered,
        },
    }
}
