//! Texts of a plan whose value is known before the test: properties and user-defined variables.
//!
//! Only what decides whom a plan loads and how many users it has is asked for here, so that any
//! reference to something else (a function, a variable that changes) makes a text unknown, which is
//! always a safe answer.

use std::collections::{BTreeMap, BTreeSet};

use weir_script::Properties;

/// Deepest nesting of references; each one costs stack.
const DEPTH_MAX: usize = 16;

/// What texts may refer to.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    pub(crate) properties: Properties,
    pub(crate) variables: BTreeMap<String, String>,
    /// Names that something in the plan may give another value while the test runs.
    pub(crate) changing: BTreeSet<String>,
}

impl Constants {
    /// The value of a text, if nothing can change it.
    pub(crate) fn value(&self, text: &str) -> Option<String> {
        self.value_at(text, 0)
    }

    fn value_at(&self, text: &str, depth: usize) -> Option<String> {
        if depth > DEPTH_MAX {
            return None;
        }
        let mut value = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            value.push_str(&rest[..at]);
            let inside = &rest[at + 2..];
            let end = closing(inside)?;
            value.push_str(&self.reference(&inside[..end], depth)?);
            rest = &inside[end + 1..];
        }
        value.push_str(rest);
        // JMeter drops backslashes beside references; a server's name has none.
        (!value.contains('\\')).then_some(value)
    }

    fn reference(&self, inside: &str, depth: usize) -> Option<String> {
        let Some((function, arguments)) = inside
            .strip_suffix(')')
            .and_then(|call| call.split_once('('))
        else {
            let plain = match inside {
                "__P" | "__property" => return None,
                name => name,
            };
            let known = self.variables.get(plain)?;
            return (!self.changing.contains(plain)).then(|| known.clone());
        };
        let arguments = split(arguments);
        let argument = |at: usize| arguments.get(at).map(|text| self.value_at(text, depth + 1));
        let name = argument(0)??;
        let default = match function.trim() {
            "__P" => argument(1).unwrap_or_else(|| Some("1".to_owned()))?,
            "__property" => argument(2).unwrap_or_else(|| Some(name.clone()))?,
            _ => return None,
        };
        let name = name.trim();
        // What a function of the plan may set is not known either.
        if self.changing.contains(name) {
            return None;
        }
        Some(self.properties.get(name).map_or(default, str::to_owned))
    }
}

/// Where the brace of a reference closes.
fn closing(inside: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in inside.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Arguments at the commas that stand in no nested reference or bracket.
fn split(arguments: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, c) in arguments.char_indices() {
        match c {
            '{' | '(' => depth += 1,
            '}' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&arguments[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&arguments[start..]);
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn constants() -> Constants {
        Constants {
            properties: [("HOST", "10.0.0.1"), ("N", "7")].into_iter().collect(),
            variables: [("server", "app.example"), ("row", "1")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            changing: ["row".to_owned()].into(),
        }
    }

    #[test]
    fn what_is_known_is_told_and_nothing_else() {
        for (text, value) in [
            ("plain", Some("plain")),
            ("", Some("")),
            ("${__P(HOST,127.0.0.1)}", Some("10.0.0.1")),
            ("${__P(NONE,127.0.0.1)}", Some("127.0.0.1")),
            ("${__P(NONE)}", Some("1")),
            ("${__P(NONE,)}", Some("")),
            ("${__property(N,,3)}", Some("7")),
            ("${__property(NONE)}", Some("NONE")),
            ("${__P(NONE,${server})}", Some("app.example")),
            ("http://${server}:${N}/x", None),
            ("http://${server}/x", Some("http://app.example/x")),
            ("${row}", None),
            ("${unknown}", None),
            ("${__Random(1,2)}", None),
            ("${__P(${row},a)}", None),
            ("${__P(NONE,a\\,b)}", None),
            ("${open", None),
        ] {
            assert_eq!(constants().value(text).as_deref(), value, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_an_answer(text in r"[$\{\}(),\\_PNa]{0,40}") {
            constants().value(&text);
        }
    }
}
