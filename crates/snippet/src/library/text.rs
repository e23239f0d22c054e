//! Texts: `String`, `Character`.

use std::sync::Arc;

use super::collections::OF_COLLECTIONS;
use super::format::formatted;
use super::operators::OPERATORS;
use super::{builders, bytes_of, int_value, integer, numbers, patterns, strings, text_of};
use crate::Value;
use crate::arithmetic;
use crate::class::{Answer, Class, MANY, Routine, between, routine};
use crate::machine::{Machine, Stop};
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[
    &STRING,
    &builders::BUILDER,
    &builders::STRING_BUFFER,
    &CHARACTER,
    &patterns::PATTERN,
    &patterns::MATCHER,
];

pub(super) static STRING: Class = Class {
    make: Some(between(
        "String",
        0,
        4,
        |machine, _, arguments| match arguments.first() {
            None => Ok(Value::text("")),
            Some(Value::Text(text)) => machine.text(text.to_string()),
            Some(bytes) if bytes.as_list().is_some() => from_bytes(machine, bytes, &arguments[1..]),
            Some(other) => machine.text(text_of(other)?.to_string()),
        },
    )),
    statics: &[
        routine("valueOf", 1, |machine, _, arguments| {
            machine.text(arguments[0].to_text())
        }),
        between("format", 1, MANY, |machine, _, arguments| {
            let text = formatted(&text_of(&arguments[0])?, &arguments[1..])?;
            machine.text(text)
        }),
        between("join", 2, MANY, |machine, _, arguments| {
            let by = text_of(&arguments[0])?;
            let items = match &arguments[1..] {
                [one] if one.as_list().is_some() => super::items(machine, one)?,
                several => several.to_vec(),
            };
            join(machine, &items, &by)
        }),
    ],
    methods: &[
        OF_STRINGS,
        GROOVY,
        strings::OF_STRINGS,
        OPERATORS,
        OF_COLLECTIONS,
    ],
    ..Class::named("java.lang.String")
};

pub(super) static CHARACTER: Class = Class {
    statics: &[
        routine("isDigit", 1, |_, _, arguments| {
            Ok(Value::Bool(letter(&arguments[0])?.is_numeric()))
        }),
        routine("isLetter", 1, |_, _, arguments| {
            Ok(Value::Bool(letter(&arguments[0])?.is_alphabetic()))
        }),
        routine("isLetterOrDigit", 1, |_, _, arguments| {
            Ok(Value::Bool(letter(&arguments[0])?.is_alphanumeric()))
        }),
        routine("isUpperCase", 1, |_, _, arguments| {
            Ok(Value::Bool(letter(&arguments[0])?.is_uppercase()))
        }),
        routine("isLowerCase", 1, |_, _, arguments| {
            Ok(Value::Bool(letter(&arguments[0])?.is_lowercase()))
        }),
        routine("isWhitespace", 1, |_, _, arguments| {
            Ok(Value::Bool(letter(&arguments[0])?.is_whitespace()))
        }),
        routine("toUpperCase", 1, |_, _, arguments| {
            let upper = letter(&arguments[0])?.to_uppercase().next();
            Ok(upper.map_or(Value::Null, Value::Char))
        }),
        routine("toLowerCase", 1, |_, _, arguments| {
            let lower = letter(&arguments[0])?.to_lowercase().next();
            Ok(lower.map_or(Value::Null, Value::Char))
        }),
        routine("toString", 1, |machine, _, arguments| {
            machine.text(arguments[0].to_text())
        }),
        routine("valueOf", 1, |_, _, arguments| Ok(arguments[0].clone())),
        routine("getNumericValue", 1, |_, _, arguments| {
            let digit = letter(&arguments[0])?.to_digit(36);
            Ok(Value::Int(digit.map_or(-1, u32::cast_signed)))
        }),
    ],
    methods: &[&[
        routine("charValue", 0, |_, of, _| Ok(of.clone())),
        routine("compareTo", 1, compare_to),
    ]],
    ..Class::named("java.lang.Character")
};

