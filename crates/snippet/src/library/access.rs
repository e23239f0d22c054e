//! Elements, properties, and operators of objects.

use std::cell::RefCell;
use std::rc::Rc;

use super::{class_of, integer, method};
use crate::arithmetic::{self, Number};
use crate::class::Answer;
use crate::key_order::KeyOrder;
use crate::machine::{Machine, Stop};
use crate::syntax::Operator;
use crate::value::{Entries, List, Range, Thing};
use crate::{Language, Value};

/// Longest range.
const RANGE_MAX: u64 = 1_000_000;

/// What a loop goes over.
pub(crate) fn items(machine: &mut Machine<'_>, of: &Value) -> Result<Vec<Value>, Stop> {
    // Before it is made: what is too much would not fit into the machine.
    machine.takes_bytes(match of {
        // Each character is a text of its own.
        Value::Text(text) => text.len().saturating_mul(2 * size_of::<Value>()),
        Value::Object(object) => match &object.0 {
            Thing::List(list) => list.items.borrow().len() * size_of::<Value>(),
            Thing::Map(map) => map.borrow().len() * 3 * size_of::<Value>(),
            _ => 0,
        },
        _ => 0,
    })?;
    let items: Vec<Value> = match of {
        Value::Null | Value::Void => Vec::new(),
        Value::Text(text) => text.chars().map(|c| Value::text(c.to_string())).collect(),
        Value::Object(object) => match &object.0 {
            Thing::List(list) => list.items.borrow().clone(),
            Thing::Map(map) => {
                let entries = map.borrow();
                let entries = entries.iter();
                entries
                    .map(|(key, value)| Value::entry(key.clone(), value.clone()))
                    .collect()
            }
            Thing::Iterator(rest) => rest.borrow_mut().drain(..).collect(),
            Thing::Matcher(matcher) => super::patterns::all_groups(matcher),
            _ => super::cookies::all(machine, of)?.unwrap_or_else(|| vec![of.clone()]),
        },
        other => vec![other.clone()],
    };
    Ok(items)
}

/// Where a key is.
pub(super) fn place_of(entries: &Entries, key: &Value) -> Option<usize> {
    let mut entries = entries.iter();
    entries.position(|(known, _)| super::equals(known, key))
}

/// The value of a key.
pub(super) fn entry(entries: &Entries, key: &Value) -> Option<Value> {
    place_of(entries, key).map(|at| entries[at].1.clone())
}

fn out_of_bounds(machine: &Machine<'_>, at: i64, length: usize) -> Stop {
    let class = if machine.language() == Language::Groovy && at >= 0 {
        "java.lang.IndexOutOfBoundsException"
    } else {
        "java.lang.ArrayIndexOutOfBoundsException"
    };
    Stop::thrown(
        class,
        format!("Index {at} out of bounds for length {length}"),
    )
}

/// Where an index is; Groovy counts negative ones from the end.
fn place(machine: &Machine<'_>, at: &Value, length: usize) -> Result<Option<usize>, Stop> {
    let at = integer(at)?;
    let from_end = machine.language() == Language::Groovy && at < 0;
    let place = if from_end {
        at + length.cast_signed() as i64
    } else {
        at
    };
    match usize::try_from(place) {
        Ok(place) => Ok(Some(place)),
        Err(_) => Err(out_of_bounds(machine, at, length)),
    }
}

