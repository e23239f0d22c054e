//! `[limit]`: what is held over all classes.

use std::ops::RangeInclusive;
use std::time::Duration;

use weir_metric::{Metric, Requirement, parse_share};
use weir_userfile::{Section, cannot};

use super::cpu_from::cpu_from;
use super::quantity::{concurrency, rate, time};
use crate::settings::{AbandonedWork, AdaptiveSettings, Algorithm, LimitSettings};

const QUEUE_MAX: u32 = 1_000_000;
/// The largest limit that is found where nothing else is said, as `weir_limit::Adaptive` has it.
const ADAPTIVE_MAX: f64 = 1000.0;

pub(super) fn read(root: &Section<'_>) -> LimitSettings {
    let mut limit = LimitSettings::default();
    let Some(section) = root.section("limit", "[limit]") else {
        return limit;
    };
    limit.rate_per_s = rate(&section, "rate");
    if is_auto(&section) {
        section.know(&["concurrency"]);
        limit.adaptive = Some(AdaptiveSettings::default());
    } else {
        limit.concurrency = concurrency(&section, "concurrency");
    }
    limit.adaptive = adaptive(&section).or(limit.adaptive);
    let (least, most) = (Duration::ZERO, Duration::from_secs(600));
    if let Some(wait) = time(&section, "max-wait", least, most) {
        limit.max_wait = wait;
    }
    let queue = section.whole("max-queue", 0..=QUEUE_MAX);
    limit.max_queue = queue.map(|queue| queue.into_inner() as usize);
    let long_lived = section.whole("long-lived", 1..=QUEUE_MAX);
    limit.long_lived = long_lived.map(toml::Spanned::into_inner);
    if let Some(work) = abandoned_work(&section) {
        limit.abandoned_work = work;
    }
    let table = section.table();
    if let (Some(_), Some(adaptive)) = (table.get("concurrency"), table.get("adaptive")) {
        section.problems().add_with_help(
            adaptive.span(),
            "[limit.adaptive] finds the concurrency that `concurrency` sets",
            "leave `concurrency` out; `max` in [limit.adaptive] is the most it may find",
        );
    }
    section.finish();
    limit
}

fn abandoned_work(section: &Section<'_>) -> Option<AbandonedWork> {
    let text = section.text("abandoned-work")?;
    match text.get_ref().as_str() {
        "goes-on" => Some(AbandonedWork::GoesOn),
        "stops" => Some(AbandonedWork::Stops),
        other => {
            section.problems().add_with_help(
                text.span(),
                format!("`{other}` is nothing that work can do whose client has left"),
                "write `abandoned-work = \"goes-on\"`: it keeps its slot until the backend has answered. Or `\"stops\"`: its slot is free at once",
            );
            None
        }
    }
}

/// `concurrency = "auto"` is an adaptive limit with nothing said about it.
fn is_auto(section: &Section<'_>) -> bool {
    let value = section.table().get("concurrency");
    value.is_some_and(|value| value.get_ref().as_str() == Some("auto"))
}

fn adaptive(limit: &Section<'_>) -> Option<AdaptiveSettings> {
    let section = limit.section("adaptive", "[limit.adaptive]")?;
    let algorithm = algorithm(&section).unwrap_or_default();
    let goal = goal(&section);
    let min = concurrency(&section, "min");
    let max = concurrency(&section, "max");
    let most = max.unwrap_or(ADAPTIVE_MAX);
    if let Some(min) = min
        && min > most
    {
        section.problems().add_with_help(
            section.span(),
            format!("`min` is {min} and `max` is {most}: no limit lies between them"),
            "write the smaller one as `min`, and `max` if the limit may be above 1000",
        );
    }
    let start = start(&section, min.unwrap_or(0.0)..=most);
    let step = step(&section);
    let cpu_from = section
        .section("cpu-from", "cpu-from")
        .and_then(|place| cpu_from(&place));
    section.finish();
    Some(AdaptiveSettings {
        algorithm,
        goal,
        min,
        max,
        start,
        step,
        cpu_from,
    })
}