pub(super) fn letter(value: &Value) -> Result<char, Stop> {
    match value {
        Value::Char(c) => Ok(*c),
        Value::Text(text) => text
            .chars()
            .next()
            .ok_or_else(|| Stop::unknown("a character of an empty text")),
        other => {
            let code = u32::try_from(integer(other)?).ok();
            Ok(code.and_then(char::from_u32).unwrap_or('\u{fffd}'))
        }
    }
}

fn compare_to(_: &mut Machine<'_>, of: &Value, arguments: &[Value]) -> Answer {
    // Java gives the distance of the first characters that differ.
    if let (Value::Text(left), Value::Text(right)) = (of, &arguments[0]) {
        return Ok(Value::Int(distance(left, right)));
    }
    let ordering = arithmetic::compare(of, &arguments[0])?;
    Ok(Value::Int(ordering as i32))
}

fn distance(left: &str, right: &str) -> i32 {
    let mut both = left.encode_utf16().zip(right.encode_utf16());
    if let Some((left, right)) = both.find(|(left, right)| left != right) {
        return i32::from(left) - i32::from(right);
    }
    let units = |text: &str| text.encode_utf16().count().cast_signed();
    (units(left) - units(right)) as i32
}

/// `new String(array)`, with `from, length`, with a character set, or with both.
fn from_bytes(machine: &mut Machine<'_>, bytes: &Value, rest: &[Value]) -> Answer {
    let is_characters = bytes
        .as_list()
        .is_some_and(|list| list.array_of.as_deref() == Some("char"));
    let (bounds, charset) = rest.split_at(if rest.len() < 2 { 0 } else { 2 });
    let within = |length: usize| super::streams::part(bounds, length);
    if is_characters {
        let items = super::items(machine, bytes)?;
        let (from, length) = within(items.len())?;
        let part = items.iter().skip(from).take(length);
        return machine.text(part.map(Value::to_text).collect());
    }
    let bytes = bytes_of(bytes)?;
    let (from, length) = within(bytes.len())?;
    let text = super::charsets::decoded(&bytes[from..from + length], charset.first())?;
    machine.text(text)
}

/// Where the character with this number begins; the end for the one after the last.
pub(super) fn offset(text: &str, at: usize) -> Option<usize> {
    if text.is_ascii() {
        return (at <= text.len()).then_some(at);
    }
    let mut before = 0;
    for (offset, c) in text.char_indices() {
        if before >= at {
            // Java could cut a character in halves.
            return (before == at).then_some(offset);
        }
        before += c.len_utf16();
    }
    (before == at).then_some(text.len())
}

/// The character with this number.
pub(super) fn character(text: &str, at: usize) -> Option<char> {
    text[offset(text, at)?..].chars().next()
}

pub(super) fn length(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        // Characters of four bytes are two of Java's. Few enough at a time to be counted in a byte.
        let of_four = |bytes: &[u8]| bytes.iter().map(|byte| u8::from(*byte >= 0xf0)).sum::<u8>();
        let more = text.as_bytes().chunks(255).map(of_four);
        text.chars().count() + more.map(usize::from).sum::<usize>()
    }
}

fn character_at(text: &str, byte: usize) -> usize {
    length(&text[..byte])
}

/// The part of a text from one character to before another.
pub(super) fn part(text: &str, from: i64, to: i64) -> Result<&str, Stop> {
    let whole = length(text);
    let begin = usize::try_from(from).ok().and_then(|at| offset(text, at));
    let end = usize::try_from(to).ok().and_then(|at| offset(text, at));
    match (begin, end) {
        (Some(begin), Some(end)) if begin <= end => Ok(&text[begin..end]),
        _ => Err(Stop::thrown(
            "java.lang.StringIndexOutOfBoundsException",
            format!("begin {from}, end {to}, length {whole}"),
        )),
    }
}

fn index_of(text: &str, what: &Value, from: Option<&Value>) -> Answer {
    let what = match what {
        Value::Int(_) => letter(what)?.to_string(),
        other => text_of(other)?.to_string(),
    };
    let from = match from {
        Some(from) => usize::try_from(integer(from)?).unwrap_or(0),
        None => 0,
    };
    let Some(begin) = offset(text, from.min(length(text))) else {
        return Ok(Value::Int(-1));
    };
    Ok(match text[begin..].find(&what) {
        Some(found) => int_value(character_at(text, begin + found)),
        None => Value::Int(-1),
    })
}

