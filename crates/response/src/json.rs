//! JSON as JMeter sees it: json-smart's reading and writing, Jayway's paths.
//!
//! Kept crates were weighed. `serde_json` refuses much that json-smart takes (single quotes, bare
//! words, what follows the value) and would change the order or the digits of what is written.
//! `serde_json_path`, `jsonpath-rust` and `jsonpath_lib` follow RFC 9535 or an older draft, where a
//! missing member, `..`, several names in brackets, a slice's step, a text that looks like a number
//! and the functions mean something else than for Jayway: a translation would have been as long as
//! what stands here, and the messages of a JSON assertion would still be missing.

mod evaluate;
mod filter;
mod number;
mod parse;
mod path;
mod write;

use indexmap::IndexMap;

pub(crate) use evaluate::{Found, Value};
pub(crate) use number::Number;
pub(crate) use path::{JsonPath, JsonPathError};

/// A JSON value; members keep their order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    Array(Vec<Json>),
    Object(IndexMap<String, Json>),
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// What json-path 2.8.0 with json-smart 2.5.0, as JMeter 5.6.3 ships them, found at paths.
    ///
    /// The first line is a document; each other line has a path, the document if it is another
    /// one, what was found by a JSON Extractor, and what by a JSON Assertion.
    const JAYWAY: &str = include_str!("../tests/data/jayway.tsv");

    /// Where we differ, and why.
    const DIFFERENT: [(&str, &str); 4] = [
        ("$.store.keys()", "a Java set is shown without quotes"),
        ("$.store.book[?()]", "another message"),
        ("$.ids.append(4)", "not supported"),
        ("$.s.concat(\"x\")", "not supported"),
    ];

    fn shown(value: &Json) -> String {
        value.to_variable().unwrap_or_else(|| "NULL".into())
    }

    /// As a JSON Extractor sees it: always a list, and no functions.
    fn extracted(path: &str, document: &str) -> String {
        let found = JsonPath::compile(path).and_then(|path| {
            if path.ends_with_function() {
                return Err(JsonPathError::Failed(String::new()));
            }
            let document = Json::parse(document).map_err(JsonPathError::Failed)?;
            let found = path.read_in(&document)?.all();
            let found: Vec<String> = found
                .iter()
                .map(|value| format!("<{}>", shown(value.json())))
                .collect();
            Ok(format!("list {}", found.join(" ")))
        });
        found.unwrap_or_else(|error| match error {
            JsonPathError::NotFound(_) => "error PathNotFoundException".into(),
            JsonPathError::Invalid(_)
            | JsonPathError::Unsupported(_)
            | JsonPathError::Failed(_) => "error".into(),
        })
    }

    /// As a JSON Assertion sees it.
    fn read(path: &str, document: &str) -> String {
        let path = match JsonPath::compile(path) {
            Ok(path) => path,
            Err(error) => return format!("error {}", error.says()),
        };
        let document = match Json::parse(document) {
            Ok(document) => document,
            Err(says) => return format!("error net.minidev.json.parser.ParseException: {says}"),
        };
        match path.read_in(&document) {
            Ok(Found::One(value)) => format!("definite {}", shown(value.json())),
            Ok(Found::Many(found)) => {
                let found = found.into_iter().map(Value::into_json).collect();
                format!("many {}", shown(&Json::Array(found)))
            }
            Err(error) => format!("error {}", error.says()),
        }
    }

    #[test]
    fn paths_lead_where_they_lead_in_jmeter() {
        let (store, lines) = JAYWAY.split_once('\n').unwrap();
        let mut wrong = Vec::new();
        for line in lines.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let [path, document, list, value] = fields[..] else {
                panic!("not four fields: {line}");
            };
            if DIFFERENT.iter().any(|(known, _)| *known == path) {
                continue;
            }
            let document = if document.is_empty() { store } else { document };
            let (found, read) = (extracted(path, document), read(path, document));
            if !list.starts_with(&found) || list.starts_with("list") && list != found {
                wrong.push(format!("{line}\n    extracted {found}"));
            }
            if read != value {
                wrong.push(format!("{line}\n    read {read}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_and_path_do_no_harm(text in "\\PC{0,40}", path in "\\PC{0,20}") {
            let _ = extracted(&path, &text);
        }

        #[test]
        fn texts_and_paths_of_special_characters_do_no_harm(
            text in "[\\[\\]{}:,'\"\\\\ab01 .eE-]{0,30}",
            path in "[$@.\\[\\]*?()'a0:,=!&|/~ -]{0,20}",
        ) {
            let _ = extracted(&path, &text);
            let _ = read(&path, &text);
        }
    }
}
