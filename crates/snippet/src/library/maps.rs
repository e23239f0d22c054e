//! Maps.

use super::collections::{OF_COLLECTIONS, entries_of};
use super::order::{merge_sort, sorted};
use super::{access, integer, thing};
use crate::Value;
use crate::arithmetic;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::key_order::KeyOrder;
use crate::machine::{Machine, Stop};
use crate::value::{Map, Thing};

pub(super) static MAP: Class = Class {
    make: Some(between("LinkedHashMap", 0, 1, |machine, _, arguments| {
        make_map(machine, KeyOrder::Arrival, arguments.first())
    })),
    methods: &[OF_MAPS, OF_COLLECTIONS],
    ..Class::named("java.util.LinkedHashMap")
};

/// What JSON is read into: alone it is written as in Java.
static LAZY_MAP: Class = Class {
    methods: &[
        &[routine("toString", 0, |machine, of, _| {
            machine.text(of.to_text())
        })],
        OF_MAPS,
        OF_COLLECTIONS,
    ],
    ..Class::named("org.apache.groovy.json.internal.LazyMap")
};

pub(super) static HASH_MAP: Class = Class {
    make: Some(between("HashMap", 0, 2, |machine, _, arguments| {
        let order = match arguments.first() {
            Some(of) if let Some(map) = of.as_map() => KeyOrder::table_of(map.borrow().len()),
            Some(keys) => KeyOrder::table(usize::try_from(integer(keys)?).ok()),
            None => KeyOrder::table(None),
        };
        make_map(machine, order, arguments.first())
    })),
    methods: &[OF_MAPS, OF_COLLECTIONS],
    ..Class::named("java.util.HashMap")
};

pub(super) static TREE_MAP: Class = Class {
    make: Some(between("TreeMap", 0, 1, |machine, _, arguments| {
        if arguments.first().is_some_and(|of| of.as_map().is_none()) {
            return Err(Stop::unknown("a TreeMap in an order of its own"));
        }
        make_map(machine, KeyOrder::Size, arguments.first())
    })),
    methods: &[OF_SORTED_MAPS, OF_MAPS, OF_COLLECTIONS],
    ..Class::named("java.util.TreeMap")
};

const OF_SORTED_MAPS: &[Routine] = &[
    routine("firstKey", 0, |_, of, _| end(of, true)),
    routine("lastKey", 0, |_, of, _| end(of, false)),
];

fn end(of: &Value, is_first: bool) -> Answer {
    let entries = thing!(of, Map).borrow();
    let entry = if is_first {
        entries.first()
    } else {
        entries.last()
    };
    let key = entry.map(|(key, _)| key.clone());
    key.ok_or_else(|| Stop::thrown("java.util.NoSuchElementException", "no key"))
}

pub(super) static CONCURRENT_MAP: Class = Class {
    make: Some(between(
        "ConcurrentHashMap",
        0,
        1,
        |machine, _, arguments| make_map(machine, KeyOrder::Arrival, arguments.first()),
    )),
    ..Class::named("java.util.concurrent.ConcurrentHashMap")
};

pub(super) static MAP_INTERFACE: Class = Class {
    methods: &[OF_MAPS, OF_COLLECTIONS],
    ..Class::named("java.util.Map")
};

/// A map with the entries of another one, or without.
fn make_map(machine: &mut Machine<'_>, order: KeyOrder, of: Option<&Value>) -> Answer {
    let entries = of.and_then(Value::as_map);
    let entries = entries.map(|map| map.borrow().clone()).unwrap_or_default();
    if matches!(order, KeyOrder::Arrival) {
        machine.takes_bytes(entries.len() * 2 * size_of::<Value>())?;
        return Ok(Value::ordered_map(entries, order));
    }
    let made = Value::ordered_map(Vec::new(), order);
    for (key, value) in entries {
        machine.step(1)?;
        access::put(machine, &made, key, value)?;
    }
    Ok(made)
}

pub(super) fn class_of(order: &KeyOrder) -> &'static Class {
    match order {
        KeyOrder::Arrival => &MAP,
        KeyOrder::Read => &LAZY_MAP,
        KeyOrder::Table(_) => &HASH_MAP,
        KeyOrder::Size => &TREE_MAP,
    }
}

/// Whether a map is one of a class; those in the order of arrival are tables too.
pub(super) fn is_instance(map: &Map, class: &str) -> bool {
    match class {
        "HashMap" => matches!(map.1, KeyOrder::Arrival | KeyOrder::Table(_)),
        "LinkedHashMap" => matches!(map.1, KeyOrder::Arrival),
        _ => matches!(map.1, KeyOrder::Size),
    }
}

