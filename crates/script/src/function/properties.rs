//! Properties: the same for all users, and set by any of them.

use super::{Answer, Argument, Call, Function, Known, Name, Prepared};
use crate::Scope;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("__P", (1, 2), Answer::Changes, |call, scope, out| {
        render(call, 1, scope, out);
    })
    .prepares(|arguments, known| {
        let otherwise = match arguments.get(1) {
            Some(argument) => argument.constant().map(str::trim),
            None => Some("1"),
        };
        Ok(prepared(arguments, otherwise, known))
    }),
    Function::new("__property", (1, 3), Answer::Changes, |call, scope, out| {
        render(call, 2, scope, out);
    })
    .stores(1, Name::AsItIs)
    .prepares(|arguments, known| {
        let otherwise = match arguments.get(2) {
            Some(argument) => argument.constant().map(str::trim),
            None => arguments[0].constant().map(str::trim),
        };
        Ok(prepared(arguments, otherwise, known))
    }),
    Function::new("__setProperty", (2, 3), Answer::Changes, set),
    Function::new("__isPropDefined", (1, 1), Answer::Changes, is_defined).prepares(
        |arguments, known| {
            Ok(if_fixed(&arguments[0], known, |value| {
                Some(value.is_some().to_string())
            }))
        },
    ),
];

/// The value of a property, or else this argument without the spaces around it, or else the
/// function's own default.
fn render(call: &Call, otherwise: usize, scope: &mut Scope, out: &mut String) {
    let name = call.argument(0, scope);
    let found = scope.live().with_property(&name, |value| {
        value.map(|value| out.push_str(value)).is_some()
    });
    if found {
        return;
    }
    if call.has(otherwise) {
        out.push_str(call.argument(otherwise, scope).trim());
    } else if otherwise == 1 {
        out.push('1');
    } else {
        out.push_str(name.trim());
    }
}

/// The answer, if nothing in the plan sets the property.
fn prepared(arguments: &[Argument], otherwise: Option<&str>, known: &Known<'_>) -> Prepared {
    if_fixed(&arguments[0], known, |value| {
        value.or(otherwise).map(str::to_owned)
    })
}

/// The answer that follows from the value of a property, or from its absence, if nothing in the
/// plan sets it.
fn if_fixed(
    name: &Argument,
    known: &Known<'_>,
    answer: impl FnOnce(Option<&str>) -> Option<String>,
) -> Prepared {
    let (Some(name), Some(changes)) = (name.constant(), known.changes) else {
        return Prepared::Nothing;
    };
    if changes.properties.contains(name) {
        return Prepared::Nothing;
    }
    let answer = known.globals.live().with_property(name, answer);
    answer.map_or(Prepared::Nothing, |answer| Prepared::Known(answer.into()))
}

fn set(call: &Call, scope: &mut Scope, out: &mut String) {
    let name = call.argument(0, scope);
    let value = call.argument(1, scope);
    let wants_earlier = call.argument(2, scope).eq_ignore_ascii_case("true");
    let earlier = scope.live().set_property(&name, &value);
    if wants_earlier {
        out.push_str(earlier.as_deref().unwrap_or("null"));
    }
}

fn is_defined(call: &Call, scope: &mut Scope, out: &mut String) {
    let name = call.argument(0, scope);
    let defined = scope.live().with_property(&name, |value| value.is_some());
    super::push(out, defined);
}