fn last_index_of(text: &str, what: &Value) -> Answer {
    let what = match what {
        Value::Int(_) => letter(what)?.to_string(),
        other => text_of(other)?.to_string(),
    };
    Ok(match text.rfind(&what) {
        Some(found) => int_value(character_at(text, found)),
        None => Value::Int(-1),
    })
}

/// Java's `trim`: what is not above a space.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

pub(super) fn join(machine: &mut Machine<'_>, items: &[Value], by: &str) -> Answer {
    machine.step(items.len())?;
    let mut texts: Vec<Arc<str>> = Vec::with_capacity(items.len());
    for item in items {
        texts.push(match item {
            Value::Text(text) => Arc::clone(text),
            other => machine.shown(other)?.into(),
        });
    }
    let bytes: usize = texts.iter().map(|text| text.len() + by.len()).sum();
    machine.takes_bytes(bytes)?;
    Ok(Value::text(texts.join(by)))
}

pub(super) const OF_STRINGS: &[Routine] = &[
    routine("length", 0, |_, of, _| Ok(int_value(length(&text_of(of)?)))),
    routine("size", 0, |_, of, _| Ok(int_value(length(&text_of(of)?)))),
    routine("isEmpty", 0, |_, of, _| {
        Ok(Value::Bool(text_of(of)?.is_empty()))
    }),
    routine("isBlank", 0, |_, of, _| {
        Ok(Value::Bool(text_of(of)?.trim().is_empty()))
    }),
    routine("charAt", 1, |_, of, arguments| {
        let text = text_of(of)?;
        let at = integer(&arguments[0])?;
        let place = usize::try_from(at).ok();
        let found = place.and_then(|at| character(&text, at));
        found.map(Value::Char).ok_or_else(|| {
            Stop::thrown(
                "java.lang.StringIndexOutOfBoundsException",
                format!("index {at}, length {}", length(&text)),
            )
        })
    }),
    routine("codePointAt", 1, |_, of, arguments| {
        let text = text_of(of)?;
        let at = usize::try_from(integer(&arguments[0])?).unwrap_or(usize::MAX);
        Ok(text
            .chars()
            .nth(at)
            .map_or(Value::Null, |c| Value::Int(c as i32)))
    }),
    between("substring", 1, 2, |machine, of, arguments| {
        let text = text_of(of)?;
        let from = integer(&arguments[0])?;
        let to = match arguments.get(1) {
            Some(to) => integer(to)?,
            None => length(&text).cast_signed() as i64,
        };
        let part = part(&text, from, to)?.to_owned();
        machine.text(part)
    }),
    routine("subSequence", 2, |machine, of, arguments| {
        let text = text_of(of)?;
        let part = part(&text, integer(&arguments[0])?, integer(&arguments[1])?)?.to_owned();
        machine.text(part)
    }),
    between("indexOf", 1, 2, |_, of, arguments| {
        index_of(&text_of(of)?, &arguments[0], arguments.get(1))
    }),
    routine("lastIndexOf", 1, |_, of, arguments| {
        last_index_of(&text_of(of)?, &arguments[0])
    }),
    routine("contains", 1, |_, of, arguments| {
        let what = text_of(&arguments[0])?;
        Ok(Value::Bool(text_of(of)?.contains(&*what)))
    }),
    between("startsWith", 1, 2, |_, of, arguments| {
        let text = text_of(of)?;
        let what = text_of(&arguments[0])?;
        let from = match arguments.get(1) {
            Some(from) => usize::try_from(integer(from)?).ok(),
            None => Some(0),
        };
        let begin = from.and_then(|from| offset(&text, from));
        Ok(Value::Bool(
            begin.is_some_and(|begin| text[begin..].starts_with(&*what)),
        ))
    }),
    routine("endsWith", 1, |_, of, arguments| {
        let what = text_of(&arguments[0])?;
        Ok(Value::Bool(text_of(of)?.ends_with(&*what)))
    }),
    routine("equalsIgnoreCase", 1, |_, of, arguments| {
        let same = !arguments[0].is_null()
            && text_of(of)?.to_lowercase() == arguments[0].to_text().to_lowercase();
        Ok(Value::Bool(same))
    }),
    routine("contentEquals", 1, |_, of, arguments| {
        Ok(Value::Bool(*text_of(of)? == *arguments[0].to_text()))
    }),
    routine("compareTo", 1, compare_to),
    routine("compareToIgnoreCase", 1, |_, of, arguments| {
        let left = text_of(of)?.to_lowercase();
        let right = text_of(&arguments[0])?.to_lowercase();
        Ok(Value::Int(distance(&left, &right)))
    }),
    routine("trim", 0, |machine, of, _| {
        machine.text(trimmed(&text_of(of)?).to_owned())
    }),
    routine("strip", 0, |machine, of, _| {
        machine.text(text_of(of)?.trim().to_owned())
    }),
    between("toUpperCase", 0, 1, |machine, of, _| {
        machine.text(text_of(of)?.to_uppercase())
    }),
    between("toLowerCase", 0, 1, |machine, of, _| {
        machine.text(text_of(of)?.to_lowercase())
    }),
    routine("replace", 2, |machine, of, arguments| {
        let text = text_of(of)?;
        let (what, with) = (text_of(&arguments[0])?, text_of(&arguments[1])?);
        let count = text.matches(&*what).count();
        machine.takes_bytes(text.len() + count.saturating_mul(with.len()))?;
        Ok(Value::text(text.replace(&*what, &with)))
    }),
    routine("replaceAll", 2, |machine, of, arguments| {
        replace(machine, of, arguments, true)
    }),
    routine("replaceFirst", 2, |machine, of, arguments| {
        replace(machine, of, arguments, false)
    }),
    routine("matches", 1, |machine, of, arguments| {
        let text = text_of(of)?;
        machine.step(text.len() / 16)?;
        Ok(Value::Bool(
            patterns::pattern_of(&arguments[0])?.matches(&text),
        ))
    }),
    between("split", 0, 2, |machine, of, arguments| {
        let Some(pattern) = arguments.first() else {
            // Groovy's: words.
            let text = text_of(of)?;
            machine.takes_bytes(text.len() * size_of::<Value>())?;
            let words = text.split_whitespace().map(Value::text).collect();
            return Ok(Value::array("String", words));
        };
        let pattern = patterns::pattern_of(pattern)?;
        patterns::split(machine, &pattern, of, arguments.get(1))
    }),
    routine("concat", 1, |machine, of, arguments| {
        let text = format!("{}{}", text_of(of)?, text_of(&arguments[0])?);
        machine.text(text)
    }),
    routine("repeat", 1, |machine, of, arguments| {
        let text = text_of(of)?;
        let times = usize::try_from(integer(&arguments[0])?).unwrap_or(0);
        machine.takes_bytes(text.len().saturating_mul(times))?;
        Ok(Value::text(text.repeat(times)))
    }),
    between("getBytes", 0, 1, |machine, of, arguments| {
        let bytes = super::charsets::encoded(&text_of(of)?, arguments.first())?;
        super::made_bytes(machine, &bytes)
    }),
    routine("toCharArray", 0, |machine, of, _| {
        let text = text_of(of)?;
        machine.takes_bytes(text.len() * size_of::<Value>())?;
        Ok(Value::array(
            "char",
            text.chars().map(Value::Char).collect(),
        ))
    }),
    routine("intern", 0, |_, of, _| Ok(of.clone())),
    between("formatted", 0, MANY, |machine, of, arguments| {
        let text = formatted(&text_of(of)?, arguments)?;
        machine.text(text)
    }),
];