/// How the limit is found; what another algorithm than Weir's does not know may not be said.
fn algorithm(section: &Section<'_>) -> Option<Algorithm> {
    let text = section.text("algorithm")?;
    let (algorithm, unknown): (_, &[&'static str]) = match text.get_ref().as_str() {
        "weir" => return Some(Algorithm::Weir),
        "aimd" => (Algorithm::Aimd, &["goal", "step", "cpu-from"]),
        "gradient" | "gradient2" => (Algorithm::Gradient2, &["goal", "step", "cpu-from"]),
        "vegas" => (Algorithm::Vegas, &["min", "goal", "step", "cpu-from"]),
        other => {
            section.problems().add_with_help(
                text.span(),
                format!("`{other}` is no algorithm that is known"),
                "write `algorithm = \"weir\"`, `\"gradient2\"`, `\"vegas\"` or `\"aimd\"`",
            );
            return None;
        }
    };
    let what = format!("`{}`", text.get_ref());
    section.has_none_of(unknown, &what, "write `algorithm = \"weir\"`");
    Some(algorithm)
}

/// Where the limit begins.
fn start(section: &Section<'_>, bounds: RangeInclusive<f64>) -> Option<f64> {
    let start = concurrency(section, "start")?;
    if !bounds.contains(&start) {
        let (min, max) = (bounds.start(), bounds.end());
        section.problems().add_with_help(
            section.span(),
            format!("`start` is {start}, and no limit from {min} to {max}"),
            "write one between `min` and `max`, or leave it out",
        );
    }
    Some(start)
}

/// How far the limit may go at a time.
fn step(section: &Section<'_>) -> Option<f64> {
    let step = section.parsed("step", parse_share)?;
    if *step.get_ref() > 0.0 && *step.get_ref() < 1.0 {
        return Some(step.into_inner());
    }
    section.problems().add_with_help(
        step.span(),
        "a step is a share of the limit above 0 % and below 100 %",
        "write `step = \"5 %\"`",
    );
    None
}

/// A requirement, or `best throughput`.
fn goal(section: &Section<'_>) -> Option<Requirement> {
    const HELP: &str = "write `goal = \"cpu <= 80 %\"`, `goal = \"p99 <= 300 ms\"` or `goal = \"best throughput\"`";
    let text = section.text("goal")?;
    if text.get_ref() == "best throughput" {
        return None;
    }
    let problems = section.problems();
    match text.get_ref().parse::<Requirement>() {
        Ok(goal) => match why_no_goal(&goal) {
            None => return Some(goal),
            Some((says, help)) => {
                let says = format!("`{}` {says}", text.get_ref());
                problems.add_with_help(text.span(), says, help.unwrap_or(HELP));
            }
        },
        Err(error) => problems.add_with_help(text.span(), cannot(&error), HELP),
    }
    None
}

/// What keeps a requirement from being a goal, and what to write if that is something special.
fn why_no_goal(goal: &Requirement) -> Option<(&'static str, Option<&'static str>)> {
    let bound = goal.bound_base();
    let percentile =
        Some("the gateway steers by the 99th percentile; write `goal = \"p99 <= 300 ms\"`");
    match goal.metric {
        _ if goal.class.is_some() || !goal.comparison.bounds_from_above() => {}
        Metric::Cpu if bound > 0.0 && bound < 1.0 => return None,
        Metric::Cpu => {
            let help = "write a share below 100 %, such as `goal = \"cpu <= 80 %\"`, or `goal = \"best throughput\"` to use all of it";
            return Some((
                "is no goal: it leaves nothing of the CPUs, or nothing over",
                Some(help),
            ));
        }
        Metric::Percentile(99.0) if bound > 0.0 => return None,
        Metric::Mean | Metric::Max | Metric::Percentile(_) => {
            return Some(("is nothing that the gateway can steer to", percentile));
        }
        _ => {}
    }
    Some(("is nothing that the gateway can steer to", None))
}
