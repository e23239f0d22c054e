//! The Cookie Manager of a request: `CookieManager`, its cookies, and `Cookie`.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;

use super::{int_value, integer, text_of, thing};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::host::{CookieJar, CookieView};
use crate::machine::{Machine, Stop};
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[&MANAGER, &COOKIES, &COOKIE];

/// What a request has for its Cookie Manager: nothing where it has none.
pub(super) fn manager(machine: &Machine<'_>) -> Value {
    match machine.bindings.cookies {
        Some(_) => super::names::single(&MANAGER),
        None => Value::Null,
    }
}

fn jar<'m>(machine: &'m mut Machine<'_>) -> Result<&'m mut CookieJar, Stop> {
    let jar = machine.bindings.cookies.as_mut();
    jar.ok_or_else(|| Stop::null_pointer("there is no Cookie Manager"))
}

/// A cookie as a value, which is the one that the manager has.
fn as_value(cookie: &Rc<RefCell<CookieView>>) -> Value {
    Value::thing(Thing::Cookie(Rc::clone(cookie)))
}

/// All cookies, if this is the manager's list of them.
pub(super) fn all(machine: &mut Machine<'_>, of: &Value) -> Result<Option<Vec<Value>>, Stop> {
    match of.as_thing() {
        Some(Thing::Single(class)) if std::ptr::eq(*class, &raw const COOKIES) => {
            Ok(Some(jar(machine)?.cookies.iter().map(as_value).collect()))
        }
        _ => Ok(None),
    }
}

fn count(machine: &mut Machine<'_>, _: &Value, _: &[Value]) -> Answer {
    Ok(int_value(jar(machine)?.cookies.len()))
}

/// Where a cookie is.
fn place(machine: &mut Machine<'_>, at: &Value) -> Result<usize, Stop> {
    let (at, length) = (integer(at)?, jar(machine)?.cookies.len());
    let place = usize::try_from(at).ok().filter(|place| *place < length);
    place.ok_or_else(|| {
        Stop::thrown(
            "java.lang.IndexOutOfBoundsException",
            format!("Index {at} out of bounds for length {length}"),
        )
    })
}

fn get(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let at = place(machine, &arguments[0])?;
    Ok(as_value(&jar(machine)?.cookies[at]))
}

fn remove(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let at = place(machine, &arguments[0])?;
    jar(machine)?.cookies.remove(at);
    Ok(Value::Void)
}

/// Puts a cookie into the place of its like. One without a value goes with it.
fn add(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let cookie = Rc::clone(thing!(arguments[0], Cookie));
    let added = cookie.borrow().clone();
    let jar = jar(machine)?;
    // The same one may be there already.
    jar.cookies.retain(|known| !known.borrow().is_like(&added));
    if jar.drops_empty && added.value.is_empty() {
        return Ok(Value::Void);
    }
    jar.cookies.push(cookie);
    let saved = jar.saved_prefix.as_ref();
    if let Some(name) = saved.map(|prefix| format!("{prefix}{}", added.name)) {
        machine.host.set_variable(&name, &added.value);
    }
    Ok(Value::Void)
}

pub(super) static MANAGER: Class = Class {
    methods: &[&[
        routine("getCookieCount", 0, count),
        routine("getCookies", 0, |_, _, _| {
            Ok(super::names::single(&COOKIES))
        }),
        routine("get", 1, get),
        routine("remove", 1, remove),
        routine("add", 1, add),
        // Without `clear`: JMeter takes the manager's settings away with its cookies, and some of
        // the requests go on with cookies of their own.
    ]],
    ..Class::named("org.apache.jmeter.protocol.http.control.CookieManager")
};

static COOKIES: Class = Class {
    methods: &[&[
        routine("size", 0, count),
        routine("get", 1, get),
        routine("remove", 1, remove),
        routine("isEmpty", 0, |machine, _, _| {
            Ok(Value::Bool(jar(machine)?.cookies.is_empty()))
        }),
        routine("clear", 0, |machine, _, _| {
            jar(machine)?.cookies.clear();
            Ok(Value::Void)
        }),
        routine("iterator", 0, |machine, of, _| {
            let all = super::items(machine, of)?;
            let all = Value::list(all);
            super::call(machine, &all, "iterator", &[])
        }),
        routine("each", 1, |machine, of, arguments| {
            for cookie in super::items(machine, of)? {
                machine.call_value(&arguments[0], &[cookie])?;
            }
            Ok(of.clone())
        }),
    ]],
    ..Class::named("org.apache.jmeter.testelement.property.CollectionProperty")
};

