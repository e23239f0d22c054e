//! Settings of controllers as numbers and truth, read when they are needed.

use rand_xoshiro::rand_core::Rng as _;
use weir_script::{Scope, Text, evaluate_condition, javascript_condition};

use super::Outside;

/// A place among so many children, by chance.
pub(super) fn draw(children: usize, scope: &mut Scope) -> u32 {
    if children == 0 {
        return 0;
    }
    // Multiply and shift: even to one in 2^32 (Lemire, 2019, without the rejection).
    let drawn = u64::from(scope.random.next_u64() as u32);
    ((drawn * children as u64) >> 32) as u32
}

/// A whole number as `Integer.parseInt` reads it; what is none is 0 in JMeter, an empty text is the
/// caller's default.
pub(super) fn integer(text: &Text, scope: &mut Scope) -> Option<i64> {
    let number = |text: &str| text.parse::<i32>().map_or(0, i64::from);
    match text.constant() {
        Some("") => None,
        Some(text) => Some(number(text)),
        None => Some(number(&text.rendered(scope))),
    }
}

/// How often a Throughput Controller runs; what is no number is 1 in JMeter.
pub(super) fn executions_max(text: &Text, scope: &mut Scope) -> i64 {
    match text.constant() {
        Some(text) => text.parse().unwrap_or(1),
        None => text.rendered(scope).parse().unwrap_or(1),
    }
}

pub(super) fn float(text: &Text, scope: &mut Scope) -> Option<f64> {
    let number: Option<f32> = match text.constant() {
        Some(text) => text.trim().parse().ok(),
        None => text.rendered(scope).trim().parse().ok(),
    };
    number.map(f64::from)
}

/// Whether the condition of an `If` controller holds.
pub(super) fn holds(condition: &Text, is_text: bool, outside: &mut Outside<'_>) -> bool {
    let condition = condition.rendered(outside.scope);
    let condition = condition.trim();
    if is_text {
        condition.eq_ignore_ascii_case("true")
    } else {
        // Most conditions are plain comparisons; what JavaScript cannot make sense of does not run.
        javascript_condition(condition).unwrap_or_else(|| {
            evaluate_condition(condition).unwrap_or_else(|failure| {
                let says = format!("error while processing [{condition}]: {failure}");
                outside.scope.variables.globals().log("ERROR", &says);
                false
            })
        })
    }
}
