//! The words that all forms of the report share: names of figures, levels, roles, states.

use weir_metric::{Metric, Requirement, SignalUnit};
use weir_record::{
    Answer, Held, Level, Levels, RequirementCheck, Role, RunManifest, Statistic, Status,
    StudyResult, TrialRecord,
};

use crate::figures::{WithEstimate as _, number, unit_of};

/// How a run ended, for people.
pub(crate) fn status(result: &StudyResult) -> &'static str {
    let measured = || {
        let mut trials = result.trials.iter();
        result.table.is_some() && trials.any(|trial| trial.valid && trial.case.is_some())
    };
    match result.status {
        // The summary of a sweep names the cases that have none.
        Status::Invalid if measured() => "a case has no valid trial",
        Status::Answered => "answered",
        Status::NotMet => "requirement not met",
        Status::Never => "goal never reached",
        Status::Same => "no difference that matters",
        Status::Undecided => "undecided",
        Status::Invalid => "measurement not valid",
        Status::Interrupted => "interrupted",
    }
}

/// Why a trial was run, for people.
pub(crate) fn role(role: Role) -> &'static str {
    match role {
        Role::Reference => "reference",
        Role::Search => "search",
        Role::Check => "check",
        Role::Control => "control",
        Role::Case => "case",
    }
}

/// How the trials of a case become one figure, for people.
pub(crate) fn over_trials(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Mean => "mean over the trials (95 % interval)",
        Statistic::Median => "median of the trials (from the smallest to the largest)",
    }
}

/// A text that begins a sentence.
pub(crate) fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().collect::<String>() + letters.as_str()
    })
}

/// The case of a trial, or its role where it belongs to none.
pub(crate) fn purpose(trial: &TrialRecord) -> &str {
    trial.case.as_deref().unwrap_or_else(|| role(trial.role))
}

/// The name of a figure: `response_time_ms.p99` → `response time p99`.
pub(crate) fn figure(name: &str) -> String {
    match name {
        "cpu" => "CPU".to_owned(),
        "throughput_per_s" | "throughput" => "throughput".to_owned(),
        "errors.share" => "failed".to_owned(),
        "response.mean" => "response time mean".to_owned(),
        _ => {
            let name = name.trim_end_matches("_per_s");
            let name = name.strip_suffix("_ms").unwrap_or(name);
            name.replace("_ms.", " ").replace('_', " ")
        }
    }
}

/// The factor that is the rate of an open load.
const RATE: &str = "rate";

/// The answers a second, beside a throughput that counts samples without one.
pub(crate) fn answered(per_s: f64) -> String {
    format!("{} answered", SignalUnit::PerSecond.text(per_s))
}

/// The throughput of a trial with its interval, and the answers where some had none.
pub(crate) fn throughput(trial: &TrialRecord) -> String {
    let own = trial.intervals.get("throughput_per_s");
    let all = SignalUnit::PerSecond.with_estimate(trial.throughput_per_s, own);
    match trial.answered_per_s() {
        Some(rate) => format!("{all}, {}", answered(rate)),
        None => all,
    }
}

/// One level: `20`, `20,000`, `as-published`.
pub(crate) fn level(level: &Level) -> String {
    match level {
        Level::Number(value) => number(*value),
        Level::Text(text) => text.clone(),
    }
}

/// All levels of a trial, the population's factor first: `users 41, threads 29`.
pub(crate) fn levels(levels: &Levels) -> String {
    let users = levels.iter().filter(|(name, _)| *name == "users");
    let others = levels.iter().filter(|(name, _)| *name != "users");
    let parts: Vec<String> = users
        .chain(others)
        .map(|(name, at)| format!("{name} {}", level(at)))
        .collect();
    parts.join(", ")
}

/// What the levels of a factor count: `users`, `arrivals/s`.
pub(crate) fn noun(factor: &str) -> &str {
    if factor == RATE { "arrivals/s" } else { factor }
}

/// How much was sent at once, and what that counts: `41 users`, of an open load `314 arrivals/s`.
pub(crate) fn load(trial: &TrialRecord) -> (f64, &'static str) {
    let rate = trial.level(RATE).filter(|_| trial.open.is_some());
    match rate {
        Some(rate) => (rate, "arrivals/s"),
        None => (f64::from(trial.population), "users"),
    }
}

