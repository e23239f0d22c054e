//! Lists, arrays, sets, maps, iterators and closures.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::rc::Rc;

use super::operators::OPERATORS;
use super::order::{shuffle, sorted};
use super::sets::{add, set_of};
use super::{access, arrangements, int_value, integer, maps, text, text_of, thing, tools};
use crate::Value;
use crate::arithmetic::{self, Number};
use crate::class::{Answer, Class, MANY, Routine, between, routine};
use crate::key_order::KeyOrder;
use crate::machine::{Machine, Stop};
use crate::syntax::Operator;
use crate::value::{Items, List, Thing};

pub(super) const CLASSES: &[&Class] = &[
    &LIST,
    &LINKED_LIST,
    &LIST_INTERFACE,
    &maps::MAP,
    &maps::HASH_MAP,
    &maps::TREE_MAP,
    &maps::CONCURRENT_MAP,
    &maps::MAP_INTERFACE,
    &ENTRY,
    &ITERATOR,
    &ARRAY,
    &tools::COLLECTIONS,
    &tools::ARRAYS,
];

pub(super) static CLOSURE: Class = Class {
    methods: &[&[between("call", 0, MANY, |machine, of, arguments| {
        machine.call_value(of, arguments)
    })]],
    ..Class::named("groovy.lang.Closure")
};

/// What lists and sets can do.
pub(super) const LIST_METHODS: &[&[Routine]] =
    &[OF_LISTS, arrangements::OF_LISTS, OPERATORS, OF_COLLECTIONS];

pub(super) static LIST: Class = Class {
    make: Some(between("ArrayList", 0, 1, make_list)),
    methods: LIST_METHODS,
    ..Class::named("java.util.ArrayList")
};

static LINKED_LIST: Class = Class {
    make: Some(between("LinkedList", 0, 1, make_list)),
    methods: LIST_METHODS,
    ..Class::named("java.util.LinkedList")
};

static LIST_INTERFACE: Class = Class {
    methods: LIST_METHODS,
    ..Class::named("java.util.List")
};

pub(super) static ARRAY: Class = Class {
    methods: &[
        &[
            routine("clone", 0, |machine, of, _| {
                let list = of.as_list().map(|list| list.items.borrow().clone());
                let array_of = of.as_list().and_then(|list| list.array_of.clone());
                let items = list.unwrap_or_default();
                machine.takes_bytes(items.len() * size_of::<Value>())?;
                Ok(Value::array(array_of.as_deref().unwrap_or("Object"), items))
            }),
            routine("encodeBase64", 0, |machine, of, _| {
                let bytes = super::bytes_of(of)?;
                machine.text(super::codec::base64(&bytes))
            }),
            routine("encodeHex", 0, |machine, of, _| {
                let bytes = super::bytes_of(of)?;
                machine.text(super::codec::hex(&bytes))
            }),
        ],
        OF_LISTS,
        arrangements::OF_LISTS,
        OPERATORS,
        OF_COLLECTIONS,
    ],
    ..Class::named("java.lang.reflect.Array")
};

fn make_list(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    match arguments.first() {
        Some(of) if of.as_list().is_some() => {
            let items = super::items(machine, of)?;
            Ok(Value::list(items))
        }
        // A size that it will have does not matter.
        _ => Ok(Value::list(Vec::new())),
    }
}

pub(super) fn list_of(of: &Value) -> Result<&Rc<List>, Stop> {
    of.as_list()
        .ok_or_else(|| Stop::unknown("this call without a list"))
}

fn index(at: &Value, length: usize) -> Result<usize, Stop> {
    let at = integer(at)?;
    match usize::try_from(at) {
        Ok(place) if place < length => Ok(place),
        _ => Err(Stop::thrown(
            "java.lang.IndexOutOfBoundsException",
            format!("Index {at} out of bounds for length {length}"),
        )),
    }
}

