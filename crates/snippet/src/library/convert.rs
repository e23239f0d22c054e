//! Types: casts, what fits where, exceptions.

use std::rc::Rc;
use std::sync::Arc;

use super::{class, class_of};
use crate::arithmetic::{self, Number};
use crate::class::{Answer, Class, routine};
use crate::machine::{Machine, Stop};
use crate::number::Decimal;
use crate::syntax::Type;
use crate::value::Thing;
use crate::{Language, Throwable, Value};

pub(super) static NOTHING: Class = Class::named("java.lang.Object");

pub(super) static CLASS: Class = Class {
    methods: &[&[
        routine("getName", 0, |_, of, _| Ok(Value::text(name_of(of)))),
        routine("getSimpleName", 0, |_, of, _| {
            let name = name_of(of);
            Ok(Value::text(name.rsplit('.').next().unwrap_or_default()))
        }),
    ]],
    ..Class::named("java.lang.Class")
};

fn name_of(of: &Value) -> Arc<str> {
    match of.as_thing() {
        Some(Thing::Class(class)) => class.name.into(),
        Some(Thing::ClassName(name)) => Arc::clone(name),
        _ => "".into(),
    }
}

pub(super) static THROWABLE: Class = Class {
    methods: &[&[
        routine("getMessage", 0, |_, of, _| Ok(message(of))),
        routine("getLocalizedMessage", 0, |_, of, _| Ok(message(of))),
        routine("printStackTrace", 0, |machine, of, _| {
            machine.host.log("ERROR", &of.to_text());
            Ok(Value::Void)
        }),
        routine("getCause", 0, |_, _, _| Ok(Value::Null)),
        routine("getStackTrace", 0, |_, _, _| {
            Ok(Value::array("StackTraceElement", Vec::new()))
        }),
    ]],
    ..Class::named("java.lang.Throwable")
};

fn message(of: &Value) -> Value {
    match of.as_thing() {
        Some(Thing::Thrown(thrown)) => match &thrown.message {
            Some(message) => Value::Text(Arc::clone(message)),
            None => Value::Null,
        },
        _ => Value::Null,
    }
}

/// Exceptions and what each one is besides: of Java, and what JMeter's engines throw.
#[rustfmt::skip]
const EXCEPTIONS: &[(&str, &str)] = &[
    ("java.lang.Throwable", ""),
    ("java.lang.Exception", "java.lang.Throwable"),
    ("java.lang.Error", "java.lang.Throwable"),
    ("java.lang.AssertionError", "java.lang.Error"),
    ("java.lang.RuntimeException", "java.lang.Exception"),
    ("java.lang.IllegalArgumentException", "java.lang.RuntimeException"),
    ("java.lang.NumberFormatException", "java.lang.IllegalArgumentException"),
    ("java.lang.IllegalStateException", "java.lang.RuntimeException"),
    ("java.lang.NullPointerException", "java.lang.RuntimeException"),
    ("java.lang.ArithmeticException", "java.lang.RuntimeException"),
    ("java.lang.ClassCastException", "java.lang.RuntimeException"),
    ("java.lang.UnsupportedOperationException", "java.lang.RuntimeException"),
    ("java.lang.NegativeArraySizeException", "java.lang.RuntimeException"),
    ("java.lang.IndexOutOfBoundsException", "java.lang.RuntimeException"),
    ("java.lang.ArrayIndexOutOfBoundsException", "java.lang.IndexOutOfBoundsException"),
    ("java.lang.StringIndexOutOfBoundsException", "java.lang.IndexOutOfBoundsException"),
    ("java.util.NoSuchElementException", "java.lang.RuntimeException"),
    ("java.util.regex.PatternSyntaxException", "java.lang.IllegalArgumentException"),
    ("java.lang.InterruptedException", "java.lang.Exception"),
    ("java.text.ParseException", "java.lang.Exception"),
    ("java.time.DateTimeException", "java.lang.RuntimeException"),
    ("java.time.format.DateTimeParseException", "java.time.DateTimeException"),
    ("java.time.temporal.UnsupportedTemporalTypeException", "java.time.DateTimeException"),
    ("java.time.zone.ZoneRulesException", "java.time.DateTimeException"),
    ("java.io.IOException", "java.lang.Exception"),
    ("java.io.FileNotFoundException", "java.io.IOException"),
    ("java.io.UnsupportedEncodingException", "java.io.IOException"),
    ("java.nio.charset.MalformedInputException", "java.io.IOException"),
    ("java.nio.file.FileSystemException", "java.io.IOException"),
    ("java.nio.file.NoSuchFileException", "java.nio.file.FileSystemException"),
    ("java.nio.file.AccessDeniedException", "java.nio.file.FileSystemException"),
    ("java.nio.file.DirectoryNotEmptyException", "java.nio.file.FileSystemException"),
    ("java.security.NoSuchAlgorithmException", "java.lang.Exception"),
    ("groovy.lang.GroovyRuntimeException", "java.lang.RuntimeException"),
    ("groovy.lang.MissingPropertyException", "groovy.lang.GroovyRuntimeException"),
    ("groovy.lang.MissingMethodException", "groovy.lang.GroovyRuntimeException"),
    ("groovy.json.JsonException", "groovy.lang.GroovyRuntimeException"),
    ("org.codehaus.groovy.runtime.typehandling.GroovyCastException", "java.lang.ClassCastException"),
    ("org.codehaus.groovy.runtime.powerassert.PowerAssertionError", "java.lang.AssertionError"),
    ("bsh.EvalError", "java.lang.Exception"),
];

