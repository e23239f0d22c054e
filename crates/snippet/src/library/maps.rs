//! Maps.

use super::collections::{OF_COLLECTIONS, entries_of, list_of};
use super::order::merge_sort;
use super::{access, thing};
use crate::Value;
use crate::arithmetic;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::machine::{Machine, Stop};
use crate::value::Thing;

pub(super) static MAP: Class = Class {
    make: Some(between("LinkedHashMap", 0, 1, make_map)),
    methods: &[OF_MAPS, OF_COLLECTIONS],
    ..Class::named("java.util.LinkedHashMap")
};

pub(super) static HASH_MAP: Class = Class {
    make: Some(between("HashMap", 0, 1, make_map)),
    methods: &[OF_MAPS, OF_COLLECTIONS],
    ..Class::named("java.util.HashMap")
};

pub(super) static TREE_MAP: Class = Class::named("java.util.TreeMap");

pub(super) static CONCURRENT_MAP: Class = Class {
    make: Some(between("ConcurrentHashMap", 0, 1, make_map)),
    ..Class::named("java.util.concurrent.ConcurrentHashMap")
};

pub(super) static MAP_INTERFACE: Class = Class {
    methods: &[OF_MAPS, OF_COLLECTIONS],
    ..Class::named("java.util.Map")
};

fn make_map(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let entries = arguments.first().and_then(Value::as_map);
    let entries = entries.map(|map| map.borrow().clone()).unwrap_or_default();
    machine.takes_bytes(entries.len() * 2 * size_of::<Value>())?;
    Ok(Value::map(entries))
}

fn found(of: &Value, key: &Value) -> Result<Option<Value>, Stop> {
    Ok(access::entry(&thing!(of, Map).borrow(), key))
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
    routine("put", 2, |machine, of, arguments| {
        let old = found(of, &arguments[0])?.unwrap_or(Value::Null);
        access::put(machine, of, arguments[0].clone(), arguments[1].clone())?;
        Ok(old)
    }),
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
        let keys = map.iter().map(|(key, _)| key.clone()).collect();
        machine.list(keys)
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
    routine("sort", 0, |machine, of, _| {
        let mut entries = super::items(machine, of)?;
        machine.step(entries.len() * 4)?;
        let key = |value: &Value| match value.as_thing() {
            Some(Thing::Entry(entry)) => entry.0.clone(),
            _ => Value::Null,
        };
        let list = Value::list(std::mem::take(&mut entries));
        let list = list_of(&list)?;
        let all = list.items.borrow().clone();
        let sorted = merge_sort(all, &mut |left, right| {
            arithmetic::compare(&key(left), &key(right))
        })?;
        let entries: Result<Vec<_>, Stop> = sorted.iter().map(entries_of).collect();
        Ok(Value::map(entries?.into_iter().flatten().collect()))
    }),
];