const OF_LISTS: &[Routine] = &[
    routine("get", 1, |_, of, arguments| {
        let items = list_of(of)?.items.borrow();
        Ok(items[index(&arguments[0], items.len())?].clone())
    }),
    routine("getAt", 1, |machine, of, arguments| {
        access::element(machine, of, &arguments[0])
    }),
    routine("set", 2, |_, of, arguments| {
        let mut items = list_of(of)?.items.borrow_mut();
        let at = index(&arguments[0], items.len())?;
        Ok(std::mem::replace(&mut items[at], arguments[1].clone()))
    }),
    between("add", 1, 2, |machine, of, arguments| {
        machine.takes_bytes(size_of::<Value>())?;
        let list = list_of(of)?;
        if let [at, item] = arguments {
            let mut items = list.items.borrow_mut();
            let at = index(at, items.len() + 1)?;
            items.insert(at, item.clone());
            return Ok(Value::Void);
        }
        Ok(Value::Bool(add(list, arguments[0].clone())?))
    }),
    routine("push", 1, |machine, of, arguments| {
        machine.takes_bytes(size_of::<Value>())?;
        list_of(of)?
            .items
            .borrow_mut()
            .insert(0, arguments[0].clone());
        Ok(Value::Bool(true))
    }),
    routine("pop", 0, |_, of, _| {
        let mut items = list_of(of)?.items.borrow_mut();
        if items.is_empty() {
            return Err(Stop::thrown(
                "java.util.NoSuchElementException",
                "Cannot pop() an empty List",
            ));
        }
        Ok(items.remove(0))
    }),
    routine("remove", 1, |_, of, arguments| {
        let list = list_of(of)?;
        if let (Value::Int(_), false) = (&arguments[0], list.set.is_some()) {
            let mut items = list.items.borrow_mut();
            let at = index(&arguments[0], items.len())?;
            return Ok(items.remove(at));
        }
        Ok(remove_item(list, &arguments[0]))
    }),
    // What `remove` of an object is.
    routine("removeElement", 1, |_, of, arguments| {
        Ok(remove_item(list_of(of)?, &arguments[0]))
    }),
    routine("removeAt", 1, |_, of, arguments| {
        let mut items = list_of(of)?.items.borrow_mut();
        let at = index(&arguments[0], items.len())?;
        Ok(items.remove(at))
    }),
    routine("clear", 0, |_, of, _| {
        list_of(of)?.items.borrow_mut().clear();
        Ok(Value::Void)
    }),
    routine("addAll", 1, |machine, of, arguments| {
        let more = super::items(machine, &arguments[0])?;
        let list = list_of(of)?;
        for item in more {
            machine.step(1)?;
            add(list, item)?;
        }
        Ok(Value::Bool(true))
    }),
    routine("removeAll", 1, |machine, of, arguments| {
        keep_if(machine, of, &arguments[0], false)
    }),
    routine("retainAll", 1, |machine, of, arguments| {
        keep_if(machine, of, &arguments[0], true)
    }),
    routine("containsAll", 1, |machine, of, arguments| {
        let items = super::items(machine, of)?;
        let wanted = super::items(machine, &arguments[0])?;
        machine.step(items.len() * wanted.len() / 8)?;
        let mut wanted = wanted.iter();
        let all = wanted.all(|wanted| items.iter().any(|item| super::equals(item, wanted)));
        Ok(Value::Bool(all))
    }),
    routine("intersect", 1, |machine, of, arguments| {
        let common = common(machine, of, &arguments[0])?;
        match &list_of(of)?.set {
            Some(order) => set_of(machine, order.of_part(), common),
            None => machine.list(common),
        }
    }),
    routine("disjoint", 1, |machine, of, arguments| {
        let common = common(machine, of, &arguments[0])?;
        Ok(Value::Bool(common.is_empty()))
    }),
    routine("indexOf", 1, |_, of, arguments| {
        let items = list_of(of)?.items.borrow();
        let found = items
            .iter()
            .position(|item| super::equals(item, &arguments[0]));
        Ok(found.map_or(Value::Int(-1), int_value))
    }),
    routine("subList", 2, |machine, of, arguments| {
        let items = list_of(of)?.items.borrow();
        let from = index(&arguments[0], items.len() + 1)?;
        let to = index(&arguments[1], items.len() + 1)?;
        let part = items.get(from..to).unwrap_or_default().to_vec();
        machine.list(part)
    }),
    between("toArray", 0, 1, |machine, of, _| {
        let items = super::items(machine, of)?;
        Ok(Value::array("Object", items))
    }),
    between("sort", 0, 2, |machine, of, arguments| {
        let list = list_of(of)?;
        // Whether the list itself is put into order, and by what.
        let (is_own, by) = match arguments {
            [Value::Bool(is_own), rest @ ..] => (*is_own, rest.first()),
            all => (true, all.first()),
        };
        let sorted = sorted(machine, list.items.borrow().clone(), by)?;
        if list.set.is_some() || !is_own {
            return machine.list(sorted);
        }
        list.items.replace(sorted);
        Ok(of.clone())
    }),
    routine("reverse", 0, |machine, of, _| {
        let items = list_of(of)?.items.borrow();
        let reversed = items.iter().rev().cloned().collect();
        machine.list(reversed)
    }),
    routine("unique", 0, |machine, of, _| {
        let once = once_each(machine, of)?;
        list_of(of)?.items.replace(once);
        Ok(of.clone())
    }),
    routine("toUnique", 0, |machine, of, _| {
        let once = once_each(machine, of)?;
        machine.list(once)
    }),
    routine("first", 0, |_, of, _| end(of, true)),
    routine("head", 0, |_, of, _| end(of, true)),
    routine("last", 0, |_, of, _| end(of, false)),
    routine("tail", 0, |machine, of, _| {
        let items = list_of(of)?.items.borrow();
        let tail = items.get(1..).unwrap_or_default().to_vec();
        machine.list(tail)
    }),
    routine("take", 1, |machine, of, arguments| {
        let count = usize::try_from(integer(&arguments[0])?).unwrap_or(0);
        let items = list_of(of)?.items.borrow();
        let part = items.iter().take(count).cloned().collect();
        machine.list(part)
    }),
    routine("drop", 1, |machine, of, arguments| {
        let count = usize::try_from(integer(&arguments[0])?).unwrap_or(0);
        let items = list_of(of)?.items.borrow();
        let part = items.iter().skip(count).cloned().collect();
        machine.list(part)
    }),
    routine("flatten", 0, |machine, of, _| {
        let mut flat = Vec::new();
        flatten(machine, of, &mut flat, 30)?;
        machine.list(flat)
    }),
    between("shuffle", 0, 1, |machine, of, _| {
        shuffle(machine, of)?;
        Ok(Value::Void)
    }),
    routine("findIndexOf", 1, |machine, of, arguments| {
        for (at, item) in super::items(machine, of)?.into_iter().enumerate() {
            if holds(machine, &arguments[0], &item)? {
                return Ok(int_value(at));
            }
        }
        Ok(Value::Int(-1))
    }),
];

