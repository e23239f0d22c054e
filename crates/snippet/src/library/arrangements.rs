//! Lists that are made of another list: in pieces, in pairs, in part, in order.

use super::collections::{call_with, holds, list_of};
use super::order::sorted;
use super::{access, int_value, integer};
use crate::Value;
use crate::class::{Routine, between, routine};
use crate::machine::{Machine, Stop};

pub(super) const OF_LISTS: &[Routine] = &[
    routine("collate", 1, |machine, of, arguments| {
        let size = usize::try_from(integer(&arguments[0])?).unwrap_or(0);
        if size == 0 {
            return Err(Stop::unknown("pieces of no length"));
        }
        let items = super::items(machine, of)?;
        let pieces = items.chunks(size).map(|piece| Value::list(piece.to_vec()));
        machine.list(pieces.collect())
    }),
    between("withIndex", 0, 1, |machine, of, arguments| {
        let numbered = numbered(machine, of, arguments)?.into_iter();
        let pairs = numbered.map(|(at, item)| Value::list(vec![item, at]));
        machine.list(pairs.collect())
    }),
    between("indexed", 0, 1, |machine, of, arguments| {
        let numbered = numbered(machine, of, arguments)?;
        Ok(Value::map(numbered))
    }),
    routine("transpose", 0, |machine, of, _| {
        let rows = super::items(machine, of)?;
        let rows: Result<Vec<_>, Stop> =
            rows.iter().map(|row| super::items(machine, row)).collect();
        let rows = rows?;
        let columns = rows.iter().map(Vec::len).min().unwrap_or(0);
        let column = |at: usize| Value::list(rows.iter().map(|row| row[at].clone()).collect());
        let columns = (0..columns).map(column).collect();
        machine.list(columns)
    }),
    routine("collectMany", 1, |machine, of, arguments| {
        let mut all = Vec::new();
        for item in super::items(machine, of)? {
            let some = call_with(machine, &arguments[0], item)?;
            all.extend(super::items(machine, &some)?);
        }
        machine.list(all)
    }),
    routine("split", 1, |machine, of, arguments| {
        let (mut kept, mut others) = (Vec::new(), Vec::new());
        for item in super::items(machine, of)? {
            if holds(machine, &arguments[0], &item)? {
                kept.push(item);
            } else {
                others.push(item);
            }
        }
        machine.list(vec![Value::list(kept), Value::list(others)])
    }),
    between("toSorted", 0, 1, |machine, of, arguments| {
        let items = super::items(machine, of)?;
        let sorted = sorted(machine, items, arguments.first())?;
        machine.list(sorted)
    }),
    routine("takeWhile", 1, |machine, of, arguments| {
        let items = super::items(machine, of)?;
        let end = first_that_fails(machine, &items, &arguments[0])?;
        access::listed(machine, list_of(of)?, items[..end].to_vec())
    }),
    routine("dropWhile", 1, |machine, of, arguments| {
        let items = super::items(machine, of)?;
        let end = first_that_fails(machine, &items, &arguments[0])?;
        access::listed(machine, list_of(of)?, items[end..].to_vec())
    }),
    routine("countBy", 1, |machine, of, arguments| {
        let counts = Value::map(Vec::new());
        for item in super::items(machine, of)? {
            let key = call_with(machine, &arguments[0], item)?;
            let known = counts
                .as_map()
                .and_then(|map| access::entry(&map.borrow(), &key));
            let count = known.map_or(Ok(0), |count| integer(&count))?;
            let count = usize::try_from(count).unwrap_or(0) + 1;
            access::put(machine, &counts, key, int_value(count))?;
        }
        Ok(counts)
    }),
    routine("lastIndexOf", 1, |_, of, arguments| {
        let items = list_of(of)?.items.borrow();
        let found = items
            .iter()
            .rposition(|item| super::equals(item, &arguments[0]));
        Ok(found.map_or(Value::Int(-1), int_value))
    }),
    routine("findResult", 1, |machine, of, arguments| {
        for item in super::items(machine, of)? {
            let result = call_with(machine, &arguments[0], item)?;
            if !result.is_null() {
                return Ok(result);
            }
        }
        Ok(Value::Null)
    }),
    routine("findIndexValues", 1, |machine, of, arguments| {
        let mut places = Vec::new();
        for (at, item) in super::items(machine, of)?.iter().enumerate() {
            if holds(machine, &arguments[0], item)? {
                places.push(Value::Long(i64::try_from(at).unwrap_or(i64::MAX)));
            }
        }
        machine.list(places)
    }),
    routine("swap", 2, |_, of, places| {
        let mut items = list_of(of)?.items.borrow_mut();
        let place = |at: &Value| Ok::<_, Stop>(usize::try_from(integer(at)?).unwrap_or(usize::MAX));
        let (one, other) = (place(&places[0])?, place(&places[1])?);
        if one.max(other) >= items.len() {
            return Err(Stop::thrown(
                "java.lang.IndexOutOfBoundsException",
                format!(
                    "Index {} out of bounds for length {}",
                    one.max(other),
                    items.len()
                ),
            ));
        }
        items.swap(one, other);
        drop(items);
        Ok(of.clone())
    }),
    routine("reverseEach", 1, |machine, of, arguments| {
        for item in super::items(machine, of)?.into_iter().rev() {
            call_with(machine, &arguments[0], item)?;
        }
        Ok(of.clone())
    }),
    routine("removeIf", 1, |machine, of, arguments| {
        let items = super::items(machine, of)?;
        let mut kept = Vec::with_capacity(items.len());
        for item in items {
            if !holds(machine, &arguments[0], &item)? {
                kept.push(item);
            }
        }
        let mut items = list_of(of)?.items.borrow_mut();
        let changes = kept.len() < items.len();
        *items = kept;
        Ok(Value::Bool(changes))
    }),
    routine("step", 1, |machine, of, arguments| {
        let by = usize::try_from(integer(&arguments[0])?).unwrap_or(0);
        if by == 0 || list_of(of)?.range.is_none() {
            return Err(Stop::unknown("such steps"));
        }
        let items = super::items(machine, of)?;
        machine.list(items.into_iter().step_by(by).collect())
    }),
];

/// The items with their numbers, from the one that is given or 0.
fn numbered(
    machine: &mut Machine<'_>,
    of: &Value,
    arguments: &[Value],
) -> Result<Vec<(Value, Value)>, Stop> {
    let first = arguments.first().map_or(Ok(0), integer)?;
    let items = super::items(machine, of)?;
    machine.takes_bytes(items.len() * 3 * size_of::<Value>())?;
    let numbers = (first..).map(|number| Value::Int(i32::try_from(number).unwrap_or(i32::MAX)));
    Ok(numbers.zip(items).collect())
}

fn first_that_fails(
    machine: &mut Machine<'_>,
    items: &[Value],
    closure: &Value,
) -> Result<usize, Stop> {
    for (at, item) in items.iter().enumerate() {
        if !holds(machine, closure, item)? {
            return Ok(at);
        }
    }
    Ok(items.len())
}