/// The whole name of an exception that is named with its package or without.
fn exception(name: &str) -> Option<(&'static str, &'static str)> {
    let mut all = EXCEPTIONS.iter().copied();
    all.find(|(known, _)| *known == name || known.rsplit('.').next() == Some(name))
}

pub(crate) fn is_exception(name: &str) -> bool {
    exception(name).is_some()
}

/// Whether an exception is one of a class.
pub(crate) fn is_exception_of(thrown: &str, class: &str) -> bool {
    let Some((class, _)) = exception(class) else {
        return false;
    };
    let mut at = thrown;
    loop {
        if at == class {
            return true;
        }
        match exception(at) {
            Some((_, parent)) if !parent.is_empty() => at = parent,
            // One that is not in the table is an exception at run time.
            None => at = "java.lang.RuntimeException",
            _ => return false,
        }
    }
}

pub(super) fn make_thrown(name: &str, arguments: &[Value]) -> Option<Value> {
    let (class, _) = exception(name)?;
    let message = match arguments {
        [] => None,
        [first, ..] => match first.as_thing() {
            Some(Thing::Thrown(cause)) => Some(cause.to_string().into()),
            _ => Some(first.to_shared_text()),
        },
    };
    Some(Value::thing(Thing::Thrown(Rc::new(Throwable {
        class: class.into(),
        message,
        told: None,
    }))))
}

/// The class around a primitive type.
pub(super) fn boxed(name: &str) -> Option<&'static str> {
    Some(match name {
        "int" | "short" | "byte" | "Short" | "Byte" => "java.lang.Integer",
        "long" => "java.lang.Long",
        "double" => "java.lang.Double",
        "float" => "java.lang.Float",
        "boolean" => "java.lang.Boolean",
        "char" => "java.lang.Character",
        "GString" | "CharSequence" => "java.lang.String",
        "BigInteger" | "java.math.BigInteger" => "java.math.BigDecimal",
        _ => return None,
    })
}

/// What a variable of this type has before anything is assigned to it.
pub(crate) fn default_of_field(class: Option<&Type>) -> Value {
    match class {
        Some(class) if class.arrays == 0 => default_of_item(&class.class),
        _ => Value::Null,
    }
}

pub(crate) fn default_of_item(class: &str) -> Value {
    match class {
        "int" | "short" | "byte" => Value::Int(0),
        "long" => Value::Long(0),
        "double" => Value::Double(0.0),
        "float" => Value::Float(0.0),
        "boolean" => Value::Bool(false),
        "char" => Value::Char('\0'),
        _ => Value::Null,
    }
}