/// Takes the first such item out of a list; whether there was one.
fn remove_item(list: &List, item: &Value) -> Value {
    // The list may be an item of itself, and is compared then.
    let found = {
        let items = list.items.borrow();
        items.iter().position(|known| super::equals(known, item))
    };
    if let Some(at) = found {
        list.items.borrow_mut().remove(at);
    }
    Value::Bool(found.is_some())
}

/// The items of a list without those that stand before.
fn once_each(machine: &mut Machine<'_>, of: &Value) -> Result<Vec<Value>, Stop> {
    let items = super::items(machine, of)?;
    let set = set_of(machine, KeyOrder::Arrival, items)?;
    super::items(machine, &set)
}

/// Takes out of a list what another one has, or all else.
fn keep_if(machine: &mut Machine<'_>, of: &Value, others: &Value, wanted: bool) -> Answer {
    let list = list_of(of)?;
    let items = list.items.borrow().clone();
    let others = super::items(machine, others)?;
    machine.step(items.len() * others.len() / 8)?;
    let has = |item: &Value| others.iter().any(|other| super::equals(item, other));
    let kept: Vec<Value> = items
        .iter()
        .filter(|item| has(item) == wanted)
        .cloned()
        .collect();
    let changes = kept.len() < items.len();
    list.items.replace(kept);
    Ok(Value::Bool(changes))
}

