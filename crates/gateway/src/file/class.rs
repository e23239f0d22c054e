//! `[[class]]`: kinds of requests.

use std::time::Duration;

use http::Method;
use http::header::HeaderName;
use toml::Spanned;
use weir_metric::{Metric, Requirement, parse_duration};
use weir_userfile::{Section, cannot};
use wildmatch::WildMatch;

use super::quantity::{concurrency, rate};
use super::sections;
use crate::matching::{Matcher, Named};
use crate::settings::{ClassSettings, OTHER_CLASS};

/// Each has its own counters and takes a look at each request.
const CLASSES_MAX: usize = 64;
/// Below it the network and the gateway are a good part of what is measured.
const COST_MIN: Duration = Duration::from_millis(1);
/// Longer than any response may take.
const COST_MAX: Duration = Duration::from_secs(600);

pub(super) fn read(root: &Section<'_>) -> Vec<ClassSettings> {
    let Some((span, list)) = sections(root, "class", "[[class]]") else {
        return Vec::new();
    };
    if list.len() > CLASSES_MAX {
        root.problems().add_with_help(
            span,
            format!("{} classes; Weir keeps {CLASSES_MAX} apart", list.len()),
            "put together what is treated in the same way",
        );
    }
    let mut classes: Vec<ClassSettings> = Vec::new();
    for section in list {
        let name = section.text("name");
        let class = class(&section, name.as_ref());
        section.finish();
        check_place(&section, &classes, &class, name.as_ref());
        classes.push(class);
    }
    classes
}

fn class(section: &Section<'_>, name: Option<&Spanned<String>>) -> ClassSettings {
    if section.value("name").is_none() {
        section.missing("name", "name = \"light\"");
    }
    ClassSettings {
        name: name.map_or_else(String::new, |name| name.get_ref().clone()),
        matches: section
            .section("match", "match")
            .map(|section| matcher(&section))
            .unwrap_or_default(),
        promise: promise(section),
        rate_per_s: rate(section, "rate"),
        concurrency: concurrency(section, "concurrency"),
        is_exempt: is_exempt(section),
    }
}

/// `exempt = true`: nothing of the class is held, so that there is nothing else to say of it.
fn is_exempt(section: &Section<'_>) -> bool {
    if section.flag("exempt") != Some(true) {
        return false;
    }
    let held = ["rate", "concurrency", "promise"];
    let held = held
        .into_iter()
        .find(|key| section.table().get(*key).is_some());
    if let Some(key) = held {
        section.problems().add_with_help(
            section.span(),
            format!("a class that is exempt has no `{key}`"),
            format!("leave `{key}` out, or `exempt`"),
        );
    }
    true
}

/// What can only be said of a class by looking at the others.
fn check_place(
    section: &Section<'_>,
    before: &[ClassSettings],
    class: &ClassSettings,
    name: Option<&Spanned<String>>,
) {
    let problems = section.problems();
    if let Some(name) = name {
        let typed = name.get_ref();
        let is_name = !typed.is_empty()
            && typed
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        if !is_name {
            problems.add_with_help(
                name.span(),
                format!("`{typed}` cannot be the name of a class"),
                "use letters, digits, `-`, `_` and `.`",
            );
        }
        if before.iter().any(|other| other.name == *typed) {
            problems.add_with_help(
                name.span(),
                format!("there is a class `{typed}` already"),
                "give each class its own name",
            );
        }
        if typed == OTHER_CLASS && !class.matches.takes_everything() {
            problems.add_with_help(
                name.span(),
                format!("`{OTHER_CLASS}` is what Weir calls requests that match no class"),
                "choose another name, or leave `match` out to say how they are treated",
            );
        }
    }
    if let Some(taker) = before.iter().find(|other| other.matches.takes_everything()) {
        problems.add_with_help(
            section.span(),
            format!(
                "no request gets here: `{}` above has no `match` and takes everything",
                taker.name
            ),
            "put the class without `match` last",
        );
    }
}

fn promise(section: &Section<'_>) -> Option<Requirement> {
    let text = section.text("promise")?;
    let help = "write a bound on a percentile of the response time: `promise = \"p99 <= 50 ms\"`";
    match text.get_ref().parse::<Requirement>() {
        Ok(promise) if is_promise(&promise) => return Some(promise),
        Ok(_) => {
            let says = format!("`{}` is no promise to clients", text.get_ref());
            section.problems().add_with_help(text.span(), says, help);
        }
        Err(error) => section
            .problems()
            .add_with_help(text.span(), cannot(&error), help),
    }
    None
}

