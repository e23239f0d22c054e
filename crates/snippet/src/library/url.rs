//! `java.net.URL`.

use std::rc::Rc;

use super::{text_of, thing};
use crate::Value;
use crate::class::{Answer, Class, routine};
use crate::machine::{Machine, Stop};
use crate::url::Url;
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[&URL];

pub(super) static URL: Class = Class {
    make: Some(routine("URL", 1, |machine, _, arguments| {
        let text = text_of(&arguments[0])?;
        read(machine, &text)
    })),
    methods: &[&[
        routine("getProtocol", 0, |machine, of, _| {
            text(machine, of, |url| Some(url.scheme()))
        }),
        routine("getHost", 0, |machine, of, _| {
            text(machine, of, |url| Some(url.host()))
        }),
        routine("getPort", 0, |_, of, _| {
            Ok(Value::Int(thing!(of, Url).port().map_or(-1, i32::from)))
        }),
        routine("getDefaultPort", 0, |_, of, _| {
            Ok(Value::Int(match thing!(of, Url).scheme() {
                "http" => 80,
                "https" => 443,
                _ => -1,
            }))
        }),
        routine("getPath", 0, |machine, of, _| {
            text(machine, of, |url| Some(url.path()))
        }),
        routine("getFile", 0, |machine, of, _| {
            text(machine, of, |url| Some(url.file()))
        }),
        routine("getQuery", 0, |machine, of, _| {
            text(machine, of, Url::query)
        }),
        routine("getRef", 0, |machine, of, _| {
            text(machine, of, Url::fragment)
        }),
        routine("toExternalForm", 0, |machine, of, _| {
            text(machine, of, |url| Some(url.whole()))
        }),
    ]],
    ..Class::named("java.net.URL")
};

fn text(machine: &mut Machine<'_>, of: &Value, part: fn(&Url) -> Option<&str>) -> Answer {
    match part(thing!(of, Url)) {
        Some(part) => machine.text(part.to_owned()),
        None => Ok(Value::Null),
    }
}

/// The URL that a text is.
pub(super) fn read(machine: &mut Machine<'_>, text: &str) -> Answer {
    machine.takes_bytes(text.len())?;
    match Url::read(text) {
        Some(url) => Ok(Value::thing(Thing::Url(Rc::new(url)))),
        None => Err(Stop::thrown(
            "java.net.MalformedURLException",
            format!("no protocol: {text}"),
        )),
    }
}