/// What a list has of another one, in the order of that.
fn common(machine: &mut Machine<'_>, of: &Value, others: &Value) -> Result<Vec<Value>, Stop> {
    let items = super::items(machine, of)?;
    let others = super::items(machine, others)?;
    machine.step(items.len() * others.len() / 8)?;
    let has = |other: &Value| items.iter().any(|item| arithmetic::equal(item, other));
    Ok(others.into_iter().filter(has).collect())
}

fn end(of: &Value, is_first: bool) -> Answer {
    let items = list_of(of)?.items.borrow();
    let item = if is_first {
        items.first()
    } else {
        items.last()
    };
    item.cloned().ok_or_else(|| {
        let which = if is_first { "first" } else { "last" };
        Stop::thrown(
            "java.util.NoSuchElementException",
            format!("Cannot access {which}() element from an empty List"),
        )
    })
}

fn flatten(
    machine: &mut Machine<'_>,
    of: &Value,
    flat: &mut Vec<Value>,
    depth: u32,
) -> Result<(), Stop> {
    if depth == 0 {
        return Err(Stop::Bound("it nests lists too deep"));
    }
    for item in super::items(machine, of)? {
        machine.step(1)?;
        if item.as_list().is_some() {
            flatten(machine, &item, flat, depth - 1)?;
        } else {
            flat.push(item);
        }
    }
    Ok(())
}

/// Whether a closure is true of an item.
pub(super) fn holds(
    machine: &mut Machine<'_>,
    closure: &Value,
    item: &Value,
) -> Result<bool, Stop> {
    let answer = call_with(machine, closure, item.clone())?;
    Ok(arithmetic::is_true(&answer))
}

