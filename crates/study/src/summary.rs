//! The result in a sentence or two.

use std::collections::BTreeSet;

use weir_metric::{Metric, Requirement, SignalUnit};
use weir_record::{Answer, Held, RaisedLimit, TargetFacts, TrialRecord};

use crate::confirm::Confirmed;
use crate::file::{FindSpec, Varied};
use crate::learned::Learned;
use crate::search::{Found, level as level_of};
use crate::settings::{GATE, OF_THE_GATE, REQUEST_QUEUE, THREADS};
use crate::trials::Stop;

/// A gateway is full from this share of its limit on average: between two requests a slot is empty
/// for a moment.
const GATE_FULL: f64 = 0.9;

/// What a search found, whether the settings hold, and what cut it short.
pub(crate) fn of_find(
    spec: &FindSpec,
    facts: &TargetFacts,
    trials: &[TrialRecord],
    learned: &Learned,
    stop: Option<&Stop>,
) -> String {
    let mut sentences = vec![match &learned.found {
        None => "The search has not ended, so there is no answer.".to_owned(),
        Some(Found::Undecided(why)) => format!("The trials do not decide it: {why}."),
        Some(Found::Broken { binding }) => format!(
            "Never within the range: `{}` does not hold even with {} {}, its smallest level.",
            spec.requirements[*binding],
            spec.within.0,
            spec.varied.noun()
        ),
        Some(Found::Never { stage, trials: ids }) => {
            never(spec, facts, trials, stage.as_deref(), *ids)
        }
        Some(Found::Level { .. }) => {
            let answer = learned.answer.as_ref();
            answer.map_or_else(String::new, |answer| level(spec, answer, learned))
        }
    }];
    sentences.extend(as_found(spec, learned));
    if !learned.unmet.is_empty() {
        sentences.push(format!("Not met there: {}.", learned.unmet.join(", ")));
    }
    sentences.extend(
        learned
            .confirmed
            .as_ref()
            .map(|confirmed| match spec.varied {
                Varied::Users if is_in_gate(confirmed) => held_by_gate(&confirmed.held),
                Varied::Users => held(&confirmed.held),
                Varied::GateConcurrency => held_by_gate(&confirmed.held),
                Varied::Rate => held_at_rate(&confirmed.held),
            }),
    );
    match stop {
        Some(Stop::Invalid { trial, because }) => sentences.push(format!(
            "Trial {trial} cannot be used, nor could the one that it repeats: {because}."
        )),
        Some(Stop::Error(error)) => {
            sentences.push(format!("The study was cut short: failed to {error}."));
        }
        None => {}
    }
    sentences.join(" ")
}

fn level(spec: &FindSpec, answer: &Answer, learned: &Learned) -> String {
    let noun = spec.varied.noun();
    let with = with_limits(learned);
    if answer.limited_by.is_some() {
        return format!(
            "{} {noun} or more{with}: the requirements still hold at the end of the range; a wider \
             `within` finds where they end.",
            answer.value
        );
    }
    let mut parts = vec![format!(
        "{} {noun}{with} ({:.0} % interval {}–{})",
        answer.value,
        answer.confidence * 100.0,
        answer.low,
        answer.high
    )];
    if f64::from(answer.population) > answer.value {
        parts.push(format!("{} virtual users in all", answer.population));
    }
    if let (Some(at), Some(next)) = (answer.at_value.get("cpu"), answer.at_next.get("cpu")) {
        let bounds = cpu_bounds(spec);
        let text = |cpu: f64| SignalUnit::Share.text_apart(cpu, &bounds);
        parts.push(format!(
            "CPU at {} is {}, at {} it is {}",
            answer.value,
            text(*at),
            answer.value + 1.0,
            text(*next)
        ));
    }
    parts.extend(
        answer
            .binding
            .as_ref()
            .map(|binding| format!("limited by {binding}")),
    );
    format!("{}.", parts.join("; "))
}