fn found(of: &Value, key: &Value) -> Result<Option<Value>, Stop> {
    Ok(access::entry(&thing!(of, Map).borrow(), key))
}

fn put(machine: &mut Machine<'_>, of: &Value, arguments: &[Value]) -> Answer {
    let old = found(of, &arguments[0])?.unwrap_or(Value::Null);
    access::put(machine, of, arguments[0].clone(), arguments[1].clone())?;
    Ok(old)
}

const OF_MAPS: &[Routine] = &[
    between("get", 1, 2, |machine, of, arguments| {
        if let Some(value) = found(of, &arguments[0])? {
            return Ok(value);
        }
        match arguments.get(1) {
            Some(default) => {
                // Groovy keeps the default.
                access::put(machine, of, arguments[0].clone(), default.clone())?;
                Ok(default.clone())
            }
            None => Ok(Value::Null),
        }
    }),
    routine("getAt", 1, |_, of, arguments| {
        Ok(found(of, &arguments[0])?.unwrap_or(Value::Null))
    }),
    routine("getOrDefault", 2, |_, of, arguments| {
        Ok(found(of, &arguments[0])?.unwrap_or_else(|| arguments[1].clone()))
    }),
    routine("put", 2, put),
    routine("putAt", 2, put),
    routine("putIfAbsent", 2, |machine, of, arguments| {
        if let Some(old) = found(of, &arguments[0])? {
            return Ok(old);
        }
        access::put(machine, of, arguments[0].clone(), arguments[1].clone())?;
        Ok(Value::Null)
    }),
    routine("putAll", 1, |machine, of, arguments| {
        let more = thing!(arguments[0], Map).borrow().clone();
        for (key, value) in more {
            access::put(machine, of, key, value)?;
        }
        Ok(Value::Void)
    }),
    routine("containsKey", 1, |_, of, arguments| {
        Ok(Value::Bool(found(of, &arguments[0])?.is_some()))
    }),
    routine("containsValue", 1, |_, of, arguments| {
        let map = thing!(of, Map).borrow();
        Ok(Value::Bool(
            map.iter()
                .any(|(_, value)| super::equals(value, &arguments[0])),
        ))
    }),
    routine("remove", 1, |_, of, arguments| {
        let map = thing!(of, Map);
        let at = access::place_of(&map.borrow(), &arguments[0]);
        Ok(at.map_or(Value::Null, |at| map.borrow_mut().remove(at).1))
    }),
    routine("clear", 0, |_, of, _| {
        thing!(of, Map).borrow_mut().clear();
        Ok(Value::Void)
    }),
    routine("keySet", 0, |machine, of, _| {
        let map = thing!(of, Map).borrow();
        machine.takes_bytes(map.len() * size_of::<Value>())?;
        let keys = map.iter().map(|(key, _)| key.clone()).collect();
        Ok(Value::set(KeyOrder::Arrival, keys))
    }),
    routine("values", 0, |machine, of, _| {
        let map = thing!(of, Map).borrow();
        let values = map.iter().map(|(_, value)| value.clone()).collect();
        machine.list(values)
    }),
    routine("entrySet", 0, |machine, of, _| {
        let items = super::items(machine, of)?;
        machine.list(items)
    }),
    between("sort", 0, 1, |machine, of, arguments| {
        let entries = super::items(machine, of)?;
        let sorted = if let Some(by) = arguments.first() {
            sorted(machine, entries, Some(by))?
        } else {
            machine.step(entries.len() * 4)?;
            let key = |value: &Value| match value.as_thing() {
                Some(Thing::Entry(entry)) => entry.0.clone(),
                _ => Value::Null,
            };
            merge_sort(entries, &mut |left, right| {
                arithmetic::compare(&key(left), &key(right))
            })?
        };
        let entries: Result<Vec<_>, Stop> = sorted.iter().map(entries_of).collect();
        Ok(Value::map(entries?.into_iter().flatten().collect()))
    }),
    routine("subMap", 1, |machine, of, arguments| {
        let part = Value::map(Vec::new());
        for key in super::items(machine, &arguments[0])? {
            let value = found(of, &key)?.unwrap_or(Value::Null);
            access::put(machine, &part, key, value)?;
        }
        Ok(part)
    }),
];
