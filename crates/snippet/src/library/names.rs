//! Names that are bound before a script runs, and functions without an object.

use super::{collections, integer, jmeter, sample, text_of, variables};
use crate::class::{Answer, Class};
use crate::host::Place;
use crate::machine::{Machine, Stop};
use crate::value::Thing;
use crate::{Language, Value};

/// The class of what a name is bound to; `None` if it is not bound.
pub(crate) fn bound_class(name: &str) -> Option<&'static Class> {
    Some(match name {
        "vars" => &variables::VARIABLES,
        "props" => &variables::PROPERTIES,
        "ctx" => &jmeter::CONTEXT,
        "log" => &jmeter::LOG,
        "OUT" => &jmeter::STREAM,
        "prev" | "SampleResult" | "sampleResult" | "Response" => &sample::RESULT,
        "sampler" | "Sampler" => &jmeter::SAMPLER,
        "AssertionResult" => &jmeter::JUDGEMENT,
        "sampleEvent" => &jmeter::EVENT,
        "bsh" => &jmeter::BSH,
        "args" => &collections::ARRAY,
        "Label" | "FileName" | "Parameters" | "threadName" => &super::text::STRING,
        _ => return None,
    })
}

/// Whether a name is bound by JMeter, in some place.
pub(crate) fn is_bound(name: &str) -> bool {
    bound_class(name).is_some()
}

/// What a name stands for that no script declared.
pub(crate) fn bound(machine: &mut Machine<'_>, name: &str) -> Option<Value> {
    let bindings = &*machine.bindings;
    let place = bindings.place;
    let previous = || match bindings.previous {
        Some(_) => Value::thing(Thing::Previous),
        None => Value::Null,
    };
    let own = || match bindings.own {
        Some(_) => Value::thing(Thing::Own),
        None => previous(),
    };
    if bindings.place == Place::Function && !is_bound_in_functions(name, machine) {
        return None;
    }
    Some(match name {
        "vars" | "props" | "ctx" | "log" | "OUT" => single(bound_class(name)?),
        "bsh" if machine.language() == Language::BeanShell => single(&jmeter::BSH),
        "prev" => previous(),
        "SampleResult" if matches!(place, Place::Sampler | Place::Assertion | Place::Function) => {
            own()
        }
        "sampleResult" if matches!(place, Place::Listener | Place::Function) => own(),
        "Response" if machine.language() == Language::BeanShell => previous(),
        // In BeanShell only what stands before a sampler sees it.
        "sampler" if place != Place::Before && machine.language() == Language::BeanShell => {
            return None;
        }
        "sampler" | "Sampler" => match bindings.sampler {
            Some(_) => single(&jmeter::SAMPLER),
            None => Value::Null,
        },
        "sampleEvent" if place == Place::Listener => single(&jmeter::EVENT),
        "AssertionResult" if bindings.place == Place::Assertion => single(&jmeter::JUDGEMENT),
        "Label" => Value::text(bindings.label.as_str()),
        "FileName" => Value::text(bindings.file_name.as_str()),
        "Parameters" => Value::text(bindings.parameters.as_str()),
        "threadName" => Value::text(bindings.thread_name.as_str()),
        "args" => arguments(machine),
        _ => return None,
    })
}

/// Whether a function in this language has a name for the sample before, as JMeter 5.6.3 binds it;
/// there is none before the first sample.
fn is_bound_in_functions(name: &str, machine: &Machine<'_>) -> bool {
    let language = machine.language();
    match name {
        "prev" => language == Language::Groovy && machine.bindings.previous.is_some(),
        "SampleResult" => language == Language::BeanShell,
        "sampleResult" => !matches!(language, Language::Groovy | Language::BeanShell),
        _ => true,
    }
}

/// The parameters, cut at spaces.
pub(super) fn arguments(machine: &Machine<'_>) -> Value {
    let parts = machine.bindings.parameters.split(' ');
    let parts = parts.filter(|part| !part.is_empty());
    Value::array("String", parts.map(Value::text).collect())
}

pub(super) fn single(class: &'static Class) -> Value {
    Value::thing(Thing::Single(class))
}

/// Whether a function of this name can be called without an object.
pub(crate) fn is_function(name: &str, language: Language) -> bool {
    match language {
        Language::Groovy => {
            matches!(name, "println" | "print" | "printf" | "sprintf" | "sleep")
        }
        Language::BeanShell => name == "print",
        _ => name == "new",
    }
}

/// Calls a function that the language has.
pub(crate) fn call_function(machine: &mut Machine<'_>, name: &str, arguments: &[Value]) -> Answer {
    let language = machine.language();
    match (language, name, arguments) {
        (Language::Groovy, "println" | "print", []) => Ok(Value::Null),
        (Language::Groovy, "println" | "print", [text])
        | (Language::BeanShell, "print", [text]) => {
            let text = machine.shown(text)?;
            jmeter::print(machine, &text);
            Ok(Value::Null)
        }
        (Language::Groovy, "sprintf", [format, rest @ ..]) => {
            let text = super::format::formatted(&text_of(format)?, rest)?;
            machine.text(text)
        }
        (Language::Groovy, "printf", [format, rest @ ..]) => {
            let text = super::format::formatted(&text_of(format)?, rest)?;
            jmeter::print(machine, &text);
            Ok(Value::Null)
        }
        (Language::Groovy, "sleep", [ms]) => {
            let ms = integer(ms)?;
            super::time::sleep(machine, ms)?;
            Ok(Value::Null)
        }
        (Language::Jexl2 | Language::Jexl3, "new", [class, arguments @ ..]) => {
            let class = text_of(class)?;
            super::make(machine, &class, arguments)
        }
        _ => Err(Stop::unknown(format!("the function {name}"))),
    }
}