/// `of[at]`.
pub(crate) fn element(machine: &mut Machine<'_>, of: &Value, at: &Value) -> Answer {
    let is_array = || of.as_list().is_some_and(|list| list.array_of.is_some());
    if machine.language() == Language::BeanShell && !of.is_null() && !is_array() {
        return Err(Stop::thrown("bsh.EvalError", "Not an array"));
    }
    if let Some(map) = of.as_map() {
        return Ok(entry(&map.borrow(), at).unwrap_or(Value::Null));
    }
    if let Some(indices) = at.as_list() {
        if let Some(range) = indices.range
            && let Some(part) = part(machine, of, range)?
        {
            return Ok(part);
        }
        let indices = indices.items.borrow().clone();
        let mut picked = Vec::with_capacity(indices.len());
        for index in &indices {
            machine.step(1)?;
            let part = element(machine, of, index)?;
            // Ranges among the places give several.
            match (index.as_list(), part.as_list()) {
                (Some(_), Some(part)) => picked.extend(part.items.borrow().iter().cloned()),
                _ => picked.push(part),
            }
        }
        if let Value::Text(_) = of {
            let text: String = picked.iter().map(Value::to_text).collect();
            return machine.text(text);
        }
        return machine.list(picked);
    }
    match of {
        Value::Null | Value::Void => Err(Stop::null_pointer("Cannot get an element of null")),
        Value::Text(text) => {
            let length = super::text::length(text);
            machine.step(length / 64)?;
            let place = place(machine, at, length)?.unwrap_or(length);
            match super::text::character(text, place) {
                Some(c) => Ok(Value::text(c.to_string())),
                None => Err(Stop::thrown(
                    "java.lang.StringIndexOutOfBoundsException",
                    format!("begin {place}, end {}, length {length}", place + 1),
                )),
            }
        }
        Value::Object(object) => match &object.0 {
            Thing::List(list) => {
                let length = list.items.borrow().len();
                let place = place(machine, at, length)?.unwrap_or(length);
                match list.items.borrow().get(place) {
                    Some(value) => Ok(value.clone()),
                    // A list of Groovy has nothing after its end; an array has an end.
                    None if list.array_of.is_none() && machine.language() == Language::Groovy => {
                        Ok(Value::Null)
                    }
                    None => Err(out_of_bounds(machine, place.cast_signed() as i64, length)),
                }
            }
            Thing::Matcher(matcher) => {
                let all = super::patterns::all_groups(matcher);
                let place = place(machine, at, all.len())?.unwrap_or(all.len());
                all.get(place)
                    .cloned()
                    .ok_or_else(|| out_of_bounds(machine, place.cast_signed() as i64, all.len()))
            }
            _ => {
                let name = named(of, "getAt", 1, "get");
                super::call(machine, of, name, std::slice::from_ref(at))
            }
        },
        _ => Err(Stop::unknown("an element of what has none")),
    }
}

/// The method behind square brackets.
fn named<'n>(of: &Value, own: &'n str, arguments: usize, otherwise: &'n str) -> &'n str {
    match method(class_of(of), own, arguments) {
        Some(_) => own,
        None => otherwise,
    }
}

/// `of[at] = value`.
pub(crate) fn set_element(
    machine: &mut Machine<'_>,
    of: &Value,
    at: &Value,
    value: Value,
) -> Result<(), Stop> {
    if of.as_map().is_some() {
        return put(machine, of, at.clone(), value);
    }
    let Some(list) = of.as_list() else {
        if of.is_null() {
            return Err(Stop::null_pointer("Cannot set an element of null"));
        }
        refuse_to_set(of, &at.to_text())?;
        let name = named(of, "putAt", 2, "put");
        return super::call(machine, of, name, &[at.clone(), value]).map(|_| ());
    };
    let length = list.items.borrow().len();
    let place = place(machine, at, length)?.unwrap_or(length);
    if list.array_of.is_none() && machine.language() == Language::Groovy && place >= length {
        // A list of Groovy grows.
        machine.takes_bytes((place - length + 1).saturating_mul(size_of::<Value>()))?;
        list.items.borrow_mut().resize(place + 1, Value::Null);
    }
    let value = match &list.array_of {
        Some(class) => {
            let class = crate::syntax::Type {
                class: class.clone(),
                arrays: 0,
            };
            super::fit(machine, value, &class)?
        }
        None => value,
    };
    match list.items.borrow_mut().get_mut(place) {
        Some(item) => *item = value,
        None => return Err(out_of_bounds(machine, place.cast_signed() as i64, length)),
    }
    Ok(())
}

