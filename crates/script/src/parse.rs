//! Where the references are in a text: JMeter's escaping and nesting rules.
//!
//! This is syntax only; what a function does is in `function.rs`, but which names are functions
//! matters here too. The rules were measured with JMeter 5.6.3:
//! - outside a reference a backslash is dropped before `\`, `,` and `$`, and kept before anything
//!   else, but only if the text has a reference at all: text without one is taken as it stands;
//! - a plain name ends at the first `}`, whatever is inside, and loses every backslash; so does the
//!   call of a function that JMeter does not have;
//! - an argument of a function is a text by itself that always loses its backslashes; commas,
//!   parentheses and references inside it have to be balanced;
//! - a reference that never ends loses its `${`, and the rest stands as text.

use std::iter::Peekable;
use std::str::Chars;

use crate::function;

/// Deepest nesting of functions in arguments of functions; a deeper one is an error, so that no
/// text can exhaust the stack.
const DEPTH_MAX: usize = 32;

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    /// Text.
    Text(String),
    /// `${name}`.
    Variable(String),
    /// `${__name(…)}`.
    Call(Call),
}

/// A call of a function that JMeter has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// The name, with its leading underscores.
    pub(crate) function: String,
    /// The arguments; none for both `${__name}` and `${__name()}`.
    pub(crate) arguments: Vec<Vec<Part>>,
}

/// What stops a text from being read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SyntaxError {
    /// No `}` after the arguments of this function.
    Unclosed(String),
    /// Functions nested deeper than [`DEPTH_MAX`].
    TooDeep,
}

/// Reads a text; without references the answer is at most one [`Part::Text`], as it stands.
pub(crate) fn parse(text: &str) -> Result<Vec<Part>, SyntaxError> {
    let parts = parse_compound(text, 0)?;
    let raw = matches!(parts.as_slice(), [] | [Part::Text(_)]);
    if !raw {
        return Ok(parts);
    }
    Ok(if text.is_empty() {
        Vec::new()
    } else {
        vec![Part::Text(text.to_owned())]
    })
}

/// Reads a text that a function evaluates: its backslashes are escapes, whether or not it has
/// references.
pub(crate) fn parse_evaluated(text: &str) -> Result<Vec<Part>, SyntaxError> {
    parse_compound(text, 0)
}

/// What a script with references may look like before their values are known: with something in the
/// place of each that reads as a number, and in quotes as a text; with nothing in the place of
/// functions, many of which only do something; with nothing in the place of all.
pub(crate) fn with_placeholders(text: &str) -> [String; 3] {
    let parts = parse(text).unwrap_or_default();
    [("1", "1"), ("1", ""), ("", "")].map(|(variable, call)| {
        let texts = parts.iter().map(|part| match part {
            Part::Text(text) => text.as_str(),
            Part::Variable(_) => variable,
            Part::Call(_) => call,
        });
        texts.collect()
    })
}

fn parse_compound(text: &str, depth: usize) -> Result<Vec<Part>, SyntaxError> {
    if depth > DEPTH_MAX {
        return Err(SyntaxError::TooDeep);
    }
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut after_dollar = false;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                push_escaped(&mut plain, rest.next());
                after_dollar = false;
            }
            '{' if after_dollar => {
                plain.pop();
                if !plain.is_empty() {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                }
                parts.push(parse_reference(&mut rest, depth)?);
                after_dollar = false;
            }
            _ => {
                plain.push(c);
                after_dollar = c == '$';
            }
        }
    }
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    Ok(parts)
}

fn push_escaped(plain: &mut String, escaped: Option<char>) {
    if !matches!(escaped, Some('\\' | ',' | '$')) {
        plain.push('\\');
    }
    plain.extend(escaped);
}

/// Reads what follows `${`.
fn parse_reference(rest: &mut Peekable<Chars<'_>>, depth: usize) -> Result<Part, SyntaxError> {
    let mut name = String::new();
    while let Some(c) = rest.next() {
        match c {
            '\\' => name.extend(rest.next()),
            // Spaces before the name are dropped, but only if there are parentheses.
            '(' if function::is_known(name.trim_start_matches(' ')) => {
                let name = name.trim_start_matches(' ').to_owned();
                let arguments = parse_arguments(rest, depth)?;
                return if rest.next() == Some('}') {
                    Ok(Part::Call(Call {
                        function: name,
                        arguments,
                    }))
                } else {
                    Err(SyntaxError::Unclosed(name))
                };
            }
            '}' if function::is_known(&name) => {
                return Ok(Part::Call(Call {
                    function: name,
                    arguments: Vec::new(),
                }));
            }
            '}' => return Ok(Part::Variable(name)),
            _ => name.push(c),
        }
    }
    Ok(Part::Text(name))
}

