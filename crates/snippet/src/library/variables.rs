//! `vars` and `props`: variables of a user, properties that all users share.

use super::text_of;
use crate::class::{Answer, Class, between, routine};
use crate::machine::{Machine, Stop};
use crate::{SharedValue, Value};

pub(super) fn optional(text: Option<String>) -> Value {
    text.map_or(Value::Null, Value::text)
}

pub(super) static VARIABLES: Class = Class {
    methods: &[&[
        routine("get", 1, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            Ok(optional(machine.host.variable(&name)))
        }),
        routine("getAt", 1, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            Ok(optional(machine.host.variable(&name)))
        }),
        routine("getObject", 1, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            Ok(match machine.host.object(&name) {
                Some(object) => object,
                None => optional(machine.host.variable(&name)),
            })
        }),
        routine("put", 2, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            match &arguments[1] {
                Value::Null | Value::Void => machine.host.remove_variable(&name),
                Value::Text(text) => machine.host.set_variable(&name, text),
                other => {
                    // There is one method, and it takes a text.
                    return Err(no_such_put(machine, other));
                }
            }
            Ok(Value::Void)
        }),
        routine("putObject", 2, |machine, _, arguments| {
            Machine::may_be_kept(&arguments[1])?;
            let name = text_of(&arguments[0])?;
            match &arguments[1] {
                Value::Text(text) => machine.host.set_variable(&name, text),
                Value::Null | Value::Void => machine.host.remove_variable(&name),
                other => {
                    // Where a text is asked for, an object is one.
                    machine.host.set_variable(&name, &other.to_text());
                    machine.host.set_object(&name, other.clone());
                }
            }
            Ok(Value::Void)
        }),
        routine("remove", 1, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            let old = machine.host.variable(&name);
            machine.host.remove_variable(&name);
            Ok(optional(old))
        }),
        routine("entrySet", 0, |machine, _, _| {
            let all = machine.host.variables().into_iter();
            let all = all.map(|(name, value)| (Value::text(name), Value::text(value)));
            let map = Value::map(all.collect());
            let items = super::items(machine, &map)?;
            machine.list(items)
        }),
        routine("getIteration", 0, |machine, _, _| {
            let iteration = i32::try_from(machine.host.iteration());
            Ok(Value::Int(iteration.unwrap_or(i32::MAX)))
        }),
    ]],
    ..Class::named("org.apache.jmeter.threads.JMeterVariables")
};

fn no_such_put(machine: &Machine<'_>, value: &Value) -> Stop {
    let class = crate::arithmetic::class_name(value);
    if machine.language() == crate::Language::Groovy {
        return Stop::thrown(
            "groovy.lang.MissingMethodException",
            format!(
                "No signature of method: org.apache.jmeter.threads.JMeterVariables.put() is \
                 applicable for argument types: (String, {}) values",
                class.rsplit('.').next().unwrap_or_default()
            ),
        );
    }
    Stop::thrown(
        "bsh.EvalError",
        format!(
            "Error in method invocation: Method put( java.lang.String, {class} ) not found in \
             class'org.apache.jmeter.threads.JMeterVariables'"
        ),
    )
}

pub(super) static PROPERTIES: Class = Class {
    methods: &[&[
        between("get", 1, 2, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            Ok(held(machine, &name).unwrap_or_else(|| otherwise(arguments)))
        }),
        // What is no text is none for it.
        between("getProperty", 1, 2, text_property),
        routine("getAt", 1, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            Ok(held(machine, &name).unwrap_or(Value::Null))
        }),
        routine("getOrDefault", 2, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            Ok(held(machine, &name).unwrap_or_else(|| otherwise(arguments)))
        }),
        routine("put", 2, |machine, _, arguments| {
            hold(machine, &arguments[0], &arguments[1])
        }),
        routine("putIfAbsent", 2, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            match held(machine, &name) {
                Some(value) => Ok(value),
                None => hold(machine, &arguments[0], &arguments[1]),
            }
        }),
        routine("setProperty", 2, set_property),
        routine("remove", 1, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            let old = held(machine, &name).unwrap_or(Value::Null);
            machine.host.remove_property(&name);
            Ok(old)
        }),
        routine("containsKey", 1, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            Ok(Value::Bool(held(machine, &name).is_some()))
        }),
    ]],
    ..Class::named("java.util.Properties")
};

pub(super) fn text_property(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let name = text_of(&arguments[0])?;
    let text = machine.host.property(&name);
    Ok(text.map_or_else(|| otherwise(arguments), Value::text))
}

pub(super) fn set_property(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    match &arguments[1] {
        Value::Text(_) | Value::Null | Value::Void => {}
        other => return Err(no_such_property(machine, other)),
    }
    hold(machine, &arguments[0], &arguments[1])
}

fn otherwise(arguments: &[Value]) -> Value {
    arguments.get(1).cloned().unwrap_or(Value::Null)
}

/// What a property holds.
fn held(machine: &Machine<'_>, name: &str) -> Option<Value> {
    match machine.host.shared_property(name) {
        Some(shared) => Some(shared.value()),
        None => machine.host.property(name).map(Value::text),
    }
}

/// Sets a property; the answer is what it held.
fn hold(machine: &mut Machine<'_>, name: &Value, value: &Value) -> Answer {
    let name = text_of(name)?;
    let old = held(machine, &name).unwrap_or(Value::Null);
    match (value, SharedValue::of(value)) {
        (Value::Null | Value::Void, _) => {
            return Err(Stop::null_pointer("a property cannot hold null"));
        }
        (Value::Text(text), _) => {
            machine.host.set_property(&name, text);
        }
        (_, Some(shared)) => machine.host.share_property(&name, shared),
        (_, None) => {
            return Err(Stop::unknown(
                "a property that holds an object, which users share",
            ));
        }
    }
    Ok(old)
}

fn no_such_property(machine: &Machine<'_>, value: &Value) -> Stop {
    let class = crate::arithmetic::class_name(value);
    let thrown = match machine.language() {
        crate::Language::Groovy => "groovy.lang.MissingMethodException",
        _ => "bsh.EvalError",
    };
    Stop::thrown(
        thrown,
        format!("No method setProperty(java.lang.String, {class}) of java.util.Properties"),
    )
}
