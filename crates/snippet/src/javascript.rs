//! JavaScript, run by `QuickJS` within bounds.
//!
//! Each evaluation has names of its own, as in JMeter. JMeter's objects are plain objects of the
//! script: what it sees of variables, properties and the sample is copied before, what it changed
//! is taken over after it. Nothing of the machine can be reached but its clock, by `Date`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use rquickjs::context::EvalOptions;
use rquickjs::{CatchResultExt as _, Coerced, Context, Ctx, FromJs as _, Runtime};
use serde::Deserialize;
use serde_json::json;

use crate::host::{Bindings, Host, Place, Sample};
use crate::program::{Failure, Unknown};
use crate::{Throwable, Value};

/// Most memory of one evaluation.
const MEMORY_MAX: usize = 64 << 20;
/// Most that may be in use between evaluations.
const LEFT_MAX: usize = 4 << 20;
/// Most of its stack.
const STACK_MAX: usize = 256 << 10;
/// How often `QuickJS` may ask whether to go on: it does every ten thousand loops and calls.
const TICKS_MAX: u32 = 500;

/// What does not ask while it goes over an array that may be nothing but a length, and so has to
/// refuse what is too long.
const BOUNDED: &str = r"for (var name of ['at', 'concat', 'copyWithin', 'entries', 'fill',
  'includes', 'indexOf', 'join', 'keys', 'lastIndexOf', 'pop', 'push', 'reverse', 'shift', 'slice',
  'sort', 'splice', 'toLocaleString', 'toString', 'unshift', 'values', 'flat', 'toReversed',
  'toSorted', 'toSpliced', 'with']) (function (name) {
  var method = Array.prototype[name];
  if (!method) { return; }
  Object.defineProperty(Array.prototype, name, { value: function () {
    if (this !== null && this !== undefined && this.length > 1e6) {
      throw new RangeError('the array is too long');
    }
    return method.apply(this, arguments);
  } });
})(name);";
/// What scripts with such arrays have in them.
const SIGNS_OF_LENGTHS: [&str; 5] = ["Array", "length", "call", "apply", "Reflect"];

/// What only Java's engines have.
const OF_JAVA: [&str; 8] = [
    "Java.type",
    "Java.to",
    "Java.from",
    "Packages.",
    "JavaImporter",
    "importPackage",
    "importClass",
    "java.",
];

/// What Rhino, which evaluates conditions in JMeter where Java has no engine of its own, adds to
/// texts.
const RHINO: &str = r"for (var [name, method] of [
  ['equals', function (other) { return String(this) === String(other); }],
  ['equalsIgnoreCase', function (other) {
    return String(this).toLowerCase() === String(other).toLowerCase();
  }]
]) { Object.defineProperty(String.prototype, name, { value: method }); }";

/// What JMeter's objects are in a script.
const OBJECTS: &str = include_str!("javascript/objects.js");

struct Engine {
    runtime: Runtime,
    ticks: Rc<Cell<u32>>,
}

thread_local! {
    // A runtime belongs to its thread; users of a thread take turns.
    static ENGINE: RefCell<Option<Engine>> = const { RefCell::new(None) };
}

fn failed(error: &rquickjs::Error) -> Failure {
    Failure::Thrown(Throwable::new(
        "javax.script.ScriptException",
        error.to_string(),
    ))
}

impl Engine {
    fn new() -> rquickjs::Result<Self> {
        let runtime = Runtime::new()?;
        runtime.set_memory_limit(MEMORY_MAX);
        runtime.set_max_stack_size(STACK_MAX);
        let ticks = Rc::new(Cell::new(0));
        let counted = Rc::clone(&ticks);
        runtime.set_interrupt_handler(Some(Box::new(move || {
            counted.set(counted.get() + 1);
            counted.get() > TICKS_MAX
        })));
        Ok(Self { runtime, ticks })
    }

    /// Whether a script has left so much behind that the next one may not do.
    fn is_full(&self) -> bool {
        self.runtime.run_gc();
        let used = self.runtime.memory_usage().memory_used_size;
        usize::try_from(used).is_ok_and(|used| used > LEFT_MAX)
    }

