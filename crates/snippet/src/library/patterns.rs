//! `java.util.regex`.

use std::rc::Rc;

use super::{integer, text_of, thing};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::machine::{Machine, Stop};
use crate::pattern::{BadReplacement, Matcher, Pattern};
use crate::value::Thing;

pub(super) static PATTERN: Class = Class {
    statics: &[
        between("compile", 1, 2, |_, _, arguments| {
            let flags = match arguments.get(1) {
                Some(flags) => {
                    super::convert::to_int(crate::arithmetic::Number::Long(integer(flags)?))
                }
                None => 0,
            };
            compile_pattern(&text_of(&arguments[0])?, flags)
        }),
        routine("matches", 2, |_, _, arguments| {
            let pattern = pattern_of(&arguments[0])?;
            Ok(Value::Bool(pattern.matches(&text_of(&arguments[1])?)))
        }),
        routine("quote", 1, |machine, _, arguments| {
            let text = text_of(&arguments[0])?;
            machine.text(format!("\\Q{text}\\E"))
        }),
    ],
    constants: &[
        ("CASE_INSENSITIVE", |_| Value::Int(2)),
        ("MULTILINE", |_| Value::Int(8)),
        ("DOTALL", |_| Value::Int(32)),
        ("COMMENTS", |_| Value::Int(4)),
    ],
    methods: &[&[
        routine("matcher", 1, |_, of, arguments| {
            let pattern = Rc::clone(thing!(of, Pattern));
            let matcher = Matcher::new(pattern, text_of(&arguments[0])?);
            Ok(Value::thing(Thing::Matcher(Rc::new(matcher))))
        }),
        routine("pattern", 0, |_, of, _| Ok(Value::text(of.to_text()))),
        between("split", 1, 2, |machine, of, arguments| {
            let pattern = Rc::clone(thing!(of, Pattern));
            split(machine, &pattern, &arguments[0], arguments.get(1))
        }),
    ]],
    ..Class::named("java.util.regex.Pattern")
};

pub(super) static MATCHER: Class = Class {
    methods: &[OF_MATCHERS],
    ..Class::named("java.util.regex.Matcher")
};

const OF_MATCHERS: &[Routine] = &[
    routine("find", 0, |machine, of, _| {
        let matcher = thing!(of, Matcher);
        machine.step(matcher.text.len() / 16)?;
        Ok(Value::Bool(matcher.find()))
    }),
    routine("matches", 0, |machine, of, _| {
        let matcher = thing!(of, Matcher);
        machine.step(matcher.text.len() / 16)?;
        Ok(Value::Bool(matcher.matches()))
    }),
    routine("reset", 0, |_, of, _| {
        thing!(of, Matcher).reset();
        Ok(of.clone())
    }),
    between("group", 0, 1, |machine, of, arguments| {
        let matcher = thing!(of, Matcher);
        match group(matcher, arguments)? {
            Some((start, end)) => machine.text(matcher.text[start..end].to_owned()),
            None => Ok(Value::Null),
        }
    }),
    routine("groupCount", 0, |_, of, _| {
        Ok(super::int_value(thing!(of, Matcher).group_count()))
    }),
    between("start", 0, 1, |_, of, arguments| {
        let matcher = thing!(of, Matcher);
        Ok(match group(matcher, arguments)? {
            Some((start, _)) => super::int_value(matcher.text[..start].encode_utf16().count()),
            None => Value::Int(-1),
        })
    }),
    between("end", 0, 1, |_, of, arguments| {
        let matcher = thing!(of, Matcher);
        Ok(match group(matcher, arguments)? {
            Some((_, end)) => super::int_value(matcher.text[..end].encode_utf16().count()),
            None => Value::Int(-1),
        })
    }),
    routine("getCount", 0, |_, of, _| {
        let matcher = thing!(of, Matcher);
        Ok(super::int_value(
            matcher.pattern.find_all(&matcher.text).len(),
        ))
    }),
    routine("size", 0, |_, of, _| {
        let matcher = thing!(of, Matcher);
        Ok(super::int_value(
            matcher.pattern.find_all(&matcher.text).len(),
        ))
    }),
    routine("findAll", 0, |machine, of, _| {
        let all = all_groups(thing!(of, Matcher));
        machine.list(all)
    }),
    routine("each", 1, |machine, of, arguments| {
        for found in all_groups(thing!(of, Matcher)) {
            machine.call_value(&arguments[0], &[found])?;
        }
        Ok(of.clone())
    }),
    routine("collect", 1, |machine, of, arguments| {
        let mut collected = Vec::new();
        for found in all_groups(thing!(of, Matcher)) {
            collected.push(machine.call_value(&arguments[0], &[found])?);
        }
        machine.list(collected)
    }),
    routine("hasGroup", 0, |_, of, _| {
        Ok(Value::Bool(thing!(of, Matcher).group_count() > 0))
    }),
    routine("replaceAll", 1, |machine, of, arguments| {
        let matcher = thing!(of, Matcher);
        let with = text_of(&arguments[0])?;
        let replaced = matcher.pattern.replace(&matcher.text, &with, true);
        machine.text(replaced.map_err(wrong_replacement)?)
    }),
    routine("replaceFirst", 1, |machine, of, arguments| {
        let matcher = thing!(of, Matcher);
        let with = text_of(&arguments[0])?;
        let replaced = matcher.pattern.replace(&matcher.text, &with, false);
        machine.text(replaced.map_err(wrong_replacement)?)
    }),
];