/// As `load`, in one.
pub(crate) fn load_text(trial: &TrialRecord) -> String {
    let (level, noun) = load(trial);
    format!("{} {noun}", number(level))
}

/// The load of a check.
pub(crate) fn load_of_check(result: &StudyResult, held: &Held) -> String {
    let of_check = |trial: &&TrialRecord| held.trials.contains(&trial.id);
    let trial = result.trials.iter().rev().find(of_check);
    let open = trial.filter(|trial| load(trial).1 != "users");
    open.map_or_else(
        || format!("{} users", number(f64::from(held.population))),
        load_text,
    )
}

/// The levels of a trial beside the load that is shown anyway: `threads 29`, `pool.db 4`.
pub(crate) fn levels_beside(trial: &TrialRecord) -> Vec<String> {
    let (shown, noun_of_load) = load(trial);
    let is_shown =
        |name: &str, at: &Level| noun(name) == noun_of_load && at.number() == Some(shown);
    let levels = trial.levels.iter();
    levels
        .filter(|(name, at)| !is_shown(name, at))
        .map(|(name, at)| format!("{name} {}", level(at)))
        .collect()
}

/// A limit that may not be there.
pub(crate) fn limit(limit: Option<f64>) -> String {
    limit.map_or_else(|| "–".to_owned(), number)
}

/// The trials that something rests on: `trial 9`, `trials 8, 9`, `trials 3–8, 11`.
pub(crate) fn trials(ids: &[u32]) -> String {
    let in_a_row = ids.chunk_by(|before, after| before + 1 == *after);
    let list: Vec<String> = in_a_row
        .flat_map(|run| match run {
            [first, _, .., last] => vec![format!("{first}–{last}")],
            few => few.iter().map(u32::to_string).collect(),
        })
        .collect();
    match ids.len() {
        0 => String::new(),
        1 => format!("trial {}", list[0]),
        _ => format!("trials {}", list.join(", ")),
    }
}

/// What a check found for a requirement: the value, and the ends of its interval; both empty-handed
/// when nothing was read.
pub(crate) fn found(requirement: &RequirementCheck) -> (String, String) {
    // The record has no other way to say that a required figure is missing.
    if requirement.value >= f64::MAX || !requirement.value.is_finite() {
        return ("not read".to_owned(), String::new());
    }
    let kind = SignalUnit::of_symbol(&requirement.unit).unwrap_or(SignalUnit::Number);
    let RequirementCheck {
        value, low, high, ..
    } = *requirement;
    let interval = if low < high {
        kind.range(value, low, high)
    } else {
        String::new()
    };
    (kind.text_apart(value, &requirement.bounds), interval)
}

/// The target's CPUs; none are known of files that do not say.
pub(crate) fn cpus(count: u32) -> String {
    match count {
        0 => "CPUs not known".to_owned(),
        count => format!("{count} CPU(s)"),
    }
}

/// What was asked of a check and holds.
pub(crate) const MET: &str = "met";

/// Whether what was asked of a check holds, in a word.
pub(crate) fn verdict(requirement: &RequirementCheck) -> &'static str {
    if requirement.met {
        MET
    } else if requirement.is_open() {
        "OPEN"
    } else {
        "NOT MET"
    }
}

/// What a check found, in one: `78.7 % (77.0–80.0)`.
pub(crate) fn found_text(requirement: &RequirementCheck) -> String {
    match found(requirement) {
        (value, interval) if interval.is_empty() => value,
        (value, interval) => format!("{value} ({interval})"),
    }
}

/// What stands above the figures at a level: `at 41 users`.
pub(crate) fn at_level(answer: &Answer, value: f64) -> String {
    format!("at {} {}", number(value), noun(&answer.factor))
}

/// The fitted figure that the limiting requirement bounds, and its bound in the figure's unit.
fn limiting_figure(answer: &Answer) -> Option<(&'static str, f64)> {
    let requirement: Requirement = answer.binding.as_ref()?.parse().ok()?;
    let bound = requirement.bound_base();
    match requirement.metric {
        _ if requirement.class.is_some() => None,
        Metric::Cpu => Some(("cpu", bound)),
        Metric::Throughput => Some(("throughput_per_s", bound)),
        Metric::Mean => Some(("response_time_ms.mean", bound * 1e3)),
        _ => None,
    }
}