/// Variables of JMeter are read as properties of `vars`, and cannot be set so.
fn refuse_to_set(of: &Value, name: &str) -> Result<(), Stop> {
    let class = class_of(of);
    if !std::ptr::eq(class, &raw const super::variables::VARIABLES) {
        return Ok(());
    }
    Err(Stop::thrown(
        "groovy.lang.MissingPropertyException",
        format!("No such property: {name} for class: {}", class.name),
    ))
}

/// Puts an entry into a map.
pub(crate) fn put(
    machine: &mut Machine<'_>,
    map: &Value,
    key: Value,
    value: Value,
) -> Result<(), Stop> {
    let Some(map) = map.as_map() else {
        return Err(Stop::unknown("an entry of what is no map"));
    };
    // The map may be a key of itself, and is compared then.
    let known = place_of(&map.borrow(), &key);
    if let Some(at) = known {
        let old = std::mem::replace(&mut map.borrow_mut()[at].1, value);
        drop(old);
        return Ok(());
    }
    machine.takes_bytes(2 * size_of::<Value>())?;
    let mut entries = map.borrow_mut();
    map.1.insert(&mut entries, (key, value), |(key, _)| key)
}

/// The names that a property may have as a method.
fn getters(name: &str) -> [String; 2] {
    let mut letters = name.chars();
    let upper: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect();
    [format!("get{upper}"), format!("is{upper}")]
}

/// Whether a property of this name can be read or set of some class.
pub(crate) fn is_property_of_any(name: &str) -> bool {
    let [get, is] = getters(name);
    let set = get.replacen("get", "set", 1);
    [get, is, set]
        .iter()
        .any(|name| super::is_method_of_any(name))
        || matches!(
            name,
            "length" | "class" | "args" | "key" | "value" | "out" | "err"
        )
}

/// `of.name`.
pub(crate) fn property(machine: &mut Machine<'_>, of: &Value, name: &str) -> Answer {
    machine.step(1)?;
    if of.is_null() {
        return Err(Stop::null_pointer(format!(
            "Cannot get property '{name}' on null object"
        )));
    }
    if let Some(map) = of.as_map() {
        return Ok(entry(&map.borrow(), &Value::text(name)).unwrap_or(Value::Null));
    }
    if let Some(Thing::Class(class)) = of.as_thing() {
        if let Some((_, value)) = class.constants.iter().find(|(known, _)| *known == name) {
            return Ok(value(machine));
        }
        if name == "class" {
            return Ok(of.clone());
        }
        let [get, _] = getters(name);
        if let Some(routine) = class.function(&get, 0) {
            return (routine.run)(machine, &Value::Null, &[]);
        }
    }
    if let Some(list) = of.as_list() {
        if name == "length" && list.array_of.is_some() {
            return Ok(super::int_value(list.items.borrow().len()));
        }
        if machine.language() == Language::Groovy
            && name != "class"
            && method(class_of(of), name, 0).is_none()
        {
            // A property of a list is the list of its items' properties.
            let items = list.items.borrow().clone();
            let mut spread = Vec::with_capacity(items.len());
            for item in &items {
                spread.push(property(machine, item, name)?);
            }
            return machine.list(spread);
        }
    }
    let class = class_of(of);
    if let Some((_, value)) = class.constants.iter().find(|(known, _)| *known == name) {
        return Ok(value(machine));
    }
    for getter in getters(name) {
        if let Some(routine) = method(class, &getter, 0) {
            return (routine.run)(machine, of, &[]);
        }
    }
    // Variables and properties of JMeter have their values for properties.
    if let Some(routine) = method(class, "get", 1)
        && matches!(of.as_thing(), Some(Thing::Single(_)))
    {
        return (routine.run)(machine, of, &[Value::text(name)]);
    }
    Err(Stop::unknown(format!(
        "the property {name} of {}",
        class.short_name()
    )))
}

