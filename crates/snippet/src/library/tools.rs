//! `java.util.Collections` and `java.util.Arrays`.

use std::cmp::Ordering;

use super::collections::{extreme, list_of};
use super::order::{shuffle, sorted};
use crate::Value;
use crate::arithmetic;
use crate::class::{Class, MANY, between, routine};

pub(super) static COLLECTIONS: Class = Class {
    statics: &[
        between("shuffle", 1, 2, |machine, _, arguments| {
            shuffle(machine, &arguments[0])?;
            Ok(Value::Void)
        }),
        routine("sort", 1, |machine, _, arguments| {
            let list = list_of(&arguments[0])?;
            let sorted = sorted(machine, list.items.borrow().clone(), None)?;
            list.items.replace(sorted);
            Ok(Value::Void)
        }),
        routine("reverse", 1, |_, _, arguments| {
            list_of(&arguments[0])?.items.borrow_mut().reverse();
            Ok(Value::Void)
        }),
        routine("emptyList", 0, |_, _, _| Ok(Value::list(Vec::new()))),
        routine("max", 1, |machine, _, arguments| {
            extreme(machine, &arguments[0], None, Ordering::Greater)
        }),
        routine("min", 1, |machine, _, arguments| {
            extreme(machine, &arguments[0], None, Ordering::Less)
        }),
    ],
    ..Class::named("java.util.Collections")
};

pub(super) static ARRAYS: Class = Class {
    statics: &[
        between("asList", 0, MANY, |machine, _, arguments| match arguments {
            [one] if one.as_list().is_some() => {
                let items = super::items(machine, one)?;
                machine.list(items)
            }
            several => machine.list(several.to_vec()),
        }),
        routine("toString", 1, |machine, _, arguments| {
            machine.text(arguments[0].to_text())
        }),
        routine("sort", 1, |machine, _, arguments| {
            let list = list_of(&arguments[0])?;
            let sorted = sorted(machine, list.items.borrow().clone(), None)?;
            list.items.replace(sorted);
            Ok(Value::Void)
        }),
        routine("equals", 2, |_, _, arguments| {
            Ok(Value::Bool(arithmetic::equal(&arguments[0], &arguments[1])))
        }),
    ],
    ..Class::named("java.util.Arrays")
};