/// What is assigned to a variable of a type.
pub(crate) fn fit(machine: &mut Machine<'_>, value: Value, class: &Type) -> Answer {
    let value = if matches!(value, Value::Void) {
        Value::Null
    } else {
        value
    };
    if class.arrays > 0 {
        return Ok(as_array(value, &class.class));
    }
    let is_groovy = machine.language() == Language::Groovy;
    let last = class.class.rsplit('.').next().unwrap_or_default();
    if value.is_null() {
        return Ok(Value::Null);
    }
    match last {
        "int" | "long" | "double" | "float" | "short" | "byte" | "Integer" | "Long" | "Double"
        | "Float" | "Short" | "Byte" | "BigDecimal" | "BigInteger" => {
            match (Number::of(&value), &value) {
                (Some(number), _) => to_kind(number, last),
                (None, Value::Text(text)) if is_groovy && text.chars().count() == 1 => to_kind(
                    Number::Int(text.chars().next().map_or(0, |c| c as i32)),
                    last,
                ),
                _ => Err(does_not_fit(machine, &value, last)),
            }
        }
        "String" if is_groovy => match value {
            Value::Text(_) => Ok(value),
            other => machine.text(other.to_text()),
        },
        "String" => match value {
            Value::Text(_) => Ok(value),
            other => Err(does_not_fit(machine, &other, last)),
        },
        "boolean" | "Boolean" => match value {
            Value::Bool(_) => Ok(value),
            other if is_groovy => Ok(Value::Bool(arithmetic::is_true(&other))),
            other => Err(does_not_fit(machine, &other, last)),
        },
        "char" | "Character" => match &value {
            Value::Char(_) => Ok(value),
            Value::Text(text) if is_groovy && text.chars().count() == 1 => {
                Ok(text.chars().next().map_or(Value::Null, Value::Char))
            }
            other => Err(does_not_fit(machine, other, last)),
        },
        _ if value.as_list().is_some() && super::sets::order_of(last).is_some() => {
            // A list that is declared to be one becomes the set that keeps its order.
            let is_set = super::sets::is_instance(&value, "Set");
            let class = match last {
                "HashSet" if !is_set => "LinkedHashSet",
                last => last,
            };
            super::sets::fit(machine, value, class)
        }
        _ => Ok(value),
    }
}

fn does_not_fit(machine: &Machine<'_>, value: &Value, class: &str) -> Stop {
    if machine.language() == Language::Groovy {
        return Stop::thrown(
            "org.codehaus.groovy.runtime.typehandling.GroovyCastException",
            format!(
                "Cannot cast object '{}' with class '{}' to class '{class}'",
                value.to_text(),
                arithmetic::class_name(value)
            ),
        );
    }
    Stop::thrown(
        "bsh.EvalError",
        format!("Can't assign {} to {class}", arithmetic::class_name(value)),
    )
}

fn as_array(value: Value, class: &str) -> Value {
    match value.as_list() {
        Some(list) if list.array_of.is_none() => Value::array(class, list.items.borrow().clone()),
        _ => value,
    }
}

/// A number in another kind.
fn to_kind(number: Number, kind: &str) -> Answer {
    Ok(match kind {
        "int" | "Integer" => Value::Int(to_int(number)),
        "long" | "Long" => Value::Long(number.long()),
        "short" | "Short" => Value::Int(i32::from(number.long() as i16)),
        "byte" | "Byte" => Value::Int(i32::from(number.long() as i8)),
        "char" | "Character" => {
            let c = u32::try_from(number.long()).ok().and_then(char::from_u32);
            Value::Char(c.unwrap_or('\u{fffd}'))
        }
        "double" | "Double" => Value::Double(number.double()),
        "float" | "Float" => Value::Float(number.double() as f32),
        "BigInteger" => Value::decimal(Decimal::integer(i128::from(number.long()))),
        _ => match number {
            Number::Decimal(decimal) => Value::decimal(decimal),
            Number::Double(double) => {
                let decimal = Decimal::of_double(double);
                Value::decimal(decimal.ok_or_else(|| {
                    Stop::thrown("java.lang.NumberFormatException", "Infinite or NaN")
                })?)
            }
            whole => Value::decimal(Decimal::integer(i128::from(whole.long()))),
        },
    })
}

/// Doubles stop at the ends of the range, whole numbers wrap.
pub(super) fn to_int(number: Number) -> i32 {
    match number {
        Number::Double(value) => value as i32,
        other => other.long() as i32,
    }
}

