//! Texts that grow: `StringBuilder` and `StringBuffer`.

use std::cell::RefCell;
use std::rc::Rc;

use super::text::{OF_STRINGS, length, offset};
use super::{integer, thing};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::machine::{Machine, Stop};
use crate::value::Thing;

pub(super) static BUILDER: Class = Class {
    make: Some(between("StringBuilder", 0, 1, make_builder)),
    methods: &[OF_BUILDERS, OF_STRINGS],
    ..Class::named("java.lang.StringBuilder")
};

pub(super) static STRING_BUFFER: Class = Class {
    make: Some(between("StringBuffer", 0, 1, make_builder)),
    ..Class::named("java.lang.StringBuffer")
};

fn make_builder(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let text = match arguments.first() {
        Some(Value::Text(text)) => text.to_string(),
        _ => String::new(),
    };
    machine.takes_bytes(text.len())?;
    Ok(Value::thing(Thing::Builder(Rc::new(RefCell::new(text)))))
}

const OF_BUILDERS: &[Routine] = &[
    routine("append", 1, |machine, of, arguments| {
        let more = arguments[0].to_text();
        machine.takes_bytes(more.len())?;
        thing!(of, Builder).borrow_mut().push_str(&more);
        Ok(of.clone())
    }),
    routine("insert", 2, |machine, of, arguments| {
        let more = arguments[1].to_text();
        machine.takes_bytes(more.len())?;
        let mut text = thing!(of, Builder).borrow_mut();
        let at = usize::try_from(integer(&arguments[0])?).ok();
        match at.and_then(|at| offset(&text, at)) {
            Some(at) => text.insert_str(at, &more),
            None => {
                return Err(Stop::thrown(
                    "java.lang.StringIndexOutOfBoundsException",
                    format!("offset {}", arguments[0].to_text()),
                ));
            }
        }
        drop(text);
        Ok(of.clone())
    }),
    routine("reverse", 0, |_, of, _| {
        let mut text = thing!(of, Builder).borrow_mut();
        *text = text.chars().rev().collect();
        drop(text);
        Ok(of.clone())
    }),
    routine("setLength", 1, |_, of, arguments| {
        let mut text = thing!(of, Builder).borrow_mut();
        let at = usize::try_from(integer(&arguments[0])?).ok();
        if let Some(end) = at.and_then(|at| offset(&text, at)) {
            text.truncate(end);
        }
        Ok(Value::Void)
    }),
    routine("deleteCharAt", 1, |_, of, arguments| {
        let at = integer(&arguments[0])?;
        delete(of, at, at + 1)
    }),
    routine("delete", 2, |_, of, arguments| {
        delete(of, integer(&arguments[0])?, integer(&arguments[1])?)
    }),
];

fn delete(of: &Value, from: i64, to: i64) -> Answer {
    let mut text = thing!(of, Builder).borrow_mut();
    let whole = length(&text);
    let begin = usize::try_from(from).ok().and_then(|at| offset(&text, at));
    let end = usize::try_from(to)
        .ok()
        .and_then(|at| offset(&text, at.min(whole)));
    match (begin, end) {
        (Some(begin), Some(end)) if begin <= end => {
            text.replace_range(begin..end, "");
        }
        _ => {
            return Err(Stop::thrown(
                "java.lang.StringIndexOutOfBoundsException",
                format!("start {from}, end {to}, length {whole}"),
            ));
        }
    }
    drop(text);
    Ok(of.clone())
}
