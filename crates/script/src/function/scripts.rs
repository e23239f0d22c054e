//! Functions that run a script: `__groovy`, `__jexl2`, `__jexl3`, `__javaScript`, `__BeanShell`.
//!
//! JMeter 5.6.3: a script that throws is an empty text, and a line in the log. One that needs
//! something unknown ends the user, because going on would send something else.

use std::sync::Arc;

use weir_snippet::{Bindings, Failure, Language, Script, Value};

use super::{Answer, Argument, Call, CallError, Function, Known, Name, Prepared};
use crate::{Scope, scripting};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("__groovy", (1, 2), Answer::Changes, |call, scope, out| {
        answer(call, Language::Groovy, scope, out);
    })
    .stores(1, Name::Trimmed)
    .prepares(|arguments, known| prepare(arguments, known, Language::Groovy)),
    Function::new("__jexl2", (1, 2), Answer::Changes, |call, scope, out| {
        answer(call, Language::Jexl2, scope, out);
    })
    .stores(1, Name::Trimmed)
    .prepares(|arguments, known| prepare(arguments, known, Language::Jexl2)),
    Function::new("__jexl3", (1, 2), Answer::Changes, |call, scope, out| {
        answer(call, Language::Jexl3, scope, out);
    })
    .stores(1, Name::Trimmed)
    .prepares(|arguments, known| prepare(arguments, known, Language::Jexl3)),
    Function::new(
        "__javaScript",
        (1, 2),
        Answer::Changes,
        |call, scope, out| {
            answer(call, Language::JavaScript, scope, out);
        },
    )
    .stores(1, Name::Trimmed)
    .prepares(|arguments, known| prepare(arguments, known, Language::JavaScript)),
    Function::new(
        "__BeanShell",
        (1, 2),
        Answer::Changes,
        |call, scope, out| {
            answer(call, Language::BeanShell, scope, out);
        },
    )
    .stores(1, Name::Trimmed)
    .prepares(|arguments, known| prepare(arguments, known, Language::BeanShell)),
];

/// Whether a function runs a script.
pub(crate) fn runs_script(name: &str) -> bool {
    FUNCTIONS.iter().any(|function| function.name == name)
}

/// The language of the function's script, if it runs one.
pub(crate) fn language(name: &str) -> Option<Language> {
    match name {
        "__groovy" => Some(Language::Groovy),
        "__jexl2" => Some(Language::Jexl2),
        "__jexl3" => Some(Language::Jexl3),
        "__javaScript" => Some(Language::JavaScript),
        "__BeanShell" => Some(Language::BeanShell),
        _ => None,
    }
}

/// Reads a script that is always the same, and says what of it is unknown.
fn prepare(
    arguments: &[Argument],
    known: &Known<'_>,
    language: Language,
) -> Result<Prepared, CallError> {
    let Some(text) = arguments.first().and_then(Argument::constant) else {
        return Ok(Prepared::Occurrence(known.occurrence.clone()));
    };
    let script =
        Script::read(text, language).map_err(|error| refuse(language, &error.to_string()))?;
    if let Some(unknown) = script.unknown().first() {
        return Err(refuse(language, &unknown.to_string()));
    }
    Ok(Prepared::Script(Arc::new(script), known.occurrence.clone()))
}

fn refuse(language: Language, says: &str) -> CallError {
    let name = language.name();
    CallError::new(format!(
        "a script in {name} needs what Weir does not know: {says}"
    ))
    .instead("run the plan with --engine jmeter")
}

fn answer(call: &Call, language: Language, scope: &mut Scope, out: &mut String) {
    let (script, occurrence) = if let Prepared::Script(script, occurrence) = &call.prepared {
        (Arc::clone(script), occurrence.id())
    } else {
        let text = call.argument(0, scope).into_owned();
        match scripting::read(&text, language, scope) {
            Ok(script) => (script, call.occurrence().id()),
            Err(error) => {
                let name = call.function.name;
                scope.cannot(format!("Weir cannot read the script of {name}: {error}"));
                return;
            }
        }
    };
    let mut bindings = Bindings {
        thread_name: scope.thread_name.to_string(),
        previous: scope.sample_before().cloned(),
        ..Bindings::default()
    };
    match scripting::run(&script, scope, &mut bindings, Some(occurrence)) {
        Ok(value) => push_value(&value, language, out),
        Err(Failure::Thrown(thrown)) => {
            let says = format!(
                "Error running the script of {}: {thrown}",
                call.function.name
            );
            scope.live().log("WARN", &says);
            scope.memory().scripts.has_failed = true;
        }
        Err(beyond) => scope.cannot(format!("{beyond} (in {})", call.function.name)),
    }
}

/// Nothing is an empty text, but for JavaScript, where it has names.
fn push_value(value: &Value, language: Language, out: &mut String) {
    match value {
        Value::Void if language == Language::JavaScript => out.push_str("undefined"),
        Value::Null if language == Language::JavaScript => out.push_str("null"),
        Value::Null | Value::Void => {}
        value => out.push_str(&value.to_text()),
    }
}
