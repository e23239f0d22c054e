//! The classes and functions that scripts may use, and what can be done with values.
//!
//! Each family of classes has its tables in a file of its own. What is in no table is unknown:
//! [`check`](crate::check) finds it before a run, and a run stops there.

mod access;
mod arrangements;
mod builders;
mod calendar;
mod charsets;
mod codec;
mod collections;
mod convert;
mod cookies;
mod files;
mod floats;
mod format;
mod java_time;
mod jmeter;
mod json;
mod maps;
mod names;
mod numbers;
mod operators;
mod order;
mod patterns;
mod sample;
mod sets;
mod streams;
mod strings;
mod text;
mod time;
mod tools;
mod url;
mod variables;

use std::sync::Arc;

pub(crate) use self::access::{
    element, is_case, is_empty, is_property_of_any, items, operator, property, put, range,
    set_element, set_property, size,
};
pub(crate) use self::calendar::is_of_weeks;
pub(crate) use self::convert::{
    cast, convert_as, default_of_field, default_of_item, fit, is_exception, is_exception_of,
    is_instance, is_type,
};
pub(crate) use self::java_time::{Formatter, Names};
pub(crate) use self::names::{bound, bound_class, call_function, is_bound, is_function};
pub(crate) use self::patterns::{compile_pattern, matches, pattern_of};
use crate::arithmetic::{self, Number};
use crate::class::{Answer, Class, Routine, find, routine};
use crate::key_order::hash_code;
use crate::machine::{Machine, Stop};
use crate::value::Thing;
use crate::{Language, Value, work};

/// Every class.
const FAMILIES: [&[&Class]; 16] = [
    calendar::CLASSES,
    charsets::CLASSES,
    codec::CLASSES,
    collections::CLASSES,
    cookies::CLASSES,
    files::CLASSES,
    floats::CLASSES,
    java_time::CLASSES,
    jmeter::CLASSES,
    json::CLASSES,
    numbers::CLASSES,
    sets::CLASSES,
    streams::CLASSES,
    text::CLASSES,
    time::CLASSES,
    url::CLASSES,
];

/// What every object can do.
const OF_ANYTHING: &[Routine] = &[
    routine("toString", 0, |machine, of, _| {
        let text = machine.shown(of)?;
        machine.text(text)
    }),
    routine("equals", 1, |_, of, arguments| {
        Ok(Value::Bool(equals(of, &arguments[0])))
    }),
    routine("is", 1, |_, of, arguments| {
        Ok(Value::Bool(arithmetic::same(of, &arguments[0])))
    }),
    routine("hashCode", 0, |_, of, _| match hash_code(of) {
        Some(hash) => Ok(Value::Int(hash)),
        // The run ends at its next step.
        None if work::is_too_much() => Ok(Value::Int(0)),
        None => Err(Stop::unknown(
            "the hash of an object that has none of its own",
        )),
    }),
    routine("getClass", 0, |_, of, _| {
        Ok(Value::thing(match of.as_thing() {
            Some(Thing::Thrown(thrown)) => Thing::ClassName(Arc::clone(&thrown.class)),
            _ => Thing::Class(class_of(of)),
        }))
    }),
    routine("with", 1, |machine, of, arguments| {
        machine.call_value(&arguments[0], std::slice::from_ref(of))
    }),
];

/// `equals`: numbers of different kinds are not equal.
fn equals(left: &Value, right: &Value) -> bool {
    let is_number = |value: &Value| Number::of(value).is_some();
    if is_number(left)
        && is_number(right)
        && arithmetic::class_name(left) != arithmetic::class_name(right)
    {
        return false;
    }
    arithmetic::equal(left, right)
}

pub(crate) fn classes() -> impl Iterator<Item = &'static Class> {
    FAMILIES.into_iter().flatten().copied()
}

/// A class by its name, with its package or without.
pub(crate) fn class(name: &str) -> Option<&'static Class> {
    let primitive = convert::boxed(name);
    let name = primitive.unwrap_or(name);
    if name.contains('.') {
        classes().find(|class| class.name == name)
    } else {
        classes().find(|class| class.short_name() == name)
    }
}

pub(crate) fn class_value(name: &str) -> Answer {
    match class(name) {
        Some(class) => Ok(Value::thing(Thing::Class(class))),
        None => Err(Stop::unknown(format!("the class {name}"))),
    }
}

/// The class of a value.
pub(crate) fn class_of(value: &Value) -> &'static Class {
    match value {
        Value::Null | Value::Void => &convert::NOTHING,
        Value::Bool(_) => &numbers::BOOLEAN,
        Value::Int(_) => &numbers::INTEGER,
        Value::Long(_) => &numbers::LONG,
        Value::Double(_) => &numbers::DOUBLE,
        Value::Float(_) => &floats::FLOAT,
        Value::Decimal(_) => &numbers::DECIMAL,
        Value::Char(_) => &text::CHARACTER,
        Value::Text(_) => &text::STRING,
        Value::Object(object) => class_of_thing(&object.0),
    }
}