/// `of.name = value`.
pub(crate) fn set_property(
    machine: &mut Machine<'_>,
    of: &Value,
    name: &str,
    value: Value,
) -> Result<(), Stop> {
    if of.is_null() {
        return Err(Stop::null_pointer(format!(
            "Cannot set property '{name}' on null object"
        )));
    }
    if of.as_map().is_some() {
        return put(machine, of, Value::text(name), value);
    }
    let [get, _] = getters(name);
    let setter = get.replacen("get", "set", 1);
    let class = class_of(of);
    refuse_to_set(of, name)?;
    match method(class, &setter, 1).or_else(|| method(class, "put", 2)) {
        Some(routine) if routine.least == 1 => {
            (routine.run)(machine, of, &[value])?;
        }
        Some(routine) => {
            (routine.run)(machine, of, &[Value::text(name), value])?;
        }
        None => {
            return Err(Stop::unknown(format!(
                "setting the property {name} of {}",
                class.short_name()
            )));
        }
    }
    Ok(())
}

/// `from..to`.
pub(crate) fn range(
    machine: &mut Machine<'_>,
    from: &Value,
    to: &Value,
    inclusive: bool,
) -> Answer {
    let letter = |value: &Value| match value {
        Value::Text(text) if text.chars().count() == 1 => text.chars().next(),
        _ => None,
    };
    if let (Some(from), Some(to)) = (letter(from), letter(to)) {
        let end = if inclusive {
            to
        } else {
            (to as u32)
                .checked_sub(1)
                .and_then(char::from_u32)
                .unwrap_or(to)
        };
        let letters = (from..=end).map(|c| Value::text(c.to_string()));
        return machine.list(letters.collect());
    }
    let (from, to) = (integer(from)?, integer(to)?);
    let range = Range {
        from,
        to,
        inclusive,
    };
    let is_up = from <= to;
    if from.abs_diff(to) >= RANGE_MAX {
        return Err(Stop::Bound("it makes a range that is too long"));
    }
    if !inclusive && from == to {
        return ranged(machine, range, Vec::new());
    }
    let last = match (inclusive, is_up) {
        (true, _) => to,
        (false, true) => to - 1,
        (false, false) => to + 1,
    };
    let value = |number: i64| i32::try_from(number).map_or(Value::Long(number), Value::Int);
    let items = if is_up {
        (from..=last).map(value).collect()
    } else {
        (last..=from).rev().map(value).collect()
    };
    ranged(machine, range, items)
}

fn ranged(machine: &mut Machine<'_>, range: Range, items: Vec<Value>) -> Answer {
    machine.takes_bytes(items.len() * size_of::<Value>())?;
    Ok(Value::thing(Thing::List(Rc::new(List {
        items: RefCell::new(items),
        array_of: None,
        set: None,
        range: Some(range),
    }))))
}

/// `of[from..to]`; `None` for what has no such part.
fn part(machine: &mut Machine<'_>, of: &Value, range: Range) -> Result<Option<Value>, Stop> {
    if let Value::Text(text) = of {
        let length = super::text::length(text);
        machine.step(length / 64)?;
        let (from, to, reversed) = range.places(length);
        let part = super::text::part(text, from, to)?;
        let part = if reversed {
            part.chars().rev().collect()
        } else {
            part.to_owned()
        };
        return machine.text(part).map(Some);
    }
    let Some(list) = of.as_list() else {
        return Ok(None);
    };
    let items = list.items.borrow();
    let (from, to, reversed) = range.places(items.len());
    let places = usize::try_from(from).ok().zip(usize::try_from(to).ok());
    let part = places.and_then(|(from, to)| items.get(from..to));
    let Some(part) = part else {
        return Err(Stop::thrown(
            "java.lang.IndexOutOfBoundsException",
            format!("from {from} to {to}"),
        ));
    };
    let mut part = part.to_vec();
    if reversed {
        part.reverse();
    }
    machine.list(part).map(Some)
}

