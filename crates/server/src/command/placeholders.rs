//! Places in a command line, an environment or a file where a limit goes: `{threads}`.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::TargetError;
use crate::server::NATIVE;

/// Stages whose limit has a name of its own.
const STAGES: [&str; 3] = ["backlog", "connections", "threads"];
pub(super) const PORT: &str = "port";
pub(super) const CONFIG: &str = "config";
pub(super) const BEHIND_PORT: &str = "behind.port";
/// What Weir fills in by itself.
pub(super) const FILLED_BY_WEIR: [&str; 5] = [PORT, CONFIG, BEHIND_PORT, "app", "java"];

/// A part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part<'a> {
    Text(&'a str),
    Place(&'a str),
}

/// Whether something is the name of a place; other braces are text, as in JSON or a shell's
/// `${HOME}`.
fn is_place(name: &str) -> bool {
    let named = |prefix: &str| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(is_of_name))
    };
    STAGES.contains(&name) || FILLED_BY_WEIR.contains(&name) || named("pool.") || named(NATIVE)
}

fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-".contains(&byte)
}

fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut from = 0;
    while let Some(open) = rest[from..].find('{').map(|at| at + from) {
        let name = rest[open + 1..].split('}').next().unwrap_or_default();
        let closed = rest[open + 1 + name.len()..].starts_with('}');
        if closed && is_place(name) {
            parts.push(Part::Text(&rest[..open]));
            parts.push(Part::Place(name));
            rest = &rest[open + name.len() + 2..];
            from = 0;
        } else {
            from = open + 1;
        }
    }
    parts.push(Part::Text(rest));
    parts
}

/// The names of the places in a text.
pub(super) fn places(text: &str) -> BTreeSet<String> {
    parts(text)
        .into_iter()
        .filter_map(|part| match part {
            Part::Place(name) => Some(name.to_owned()),
            Part::Text(_) => None,
        })
        .collect()
}

/// A text with its places filled.
pub(super) fn filled(text: &str, values: &BTreeMap<String, String>) -> Result<String, TargetError> {
    parts(text)
        .into_iter()
        .map(|part| match part {
            Part::Text(text) => Ok(text),
            Part::Place(name) => {
                values
                    .get(name)
                    .map(String::as_str)
                    .ok_or_else(|| TargetError::Setting {
                        name: name.to_owned(),
                        says: format!(
                            "`{{{name}}}` stands in the target and has no value: {}",
                            where_from(name)
                        ),
                    })
            }
        })
        .collect()
}

/// Where a place gets its value.
fn where_from(name: &str) -> &'static str {
    match name {
        "app" => "name one of Weir's applications by `app`",
        BEHIND_PORT => "say by `behind` what is started before the server",
        CONFIG => "name the file that is filled by `template`",
        _ => "name one in its settings",
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn only_places_are_filled() {
        let values = values(&[
            ("threads", "8"),
            ("pool.db", "3"),
            ("port", "81"),
            ("native.GOMAXPROCS", "2"),
            ("app", "/a.jar"),
            ("behind.port", "82"),
        ]);
        for (text, wanted) in [
            ("serve -t {threads} -p {port}", "serve -t 8 -p 81"),
            (
                "{\"threads\": {threads}, \"pool\": {pool.db}}",
                "{\"threads\": 8, \"pool\": 3}",
            ),
            ("${HOME}/x {0} {} {threads", "${HOME}/x {0} {} {threads"),
            ("{{threads}}", "{8}"),
            ("{native.GOMAXPROCS}", "2"),
            ("{pool.}", "{pool.}"),
            ("-jar {app} --to {behind.port}", "-jar /a.jar --to 82"),
            ("", ""),
        ] {
            assert_eq!(filled(text, &values).unwrap(), wanted, "{text}");
        }
        let error = filled("{backlog}", &values).unwrap_err().to_string();
        assert!(
            error.contains("`{backlog}` stands in the target"),
            "{error}"
        );
    }

    #[test]
    fn places_are_found_once_each() {
        let found = places("{threads} {port} {threads} {x}");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["port", "threads"]);
    }

    proptest! {
        #[test]
        fn a_text_without_places_stays(text in "[^{]*") {
            prop_assert_eq!(filled(&text, &BTreeMap::new()).unwrap(), text);
        }

        #[test]
        fn any_text_is_taken(text: String) {
            let _ = places(&text);
            let _ = filled(&text, &BTreeMap::new());
        }
    }
}
