//! `__regexFunction`: a text made from what a pattern finds in the response before.

use std::sync::{Arc, LazyLock};

use fancy_regex::Regex;
use rand::RngExt as _;
use weir_response::{Match, Perl5};

use super::{Answer, Argument, Call, CallError, Function, Known, Prepared, not_a_number};
use crate::Scope;

/// Most matches of one search.
const MATCHES_MAX: usize = 100_000;

pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("__regexFunction", (2, 7), Answer::Changes, render).prepares(prepare)];

fn prepare(arguments: &[Argument], _: &Known<'_>) -> Result<Prepared, CallError> {
    let Some(pattern) = arguments[0].constant() else {
        return Ok(Prepared::Nothing);
    };
    match Perl5::compile(pattern) {
        Ok(expression) => Ok(Prepared::Expression(Arc::new(expression))),
        Err(error) => Err(CallError::new(format!("__regexFunction has an {error}"))),
    }
}

/// A part of a template: text, or the number of a group between two `$`.
enum Part<'a> {
    Text(&'a str),
    Group(usize),
}

fn template(text: &str) -> Vec<Part<'_>> {
    static GROUP: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\$(\d+)\$").expect("the pattern is fixed"));
    let mut parts = Vec::new();
    let mut end = 0;
    for group in GROUP.captures_iter(text).flatten() {
        let (Some(whole), Some(number)) = (group.get(0), group.get(1)) else {
            continue;
        };
        parts.push(Part::Text(&text[end..whole.start()]));
        parts.push(Part::Group(number.as_str().parse().unwrap_or(usize::MAX)));
        end = whole.end();
    }
    parts.push(Part::Text(&text[end..]));
    parts
}

fn render(call: &Call, scope: &mut Scope, out: &mut String) {
    let expression = if let Prepared::Expression(expression) = &call.prepared {
        Arc::clone(expression)
    } else {
        // An expression that cannot be read gives nothing.
        let Ok(expression) = Perl5::compile(&call.argument(0, scope)) else {
            return;
        };
        Arc::new(expression)
    };
    let template_text = call.argument(1, scope);
    let which = call.argument(2, scope);
    let between = call.argument(3, scope);
    let otherwise = call.argument(4, scope);
    let name = call.argument(5, scope);
    let input = call.argument(6, scope);
    if !name.is_empty() {
        scope.variables.set(&name, &otherwise);
    }
    let Some(text) = searched(&input, scope) else {
        return out.push_str(&otherwise);
    };
    // An expression that takes too long finds nothing.
    let matches = expression.find(&text, MATCHES_MAX).unwrap_or_default();
    if !name.is_empty() {
        let count = matches.len().to_string();
        scope.variables.set(&format!("{name}_matchNr"), &count);
    }
    if matches.is_empty() {
        return out.push_str(&otherwise);
    }
    let parts = template(&template_text);
    if which == "ALL" {
        for (index, found) in matches.iter().enumerate() {
            if index > 0 {
                out.push_str(&between);
            }
            push_match(found, &parts, &name, scope, out);
        }
        return;
    }
    match choose(&which, matches.len(), scope) {
        Ok(Some(index)) => push_match(&matches[index], &parts, &name, scope, out),
        Ok(None) => out.push_str(&otherwise),
        Err(says) => scope.fail(says),
    }
}

/// The text to search, unless there is none.
fn searched(input: &str, scope: &Scope) -> Option<String> {
    let text = if input.is_empty() {
        scope
            .previous
            .as_ref()
            .map(|previous| previous.body.clone())
    } else {
        scope.variables.get(input).map(str::to_owned)
    };
    text.filter(|text| !text.is_empty())
}

/// The match that is wanted: by its number from 1, by chance, or at a share of all of them.
fn choose(which: &str, count: usize, scope: &mut Scope) -> Result<Option<usize>, String> {
    let number = match which {
        "" => Ok(1),
        "RAND" => return Ok(Some(scope.random.random_range(0..count))),
        _ => which.parse::<i32>(),
    };
    let index = match number {
        Ok(number) if usize::try_from(number).is_ok_and(|n| n > count) => return Ok(None),
        Ok(number) => i64::from(number) - 1,
        Err(_) => {
            let share: f32 = which
                .trim()
                .parse()
                .map_err(|_| not_a_number(which.trim()))?;
            (count as f32 * share + 0.5) as i64 - 1
        }
    };
    let chosen = usize::try_from(index).ok().filter(|index| *index < count);
    chosen.map(Some).ok_or_else(|| {
        let says = "java.lang.IndexOutOfBoundsException: Index";
        format!("{says} {index} out of bounds for length {count}")
    })
}

/// Appends the template of one match, and keeps its groups in variables.
fn push_match(
    found: &Match,
    template: &[Part<'_>],
    name: &str,
    scope: &mut Scope,
    out: &mut String,
) {
    let group = |number: usize| match found.groups.get(number) {
        Some(Some(text)) => text,
        _ => "null",
    };
    for number in 0..found.groups.len() {
        let variable = format!("{name}_g{number}");
        scope.variables.set(&variable, group(number));
    }
    let start = out.len();
    for part in template {
        out.push_str(match part {
            Part::Text(text) => text,
            Part::Group(number) => group(*number),
        });
    }
    if !name.is_empty() {
        scope.variables.set(name, &out[start..]);
    }
}