    /// Evaluates in a context of its own.
    fn evaluate<T>(&self, run: impl FnOnce(&Ctx<'_>) -> Result<T, Failure>) -> Result<T, Failure> {
        self.ticks.set(0);
        let context = Context::full(&self.runtime).map_err(|error| failed(&error))?;
        let done = context.with(|ctx| run(&ctx));
        if self.ticks.get() > TICKS_MAX {
            return Err(Failure::Bound("it takes too many steps"));
        }
        done
    }
}

/// Prepares a context for a script.
fn prepare(ctx: &Ctx<'_>, text: &str) -> Result<(), Failure> {
    if text.contains(".equals") {
        evaluate(ctx, RHINO)?;
    }
    if SIGNS_OF_LENGTHS.iter().any(|sign| text.contains(sign)) {
        evaluate(ctx, BOUNDED)?;
    }
    Ok(())
}

fn with_engine<T>(run: impl FnOnce(&Engine) -> Result<T, Failure>) -> Result<T, Failure> {
    ENGINE.with_borrow_mut(|engine| {
        if engine.is_none() {
            *engine = Some(Engine::new().map_err(|error| failed(&error))?);
        }
        let Some(running) = engine else {
            return Err(Failure::Bound("JavaScript cannot be started"));
        };
        let done = run(running);
        // What one script has left must not be missing for the next.
        if done.is_err() && running.is_full() {
            *engine = None;
        }
        done
    })
}

/// The value of a script as text; `None` when it is undefined.
fn evaluate(ctx: &Ctx<'_>, text: &str) -> Result<Option<String>, Failure> {
    let mut options = EvalOptions::default();
    options.strict = false;
    let value: Result<rquickjs::Value<'_>, _> = ctx.eval_with_options(text, options).catch(ctx);
    let value = value.map_err(|error| {
        let says = error.to_string();
        Failure::Thrown(Throwable::new(
            "javax.script.ScriptException",
            says.trim_end().trim_start_matches("Error: "),
        ))
    })?;
    if value.is_undefined() {
        return Ok(None);
    }
    let text = Coerced::<String>::from_js(ctx, value).map_err(|error| failed(&error))?;
    Ok(Some(text.0))
}

/// The value of a condition.
///
/// # Errors
/// It is not JavaScript, throws, or is neither `true` nor `false`: JMeter says so in its log, and
/// takes it for false.
pub fn condition(text: &str) -> Result<bool, Failure> {
    let value = with_engine(|engine| {
        engine.evaluate(|ctx| {
            prepare(ctx, text)?;
            evaluate(ctx, text)
        })
    })?;
    match value.as_deref() {
        Some("true") => Ok(true),
        Some("false") => Ok(false),
        _ => Err(Failure::Thrown(Throwable::new(
            "java.lang.Exception",
            format!(" BAD CONDITION :: {text} :: expected true or false"),
        ))),
    }
}

/// What a script of Java's engines needs and JavaScript alone does not have.
pub(crate) fn unknown(text: &str) -> Vec<Unknown> {
    let lines = text.lines().zip(1..);
    let found = lines.flat_map(|(line, number)| {
        let words = OF_JAVA.iter().filter(move |word| {
            line.match_indices(**word).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '"' | '\''))
            })
        });
        words.map(move |word| Unknown {
            line: number,
            what: format!("{} in JavaScript", word.trim_end_matches('.')),
        })
    });
    found.collect()
}

/// What a script changed.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Changes {
    variables: Vec<(String, Option<String>)>,
    properties: Vec<(String, String)>,
    log: Vec<(String, String)>,
    previous: Option<SampleChanges>,
    own: Option<SampleChanges>,
    failure: bool,
    error: bool,
    failure_message: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SampleChanges {
    label: Option<String>,
    code: Option<String>,
    message: Option<String>,
    body: Option<String>,
    data: Option<String>,
    success: Option<bool>,
}

/// Runs a script with JMeter's objects; the answer is its value, if it has one.
///
/// # Errors
/// Why there is no answer.
pub(crate) fn run(
    text: &str,
    host: &mut dyn Host,
    bindings: &mut Bindings,
) -> Result<Value, Failure> {
    if let Some(unknown) = unknown(text).into_iter().next() {
        return Err(Failure::Unknown(unknown));
    }
    let prelude = prelude(text, host, bindings);
    let (value, changes) = with_engine(|engine| {
        engine.evaluate(|ctx| {
            evaluate(ctx, &prelude)?;
            prepare(ctx, text)?;
            let value = evaluate(ctx, text);
            // What a script did before it failed is done.
            let changes = evaluate(ctx, "JSON.stringify(weirChanges())").unwrap_or_default();
            Ok((value, changes))
        })
    })?;
    let changes = changes.and_then(|changes| serde_json::from_str(&changes).ok());
    apply(changes.unwrap_or_default(), host, bindings);
    Ok(match value?.as_deref() {
        None => Value::Void,
        Some("null") => Value::Null,
        Some(text) => Value::text(text),
    })
}

fn sample_facts(sample: &Sample) -> serde_json::Value {
    json!({
        "label": &*sample.label,
        "code": &*sample.code,
        "message": &*sample.message,
        "success": sample.success,
        "body": &*sample.body,
        "data": &*sample.request_data,
        "responseHeaders": &*sample.response_headers,
        "requestHeaders": &*sample.request_headers,
        "url": &*sample.url,
        "threadName": &*sample.thread_name,
        "time": sample.elapsed_ms,
        "latency": sample.latency_ms,
        "startTime": sample.start_ms,
        "bytes": sample.received_bytes,
    })
}