pub(super) fn wrong_replacement(why: BadReplacement) -> Stop {
    match why {
        BadReplacement::NoGroup(group) => Stop::thrown(
            "java.lang.IndexOutOfBoundsException",
            format!("No group {group}"),
        ),
        BadReplacement::Malformed(says) => Stop::thrown("java.lang.IllegalArgumentException", says),
        BadReplacement::TooLong => Stop::Bound("it takes too much memory"),
    }
}

fn group(matcher: &Matcher, arguments: &[Value]) -> Result<Option<(usize, usize)>, Stop> {
    let group = match arguments.first() {
        Some(group) => usize::try_from(integer(group)?).unwrap_or(usize::MAX),
        None => 0,
    };
    if group > matcher.group_count() {
        let says = format!("No group {group}");
        return Err(Stop::thrown("java.lang.IndexOutOfBoundsException", says));
    }
    if !matcher.has_found() {
        let says = "No match found";
        return Err(Stop::thrown("java.lang.IllegalStateException", says));
    }
    Ok(matcher.group(group))
}

/// All matches: texts, or lists of texts where there are groups.
pub(super) fn all_groups(matcher: &Matcher) -> Vec<Value> {
    let part = |group: Option<(usize, usize)>| match group {
        Some((start, end)) => Value::text(&matcher.text[start..end]),
        None => Value::Null,
    };
    let all = matcher.pattern.find_all(&matcher.text).into_iter();
    all.map(|found| {
        if found.len() == 1 {
            part(found[0])
        } else {
            Value::list(found.into_iter().map(part).collect())
        }
    })
    .collect()
}

fn compiled(source: &str, flags: i32) -> Result<Rc<Pattern>, Stop> {
    Pattern::known(source, flags).map_err(|says| {
        Stop::thrown(
            "java.util.regex.PatternSyntaxException",
            format!("{says} near index 0\n{source}"),
        )
    })
}

pub(crate) fn compile_pattern(source: &str, flags: i32) -> Answer {
    Ok(Value::thing(Thing::Pattern(compiled(source, flags)?)))
}

/// A pattern, or a text as one.
pub(crate) fn pattern_of(value: &Value) -> Result<Rc<Pattern>, Stop> {
    match value.as_thing() {
        Some(Thing::Pattern(pattern)) => Ok(Rc::clone(pattern)),
        _ => compiled(&text_of(value)?, 0),
    }
}

/// `==~`: whether all of a text matches; in JEXL also whether it is among some.
pub(crate) fn matches(left: &Value, right: &Value) -> Result<bool, Stop> {
    if let Some(list) = right.as_list() {
        let items = list.items.borrow();
        return Ok(items
            .iter()
            .any(|item| crate::arithmetic::equal(item, left)));
    }
    if let Some(map) = right.as_map() {
        return Ok(super::access::entry(&map.borrow(), left).is_some());
    }
    if left.is_null() {
        return Ok(false);
    }
    Ok(pattern_of(right)?.matches(&left.to_text()))
}

pub(super) fn split(
    machine: &mut Machine<'_>,
    pattern: &Pattern,
    text: &Value,
    limit: Option<&Value>,
) -> Answer {
    let text = text_of(text)?;
    machine.takes_bytes(text.len())?;
    let limit = match limit {
        Some(limit) => integer(limit)?,
        None => 0,
    };
    let parts = match usize::try_from(limit) {
        Ok(limit) => pattern.split(&text, limit),
        // A negative one keeps what is empty at the end.
        Err(_) => pattern.split(&text, usize::MAX),
    };
    machine.takes_bytes(parts.len() * size_of::<Value>())?;
    let parts = parts.into_iter().map(Value::text);
    Ok(Value::array("String", parts.collect()))
}