/// With which limits the answer holds, where that is not those that were found:
/// ` with threads = 26`.
fn with_limits(learned: &Learned) -> String {
    let stages: BTreeSet<&str> = learned
        .raised
        .iter()
        .map(|limit| limit.stage.as_str())
        .collect();
    let settings = learned.confirmed.as_ref().map(|checked| &checked.settings);
    let settings = settings.or(learned.settings.as_ref());
    let limits: Vec<String> = stages
        .into_iter()
        .filter_map(|stage| {
            let raised = learned.raised.iter().rfind(|limit| limit.stage == stage)?;
            let set = settings.and_then(|settings| settings.limits.get(stage));
            Some(format!("{stage} = {}", set.copied().unwrap_or(raised.to)))
        })
        .collect();
    if limits.is_empty() {
        return String::new();
    }
    format!(" with {}", limits.join(" and "))
}

/// What ended the search as the server was found.
fn as_found(spec: &FindSpec, learned: &Learned) -> Vec<String> {
    let noun = spec.varied.noun();
    let mut sentences = Vec::new();
    for (at, limit) in learned.raised.iter().enumerate() {
        let RaisedLimit { stage, from, .. } = limit;
        let load = match limit.rate {
            Some(rate) => format!("{rate} arrivals/s"),
            None => format!("{} virtual users", limit.users),
        };
        let waiting = limit.waiting.map_or_else(String::new, |waiting| {
            format!(" and {waiting:.1} requests wait for it")
        });
        let begin = if at == 0 { "As found" } else { "Then" };
        let cpu = limit.cpu * 100.0;
        let ends = match &limit.answer {
            Some(answer) => format!(
                "; `{}` ends it at {} {noun} (95 % interval {}–{})",
                answer.binding, answer.value, answer.low, answer.high
            ),
            None => format!(", and more {noun} bring no more"),
        };
        sentences.push(format!(
            "{begin}, `{stage}` = {from} is the limit: with {load} the CPU is {cpu:.1} %{waiting}{ends}."
        ));
    }
    sentences
}

/// The bounds on the CPU, as shares of one.
fn cpu_bounds(spec: &FindSpec) -> Vec<f64> {
    let requirements = spec.requirements.iter();
    requirements
        .filter(|requirement| requirement.metric == Metric::Cpu)
        .map(Requirement::bound_base)
        .collect()
}

/// Whether the settings are caps of a gateway.
fn is_in_gate(confirmed: &Confirmed) -> bool {
    let mut names = confirmed.settings.limits.keys();
    names.any(|name| name.starts_with(OF_THE_GATE))
}

/// What the gateway holds at the answer, or why it does not.
fn held_by_gate(checked: &Held) -> String {
    let waiting = checked.waiting.get(GATE).copied().unwrap_or_default();
    let wait_ms = checked.wait_ms.get(GATE);
    let wait = wait_ms.map_or_else(String::new, |wait_ms| format!(", {wait_ms:.0} ms each"));
    format!(
        "{} In the gate {waiting:.1} requests wait{wait}. Hold it with the run's GATE.toml: weir gate GATE.toml.",
        held(checked)
    )
}

fn held(held: &Held) -> String {
    if held.passed {
        return format!("The settings hold under {} virtual users.", held.population);
    }
    if held.is_open() {
        return format!(
            "Whether the settings hold under {} virtual users is not decided: {}.",
            held.population,
            failed(held)
        );
    }
    format!(
        "The settings do not hold under {} virtual users; not met: {}.",
        held.population,
        failed(held)
    )
}

/// Whether another trial at the answer bears it out.
fn held_at_rate(held: &Held) -> String {
    if held.passed {
        return "Another trial at this rate bears it out.".to_owned();
    }
    format!(
        "Another trial at this rate does not bear it out; not met: {}.",
        failed(held)
    )
}