/// The objects and what they show, as far as the script mentions them.
fn prelude(text: &str, host: &mut dyn Host, bindings: &Bindings) -> String {
    let mentions = |word: &str| text.contains(word);
    let all = |all: Vec<(String, String)>| -> serde_json::Value {
        let entries = all.into_iter().map(|(name, value)| (name, value.into()));
        serde_json::Value::Object(entries.collect())
    };
    let variables = if mentions("vars") || mentions("ctx") {
        host.variables()
    } else {
        Vec::new()
    };
    let properties = if mentions("props") || mentions("ctx") {
        host.properties()
    } else {
        Vec::new()
    };
    let facts = json!({
        "variables": all(variables),
        "properties": all(properties),
        "previous": bindings.previous.as_ref().map(sample_facts),
        "own": bindings.own.as_ref().map(sample_facts),
        "isAssertion": bindings.place == Place::Assertion,
        "label": &bindings.label,
        "parameters": &bindings.parameters,
        "fileName": &bindings.file_name,
        "threadName": &bindings.thread_name,
        "user": host.user(),
        "seed": host.random() & 0xFFFF_FFFF,
    });
    format!("{OBJECTS}\nweirBegin({facts});")
}

fn apply(changes: Changes, host: &mut dyn Host, bindings: &mut Bindings) {
    for (name, value) in changes.variables {
        match value {
            Some(value) => host.set_variable(&name, &value),
            None => host.remove_variable(&name),
        }
    }
    for (name, value) in changes.properties {
        host.set_property(&name, &value);
    }
    for (level, text) in changes.log {
        host.log(&level, &text);
    }
    for (sample, changes) in [
        (&mut bindings.previous, changes.previous),
        (&mut bindings.own, changes.own),
    ] {
        if let (Some(sample), Some(changes)) = (sample, changes) {
            change(sample, changes);
        }
    }
    if bindings.place == Place::Assertion {
        bindings.judgement.failure |= changes.failure;
        bindings.judgement.error |= changes.error;
        bindings.judgement.message = changes
            .failure_message
            .or(bindings.judgement.message.take());
    }
}

fn change(sample: &mut Sample, changes: SampleChanges) {
    let texts = [
        (&mut sample.label, changes.label),
        (&mut sample.code, changes.code),
        (&mut sample.message, changes.message),
        (&mut sample.body, changes.body),
        (&mut sample.request_data, changes.data),
    ];
    for (field, change) in texts {
        if let Some(change) = change {
            *field = change.into();
            sample.changed = true;
        }
    }
    if let Some(success) = changes.success {
        sample.success = success;
        sample.changed = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What JMeter 5.6.3 made of these conditions of an If Controller.
    #[test]
    fn conditions() {
        for (text, expect) in [
            ("1 == 1", Some(true)),
            ("'a'.length > 1", Some(false)),
            ("\"true\"", Some(true)),
            ("var x = 3; x > 2", Some(true)),
            ("[1,2].indexOf(2) == 1", Some(true)),
            ("/a+/.test('caat')", Some(true)),
            ("parseInt('12') == 12 && Math.max(1, 2) == 2", Some(true)),
            ("1", None),
            ("${x}", None),
            ("", None),
            ("nosuch == 1", None),
            // Rhino knows these of Java's texts.
            ("'hello'.equals('hello')", Some(true)),
            ("'A'.equalsIgnoreCase('a')", Some(true)),
            ("'hello'.contains('ell')", None),
            ("'hello'.matches('h.*')", None),
        ] {
            assert_eq!(condition(text).ok(), expect, "{text}");
        }
    }

    #[test]
    fn endless_scripts_are_stopped() {
        for text in [
            "while (true) {}",
            "function f() { return f() } f()",
            "var a = []; while (true) a.push('xxxxxxxxxxxxxxxx' + a.length)",
            "/(a+)+b/.test('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa')",
            "new Array(4294967295).indexOf(1)",
            "[].indexOf.call({ length: 9007199254740991 }, 1)",
            "var a = []; a.length = 4294967295; a.join('')",
            "Array.from({ length: 4294967295 }).length",
            "new Uint8Array(1e9).length",
            "'a'.repeat(1e9)",
            "var s = 'a'; while (true) s += s",
            "JSON.parse('['.repeat(1e6))",
            "var f = function () { f.apply(null, new Array(60000)) }; f()",
            "var a = [1]; for (;;) a = [a, a]",
        ] {
            assert!(condition(text).is_err(), "{text}");
        }
        assert_eq!(condition("1 < 2").ok(), Some(true));
    }
}