/// Where the figures at the answer are from: a curve, or the trials beside it.
pub(crate) fn figures_from(answer: &Answer) -> &'static str {
    if answer.interpolated {
        "between the trials: no curve fits them"
    } else {
        "fitted"
    }
}

/// The figures at the answer and at the next level: name, at the answer, at the next.
pub(crate) fn fitted(answer: &Answer) -> Vec<(String, String, String)> {
    let limiting = limiting_figure(answer);
    let text = |name: &str, value: Option<&f64>| {
        let bound = limiting.filter(|(of, _)| *of == name).map(|(_, at)| at);
        value.map_or_else(
            || "–".to_owned(),
            |value| unit_of(name).text_apart(*value, bound.as_slice()),
        )
    };
    answer
        .at_value
        .iter()
        .map(|(name, at)| {
            (
                figure(name),
                text(name, Some(at)),
                text(name, answer.at_next.get(name)),
            )
        })
        .collect()
}

/// The heading of the check: `passed with 62 users (trial 9)`.
pub(crate) fn check(result: &StudyResult, held: &Held) -> String {
    let verdict = if held.passed {
        "passed"
    } else if held.is_open() {
        "NOT decided"
    } else {
        "NOT passed"
    };
    let trials = trials(&held.trials);
    let trials = if trials.is_empty() {
        trials
    } else {
        format!(" ({trials})")
    };
    format!("{verdict} with {}{trials}", load_of_check(result, held))
}

/// Where the check's surplus waits: stage, mean waiting, mean wait; outermost first as the target
/// lists its stages.
pub(crate) fn waits(result: &StudyResult, held: &Held) -> Vec<(String, String, String)> {
    let place = |stage: &str| {
        let stages = &result.target.stages;
        stages.iter().position(|known| known.name == stage)
    };
    let mut stages: Vec<&String> = held.waiting.keys().collect();
    stages.extend(
        held.wait_ms
            .keys()
            .filter(|stage| !held.waiting.contains_key(*stage)),
    );
    stages.sort_by_key(|stage| place(stage).unwrap_or(usize::MAX));
    stages
        .into_iter()
        .map(|stage| {
            let waiting = held.waiting.get(stage);
            let wait = held.wait_ms.get(stage);
            (
                stage.clone(),
                waiting.map_or_else(|| "–".to_owned(), |waiting| number(*waiting)),
                wait.map_or_else(
                    || "–".to_owned(),
                    |wait| SignalUnit::Milliseconds.text(*wait),
                ),
            )
        })
        .collect()
}

/// The facts of the machine, for people.
pub(crate) fn machine(manifest: &RunManifest) -> Vec<(String, String)> {
    let facts = manifest.machine.iter();
    facts
        .map(|(name, fact)| {
            let size = fact.parse::<f64>().ok();
            match (name.as_str(), size, fact.as_str()) {
                ("memory-bytes", Some(bytes), _) => {
                    ("memory".to_owned(), format!("{} GB", number(bytes / 1e9)))
                }
                ("cpu-mhz", Some(mhz), _) => {
                    ("CPU frequency".to_owned(), format!("{} MHz", number(mhz)))
                }
                (_, _, "true") => (spoken(name), "yes".to_owned()),
                (_, _, "false") => (spoken(name), "no".to_owned()),
                _ => (spoken(name), fact.clone()),
            }
        })
        .collect()
}

fn spoken(name: &str) -> String {
    name.replace('-', " ").replace("cpu", "CPU")
}

/// Keeps a number and its unit on one line of a page.
pub(crate) fn unbroken(text: &str) -> String {
    const NO_BREAK: &str = "\u{a0}";
    [" %", " ms", " /s"]
        .iter()
        .fold(text.to_owned(), |text, unit| {
            text.replace(unit, &unit.replace(' ', NO_BREAK))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_in_a_row_are_told_as_a_range() {
        assert_eq!(trials(&[]), "");
        assert_eq!(trials(&[9]), "trial 9");
        assert_eq!(trials(&[8, 9]), "trials 8, 9");
        assert_eq!(
            trials(&[3, 4, 5, 8, 11, 12, 13, 14]),
            "trials 3–5, 8, 11–14"
        );
        assert_eq!(trials(&[5, 4, 3]), "trials 5, 4, 3", "their order is kept");
    }
}