/// `value as Type`: a text is read, where a cast takes it for a character.
pub(crate) fn convert_as(machine: &mut Machine<'_>, value: Value, class: &Type) -> Answer {
    let last = class.class.rsplit('.').next().unwrap_or_default();
    if class.arrays > 0 {
        if let (Value::Text(_), "char" | "String") = (&value, last) {
            let items = super::items(machine, &value)?;
            return Ok(Value::array(last, items));
        }
        return cast(machine, value, class);
    }
    let number = read_as(last);
    let is_primitive = last.starts_with(char::is_lowercase);
    match (&value, last) {
        (Value::Null | Value::Void, _) if number.is_some() && is_primitive => {
            Err(does_not_fit(machine, &value, last))
        }
        (Value::Text(text), _) if let Some(kind) = number => {
            let read = super::numbers::parsed(text.trim(), kind)?;
            match Number::of(&read) {
                Some(number) => to_kind(number, last),
                None => Ok(read),
            }
        }
        (Value::Text(text), "char" | "Character") => match text.chars().next() {
            Some(first) => Ok(Value::Char(first)),
            None => Err(does_not_fit(machine, &value, last)),
        },
        (Value::Text(_), "List" | "ArrayList" | "Collection") => {
            let items = super::items(machine, &value)?;
            machine.list(items)
        }
        (Value::Text(_), _) if let Some(order) = super::sets::order_of(last) => {
            let items = super::items(machine, &value)?;
            super::sets::set_of(machine, order, items)
        }
        (_, "Number") if Number::of(&value).is_some() => Ok(value),
        (Value::Null | Value::Void, _) => Ok(Value::Null),
        (_, "String") => {
            let text = machine.shown(&value)?;
            machine.text(text)
        }
        _ => cast(machine, value, class),
    }
}

/// The class whose numbers a text is read as for a type of numbers.
fn read_as(class: &str) -> Option<&'static str> {
    Some(match class {
        "int" | "Integer" | "short" | "Short" | "byte" | "Byte" => "Integer",
        "long" | "Long" | "BigInteger" => "Long",
        "double" | "Double" => "Double",
        "float" | "Float" => "Float",
        "BigDecimal" => "BigDecimal",
        _ => return None,
    })
}

/// `(Type) value`.
pub(crate) fn cast(machine: &mut Machine<'_>, value: Value, class: &Type) -> Answer {
    let last = class.class.rsplit('.').next().unwrap_or_default();
    if class.arrays > 0 {
        return Ok(as_array(value, &class.class));
    }
    match (&value, last) {
        (_, "int" | "long" | "short" | "byte" | "char" | "double" | "float") => {
            match Number::of(&value) {
                Some(number) => to_kind(number, last),
                None => fit(machine, value, class),
            }
        }
        (Value::Object(_), "List" | "ArrayList") if value.as_list().is_some() => {
            let items = super::items(machine, &value)?;
            machine.list(items)
        }
        (_, "HashSet") if value.as_list().is_some() => super::sets::fit(machine, value, last),
        (_, "Map" | "List" | "Object") => Ok(value),
        _ if self::class(&class.class).is_some() => fit(machine, value, class),
        _ => Err(Stop::unknown(format!("the class {}", class.class))),
    }
}

/// `instanceof`.
pub(crate) fn is_instance(value: &Value, class: &Type) -> Result<bool, Stop> {
    if class.arrays > 0 {
        return Ok(value.as_list().is_some_and(|list| list.array_of.is_some()));
    }
    let last = class.class.rsplit('.').next().unwrap_or_default();
    if value.is_null() {
        return Ok(false);
    }
    Ok(match last {
        "Object" => true,
        "Number" => Number::of(value).is_some() && !matches!(value, Value::Char(_)),
        "List" | "ArrayList" | "Collection" | "Iterable" => {
            matches!(value.as_list(), Some(list) if list.array_of.is_none()
                && (list.set.is_none() || matches!(last, "Collection" | "Iterable")))
        }
        "Set" | "HashSet" | "LinkedHashSet" | "TreeSet" | "SortedSet" => {
            super::sets::is_instance(value, last)
        }
        "Map" => value.as_map().is_some(),
        "HashMap" | "LinkedHashMap" | "TreeMap" => value
            .as_map()
            .is_some_and(|map| super::maps::is_instance(map, last)),
        "CharSequence" | "GString" | "String" => matches!(value, Value::Text(_)),
        _ => {
            if let Some(Thing::Thrown(thrown)) = value.as_thing() {
                return Ok(is_exception_of(&thrown.class, &class.class));
            }
            let wanted = self::class(&class.class)
                .ok_or_else(|| Stop::unknown(format!("the class {}", class.class)))?;
            class_of(value).name == wanted.name
        }
    })
}

/// The names that a class is known by where only types stand.
pub(crate) fn is_type(name: &str) -> bool {
    let last = name.rsplit('.').next().unwrap_or_default();
    matches!(
        last,
        "void"
            | "Object"
            | "Number"
            | "Collection"
            | "Iterable"
            | "CharSequence"
            | "GString"
            | "Comparable"
            | "Serializable"
            | "Closure"
            | "def"
            | "var"
    ) || is_exception(name)
        || boxed(last).is_some()
        || class(name).is_some()
}
