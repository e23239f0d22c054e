//! Classes: who sends requests, and what clients do that wait too long.

use toml::Spanned;
use weir_metric::parse_duration;
use weir_userfile::Section;

use super::places::choice;
use super::quantity::{distribution, factor, positive_seconds, rate, read_rate, seconds, share};
use super::route;
use super::{Spans, named};
use crate::check::POPULATION_MAX;
use crate::distribution::Distribution;
use crate::network::{AbandonedWork, Class, Jitter, Network, Retry, Source, Spacing, Timeout};
use crate::profile::Profile;

const FACTOR: f64 = 2.0;
const BACK_OFF_S: f64 = 0.1;
const BACK_OFF_MAX_S: f64 = 20.0;

pub(super) fn read(root: &Section<'_>, network: &mut Network, spans: &mut Spans) {
    for (name, span, section) in named(root, "class", "class") {
        let source = source(&section);
        let priority = section.whole("priority", 0..=255);
        let timeout = timeout(&section);
        let retry = section
            .section("retry", "[class.NAME.retry]")
            .map(|retry_section| {
                let retry = retry(&retry_section);
                retry_section.finish();
                retry
            });
        let (steps, places) = route::read(&section, network);
        section.finish();
        let Some(source) = source else {
            continue;
        };
        network.classes.push(Class {
            name,
            priority: priority.map_or(0, |priority| priority.into_inner() as u8),
            source,
            route: steps,
            timeout,
            retry,
        });
        spans.classes.push(span);
        spans.steps.push(places);
    }
}

fn source(section: &Section<'_>) -> Option<Source> {
    let has = |key: &str| section.table().contains_key(key);
    let arrives = has("rate") || has("profile");
    match (has("users"), arrives) {
        (true, false) => users(section),
        (false, true) => arrivals(section),
        (true, true) => {
            section.problems().add_with_help(
                section.span(),
                "a class has users or arrivals, not both",
                "make two classes of it",
            );
            None
        }
        (false, false) => {
            section.missing("users", "users = 100` or `rate = \"50/s\"");
            None
        }
    }
}

fn users(section: &Section<'_>) -> Option<Source> {
    let users = section.whole("users", 0..=u32::MAX);
    let think = distribution(section, "think").unwrap_or(Distribution::ZERO);
    let ramp_s = seconds(section, "ramp").unwrap_or(0.0);
    let users = users?;
    if u64::from(*users.get_ref()) > POPULATION_MAX {
        section.problems().add_with_help(
            users.span(),
            format!(
                "{} users do not fit into memory: no more than {POPULATION_MAX} can be simulated",
                users.get_ref()
            ),
            "describe a part of the system with its share of the users, or let them arrive at a rate",
        );
        return None;
    }
    Some(Source::Users {
        users: users.into_inner(),
        think,
        ramp_s,
    })
}

fn arrivals(section: &Section<'_>) -> Option<Source> {
    let spacing = match choice(section, "arrivals", &["poisson", "even"]) {
        Some("even") => Spacing::Even,
        _ => Spacing::Poisson,
    };
    let rate = match (rate(section, "rate"), profile(section)) {
        (Some(_), Some(_)) => {
            section.problems().add(
                section.span(),
                "a class has one `rate` or a `profile` of rates, not both",
            );
            return None;
        }
        (Some(rate), None) => Profile::constant(rate),
        (None, profile) => profile?,
    };
    Some(Source::Arrivals { rate, spacing })
}

/// A list of pairs of time and rate.
fn profile(section: &Section<'_>) -> Option<Profile> {
    let (span, list) = section.list("profile")?;
    let problems = section.problems();
    let mut points = Vec::new();
    for point in list {
        let pair = point.get_ref().as_array();
        let text = |at: usize| {
            let value = pair?.get(at)?;
            let text = value.get_ref().as_str()?;
            Some(Spanned::new(value.span(), text.to_owned()))
        };
        let (Some(time), Some(rate)) = (text(0), text(1)) else {
            problems.add_with_help(
                point.span(),
                "a point of a profile is a time and a rate",
                "write `[\"60 s\", \"50/s\"]`",
            );
            return None;
        };
        let Ok(at) = parse_duration(time.get_ref()) else {
            let says = format!("`{}` is no time", time.get_ref());
            problems.add(time.span(), says);
            return None;
        };
        points.push((at.as_secs_f64(), read_rate(problems, &rate)?));
    }
    match Profile::new(points) {
        Ok(profile) => Some(profile),
        Err(says) => {
            problems.add(span, says);
            None
        }
    }
}

fn timeout(section: &Section<'_>) -> Option<Timeout> {
    let after = distribution(section, "timeout");
    let work = match choice(section, "abandoned-work", &["goes-on", "stops"]) {
        Some("stops") => AbandonedWork::Stops,
        _ => AbandonedWork::GoesOn,
    };
    Some(Timeout {
        after: after?,
        work,
    })
}

fn retry(section: &Section<'_>) -> Retry {
    let attempts = section.whole("attempts", 2..=100);
    if section.value("attempts").is_none() {
        section.missing("attempts", "attempts = 3");
    }
    let jitter = match choice(section, "jitter", &["full", "half", "none"]) {
        Some("none") => Jitter::None,
        Some("half") => Jitter::Half,
        _ => Jitter::Full,
    };
    Retry {
        attempts: attempts.map_or(2, |attempts| attempts.into_inner() as u8),
        back_off_s: positive_seconds(section, "back-off").unwrap_or(BACK_OFF_S),
        factor: factor(section, "factor").unwrap_or(FACTOR),
        back_off_max_s: positive_seconds(section, "back-off-max").unwrap_or(BACK_OFF_MAX_S),
        jitter,
        budget: share(section, "budget"),
    }
}
