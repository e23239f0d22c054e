//! Sets.

use super::collections::LIST_METHODS;
use super::integer;
use crate::Value;
use crate::class::{Answer, Class, between};
use crate::key_order::KeyOrder;
use crate::machine::{Machine, Stop};
use crate::value::List;

pub(super) const CLASSES: &[&Class] = &[&HASH, &LINKED, &TREE, &INTERFACE, &SORTED];

static HASH: Class = Class {
    make: Some(between("HashSet", 0, 2, |machine, _, arguments| {
        let order = match arguments.first() {
            Some(of) if let Some(list) = of.as_list() => table_of(list),
            Some(keys) => KeyOrder::table(usize::try_from(integer(keys)?).ok()),
            None => KeyOrder::table(None),
        };
        make(machine, order, arguments)
    })),
    methods: LIST_METHODS,
    ..Class::named("java.util.HashSet")
};

static LINKED: Class = Class {
    make: Some(between("LinkedHashSet", 0, 2, |machine, _, arguments| {
        make(machine, KeyOrder::Arrival, arguments)
    })),
    methods: LIST_METHODS,
    ..Class::named("java.util.LinkedHashSet")
};

static TREE: Class = Class {
    make: Some(between("TreeSet", 0, 1, |machine, _, arguments| {
        if arguments.first().is_some_and(|of| of.as_list().is_none()) {
            return Err(Stop::unknown("a TreeSet in an order of its own"));
        }
        make(machine, KeyOrder::Size, arguments)
    })),
    methods: LIST_METHODS,
    ..Class::named("java.util.TreeSet")
};

static INTERFACE: Class = Class {
    methods: LIST_METHODS,
    ..Class::named("java.util.Set")
};

static SORTED: Class = Class {
    methods: LIST_METHODS,
    ..Class::named("java.util.SortedSet")
};

/// What `new HashSet(items)` makes: never less than Java's own size.
fn table_of(list: &List) -> KeyOrder {
    KeyOrder::table_of(list.items.borrow().len().max(11))
}

fn make(machine: &mut Machine<'_>, order: KeyOrder, arguments: &[Value]) -> Answer {
    let items = match arguments.first() {
        Some(of) if of.as_list().is_some() => super::items(machine, of)?,
        _ => Vec::new(),
    };
    set_of(machine, order, items)
}

/// A set of items that may be there several times.
pub(super) fn set_of(machine: &mut Machine<'_>, order: KeyOrder, items: Vec<Value>) -> Answer {
    machine.takes_bytes(items.len() * size_of::<Value>())?;
    let set = Value::set(order, Vec::new());
    if let Some(set) = set.as_list() {
        for item in items {
            machine.step(1)?;
            add(set, item)?;
        }
    }
    Ok(set)
}

/// Adds an item; false if it is a set that has it.
pub(super) fn add(list: &List, item: Value) -> Result<bool, Stop> {
    let Some(order) = &list.set else {
        list.items.borrow_mut().push(item);
        return Ok(true);
    };
    // The set may be an item of itself, and is compared then.
    let is_known = {
        let items = list.items.borrow();
        items.iter().any(|known| super::equals(known, &item))
    };
    if is_known {
        return Ok(false);
    }
    order.insert(&mut list.items.borrow_mut(), item, |item| item)?;
    Ok(true)
}

/// A copy of a set with more items; `None` for what is no set.
pub(super) fn with(
    machine: &mut Machine<'_>,
    list: &List,
    more: &[Value],
) -> Result<Option<Value>, Stop> {
    let Some(order) = &list.set else {
        return Ok(None);
    };
    let known = list.items.borrow();
    machine.takes_bytes((known.len() + more.len()) * size_of::<Value>())?;
    let order = order.of_copy(known.len());
    let mut items = Vec::with_capacity(known.len());
    for item in known.iter() {
        order.insert(&mut items, item.clone(), |item| item)?;
    }
    let set = Value::set(order, items);
    if let Some(set) = set.as_list() {
        for item in more {
            machine.step(1)?;
            add(set, item.clone())?;
        }
    }
    Ok(Some(set))
}

/// The order of the sets that a class makes of a list.
pub(super) fn order_of(class: &str) -> Option<KeyOrder> {
    Some(match class {
        "Set" | "LinkedHashSet" => KeyOrder::Arrival,
        "HashSet" => KeyOrder::table(None),
        "TreeSet" | "SortedSet" => KeyOrder::Size,
        _ => return None,
    })
}

/// What a list becomes in a variable of a set's class.
pub(super) fn fit(machine: &mut Machine<'_>, value: Value, class: &str) -> Answer {
    let (Some(list), Some(order)) = (value.as_list(), order_of(class)) else {
        return Ok(value);
    };
    if is_instance(&value, class) {
        return Ok(value);
    }
    let order = match order {
        KeyOrder::Table(_) => table_of(list),
        order => order,
    };
    let items = super::items(machine, &value)?;
    set_of(machine, order, items)
}

pub(super) fn class_of(order: &KeyOrder) -> &'static Class {
    match order {
        KeyOrder::Arrival | KeyOrder::Read => &LINKED,
        KeyOrder::Table(_) => &HASH,
        KeyOrder::Size => &TREE,
    }
}

/// Whether a value is a set of a class; those in the order of arrival are tables too.
pub(super) fn is_instance(value: &Value, class: &str) -> bool {
    let Some(order) = value.as_list().and_then(|list| list.set.as_ref()) else {
        return false;
    };
    match class {
        "Set" => true,
        "HashSet" => !matches!(order, KeyOrder::Size),
        "LinkedHashSet" => matches!(order, KeyOrder::Arrival),
        _ => matches!(order, KeyOrder::Size),
    }
}
