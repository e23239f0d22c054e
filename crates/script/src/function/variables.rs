//! Variables by names that are made up while the test runs, and texts inside variables.

use super::{Answer, Call, Function, push};
use crate::Scope;
use crate::text::render_now;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("__V", (1, 2), Answer::Changes, by_name),
    Function::new("__eval", (1, 1), Answer::Changes, |call, scope, out| {
        let text = call.argument(0, scope);
        render_now(&text, scope, out);
    }),
    Function::new("__evalVar", (1, 1), Answer::Changes, |call, scope, out| {
        let name = call.argument(0, scope);
        if let Some(text) = scope.variables.get(&name).map(str::to_owned) {
            render_now(&text, scope, out);
        }
    }),
    Function::new(
        "__isVarDefined",
        (1, 1),
        Answer::Changes,
        |call, scope, out| {
            let name = call.argument(0, scope);
            push(out, scope.variables.get(&name).is_some());
        },
    ),
    Function::new("__split", (2, 3), Answer::Changes, split),
];

fn by_name(call: &Call, scope: &mut Scope, out: &mut String) {
    let name = call.argument(0, scope);
    match scope.variables.get(&name) {
        Some(value) => out.push_str(value),
        None if call.has(1) => out.push_str(&call.argument(1, scope)),
        None => out.push_str(&name),
    }
}

/// Sets `name`, `name_n` and `name_1` to `name_n`, and takes away the one after.
fn split(call: &Call, scope: &mut Scope, out: &mut String) {
    let text = call.argument(0, scope);
    let name = call.argument(1, scope);
    let delimiters = call.argument(2, scope);
    let delimiters = if delimiters.is_empty() {
        ","
    } else {
        &*delimiters
    };
    let parts = parts(&text, delimiters);
    let name = name.trim();
    let variables = &mut scope.variables;
    variables.set(name, &text);
    variables.set(&format!("{name}_n"), &parts.len().to_string());
    for (index, part) in parts.iter().enumerate() {
        variables.set(&format!("{name}_{}", index + 1), part);
    }
    variables.remove(&format!("{name}_{}", parts.len() + 1));
    out.push_str(&text);
}

/// Every character of the delimiters parts the text. A part without text is `?`, except that
/// nothing stands before a delimiter at the very start.
fn parts<'a>(text: &'a str, delimiters: &str) -> Vec<&'a str> {
    let mut parts: Vec<&str> = text.split(|c| delimiters.contains(c)).collect();
    if parts[0].is_empty() {
        parts.remove(0);
    }
    for part in &mut parts {
        if part.is_empty() {
            *part = "?";
        }
    }
    parts
}