/// What lists, maps and arrays have in common.
pub(super) const OF_COLLECTIONS: &[Routine] = &[
    routine("size", 0, |_, of, _| super::size(of)),
    routine("isEmpty", 0, |_, of, _| {
        Ok(Value::Bool(super::is_empty(of)))
    }),
    between("each", 1, 1, |machine, of, arguments| {
        for item in super::items(machine, of)? {
            call_with(machine, &arguments[0], item)?;
        }
        Ok(of.clone())
    }),
    routine("forEach", 1, |machine, of, arguments| {
        for item in super::items(machine, of)? {
            call_with(machine, &arguments[0], item)?;
        }
        Ok(Value::Void)
    }),
    routine("eachWithIndex", 1, |machine, of, arguments| {
        for (at, item) in super::items(machine, of)?.into_iter().enumerate() {
            machine.call_value(&arguments[0], &[item, int_value(at)])?;
        }
        Ok(of.clone())
    }),
    routine("collect", 1, |machine, of, arguments| {
        let mut collected = Vec::new();
        for item in super::items(machine, of)? {
            collected.push(call_with(machine, &arguments[0], item)?);
        }
        machine.list(collected)
    }),
    routine("collectEntries", 1, |machine, of, arguments| {
        let map = Value::map(Vec::new());
        for item in super::items(machine, of)? {
            let entry = call_with(machine, &arguments[0], item)?;
            for (key, value) in entries_of(&entry)? {
                access::put(machine, &map, key, value)?;
            }
        }
        Ok(map)
    }),
    routine("find", 1, |machine, of, arguments| {
        for item in super::items(machine, of)? {
            if holds(machine, &arguments[0], &item)? {
                return Ok(item);
            }
        }
        Ok(Value::Null)
    }),
    between("findAll", 0, 1, |machine, of, arguments| {
        let mut found = Vec::new();
        for item in super::items(machine, of)? {
            let is_wanted = match arguments.first() {
                Some(closure) => holds(machine, closure, &item)?,
                None => arithmetic::is_true(&item),
            };
            if is_wanted {
                found.push(item);
            }
        }
        if of.as_map().is_some() {
            let entries: Result<Vec<_>, Stop> = found.iter().map(entries_of).collect();
            return Ok(Value::map(entries?.into_iter().flatten().collect()));
        }
        match of.as_list() {
            Some(list) if list.set.is_some() => access::listed(machine, list, found),
            _ => machine.list(found),
        }
    }),
    routine("any", 1, |machine, of, arguments| {
        for item in super::items(machine, of)? {
            if holds(machine, &arguments[0], &item)? {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }),
    routine("every", 1, |machine, of, arguments| {
        for item in super::items(machine, of)? {
            if !holds(machine, &arguments[0], &item)? {
                return Ok(Value::Bool(false));
            }
        }
        Ok(Value::Bool(true))
    }),
    routine("contains", 1, |machine, of, arguments| {
        let items = super::items(machine, of)?;
        Ok(Value::Bool(
            items.iter().any(|item| super::equals(item, &arguments[0])),
        ))
    }),
    between("join", 0, 1, |machine, of, arguments| {
        let by = match arguments.first() {
            Some(by) => text_of(by)?,
            None => "".into(),
        };
        let items = super::items(machine, of)?;
        text::join(machine, &items, &by)
    }),
    between("sum", 0, 1, |machine, of, arguments| {
        if of.as_map().is_some() {
            return Err(Stop::thrown(
                "groovy.lang.MissingMethodException",
                "No signature of method: sum() of a map",
            ));
        }
        let mut sum: Option<Value> = None;
        for item in super::items(machine, of)? {
            let item = match arguments.first() {
                Some(closure) => call_with(machine, closure, item)?,
                None => item,
            };
            sum = Some(match sum {
                None => item,
                Some(sum) => added(machine, &sum, &item)?,
            });
        }
        Ok(sum.unwrap_or(Value::Null))
    }),
    between("max", 0, 1, |machine, of, arguments| {
        extreme(machine, of, arguments.first(), Ordering::Greater)
    }),
    between("min", 0, 1, |machine, of, arguments| {
        extreme(machine, of, arguments.first(), Ordering::Less)
    }),
    routine("count", 1, |machine, of, arguments| {
        let mut count = 0;
        for item in super::items(machine, of)? {
            let counts = match arguments[0].as_thing() {
                Some(Thing::Closure(_)) => holds(machine, &arguments[0], &item)?,
                _ => arithmetic::equal(&item, &arguments[0]),
            };
            count += usize::from(counts);
        }
        Ok(int_value(count))
    }),
    between("inject", 1, 2, |machine, of, arguments| {
        let mut items = super::items(machine, of)?.into_iter();
        let (first, closure) = match arguments {
            [first, closure] => (Some(first.clone()), closure),
            _ => (items.next(), &arguments[0]),
        };
        let Some(mut value) = first else {
            return Err(Stop::thrown(
                "java.util.NoSuchElementException",
                "Cannot call inject() on an empty iterable without passing an initial value.",
            ));
        };
        for item in items {
            machine.step(1)?;
            value = match item.as_thing() {
                Some(Thing::Entry(entry)) if parameters_of(machine, closure) == Some(3) => {
                    let arguments = [value, entry.0.clone(), entry.1.clone()];
                    machine.call_value(closure, &arguments)?
                }
                _ => machine.call_value(closure, &[value, item])?,
            };
        }
        Ok(value)
    }),
    routine("groupBy", 1, |machine, of, arguments| {
        let groups = Value::map(Vec::new());
        for item in super::items(machine, of)? {
            let key = call_with(machine, &arguments[0], item.clone())?;
            let known = groups
                .as_map()
                .and_then(|map| access::entry(&map.borrow(), &key));
            let group = if let Some(group) = known {
                group
            } else {
                let group = match of.as_map() {
                    Some(_) => Value::map(Vec::new()),
                    None => Value::list(Vec::new()),
                };
                access::put(machine, &groups, key, group.clone())?;
                group
            };
            match (item.as_thing(), group.as_list()) {
                (Some(Thing::Entry(entry)), None) => {
                    access::put(machine, &group, entry.0.clone(), entry.1.clone())?;
                }
                (_, Some(list)) => {
                    add(list, item)?;
                }
                _ => {}
            }
        }
        Ok(groups)
    }),
    routine("toSet", 0, |machine, of, _| {
        let items = super::items(machine, of)?;
        let order = KeyOrder::table(Some(items.len()));
        set_of(machine, order, items)
    }),
    routine("toList", 0, |machine, of, _| {
        let items = super::items(machine, of)?;
        machine.list(items)
    }),
    routine("iterator", 0, |machine, of, _| {
        let items = super::items(machine, of)?;
        let items = Items(RefCell::new(items.into()));
        Ok(Value::thing(Thing::Iterator(Rc::new(items))))
    }),
];

/// How many parameters a closure of this script names.
fn parameters_of(machine: &Machine<'_>, closure: &Value) -> Option<usize> {
    match closure.as_thing() {
        Some(Thing::Closure(closure)) => {
            let code = machine.program.closures.get(closure.code)?;
            code.parameters.as_ref().map(Vec::len)
        }
        _ => None,
    }
}

/// Calls a closure with an item; an entry of a map is taken apart where two are asked for.
pub(super) fn call_with(machine: &mut Machine<'_>, closure: &Value, item: Value) -> Answer {
    machine.step(1)?;
    if let Some(Thing::Entry(entry)) = item.as_thing()
        && parameters_of(machine, closure) == Some(2)
    {
        return machine.call_value(closure, &[entry.0.clone(), entry.1.clone()]);
    }
    machine.call_value(closure, &[item])
}

/// What a closure gives for entries: a map, an entry, or a list of two.
pub(super) fn entries_of(value: &Value) -> Result<Vec<(Value, Value)>, Stop> {
    match value.as_thing() {
        Some(Thing::Map(map)) => Ok(map.borrow().clone()),
        Some(Thing::Entry(entry)) => Ok(vec![(entry.0.clone(), entry.1.clone())]),
        Some(Thing::List(list)) => match list.items.borrow().as_slice() {
            [key, value] => Ok(vec![(key.clone(), value.clone())]),
            _ => Err(Stop::unknown("entries of a list that has not two items")),
        },
        _ => Err(Stop::unknown("entries of what has none")),
    }
}

fn added(machine: &mut Machine<'_>, left: &Value, right: &Value) -> Answer {
    if let Some(sum) = super::operator(machine, Operator::Plus, left, right)? {
        return Ok(sum);
    }
    match (Number::of(left), Number::of(right)) {
        (Some(left), Some(right)) => {
            arithmetic::calculate(Operator::Plus, left, right, crate::Language::Groovy)
        }
        _ => Err(Stop::unknown("a sum of what are no numbers")),
    }
}

pub(super) fn extreme(
    machine: &mut Machine<'_>,
    of: &Value,
    by: Option<&Value>,
    wanted: Ordering,
) -> Answer {
    let mut best: Option<(Value, Value)> = None;
    for item in super::items(machine, of)? {
        let weight = match by {
            Some(closure) => call_with(machine, closure, item.clone())?,
            None => item.clone(),
        };
        let is_better = match &best {
            None => true,
            Some((_, known)) => arithmetic::compare(&weight, known)? == wanted,
        };
        if is_better {
            best = Some((item, weight));
        }
    }
    Ok(best.map_or(Value::Null, |(item, _)| item))
}

pub(super) static ENTRY: Class = Class {
    methods: &[&[
        // A header field of a request is one too.
        routine("getName", 0, |_, of, _| Ok(thing!(of, Entry).0.clone())),
        routine("getKey", 0, |_, of, _| Ok(thing!(of, Entry).0.clone())),
        routine("getValue", 0, |_, of, _| Ok(thing!(of, Entry).1.clone())),
    ]],
    ..Class::named("java.util.Map.Entry")
};

pub(super) static ITERATOR: Class = Class {
    methods: &[&[
        routine("hasNext", 0, |_, of, _| {
            Ok(Value::Bool(!thing!(of, Iterator).borrow().is_empty()))
        }),
        routine("next", 0, |_, of, _| {
            let next = thing!(of, Iterator).borrow_mut().pop_front();
            next.ok_or_else(|| Stop::thrown("java.util.NoSuchElementException", "no more items"))
        }),
    ]],
    ..Class::named("java.util.Iterator")
};