fn replace(machine: &mut Machine<'_>, of: &Value, arguments: &[Value], is_all: bool) -> Answer {
    let text = text_of(of)?;
    let pattern = patterns::pattern_of(&arguments[0])?;
    machine.takes_bytes(text.len())?;
    if let Some(Thing::Closure(_)) = arguments[1].as_thing() {
        return replace_by_closure(machine, &text, &pattern, &arguments[1], is_all);
    }
    let with = text_of(&arguments[1])?;
    let replaced = pattern.replace(&text, &with, is_all);
    machine.text(replaced.map_err(patterns::wrong_replacement)?)
}

/// Groovy: a closure says what stands for each match.
fn replace_by_closure(
    machine: &mut Machine<'_>,
    text: &Arc<str>,
    pattern: &crate::pattern::Pattern,
    closure: &Value,
    is_all: bool,
) -> Answer {
    let mut out = String::new();
    let mut last = 0;
    for found in pattern.find_all(text) {
        machine.step(1)?;
        let groups = found.iter().map(|group| match group {
            Some((start, end)) => Value::text(&text[*start..*end]),
            None => Value::Null,
        });
        let groups: Vec<Value> = groups.collect();
        let Some((start, end)) = found[0] else { break };
        let argument = match groups.as_slice() {
            [whole] => whole.clone(),
            _ => Value::list(groups),
        };
        let with = machine.call_value(closure, &[argument])?;
        out.push_str(&text[last..start]);
        out.push_str(&with.to_text());
        machine.takes_bytes(with.bytes_of_text())?;
        last = end;
        if !is_all {
            break;
        }
    }
    out.push_str(&text[last..]);
    machine.text(out)
}