fn class_of_thing(thing: &Thing) -> &'static Class {
    match thing {
        Thing::List(list) if list.array_of.is_some() => &collections::ARRAY,
        Thing::List(list) if let Some(order) = &list.set => sets::class_of(order),
        Thing::List(_) => &collections::LIST,
        Thing::Map(map) => maps::class_of(&map.1),
        Thing::Entry(_) => &collections::ENTRY,
        Thing::Iterator(_) => &collections::ITERATOR,
        Thing::Class(_) | Thing::ClassName(_) => &convert::CLASS,
        Thing::Closure(_) => &collections::CLOSURE,
        Thing::Thrown(_) => &convert::THROWABLE,
        Thing::Builder(_) => &builders::BUILDER,
        Thing::Random(_) => &numbers::RANDOM,
        Thing::Counter(_) => &numbers::COUNTER,
        Thing::Date(_) => &time::DATE,
        Thing::Calendar(_) => &calendar::CALENDAR,
        Thing::Instant(_) => &java_time::INSTANT,
        Thing::Temporal(temporal) => java_time::class_of(temporal),
        Thing::ZoneId(_) => &java_time::ZONE_ID,
        Thing::Duration(_) => &java_time::DURATION,
        Thing::Period(_) => &java_time::PERIOD,
        Thing::Formatter(_) => &java_time::FORMATTER,
        Thing::Json(_) => &json::BUILDER,
        Thing::Named(names, _) => names.class,
        Thing::DateFormat(_) => &time::FORMAT,
        Thing::Zone(_) => &time::ZONE,
        Thing::Uuid(_) => &codec::UUID,
        Thing::Digest(_) => &codec::DIGEST,
        Thing::Pattern(_) => &patterns::PATTERN,
        Thing::Matcher(_) => &patterns::MATCHER,
        Thing::File(_) => &files::FILE,
        Thing::Writer(_) => &files::WRITER,
        Thing::Reader(_) => &files::READER,
        Thing::Input(_) => &streams::INPUT,
        Thing::Output(_) => &streams::OUTPUT,
        Thing::Argument(_) => &jmeter::ARGUMENT,
        Thing::Cookie(_) => &cookies::COOKIE,
        Thing::Url(_) => &url::URL,
        Thing::Judgement(_) => &jmeter::JUDGEMENT,
        Thing::Previous | Thing::Own | Thing::Part { .. } => &sample::RESULT,
        Thing::Single(class) => class,
    }
}

/// The routine behind a method's name.
pub(crate) fn method(
    class: &'static Class,
    name: &str,
    arguments: usize,
) -> Option<&'static Routine> {
    class
        .method(name, arguments)
        .or_else(|| find(OF_ANYTHING.iter(), name, arguments))
}

/// Whether any class has a method of this name.
pub(crate) fn is_method_of_any(name: &str) -> bool {
    let own = [
        &convert::NOTHING,
        &convert::CLASS,
        &convert::THROWABLE,
        &collections::CLOSURE,
    ];
    OF_ANYTHING.iter().any(|routine| routine.name == name)
        || classes()
            .chain(own)
            .any(|class| class.has_method(name) || class.has_function(name))
}

/// About how many bytes a method goes over: few of them look at all of what they are called on.
fn weight(of: &Value, name: &str) -> usize {
    match of {
        Value::Text(text) => match name {
            // Even these ask whether there are characters of several bytes.
            "length" | "size" | "isEmpty" | "charAt" | "substring" | "startsWith" | "endsWith"
            | "equals" | "toString" => text.len() / 32,
            _ => text.len(),
        },
        Value::Object(object) => match (&object.0, name) {
            (Thing::List(_) | Thing::Map(_), "" | "get" | "size" | "add" | "isEmpty" | "set") => 0,
            (Thing::List(list), _) => list.items.borrow().len(),
            (Thing::Builder(text), "append") => text.borrow().len() / 4096,
            (Thing::Builder(text), _) => text.borrow().len(),
            _ => 0,
        },
        _ => 0,
    }
}

