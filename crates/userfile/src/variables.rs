//! Values from the environment: `${NAME}` in a text of a file.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Variable;
use crate::problem::Problems;

const BEGIN: &str = "${";
/// How the signs themselves are written.
const ESCAPED: &str = "$${";

/// Puts the values of variables in the place of their names, in every text of a file.
pub(crate) fn fill_in(table: &mut DeTable<'_>, variable: &Variable<'_>, problems: &Problems) {
    for (_, value) in table.iter_mut() {
        fill_in_value(value, variable, problems);
    }
}

fn fill_in_value(value: &mut Spanned<DeValue<'_>>, variable: &Variable<'_>, problems: &Problems) {
    let span = value.span();
    match value.get_mut() {
        DeValue::String(text) if text.contains(BEGIN) => {
            *text = Cow::Owned(filled(text, span, variable, problems));
        }
        DeValue::Table(table) => fill_in(table, variable, problems),
        DeValue::Array(array) => {
            for one in array.iter_mut() {
                fill_in_value(one, variable, problems);
            }
        }
        _ => {}
    }
}

fn filled(text: &str, span: Range<usize>, variable: &Variable<'_>, problems: &Problems) -> String {
    let mut filled = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(BEGIN) {
        if let Some(before) = rest[..at + BEGIN.len()].strip_suffix(ESCAPED) {
            filled.push_str(before);
            filled.push_str(BEGIN);
            rest = &rest[at + BEGIN.len()..];
            continue;
        }
        filled.push_str(&rest[..at]);
        let inside = &rest[at + BEGIN.len()..];
        let Some(end) = inside.find('}') else {
            problems.add_with_help(
                span,
                format!("`{}` has no end", &rest[at..]),
                format!(
                    "write `${{NAME}}` for a variable, and `{ESCAPED}` for the signs themselves"
                ),
            );
            return filled;
        };
        let (name, default) = match inside[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default.to_owned())),
            None => (&inside[..end], None),
        };
        match variable(name).or(default) {
            Some(value) => filled.push_str(&value),
            None => problems.add_with_help(
                span.clone(),
                format!("`{name}` is not in the environment"),
                format!("set it, or say what it is without: `${{{name}:-…}}`"),
            ),
        }
        rest = &inside[end + 1..];
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (String, Vec<String>) {
        let problems = Problems::default();
        let variable = |name: &str| (name == "A").then(|| "1".to_owned());
        let filled = filled(text, 0..0, &variable, &problems);
        let says = problems.into_sorted().into_iter().map(|one| one.says);
        (filled, says.collect())
    }

    #[test]
    fn names_are_replaced_by_their_values() {
        for (text, expected) in [
            ("${A}", "1"),
            ("x${A}y${A}", "x1y1"),
            ("${B:-2}", "2"),
            ("${A:-2}", "1"),
            ("${B:-}", ""),
            ("$${A}", "${A}"),
            ("$A $ {}", "$A $ {}"),
        ] {
            assert_eq!(read(text), (expected.to_owned(), Vec::new()), "{text}");
        }
        assert_eq!(read("${B}").1, ["`B` is not in the environment"]);
        assert_eq!(read("x${A").1, ["`${A` has no end"]);
    }
}
