//! Items in order, and out of it.

use std::cmp::Ordering;

use super::collections::list_of;
use super::integer;
use crate::Value;
use crate::arithmetic;
use crate::machine::{Machine, Stop};
use crate::value::Thing;

/// The items in order, by a closure or by themselves.
pub(super) fn sorted(
    machine: &mut Machine<'_>,
    items: Vec<Value>,
    by: Option<&Value>,
) -> Result<Vec<Value>, Stop> {
    let is_comparison = |machine: &Machine<'_>| match by.and_then(Value::as_thing) {
        Some(Thing::Closure(closure)) => {
            let code = &machine.program.closures[closure.code];
            code.parameters.as_ref().is_some_and(|all| all.len() == 2)
        }
        _ => false,
    };
    let compares = is_comparison(machine);
    merge_sort(items, &mut |left, right| {
        machine.step(1)?;
        match by {
            Some(closure) if compares => {
                let answer = machine.call_value(closure, &[left.clone(), right.clone()])?;
                Ok(integer(&answer)?.cmp(&0))
            }
            Some(closure) if closure.as_thing().is_some() => {
                let left = machine.call_value(closure, std::slice::from_ref(left))?;
                let right = machine.call_value(closure, std::slice::from_ref(right))?;
                arithmetic::compare(&left, &right)
            }
            _ => arithmetic::compare(left, right),
        }
    })
}

/// Keeps the order of equals, and stops at the first error; the library's sort could not.
pub(super) fn merge_sort(
    items: Vec<Value>,
    compare: &mut dyn FnMut(&Value, &Value) -> Result<Ordering, Stop>,
) -> Result<Vec<Value>, Stop> {
    if items.len() < 2 {
        return Ok(items);
    }
    let mut left = items;
    let right = left.split_off(left.len() / 2);
    let mut left = merge_sort(left, compare)?.into_iter().peekable();
    let mut right = merge_sort(right, compare)?.into_iter().peekable();
    let mut merged = Vec::new();
    while let (Some(one), Some(other)) = (left.peek(), right.peek()) {
        let is_left = compare(one, other)?.is_le();
        merged.extend(if is_left { left.next() } else { right.next() });
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

/// Fisher and Yates.
pub(super) fn shuffle(machine: &mut Machine<'_>, of: &Value) -> Result<(), Stop> {
    let list = list_of(of)?;
    let length = list.items.borrow().len();
    machine.step(length)?;
    for at in (1..length).rev() {
        let other = (machine.host.random() % (at as u64 + 1)) as usize;
        list.items.borrow_mut().swap(at, other);
    }
    Ok(())
}
