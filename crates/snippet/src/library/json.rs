//! `JsonSlurper` and `JsonOutput` of Groovy.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::{bytes_of, text_of, thing};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::key_order::KeyOrder;
use crate::machine::{BYTES_MAX, Machine, Stop};
use crate::number::Decimal;
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[&SLURPER, &OUTPUT, &BUILDER];

static SLURPER: Class = Class {
    make: Some(routine("JsonSlurper", 0, |_, _, _| {
        Ok(super::names::single(&SLURPER))
    })),
    methods: &[&[
        routine("parseText", 1, |machine, _, arguments| {
            let text = text_of(&arguments[0])?;
            read(machine, &text)
        }),
        routine("parse", 1, |machine, _, arguments| {
            if arguments[0].as_list().is_none() {
                return Err(Stop::unknown(
                    "JSON that is read from something other than bytes",
                ));
            }
            let bytes = bytes_of(&arguments[0])?;
            read(machine, &String::from_utf8_lossy(&bytes))
        }),
    ]],
    ..Class::named("groovy.json.JsonSlurper")
};

static OUTPUT: Class = Class {
    make: Some(routine("JsonOutput", 0, |_, _, _| {
        Ok(super::names::single(&OUTPUT))
    })),
    // Groovy calls a static method of an object, too.
    methods: &[OF_OUTPUT],
    statics: OF_OUTPUT,
    ..Class::named("groovy.json.JsonOutput")
};

const OF_OUTPUT: &[Routine] = &[
    routine("toJson", 1, |machine, _, arguments| {
        let mut out = String::new();
        write(machine, &arguments[0], &mut out, DEPTH_MAX)?;
        machine.text(out)
    }),
    routine("prettyPrint", 1, |machine, _, arguments| {
        let text = text_of(&arguments[0])?;
        let value = read(machine, &text)?;
        let mut out = String::new();
        write_pretty(machine, &value, &mut out, 0)?;
        machine.text(out)
    }),
];

/// Of a value that is there; what closures would build is not known.
pub(super) static BUILDER: Class = Class {
    make: Some(between("JsonBuilder", 0, 1, |_, _, arguments| {
        let content = arguments.first().cloned().unwrap_or(Value::Null);
        Ok(Value::thing(Thing::Json(Rc::new(RefCell::new(content)))))
    })),
    methods: &[&[
        routine("getContent", 0, |_, of, _| {
            Ok(thing!(of, Json).borrow().clone())
        }),
        routine("call", 1, |_, of, arguments| {
            if let Some(Thing::Closure(_)) = arguments[0].as_thing() {
                return Err(Stop::unknown("JSON that closures build"));
            }
            thing!(of, Json).replace(arguments[0].clone());
            Ok(arguments[0].clone())
        }),
        routine("toString", 0, |machine, of, _| {
            let mut out = String::new();
            let content = thing!(of, Json).borrow().clone();
            write(machine, &content, &mut out, DEPTH_MAX)?;
            machine.text(out)
        }),
        routine("toPrettyString", 0, |machine, of, _| {
            let mut out = String::new();
            let content = thing!(of, Json).borrow().clone();
            write_pretty(machine, &content, &mut out, 0)?;
            machine.text(out)
        }),
    ]],
    ..Class::named("groovy.json.JsonBuilder")
};

/// Deepest nesting that is written.
const DEPTH_MAX: usize = 60;

/// What a value of a text takes beside its characters.
const VALUE_BYTES: usize = 96;

fn read(machine: &mut Machine<'_>, text: &str) -> Answer {
    let values = text.bytes().filter(|byte| b"[{,:".contains(byte)).count();
    machine.takes_bytes(text.len() + values * VALUE_BYTES)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let numbers = RefCell::new(numbers(text).into_iter());
    let read = Json { numbers: &numbers }.deserialize(&mut reader);
    let read = read.and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| Stop::thrown("groovy.json.JsonException", error.to_string()))
}

/// The numbers of a JSON text as they are written, in order.
fn numbers(text: &str) -> Vec<&str> {
    let mut numbers = Vec::new();
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                while let Some((_, byte)) = bytes.next() {
                    match byte {
                        b'\\' => {
                            bytes.next();
                        }
                        b'"' => break,
                        _ => {}
                    }
                }
            }
            b'-' | b'0'..=b'9' => {
                let of_number = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
                let length = text[at..].find(|c| !of_number(c));
                let end = length.map_or(text.len(), |length| at + length);
                numbers.push(&text[at..end]);
                // The byte after it is no part of a text either.
                for _ in at + 1..end {
                    bytes.next();
                }
            }
            _ => {}
        }
    }
    numbers
}