fn failed(held: &Held) -> String {
    let failed: Vec<&str> = held
        .requirements
        .iter()
        .filter(|requirement| !requirement.met)
        .map(|requirement| requirement.says.as_str())
        .collect();
    failed.join("; ")
}

fn never(
    spec: &FindSpec,
    facts: &TargetFacts,
    trials: &[TrialRecord],
    stage: Option<&str>,
    ids: [u32; 2],
) -> String {
    let of = |id: u32| trials.iter().find(|trial| trial.id == id);
    let (Some(first), Some(last)) = (of(ids[0]), of(ids[1])) else {
        return "The CPU never reaches its goal.".to_owned();
    };
    let seen = |trial: &TrialRecord| {
        let cpu = trial.cpu.map_or(0.0, |cpu| cpu.total * 100.0);
        format!(
            "{cpu:.1} % with {} {}",
            level_of(trial).unwrap_or_default(),
            spec.varied.noun()
        )
    };
    let goal = spec
        .requirements
        .iter()
        .find(|requirement| requirement.metric == Metric::Cpu)
        .map_or_else(String::new, |goal| format!(" {}", goal.bound));
    let mut sentences = vec![format!(
        "Never: the CPU is {} and {}; more {} do not bring it to{goal}.",
        seen(first),
        seen(last),
        spec.varied.noun()
    )];
    if stage.is_none() && !gate_is_full(last) {
        sentences.push(format!(
            "The gate is not full: {} users are too few to press against it. Say more in `set = {{ users = … }}`.",
            last.population
        ));
        return sentences.join(" ");
    }
    sentences.push(stage.map_or_else(
        || {
            "No stage that was watched is full: something else holds the requests, such as a lock, \
             another server or the network."
                .to_owned()
        },
        |stage| full(spec, stage, last, facts),
    ));
    sentences.join(" ")
}

/// Whether a gateway in front, if there is one, lets in as many as it may.
fn gate_is_full(trial: &TrialRecord) -> bool {
    let limit = trial.level(Varied::GateConcurrency.factor());
    match (limit, trial.occupancy(GATE)) {
        (Some(limit), Some(in_flight)) => in_flight >= GATE_FULL * limit,
        _ => true,
    }
}

/// The stage that is the limit, with its figures and the way out.
fn full(spec: &FindSpec, stage: &str, trial: &TrialRecord, facts: &TargetFacts) -> String {
    let now = trial.limit(stage, facts).unwrap_or_default();
    let mut parts = vec![format!(
        "`{stage}` is the limit: {:.1} of {now} in use",
        trial.occupancy(stage).unwrap_or_default(),
    )];
    let in_front = if stage == THREADS {
        REQUEST_QUEUE
    } else {
        stage
    };
    if let Some(waiting) = trial.waiting(in_front) {
        parts.push(format!("{waiting:.1} wait for it"));
    }
    if let Some(wait_s) = trial.wait_s(in_front) {
        parts.push(format!("{:.0} ms each", wait_s * 1e3));
    }
    format!(
        "{}. {}, or ask for a response time instead of CPU.",
        parts.join(", "),
        way_to_raise(spec, stage, now, facts)
    )
}

/// How the limit is raised, which was not done.
fn way_to_raise(spec: &FindSpec, name: &str, now: f64, facts: &TargetFacts) -> String {
    let stage = facts.stage(name);
    let more = (2.0 * now).max(1.0);
    if spec.varied == Varied::Users && stage.is_some_and(|stage| stage.settable) {
        return format!(
            "Let it be raised further (`raise = {{ {} = {more} }}` under [find])",
            key(name)
        );
    }
    let native = stage.and_then(|stage| stage.native.as_deref());
    let word = native.map_or_else(String::new, |native| format!(" ({native})"));
    format!("Weir was not told how to set it: raise {name}{word} to {more} and ask again")
}

/// A stage as a key of TOML.
fn key(stage: &str) -> String {
    if stage.contains('.') {
        return format!("\"{stage}\"");
    }
    stage.to_owned()
}
