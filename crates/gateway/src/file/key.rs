//! `[[key]]`: what each client may have.

use http::header::HeaderName;
use toml::Spanned;
use weir_userfile::Section;

use super::quantity::rate;
use super::sections;
use crate::settings::{ClassSettings, KeySettings, KeyedBy, OTHER_CLASS};

/// Each takes a look at each request.
const KEYS_MAX: usize = 16;
/// More of one client than any gateway takes of all.
const COUNT_MAX: u32 = 1_000_000;
/// Paths with more segments are told apart by these.
const SEGMENTS_MAX: usize = 16;

pub(super) fn read(root: &Section<'_>, classes: &[ClassSettings]) -> Vec<KeySettings> {
    let Some((span, list)) = sections(root, "key", "[[key]]") else {
        return Vec::new();
    };
    if list.len() > KEYS_MAX {
        root.problems().add_with_help(
            span,
            format!("{} keys; Weir keeps {KEYS_MAX}", list.len()),
            "put together what is told apart in the same way",
        );
    }
    let mut keys: Vec<KeySettings> = Vec::new();
    for section in list {
        if let Some(key) = key(&section, classes) {
            check_name(&section, &keys, &key.name);
            keys.push(key);
        }
        section.finish();
    }
    keys
}

fn key(section: &Section<'_>, classes: &[ClassSettings]) -> Option<KeySettings> {
    if section.value("by").is_none() {
        section.missing("by", "by = \"address\"");
    }
    let name = section.text("name").map(Spanned::into_inner);
    let by = section.text("by");
    let mut key = KeySettings {
        class: class(section, classes),
        rate_per_s: rate(section, "rate"),
        burst: count(section, "burst", 1),
        concurrency: count(section, "concurrency", 1),
        max_queue: count(section, "max-queue", 0),
        connections: count(section, "connections", 1),
        ..KeySettings::new(String::new(), KeyedBy::Address)
    };
    let by = by?;
    key.name = name.unwrap_or_else(|| by.get_ref().clone());
    key.by = keyed_by(section, &by)?;
    check(section, &key);
    Some(key)
}

fn count(section: &Section<'_>, key: &'static str, least: u32) -> Option<u32> {
    let count = section.whole(key, least..=COUNT_MAX)?;
    Some(count.into_inner())
}

fn keyed_by(section: &Section<'_>, by: &Spanned<String>) -> Option<KeyedBy> {
    let typed = by.get_ref().trim();
    let (kind, of) = typed.split_once(' ').unwrap_or((typed, ""));
    let of = of.trim();
    let found = match kind {
        "address" if of.is_empty() => Some(KeyedBy::Address),
        "header" => HeaderName::from_bytes(of.as_bytes())
            .ok()
            .map(KeyedBy::Header),
        "cookie" if !of.is_empty() && !of.contains([';', ' ', ',', '=']) => {
            Some(KeyedBy::Cookie(of.to_owned()))
        }
        "path" => {
            let segments = of
                .parse()
                .ok()
                .filter(|count| (1..=SEGMENTS_MAX).contains(count));
            segments.map(KeyedBy::Path)
        }
        _ => None,
    };
    if found.is_none() {
        section.problems().add_with_help(
            by.span(),
            format!("`{typed}` tells no clients apart"),
            "write `by = \"address\"`, `by = \"header X-Api-Key\"`, `by = \"cookie session\"`, or `by = \"path 2\"` for the first two segments of the path",
        );
    }
    found
}

/// A class that there is.
fn class(section: &Section<'_>, classes: &[ClassSettings]) -> Option<String> {
    let text = section.text("class")?;
    let typed = text.get_ref();
    match classes.iter().find(|class| class.name == *typed) {
        Some(class) if class.is_exempt => section.problems().add_with_help(
            text.span(),
            format!("nothing holds requests of `{typed}`: it is exempt"),
            "leave out `exempt` there, or `class` here",
        ),
        None if typed != OTHER_CLASS => section.problems().add_with_help(
            text.span(),
            format!("there is no class `{typed}`"),
            "name a [[class]], or leave it out: then requests of all classes count",
        ),
        _ => {}
    }
    Some(typed.clone())
}

/// What can only be said of all of it.
fn check(section: &Section<'_>, key: &KeySettings) {
    let problems = section.problems();
    let at = |name: &str| {
        let value = section.table().get(name);
        value.map_or_else(|| section.span(), Spanned::span)
    };
    if !key.holds_requests() && key.connections.is_none() {
        problems.add_with_help(
            section.span(),
            "this key holds nothing",
            "say what each may have: `rate = \"20/s\"`, `concurrency = 4`, `max-queue = 10` or `connections = 50`",
        );
    }
    if key.burst.is_some() && key.rate_per_s.is_none() {
        problems.add_with_help(
            at("burst"),
            "`burst` says how many may come at once under a rate, and there is no `rate`",
            "write `rate = \"20/s\"` beside it; `concurrency` is how many may be here at once",
        );
    }
    let counts_connections = key.by == KeyedBy::Address && key.class.is_none();
    if key.connections.is_some() && !counts_connections {
        problems.add_with_help(
            at("connections"),
            "who connects has an address, and nothing else yet",
            "put `connections` into a `[[key]]` with `by = \"address\"` and without `class`",
        );
    }
}

fn check_name(section: &Section<'_>, before: &[KeySettings], name: &str) {
    if before.iter().any(|other| other.name == name) {
        section.problems().add_with_help(
            section.span(),
            format!("there is a key `{name}` already"),
            "give each its own `name`",
        );
    }
}
