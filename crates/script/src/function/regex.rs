//! `__regexFunction`: a text made from what a pattern finds in the response before.

use std::sync::{LazyLock, OnceLock};

use fancy_regex::{Captures, Regex, RegexBuilder};
use rand::RngExt as _;

use super::{Answer, Argument, Call, CallError, Function, Known, Prepared, not_a_number};
use crate::Scope;

/// Most steps back in one search; a pattern that needs more finds nothing further.
const BACKTRACK_MAX: usize = 1_000_000;

/// Most matches of one search.
const MATCHES_MAX: usize = 100_000;

pub(super) const FUNCTIONS: &[Function] =
    &[Function::new("__regexFunction", (2, 7), Answer::Changes, render).prepares(prepare)];

/// A compiled pattern, or what it is when it never changes.
#[derive(Debug, Clone)]
pub(super) struct Search(Regex);

fn prepare(arguments: &[Argument], _: &Known<'_>) -> Result<Prepared, CallError> {
    let Some(pattern) = arguments[0].constant() else {
        return Ok(Prepared::Nothing);
    };
    match compile(pattern) {
        Ok(regex) => Ok(Prepared::Regex(Box::new(Search(regex)))),
        Err(error) => Err(CallError::new(format!(
            "the pattern \"{pattern}\" of __regexFunction cannot be read: {error}"
        ))),
    }
}

/// Perl 5 as Apache ORO reads it: at `$` there may be one more line end.
fn compile(pattern: &str) -> Result<Regex, Box<fancy_regex::Error>> {
    RegexBuilder::new(&with_line_end(pattern))
        .backtrack_limit(BACKTRACK_MAX)
        .build()
        .map_err(Box::new)
}

fn with_line_end(pattern: &str) -> String {
    static MULTI_LINE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\(\?[a-z]*m").expect("the pattern is fixed"));
    if MULTI_LINE.is_match(pattern).unwrap_or(false) {
        return pattern.to_owned();
    }
    let mut out = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                out.push(c);
                out.extend(rest.next());
                continue;
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '$' if !in_class => {
                out.push_str(r"(?=\n?\z)");
                continue;
            }
            _ => {}
        }
        out.push(c);
    }
    out
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
    let late = OnceLock::new();
    let regex = if let Prepared::Regex(search) = &call.prepared {
        &search.0
    } else {
        // A pattern that cannot be read gives nothing.
        let Ok(regex) = compile(&call.argument(0, scope)) else {
            return;
        };
        late.get_or_init(|| regex)
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
    let matches: Vec<Captures<'_, str>> = regex
        .captures_iter(text.as_str())
        .map_while(Result::ok)
        .take(MATCHES_MAX)
        .collect();
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
    found: &Captures<'_, str>,
    template: &[Part<'_>],
    name: &str,
    scope: &mut Scope,
    out: &mut String,
) {
    let group = |number: usize| found.get(number).map_or("null", |group| group.as_str());
    for number in 0..found.len() {
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
