//! The way of a class, step by step.

use std::ops::Range;

use weir_userfile::{Section, hint};

use super::quantity::distribution;
use crate::network::{Network, Step};

/// What a step can do.
const STEPS: [&str; 7] = [
    "use", "acquire", "release", "pass", "enter", "leave", "sleep",
];
/// Most steps of one route.
const STEPS_MAX: usize = 10_000;

/// The steps, and where they stand.
pub(super) fn read(section: &Section<'_>, network: &Network) -> (Vec<Step>, Vec<Range<usize>>) {
    let Some((span, list)) = section.list("route") else {
        if section.value("route").is_none() {
            section.missing(
                "route",
                "route = [{ use = \"cpu\", time = { exponential = \"5 ms\" } }]",
            );
        }
        return (Vec::new(), Vec::new());
    };
    if list.len() > STEPS_MAX {
        let says = format!("a route has at most {STEPS_MAX} steps");
        section.problems().add(span, says);
        return (Vec::new(), Vec::new());
    }
    let steps = list.iter().filter_map(|value| {
        let part = section.section_of("a step", value)?;
        let step = read_step(&part, network);
        part.finish();
        Some((step?, value.span()))
    });
    steps.unzip()
}

fn read_step(step: &Section<'_>, network: &Network) -> Option<Step> {
    let found: Vec<&'static str> = STEPS
        .into_iter()
        .filter(|kind| step.table().contains_key(*kind))
        .collect();
    let [kind] = found.as_slice() else {
        step.know(&STEPS);
        step.problems().add_with_help(
            step.span(),
            "a step does exactly one thing",
            format!("write one of: {}", STEPS.join(", ")),
        );
        return None;
    };
    match *kind {
        "use" => {
            let station = center(step, "use", network, false);
            let time = distribution(step, "time");
            if step.value("time").is_none() {
                step.missing("time", "time = { exponential = \"5 ms\" }");
            }
            Some(Step::Use(station?, time?))
        }
        "acquire" => center(step, "acquire", network, true).map(Step::Acquire),
        "release" => center(step, "release", network, true).map(Step::Release),
        "pass" => {
            let gates = network.gates.iter().map(|gate| gate.name.as_str());
            named(step, "pass", "gate", gates).map(Step::Pass)
        }
        "enter" | "leave" => {
            let groups = network.groups.iter().map(|group| group.name.as_str());
            let group = named(step, kind, "group", groups)?;
            Some(if *kind == "enter" {
                Step::Enter(group)
            } else {
                Step::Leave(group)
            })
        }
        _ => distribution(step, "sleep").map(Step::Sleep),
    }
}

/// A station, or a limit.
fn center(step: &Section<'_>, key: &'static str, network: &Network, limit: bool) -> Option<usize> {
    let what = if limit { "limit" } else { "station" };
    let fitting = network.centers.iter();
    let fitting = fitting.filter(|center| center.is_limit() == limit);
    let name = named(step, key, what, fitting.map(|center| center.name.as_str()))?;
    let mut places = network.centers.iter().enumerate();
    let mut places = places
        .by_ref()
        .filter(|(_, center)| center.is_limit() == limit);
    places.nth(name).map(|(index, _)| index)
}

/// The place of a name among those that are known.
pub(super) fn named<'n>(
    section: &Section<'_>,
    key: &'static str,
    what: &str,
    known: impl Iterator<Item = &'n str>,
) -> Option<usize> {
    let text = section.text(key)?;
    let known: Vec<&str> = known.collect();
    let found = known
        .iter()
        .position(|name| *name == text.get_ref().as_str());
    if found.is_none() {
        let help = if known.is_empty() {
            format!("describe it in `[{what}.{}]`", text.get_ref())
        } else {
            hint(text.get_ref(), &known)
        };
        section.problems().add_with_help(
            text.span(),
            format!("there is no {what} `{}`", text.get_ref()),
            help,
        );
    }
    found
}
