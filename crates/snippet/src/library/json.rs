//! `JsonSlurper` and `JsonOutput` of Groovy.

use std::fmt;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};

use super::text_of;
use crate::Value;
use crate::class::{Answer, Class, routine};
use crate::machine::{BYTES_MAX, Machine, Stop};
use crate::number::Decimal;
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[&SLURPER, &OUTPUT];

static SLURPER: Class = Class {
    make: Some(routine("JsonSlurper", 0, |_, _, _| {
        Ok(super::names::single(&SLURPER))
    })),
    methods: &[&[routine("parseText", 1, |machine, _, arguments| {
        let text = text_of(&arguments[0])?;
        read(machine, &text)
    })]],
    ..Class::named("groovy.json.JsonSlurper")
};

static OUTPUT: Class = Class {
    statics: &[
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
    ],
    ..Class::named("groovy.json.JsonOutput")
};

/// Deepest nesting that is written.
const DEPTH_MAX: usize = 60;

/// What a value of a text takes beside its characters.
const VALUE_BYTES: usize = 96;

fn read(machine: &mut Machine<'_>, text: &str) -> Answer {
    let values = text.bytes().filter(|byte| b"[{,:".contains(byte)).count();
    machine.takes_bytes(text.len() + values * VALUE_BYTES)?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let read = Json.deserialize(&mut reader);
    let read = read.and_then(|value| reader.end().map(|()| value));
    read.map_err(|error| Stop::thrown("groovy.json.JsonException", error.to_string()))
}

/// Reads any JSON value; members keep their order.
struct Json;

impl<'de> DeserializeSeed<'de> for Json {
    type Value = Value;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Json {
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
        Ok(i32::try_from(value).map_or(Value::Long(value), Value::Int))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(match (i32::try_from(value), i64::try_from(value)) {
            (Ok(value), _) => Value::Int(value),
            (_, Ok(value)) => Value::Long(value),
            _ => Value::decimal(Decimal::integer(i128::from(value))),
        })
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Decimal::of_double(value).map_or(Value::Double(value), Value::decimal))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Self)? {
            list.push(item);
        }
        Ok(Value::list(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            entries.push((Value::text(name), members.next_value_seed(Self)?));
        }
        Ok(Value::map(entries))
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
            Value::Bool(_) | Value::Int(_) | Value::Long(_) | Value::Double(_) | Value::Decimal(_),
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
            line(out, depth);
            out.push('}');
        }
        _ => write(machine, value, out, DEPTH_MAX)?,
    }
    Ok(())
}