/// Reads what follows `(`, including the closing `)`.
fn parse_arguments(
    rest: &mut Peekable<Chars<'_>>,
    depth: usize,
) -> Result<Vec<Vec<Part>>, SyntaxError> {
    let mut arguments = Vec::new();
    let mut argument = String::new();
    let mut references = 0_usize;
    let mut parentheses = 0_usize;
    let mut after_dollar = false;
    while let Some(c) = rest.next() {
        match c {
            '\\' => {
                argument.push(c);
                argument.extend(rest.next());
                after_dollar = false;
                continue;
            }
            ',' if references == 0 => {
                arguments.push(parse_compound(&argument, depth + 1)?);
                argument.clear();
                continue;
            }
            ')' if references == 0 && parentheses == 0 => {
                if !(argument.is_empty() && arguments.is_empty()) {
                    arguments.push(parse_compound(&argument, depth + 1)?);
                }
                return Ok(arguments);
            }
            '{' if after_dollar => references += 1,
            '}' if references > 0 => references -= 1,
            '(' if references == 0 => parentheses += 1,
            ')' if references == 0 => parentheses -= 1,
            _ => {}
        }
        argument.push(c);
        after_dollar = c == '$';
    }
    // The text ended inside the arguments; the caller misses its `}` and says so.
    Ok(arguments)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    fn variable(name: &str) -> Part {
        Part::Variable(name.to_owned())
    }

    fn call(function: &str, arguments: &[&[Part]]) -> Part {
        Part::Call(Call {
            function: function.to_owned(),
            arguments: arguments.iter().map(|a| a.to_vec()).collect(),
        })
    }

    fn check(input: &str, expect: &[Part]) {
        assert_eq!(parse(input).unwrap(), expect, "{input}");
    }

    #[test]
    fn text_without_references_stands() {
        check("", &[]);
        check("plain $ { } text", &[text("plain $ { } text")]);
        check(r"\${idx} \\ \, x", &[text(r"\${idx} \\ \, x")]);
        check("${never ends", &[text("${never ends")]);
    }

    #[test]
    fn references_and_escapes() {
        check("a${b}c", &[text("a"), variable("b"), text("c")]);
        check("$${b}", &[text("$"), variable("b")]);
        check(r"\,\x\\${b}\", &[text(r",\x\"), variable("b"), text(r"\")]);
        check("${ b }", &[variable(" b ")]);
        check("${a${i}}", &[variable("a${i"), text("}")]);
        check(r"${a\}b}", &[variable("a}b")]);
        check("a${never ends", &[text("a"), text("never ends")]);
        check("${__jm__Loop__idx}", &[variable("__jm__Loop__idx")]);
    }

    #[test]
    fn calls_of_what_jmeter_does_not_have_are_variables() {
        check("${__nosuch(1)}", &[variable("__nosuch(1)")]);
        check("${__nosuch(${a})}", &[variable("__nosuch(${a"), text(")}")]);
        check("${__P (x)}", &[variable("__P (x)")]);
        check("${ __threadNum}", &[variable(" __threadNum")]);
        check("${ __P(x)}", &[call("__P", &[&[text("x")]])]);
    }

    #[test]
    fn calls() {
        check("${__UUID}", &[call("__UUID", &[])]);
        check("${__UUID()}", &[call("__UUID", &[])]);
        check("${__P(a,)}", &[call("__P", &[&[text("a")], &[]])]);
        check(
            r"${__P(a\,b,\c)}",
            &[call("__P", &[&[text("a,b")], &[text(r"\c")]])],
        );
        check(
            "${__P((a),(b)c)}",
            &[call("__P", &[&[text("(a)")], &[text("(b)c")]])],
        );
        check(
            "${__P(a${x},${__P(b,c)})}!",
            &[
                call(
                    "__P",
                    &[
                        &[text("a"), variable("x")],
                        &[call("__P", &[&[text("b")], &[text("c")]])],
                    ],
                ),
                text("!"),
            ],
        );
    }

    #[test]
    fn what_cannot_be_read() {
        let unclosed = Err(SyntaxError::Unclosed("__P".to_owned()));
        for input in ["${__P(a", "${__P(a)", "${__P(a) }", "${__P((a)}"] {
            assert_eq!(parse(input), unclosed, "{input}");
        }
        let deep = "${__P(".repeat(100) + &")}".repeat(100);
        assert_eq!(parse(&deep), Err(SyntaxError::TooDeep));
    }

    proptest! {
        #[test]
        fn any_text_gives_an_answer(input in r"([$\\{}(),a_P]|\PC){0,60}") {
            let _ = parse(&input);
        }

        #[test]
        fn text_without_dollar_stands(input in "[^$]{1,60}") {
            prop_assert_eq!(parse(&input).unwrap(), vec![Part::Text(input)]);
        }
    }
}
