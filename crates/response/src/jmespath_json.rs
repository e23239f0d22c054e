//! `JMESPath` on JSON bodies, with results written as Jackson writes them.
//!
//! The kept crate sorts the members of objects by name; JMeter keeps their order. Where an object
//! is written, its members stand in the order in which their names first appear in the document,
//! then in the expression: the same for all but objects that have the same names in different
//! orders. `keys()` and `values()` follow the names.

use std::collections::HashMap;
use std::fmt::Write as _;

use jmespath::{Rcvar, Variable};
use serde::Deserialize as _;

use crate::json::{Json, Number};

/// What an expression found in a document.
pub(crate) struct Searched {
    pub(crate) value: Rcvar,
    order: HashMap<String, usize>,
    expression: String,
}

/// How long an expression may be, in bytes.
const LENGTH: usize = 10_000;

/// How many brackets and prefixes an expression may have, as each may stand in the one before.
const BRACKETS: usize = 200;

/// Searches a document; the error is the crate's.
pub(crate) fn search(expression: &str, document: &str) -> Result<Searched, String> {
    let brackets = expression.chars().filter(|c| "([{!&".contains(*c)).count();
    if expression.len() > LENGTH || brackets > BRACKETS {
        return Err("the expression is too long or too deep".into());
    }
    let compiled = jmespath::compile(expression).map_err(|error| error.to_string())?;
    let document_value = first_value(document)?;
    let value = compiled.search(document_value);
    let value = value.map_err(|error| error.to_string())?;
    let mut order = HashMap::new();
    if let Ok(json) = Json::parse(document) {
        collect(&json, &mut order);
    }
    Ok(Searched {
        value,
        order,
        expression: expression.to_owned(),
    })
}

/// The first value of a document: what follows it is not read (Jackson).
fn first_value(document: &str) -> Result<Variable, String> {
    let mut reader = serde_json::Deserializer::from_str(document);
    Variable::deserialize(&mut reader).map_err(|error| error.to_string())
}

/// The first place of each name.
fn collect(json: &Json, order: &mut HashMap<String, usize>) {
    match json {
        Json::Object(members) => {
            for (name, value) in members {
                let next = order.len();
                order.entry(name.clone()).or_insert(next);
                collect(value, order);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, order)),
        _ => {}
    }
}

impl Searched {
    /// The items of an array, or the value itself, each as text; nothing for null.
    pub(crate) fn texts(&self) -> Vec<String> {
        match &*self.value {
            Variable::Null => Vec::new(),
            Variable::Array(items) => items.iter().map(|item| self.text(item)).collect(),
            value => vec![self.text(value)],
        }
    }

    /// The value as text: a string as it is, anything else as JSON.
    pub(crate) fn text(&self, value: &Variable) -> String {
        match value {
            Variable::String(text) => text.clone(),
            value => {
                let mut out = String::new();
                self.write(value, &mut out);
                out
            }
        }
    }

    fn write(&self, value: &Variable, out: &mut String) {
        match value {
            Variable::Null | Variable::Expref(_) => out.push_str("null"),
            Variable::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Variable::Number(number) => {
                let whole = number.is_i64() || number.is_u64();
                let _ = match number.as_f64() {
                    Some(double) if !whole => write!(out, "{}", Number::Double(double)),
                    _ => write!(out, "{number}"),
                };
            }
            Variable::String(text) => write_text(text, out),
            Variable::Array(items) => {
                out.push('[');
                for (n, item) in items.iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    self.write(item, out);
                }
                out.push(']');
            }
            Variable::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by_key(|(name, _)| self.place(name));
                out.push('{');
                for (n, (name, value)) in members.into_iter().enumerate() {
                    if n > 0 {
                        out.push(',');
                    }
                    write_text(name, out);
                    out.push(':');
                    self.write(value, out);
                }
                out.push('}');
            }
        }
    }

    /// Where a name first appears.
    fn place(&self, name: &str) -> (usize, usize) {
        match self.order.get(name) {
            Some(place) => (*place, 0),
            None => (usize::MAX, self.expression.find(name).unwrap_or(usize::MAX)),
        }
    }
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_first_value_is_not_read() {
        for document in [
            "{\"a\":1} x",
            "{\"a\":1}{\"a\":2}",
            "{\"a\":1}]",
            "\n{\"a\":\n1}\nü",
        ] {
            let found = search("a", document).map(|found| found.texts());
            assert_eq!(found.as_deref(), Ok(&["1".to_owned()][..]), "{document}");
        }
        assert!(search("a", "{\"a\":1,}").is_err());
    }

    proptest::proptest! {
        #[test]
        fn any_expression_and_document_do_no_harm(
            expression in "(a|b|\\.|\\[|\\]|\\*|\\?|\\(|\\)|\\{|\\}|@|&|!|=|<|`|'|,|:|1|-|\\||length|keys|sort){0,12}",
            document in "[\\[\\]{}:,\"ab01 ]{0,20}",
        ) {
            for document in [document.as_str(), r#"{"a":[1,{"b":"x"}],"b":null}"#] {
                if let Ok(found) = search(&expression, document) {
                    let _ = found.texts();
                }
            }
        }
    }
}