/// `value in of`, and a case of a switch.
pub(crate) fn is_case(machine: &mut Machine<'_>, of: &Value, value: &Value) -> Result<bool, Stop> {
    match of.as_thing() {
        Some(Thing::List(list)) => {
            let items = list.items.borrow();
            Ok(items.iter().any(|item| arithmetic::equal(item, value)))
        }
        Some(Thing::Map(map)) => Ok(entry(&map.borrow(), value).is_some()),
        Some(Thing::Pattern(pattern)) => Ok(pattern.matches(&value.to_text())),
        Some(Thing::Class(class)) => super::is_instance(
            value,
            &crate::syntax::Type {
                class: class.name.into(),
                arrays: 0,
            },
        ),
        Some(Thing::Closure(_)) => {
            let answer = machine.call_value(of, std::slice::from_ref(value))?;
            Ok(arithmetic::is_true(&answer))
        }
        _ => Ok(arithmetic::equal(of, value)),
    }
}

/// JEXL's `empty`.
pub(crate) fn is_empty(of: &Value) -> bool {
    match of {
        Value::Null | Value::Void => true,
        Value::Text(text) => text.is_empty(),
        Value::Object(object) => match &object.0 {
            Thing::List(list) => list.items.borrow().is_empty(),
            Thing::Map(map) => map.borrow().is_empty(),
            _ => false,
        },
        other => Number::of(other).is_some_and(|number| number.double() == 0.0),
    }
}

/// JEXL's `size`.
pub(crate) fn size(of: &Value) -> Answer {
    Ok(super::int_value(match of {
        Value::Null | Value::Void => 0,
        Value::Text(text) => text.encode_utf16().count(),
        Value::Object(object) => match &object.0 {
            Thing::List(list) => list.items.borrow().len(),
            Thing::Map(map) => map.borrow().len(),
            _ => return Err(Stop::unknown("the size of what has none")),
        },
        _ => return Err(Stop::unknown("the size of what has none")),
    }))
}

/// Refuses what has no `plus` for texts in Groovy: only texts, numbers and nothing do.
fn takes_text(left: &Value, right: &Value) -> Result<(), Stop> {
    let has_plus = match left {
        Value::Bool(_) => false,
        Value::Object(object) => matches!(object.0, Thing::Builder(_) | Thing::Counter(_)),
        _ => true,
    };
    if has_plus {
        return Ok(());
    }
    Err(Stop::thrown(
        "groovy.lang.MissingMethodException",
        format!(
            "No signature of method: {}.plus() is applicable for argument types: (String) \
             values: [{}]",
            arithmetic::class_name(left),
            right.to_text()
        ),
    ))
}