fn is_promise(promise: &Requirement) -> bool {
    let percentile =
        matches!(promise.metric, Metric::Percentile(percent) if percent > 0.0 && percent < 100.0);
    percentile && promise.class.is_none() && promise.comparison.bounds_from_above()
}

fn matcher(section: &Section<'_>) -> Matcher {
    let matcher = Matcher {
        path: path(section),
        methods: methods(section),
        header: header(section),
        cookie: cookie(section),
        cost: cost(section),
    };
    section.finish();
    if section.table().is_empty() {
        section.problems().add_with_help(
            section.span(),
            "`match` is empty",
            "leave it out in the last class, which then takes everything, or say what matches: `match = { path = \"/light*\" }`",
        );
    }
    matcher
}

fn path(section: &Section<'_>) -> Option<WildMatch> {
    let text = section.text("path")?;
    let typed = text.get_ref();
    let wrong = if !typed.starts_with(['/', '*']) {
        Some(format!("write `path = \"/{typed}\"`"))
    } else if typed.contains('?') {
        Some("leave the query out: only the path is looked at".to_owned())
    } else if typed.contains(['%', '#']) {
        Some("write the path as the server understands it, without percent-encoding".to_owned())
    } else {
        None
    };
    match wrong {
        None => Some(WildMatch::new(typed)),
        Some(help) => {
            section.problems().add_with_help(
                text.span(),
                format!("`{typed}` matches no path"),
                help,
            );
            None
        }
    }
}

fn methods(section: &Section<'_>) -> Vec<Method> {
    let Some(value) = section.value("method") else {
        return Vec::new();
    };
    let texts = if value.get_ref().is_array() {
        section.texts("method").unwrap_or_default()
    } else {
        section.text("method").into_iter().collect()
    };
    let method = |text: &Spanned<String>| {
        let typed = text.get_ref();
        let is_method = !typed.is_empty() && typed.bytes().all(|byte| byte.is_ascii_uppercase());
        if !is_method {
            section.problems().add_with_help(
                text.span(),
                format!("`{typed}` is no method"),
                "methods are written in capitals: `method = \"GET\"` or `method = [\"GET\", \"HEAD\"]`",
            );
        }
        Method::from_bytes(typed.as_bytes()).ok()
    };
    texts.iter().filter_map(method).collect()
}

fn header(section: &Section<'_>) -> Option<Named<HeaderName>> {
    let text = section.text("header")?;
    let (name, value) = match text.get_ref().split_once(':') {
        Some((name, value)) => (name.trim(), Some(WildMatch::new(value.trim()))),
        None => (text.get_ref().trim(), None),
    };
    let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else {
        section.problems().add_with_help(
            text.span(),
            format!("`{name}` is no name of a header field"),
            "write `header = \"X-Plan: gold*\"`, or the name alone",
        );
        return None;
    };
    Some(Named { name, value })
}

fn cookie(section: &Section<'_>) -> Option<Named<String>> {
    let text = section.text("cookie")?;
    let (name, value) = match text.get_ref().split_once('=') {
        Some((name, value)) => (name.trim(), Some(WildMatch::new(value.trim()))),
        None => (text.get_ref().trim(), None),
    };
    if name.is_empty() || name.contains([';', ' ', ',']) {
        section.problems().add_with_help(
            text.span(),
            format!("`{name}` is no name of a cookie"),
            "write `cookie = \"plan=gold*\"`, or the name alone",
        );
        return None;
    }
    let name = name.to_owned();
    Some(Named { name, value })
}

/// `>= TIME`.
fn cost(section: &Section<'_>) -> Option<Duration> {
    let text = section.text("cost")?;
    let typed = text.get_ref();
    let help = "write the least time that requests of a route hold a slot, at the median: `cost = \">= 50 ms\"`";
    let time = typed
        .trim()
        .strip_prefix(">=")
        .map(|time| parse_duration(time.trim()));
    let says = match time {
        Some(Ok(time)) if (COST_MIN..=COST_MAX).contains(&time) => return Some(time),
        Some(Ok(_)) => format!("`{typed}` is not within {COST_MIN:?} and {COST_MAX:?}"),
        Some(Err(error)) => cannot(&error),
        None => {
            format!("`{typed}` does not begin with >=: a class of its own is for what costs much")
        }
    };
    section.problems().add_with_help(text.span(), says, help);
    None
}
