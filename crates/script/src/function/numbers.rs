//! Counting and adding.

use std::sync::atomic::Ordering;

use super::{Answer, Call, Function, MANY, Name, not_a_number, push, remember};
use crate::Scope;

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("__counter", (1, 2), Answer::Changes, counter)
        .stores(1, Name::Trimmed)
        .prepares(remember),
    Function::new("__intSum", (2, MANY), Answer::Same, int_sum),
    Function::new("__longSum", (2, MANY), Answer::Same, long_sum),
];

/// From 1, each call for itself: for each user when the argument says true, else for all.
fn counter(call: &Call, scope: &mut Scope, out: &mut String) {
    let occurrence = call.occurrence();
    if !call.argument(0, scope).eq_ignore_ascii_case("true") {
        let before = occurrence.0.count.fetch_add(1, Ordering::Relaxed);
        return push(out, before.wrapping_add(1));
    }
    let id = occurrence.id();
    let counts = &mut scope.memory().counts;
    let at = counts.iter().position(|(of, _)| *of == id);
    let at = at.unwrap_or_else(|| {
        counts.push((id, 0));
        counts.len() - 1
    });
    counts[at].1 = counts[at].1.wrapping_add(1);
    push(out, counts[at].1);
}

fn int_sum(call: &Call, scope: &mut Scope, out: &mut String) {
    sum(call, scope, out, i32::wrapping_add);
}

fn long_sum(call: &Call, scope: &mut Scope, out: &mut String) {
    sum(call, scope, out, i64::wrapping_add);
}

/// The last argument is the name of a variable unless it is a number.
fn sum<N>(call: &Call, scope: &mut Scope, out: &mut String, add: fn(N, N) -> N)
where
    N: Default + std::fmt::Display + std::str::FromStr,
{
    let mut total = N::default();
    let last = call.arguments.len() - 1;
    for index in 0..last {
        let text = call.argument(index, scope);
        match text.parse() {
            Ok(number) => total = add(total, number),
            Err(_) => return scope.fail(not_a_number(&text)),
        }
    }
    let text = call.argument(last, scope);
    let number = text.parse();
    let total = match number {
        Ok(number) => add(total, number),
        Err(_) => total,
    };
    let start = out.len();
    push(out, total);
    if text.parse::<N>().is_err() && !text.trim().is_empty() {
        scope.variables.set(text.trim(), &out[start..]);
    }
}