/// Operators of texts, lists and maps; `None`: not one of these.
pub(crate) fn operator(
    machine: &mut Machine<'_>,
    operator: Operator,
    left: &Value,
    right: &Value,
) -> Result<Option<Value>, Stop> {
    let is_text = |value: &Value| matches!(value, Value::Text(_));
    let is_groovy = machine.language() == Language::Groovy;
    let joins = is_text(left) || is_text(right) && !(is_groovy && left.as_list().is_some());
    if operator == Operator::Plus && joins {
        if is_groovy {
            takes_text(left, right)?;
        }
        let mut text = machine.shown(left)?;
        text.push_str(&machine.shown(right)?);
        return machine.text(text).map(Some);
    }
    if !is_groovy {
        return Ok(None);
    }
    if let Value::Text(text) = left {
        return operator_of_text(machine, operator, text, right);
    }
    let answer = match (operator, left.as_thing()) {
        (Operator::ShiftLeft, Some(Thing::Builder(text))) => {
            let more = right.to_text();
            machine.takes_bytes(more.len())?;
            text.borrow_mut().push_str(&more);
            left.clone()
        }
        (Operator::ShiftLeft, Some(Thing::List(list))) => {
            machine.takes_bytes(size_of::<Value>())?;
            super::sets::add(list, right.clone())?;
            left.clone()
        }
        (Operator::ShiftLeft, Some(Thing::File(_) | Thing::Writer(_))) => {
            super::call(machine, left, "append", std::slice::from_ref(right))?;
            left.clone()
        }
        (Operator::Plus, Some(Thing::List(list))) => {
            let more = match right.as_list() {
                Some(more) => more.items.borrow().clone(),
                None => vec![right.clone()],
            };
            if let Some(sum) = super::sets::with(machine, list, &more)? {
                return Ok(Some(sum));
            }
            let mut items = list.items.borrow().clone();
            items.extend(more);
            return listed(machine, list, items).map(Some);
        }
        (Operator::Minus, Some(Thing::List(list))) => {
            let gone = match right.as_list() {
                Some(gone) => gone.items.borrow().clone(),
                None => vec![right.clone()],
            };
            let items = list.items.borrow();
            machine.step(items.len() * gone.len() / 8)?;
            let items = items.iter().filter(|item| {
                let mut gone = gone.iter();
                !gone.any(|gone| arithmetic::equal(gone, item))
            });
            let items = items.cloned().collect();
            return listed(machine, list, items).map(Some);
        }
        (Operator::Times, Some(Thing::List(list))) => {
            let times = usize::try_from(integer(right)?).unwrap_or(0);
            let items = list.items.borrow();
            machine.takes_bytes(items.len().saturating_mul(times) * size_of::<Value>())?;
            let all = std::iter::repeat_n(&*items, times);
            Value::list(all.flatten().cloned().collect())
        }
        (Operator::Plus, Some(Thing::Map(map))) if right.as_map().is_some() => {
            let both = Value::map(map.borrow().clone());
            machine.takes_bytes(map.borrow().len() * 2 * size_of::<Value>())?;
            let more = right.as_map().map(|map| map.borrow().clone());
            for (key, value) in more.unwrap_or_default() {
                put(machine, &both, key, value)?;
            }
            both
        }
        (
            Operator::Plus | Operator::Minus,
            Some(Thing::Temporal(_) | Thing::Instant(_) | Thing::Duration(_) | Thing::Period(_)),
        ) => super::java_time::operated(machine, operator, left, right)?,
        (Operator::ShiftLeft, Some(Thing::Map(_))) if right.as_map().is_some() => {
            super::call(machine, left, "putAll", std::slice::from_ref(right))?;
            left.clone()
        }
        (Operator::ShiftLeft, Some(Thing::Output(_))) => {
            super::call(machine, left, "leftShift", std::slice::from_ref(right))?
        }
        (Operator::Plus | Operator::Minus, Some(Thing::Date(_))) => {
            let name = match operator {
                Operator::Plus => "plus",
                _ => "minus",
            };
            super::call(machine, left, name, std::slice::from_ref(right))?
        }
        _ => return Ok(None),
    };
    Ok(Some(answer))
}

/// What an operator of Groovy makes of a text.
fn operator_of_text(
    machine: &mut Machine<'_>,
    operator: Operator,
    text: &str,
    right: &Value,
) -> Result<Option<Value>, Stop> {
    let answer = match operator {
        Operator::Minus => {
            let gone = machine.shown(right)?;
            machine.text(text.replacen(&gone, "", 1))?
        }
        Operator::Times => {
            let times = usize::try_from(integer(right)?).unwrap_or(0);
            machine.takes_bytes(text.len().saturating_mul(times))?;
            machine.text(text.repeat(times))?
        }
        Operator::ShiftLeft => {
            let text = format!("{text}{}", right.to_text());
            machine.takes_bytes(text.len())?;
            Value::thing(Thing::Builder(Rc::new(RefCell::new(text))))
        }
        _ => return Ok(None),
    };
    Ok(Some(answer))
}

/// Some of the items of a list or set in their order, as what `like` is.
pub(super) fn listed(machine: &mut Machine<'_>, like: &Rc<List>, items: Vec<Value>) -> Answer {
    machine.takes_bytes(items.len() * size_of::<Value>())?;
    let set = like.set.as_ref().map(KeyOrder::of_part);
    Ok(Value::thing(Thing::List(Rc::new(List {
        items: RefCell::new(items),
        array_of: like.array_of.clone(),
        set,
        range: None,
    }))))
}