pub(super) static COOKIE: Class = Class {
    make: Some(between("Cookie", 0, 9, make)),
    methods: &[OF_COOKIES],
    ..Class::named("org.apache.jmeter.protocol.http.control.Cookie")
};

/// With name, value, domain, path, whether it is secure and when it ends; then whether domain and
/// path were given, and the version.
fn make(_: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    if !matches!(arguments.len(), 0 | 6 | 8 | 9) {
        let count = arguments.len();
        return Err(Stop::unknown(format!(
            "new Cookie() with {count} argument(s)"
        )));
    }
    let text = |at: usize| match arguments.get(at) {
        None | Some(Value::Null) => String::new(),
        Some(value) => value.to_text(),
    };
    let flag = |at: usize, otherwise: bool| match arguments.get(at) {
        Some(value) => value.to_text() == "true",
        None => otherwise,
    };
    let is_given = !arguments.is_empty();
    let version = arguments.get(8).map(integer).transpose()?;
    let cookie = CookieView {
        name: text(0),
        value: text(1),
        domain: text(2),
        path: text(3),
        is_secure: flag(4, false),
        gives_path: flag(6, is_given),
        gives_domain: flag(7, is_given),
        version: version.map_or(1, |version| version as i32),
        known: None,
    };
    Ok(as_value(&Rc::new(RefCell::new(cookie))))
}

fn cookie(of: &Value) -> Result<RefMut<'_, CookieView>, Stop> {
    Ok(thing!(of, Cookie).borrow_mut())
}

fn read(of: &Value, field: fn(&CookieView) -> &str) -> Answer {
    Ok(Value::text(field(&*cookie(of)?)))
}

fn change(of: &Value, to: &Value, field: fn(&mut CookieView) -> &mut String) -> Answer {
    let text = text_of(to)?;
    *field(&mut *cookie(of)?) = text.to_string();
    Ok(Value::Void)
}

fn is(of: &Value, field: fn(&CookieView) -> bool) -> Answer {
    Ok(Value::Bool(field(&*cookie(of)?)))
}

fn set(of: &Value, to: &Value, field: fn(&mut CookieView) -> &mut bool) -> Answer {
    *field(&mut *cookie(of)?) = to.to_text() == "true";
    Ok(Value::Void)
}

const OF_COOKIES: &[Routine] = &[
    routine("getName", 0, |_, of, _| read(of, |of| &of.name)),
    routine("getValue", 0, |_, of, _| read(of, |of| &of.value)),
    routine("getDomain", 0, |_, of, _| read(of, |of| &of.domain)),
    routine("getPath", 0, |_, of, _| read(of, |of| &of.path)),
    routine("getSecure", 0, |_, of, _| is(of, |of| of.is_secure)),
    routine("isPathSpecified", 0, |_, of, _| is(of, |of| of.gives_path)),
    routine("isDomainSpecified", 0, |_, of, _| {
        is(of, |of| of.gives_domain)
    }),
    routine("getVersion", 0, |_, of, _| {
        Ok(Value::Int(cookie(of)?.version))
    }),
    routine("setName", 1, |_, of, to| {
        change(of, &to[0], |of| &mut of.name)
    }),
    routine("setValue", 1, |_, of, to| {
        change(of, &to[0], |of| &mut of.value)
    }),
    routine("setDomain", 1, |_, of, to| {
        change(of, &to[0], |of| &mut of.domain)
    }),
    routine("setPath", 1, |_, of, to| {
        change(of, &to[0], |of| &mut of.path)
    }),
    routine("setSecure", 1, |_, of, to| {
        set(of, &to[0], |of| &mut of.is_secure)
    }),
    routine("setPathSpecified", 1, |_, of, to| {
        set(of, &to[0], |of| &mut of.gives_path)
    }),
    routine("setDomainSpecified", 1, |_, of, to| {
        set(of, &to[0], |of| &mut of.gives_domain)
    }),
    routine("setVersion", 1, |_, of, to| {
        cookie(of)?.version = integer(&to[0])? as i32;
        Ok(Value::Void)
    }),
    // The manager's list has cookies as values of properties.
    routine("getObjectValue", 0, |_, of, _| Ok(of.clone())),
    routine("toString", 0, |_, _, _| {
        Err(Stop::unknown("the text of a Cookie with all its fields"))
    }),
];