/// Calls a method.
pub(crate) fn call(
    machine: &mut Machine<'_>,
    of: &Value,
    name: &str,
    arguments: &[Value],
) -> Answer {
    machine.step(1)?;
    work::note(weight(of, name));
    for argument in arguments {
        work::note(weight(argument, ""));
    }
    if of.is_null() {
        return null_call(machine, name, arguments);
    }
    if let Some(Thing::Class(class)) = of.as_thing()
        && let Some(routine) = class.function(name, arguments.len())
    {
        return (routine.run)(machine, &Value::Null, arguments);
    }
    let class = class_of(of);
    if let Some(routine) = method(class, name, arguments.len()) {
        return (routine.run)(machine, of, arguments);
    }
    // A closure in a map is called like a method.
    if let Some(map) = of.as_map() {
        let found = access::entry(&map.borrow(), &Value::text(name));
        if let Some(found) = found {
            return machine.call_value(&found, arguments);
        }
    }
    if let Some(call) = vararg(machine, of, name, arguments) {
        return call;
    }
    let class = match of.as_thing() {
        Some(Thing::Class(class)) => class,
        _ => class,
    };
    Err(Stop::unknown(format!(
        "the method {name} with {} argument(s) of {}",
        arguments.len(),
        class.short_name()
    )))
}

/// `call` of a closure, with any number of arguments.
fn vararg(
    machine: &mut Machine<'_>,
    of: &Value,
    name: &str,
    arguments: &[Value],
) -> Option<Answer> {
    match of.as_thing() {
        Some(Thing::Closure(_)) if matches!(name, "call" | "doCall") => {
            Some(machine.call_value(of, arguments))
        }
        _ => None,
    }
}

fn null_call(machine: &mut Machine<'_>, name: &str, arguments: &[Value]) -> Answer {
    let language = machine.language();
    if language == Language::Groovy {
        // Groovy's null is an object that can do a little.
        match (name, arguments) {
            ("toString", []) => return Ok(Value::text("null")),
            ("equals", [other]) => return Ok(Value::Bool(other.is_null())),
            ("asBoolean", []) => return Ok(Value::Bool(false)),
            ("each", [_]) => return Ok(Value::Null),
            ("collect" | "findAll", [_]) => return Ok(Value::list(Vec::new())),
            _ => {}
        }
        let says = format!("Cannot invoke method {name}() on null object");
        return Err(Stop::null_pointer(says));
    }
    if language.is_jexl() {
        return Err(Stop::thrown(
            "org.apache.commons.jexl3.JexlException$Method",
            format!("unsolvable function/method '{name}'"),
        ));
    }
    Err(Stop::null_pointer("Null Pointer in Method Invocation"))
}

/// Makes an object.
pub(crate) fn make(machine: &mut Machine<'_>, name: &str, arguments: &[Value]) -> Answer {
    machine.takes_bytes(size_of::<Value>())?;
    if let Some(thrown) = convert::make_thrown(name, arguments) {
        return Ok(thrown);
    }
    let Some(class) = class(name) else {
        return Err(Stop::unknown(format!("the class {name}")));
    };
    match class.make {
        Some(make) if (make.least..=make.most).contains(&arguments.len()) => {
            (make.run)(machine, &Value::Null, arguments)
        }
        _ => Err(Stop::unknown(format!(
            "new {}() with {} argument(s)",
            class.short_name(),
            arguments.len()
        ))),
    }
}

/// Whether a class can be made with `new`.
pub(crate) fn can_be_made(name: &str) -> bool {
    convert::is_exception(name) || class(name).is_some_and(|class| class.make.is_some())
}

/// A number that is meant to be an index or count.
fn integer(value: &Value) -> Result<i64, Stop> {
    match Number::of(value) {
        Some(number) => Ok(number.long()),
        None if value.is_null() => Err(Stop::null_pointer("a number was expected")),
        None => Err(Stop::unknown(format!(
            "{} where a number is expected",
            arithmetic::class_name(value)
        ))),
    }
}

fn int_value(number: usize) -> Value {
    Value::Int(i32::try_from(number).unwrap_or(i32::MAX))
}

/// The text that a method is called on or with; nothing has none.
fn text_of(value: &Value) -> Result<Arc<str>, Stop> {
    if value.is_null() {
        return Err(Stop::null_pointer("a text was expected, not null"));
    }
    Ok(value.to_shared_text())
}

/// The object that a routine of its class is called on.
macro_rules! thing {
    ($value:expr, $kind:ident) => {
        match $value.as_thing() {
            Some(crate::value::Thing::$kind(inner)) => inner,
            _ => return Err(crate::machine::Stop::unknown("this call without an object")),
        }
    };
}
use thing;

/// What is meant to be bytes.
fn bytes_of(value: &Value) -> Result<Vec<u8>, Stop> {
    match value.as_list() {
        Some(list) => {
            let items = list.items.borrow();
            let bytes = items
                .iter()
                .map(|item| Number::of(item).map_or(0, |number| number.long() as u8));
            Ok(bytes.collect())
        }
        None => Ok(text_of(value)?.as_bytes().to_vec()),
    }
}

/// An array of bytes.
fn made_bytes(machine: &mut Machine<'_>, bytes: &[u8]) -> Answer {
    machine.takes_bytes(bytes.len() * size_of::<Value>())?;
    Ok(Value::bytes(bytes))
}