/// Reads any JSON value; members keep their order, and decimals their digits.
#[derive(Clone, Copy)]
struct Json<'n> {
    /// The numbers as they are written; each visit takes the next.
    numbers: &'n RefCell<std::vec::IntoIter<&'n str>>,
}

impl Json<'_> {
    fn number(self, otherwise: Value) -> Value {
        let written = self.numbers.borrow_mut().next().unwrap_or_default();
        if !written.contains(['.', 'e', 'E']) {
            return otherwise;
        }
        Decimal::parse(written).map_or(otherwise, Value::decimal)
    }
}

impl<'de> DeserializeSeed<'de> for Json<'_> {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Json<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(self.number(i32::try_from(value).map_or(Value::Long(value), Value::Int)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(
            self.number(match (i32::try_from(value), i64::try_from(value)) {
                (Ok(value), _) => Value::Int(value),
                (_, Ok(value)) => Value::Long(value),
                _ => Value::decimal(Decimal::integer(i128::from(value))),
            }),
        )
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(self.number(Decimal::of_double(value).map_or(Value::Double(value), Value::decimal)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::list(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            entries.push((Value::text(name), members.next_value_seed(self)?));
        }
        Ok(Value::ordered_map(entries, KeyOrder::Read))
    }
}

/// Java's escapes: everything beyond ASCII by its number.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            c => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str("\\u");
                    out.push_str(&super::codec::hex(&unit.to_be_bytes()));
                }
            }
        }
    }
    out.push('"');
}

/// One text may stand in many places.
fn fits(out: &str) -> Result<(), Stop> {
    if out.len() > BYTES_MAX {
        return Err(Stop::Bound("it takes too much memory"));
    }
    Ok(())
}

fn write(
    machine: &mut Machine<'_>,
    value: &Value,
    out: &mut String,
    depth: usize,
) -> Result<(), Stop> {
    machine.step(1)?;
    fits(out)?;
    if depth == 0 {
        return Err(Stop::Bound("it writes JSON that is nested too deep"));
    }
    match (value, value.as_thing()) {
        (Value::Null | Value::Void, _) => out.push_str("null"),
        (
            Value::Bool(_)
            | Value::Int(_)
            | Value::Long(_)
            | Value::Double(_)
            | Value::Float(_)
            | Value::Decimal(_),
            _,
        ) => {
            out.push_str(&value.to_text());
        }
        (_, Some(Thing::List(list))) => {
            out.push('[');
            for (at, item) in list.items.borrow().iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(machine, item, out, depth - 1)?;
            }
            out.push(']');
        }
        (_, Some(Thing::Map(map))) => {
            out.push('{');
            for (at, (key, value)) in map.borrow().iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(&key.to_text(), out);
                out.push(':');
                write(machine, value, out, depth - 1)?;
            }
            out.push('}');
        }
        // Whole seconds, in UTC.
        (_, Some(Thing::Date(date))) => {
            let seconds = date.get().div_euclid(1_000) * 1_000;
            let text = crate::instant::text(seconds).replace('Z', "+0000");
            write_text(&text, out);
        }
        _ => write_text(&value.to_text(), out),
    }
    Ok(())
}

fn write_pretty(
    machine: &mut Machine<'_>,
    value: &Value,
    out: &mut String,
    depth: usize,
) -> Result<(), Stop> {
    machine.step(1)?;
    fits(out)?;
    if depth > DEPTH_MAX {
        return Err(Stop::Bound("it writes JSON that is nested too deep"));
    }
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        out.push_str(&"    ".repeat(depth));
    };
    match value.as_thing() {
        Some(Thing::List(list)) => {
            out.push('[');
            for (at, item) in list.items.borrow().iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                write_pretty(machine, item, out, depth + 1)?;
            }
            if list.items.borrow().is_empty() {
                line(out, depth + 1);
            }
            line(out, depth);
            out.push(']');
        }
        Some(Thing::Map(map)) => {
            out.push('{');
            for (at, (key, value)) in map.borrow().iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                line(out, depth + 1);
                write_text(&key.to_text(), out);
                out.push_str(": ");
                write_pretty(machine, value, out, depth + 1)?;
            }
            if map.borrow().is_empty() {
                line(out, depth + 1);
            }
            line(out, depth);
            out.push('}');
        }
        _ => write(machine, value, out, DEPTH_MAX)?,
    }
    Ok(())
}