/// What Groovy adds to texts.
const GROOVY: &[Routine] = &[
    routine("toInteger", 0, |_, of, _| {
        numbers::parsed(trimmed(&text_of(of)?), "Integer")
    }),
    routine("toLong", 0, |_, of, _| {
        numbers::parsed(trimmed(&text_of(of)?), "Long")
    }),
    routine("toDouble", 0, |_, of, _| {
        numbers::parsed(trimmed(&text_of(of)?), "Double")
    }),
    routine("toFloat", 0, |_, of, _| {
        numbers::parsed(trimmed(&text_of(of)?), "Double")
    }),
    routine("toBigDecimal", 0, |_, of, _| {
        numbers::parsed(trimmed(&text_of(of)?), "BigDecimal")
    }),
    routine("toBigInteger", 0, |_, of, _| {
        numbers::parsed(trimmed(&text_of(of)?), "BigDecimal")
    }),
    routine("decodeBase64", 0, |machine, of, _| {
        super::codec::from_base64(machine, &text_of(of)?)
    }),
    routine("toBoolean", 0, |_, of, _| {
        let text = text_of(of)?.trim().to_lowercase();
        Ok(Value::Bool(matches!(&*text, "true" | "y" | "1")))
    }),
    routine("isNumber", 0, |_, of, _| {
        Ok(Value::Bool(
            numbers::parsed(trimmed(&text_of(of)?), "BigDecimal").is_ok(),
        ))
    }),
    routine("isInteger", 0, |_, of, _| {
        Ok(Value::Bool(
            numbers::parsed(trimmed(&text_of(of)?), "Integer").is_ok(),
        ))
    }),
    routine("isLong", 0, |_, of, _| {
        Ok(Value::Bool(
            numbers::parsed(trimmed(&text_of(of)?), "Long").is_ok(),
        ))
    }),
    between("tokenize", 0, 1, |machine, of, arguments| {
        let text = text_of(of)?;
        let by = match arguments.first() {
            Some(by) => text_of(by)?.to_string(),
            None => " \t\n\r\u{c}".to_owned(),
        };
        let parts = || {
            let parts = text.split(|c| by.contains(c));
            parts.filter(|part| !part.is_empty())
        };
        machine.takes_bytes(text.len() + parts().count() * size_of::<Value>())?;
        let parts = parts().map(Value::text).collect();
        machine.list(parts)
    }),
    between("padLeft", 1, 2, |machine, of, arguments| {
        pad(machine, of, arguments, true)
    }),
    between("padRight", 1, 2, |machine, of, arguments| {
        pad(machine, of, arguments, false)
    }),
    routine("reverse", 0, |machine, of, _| {
        machine.text(text_of(of)?.chars().rev().collect())
    }),
    routine("capitalize", 0, |machine, of, _| {
        let text = text_of(of)?;
        let mut letters = text.chars();
        let first = letters.next().into_iter().flat_map(char::to_uppercase);
        machine.text(first.chain(letters).collect())
    }),
    routine("readLines", 0, |machine, of, _| {
        let text = text_of(of)?;
        machine.takes_bytes(text.len() + text.lines().count() * size_of::<Value>())?;
        let lines = text.lines().map(Value::text).collect();
        machine.list(lines)
    }),
    routine("eachLine", 1, |machine, of, arguments| {
        let text = text_of(of)?;
        let mut last = Value::Null;
        for line in text.lines() {
            machine.step(1)?;
            last = machine.call_value(&arguments[0], &[Value::text(line)])?;
        }
        Ok(last)
    }),
    routine("toList", 0, |machine, of, _| {
        let items = super::items(machine, of)?;
        machine.list(items)
    }),
    routine("each", 1, |machine, of, arguments| {
        for item in super::items(machine, of)? {
            machine.call_value(&arguments[0], &[item])?;
        }
        Ok(of.clone())
    }),
    routine("collect", 1, |machine, of, arguments| {
        let mut collected = Vec::new();
        for item in super::items(machine, of)? {
            collected.push(machine.call_value(&arguments[0], &[item])?);
        }
        machine.list(collected)
    }),
    routine("take", 1, |machine, of, arguments| {
        let count = usize::try_from(integer(&arguments[0])?).unwrap_or(0);
        machine.text(text_of(of)?.chars().take(count).collect())
    }),
    routine("drop", 1, |machine, of, arguments| {
        let count = usize::try_from(integer(&arguments[0])?).unwrap_or(0);
        machine.text(text_of(of)?.chars().skip(count).collect())
    }),
    routine("count", 1, |_, of, arguments| {
        let what = text_of(&arguments[0])?;
        Ok(int_value(text_of(of)?.matches(&*what).count()))
    }),
    routine("find", 1, |machine, of, arguments| {
        if let Some(Thing::Closure(_)) = arguments[0].as_thing() {
            return of_characters(machine, of, "find", arguments);
        }
        let text = text_of(of)?;
        let found = patterns::pattern_of(&arguments[0])?.find(&text, 0);
        Ok(match found.and_then(|found| found[0]) {
            Some((start, end)) => Value::text(&text[start..end]),
            None => Value::Null,
        })
    }),
    routine("findAll", 1, |machine, of, arguments| {
        if let Some(Thing::Closure(_)) = arguments[0].as_thing() {
            return of_characters(machine, of, "findAll", arguments);
        }
        let text = text_of(of)?;
        let all = patterns::pattern_of(&arguments[0])?.find_all(&text);
        let all = all.iter().filter_map(|found| found[0]);
        let all = all.map(|(start, end)| Value::text(&text[start..end]));
        machine.list(all.collect())
    }),
    routine("sha256", 0, |machine, of, _| {
        let hex = super::codec::digest("SHA-256", text_of(of)?.as_bytes())?;
        machine.text(super::codec::hex(&hex))
    }),
    routine("md5", 0, |machine, of, _| {
        let hex = super::codec::digest("MD5", text_of(of)?.as_bytes())?;
        machine.text(super::codec::hex(&hex))
    }),
];

/// What a list of the text's characters gives.
fn of_characters(machine: &mut Machine<'_>, of: &Value, name: &str, by: &[Value]) -> Answer {
    let items = super::items(machine, of)?;
    let characters = machine.list(items)?;
    super::call(machine, &characters, name, by)
}

/// How many characters a text lacks to a width, and what stands in their place.
pub(super) fn padding(
    machine: &mut Machine<'_>,
    text: &str,
    arguments: &[Value],
) -> Result<(usize, Arc<str>), Stop> {
    let width = usize::try_from(integer(&arguments[0])?).unwrap_or(0);
    let with = match arguments.get(1) {
        Some(with) => text_of(with)?,
        None => " ".into(),
    };
    let more = width.saturating_sub(length(text));
    machine.takes_bytes(more.saturating_mul(4))?;
    Ok((more, with))
}

fn pad(machine: &mut Machine<'_>, of: &Value, arguments: &[Value], is_left: bool) -> Answer {
    let text = text_of(of)?;
    let (more, with) = padding(machine, &text, arguments)?;
    let padding: String = with.chars().cycle().take(more).collect();
    machine.text(if is_left {
        format!("{padding}{text}")
    } else {
        format!("{text}{padding}")
    })
}
