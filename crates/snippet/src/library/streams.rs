//! Streams of bytes: those of arrays and of files.
//!
//! What is read lies in memory from the beginning; what is written to a file is in it at once.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use super::charsets::{decoded, encoded};
use super::files::{self, path_of};
use super::{bytes_of, int_value, integer, made_bytes, thing};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::host::WriteMode;
use crate::machine::{Machine, Stop};
use crate::value::{Input, Output, Thing};

pub(super) const CLASSES: &[&Class] = &[
    &INPUT,
    &OUTPUT,
    &FILE_INPUT,
    &FILE_OUTPUT,
    &ANY_INPUT,
    &ANY_OUTPUT,
];

pub(super) static INPUT: Class = Class {
    make: Some(routine(
        "ByteArrayInputStream",
        1,
        |machine, _, arguments| {
            if arguments[0].as_list().is_none() {
                return Err(Stop::unknown("a ByteArrayInputStream of what are no bytes"));
            }
            let bytes = bytes_of(&arguments[0])?;
            input(machine, bytes)
        },
    )),
    methods: &[OF_INPUTS],
    ..Class::named("java.io.ByteArrayInputStream")
};

static FILE_INPUT: Class = Class {
    make: Some(routine("FileInputStream", 1, |machine, _, arguments| {
        let bytes = files::bytes(machine, &path_of(&arguments[0])?)?;
        input(machine, bytes)
    })),
    methods: &[OF_INPUTS],
    ..Class::named("java.io.FileInputStream")
};

static ANY_INPUT: Class = Class {
    methods: &[OF_INPUTS],
    ..Class::named("java.io.InputStream")
};

fn input(machine: &mut Machine<'_>, bytes: Vec<u8>) -> Answer {
    machine.takes_bytes(bytes.len())?;
    let at = Cell::new(0);
    Ok(Value::thing(Thing::Input(Rc::new(Input { bytes, at }))))
}

/// What was not read yet, of which no more than so many bytes are.
fn next(of: &Value, most: usize) -> Result<&[u8], Stop> {
    let input = thing!(of, Input);
    let rest = input.bytes.get(input.at.get()..).unwrap_or_default();
    let next = &rest[..rest.len().min(most)];
    input.at.set(input.at.get() + next.len());
    Ok(next)
}

const OF_INPUTS: &[Routine] = &[
    routine("read", 0, |_, of, _| {
        let next = next(of, 1)?.first();
        Ok(Value::Int(next.map_or(-1, |byte| i32::from(*byte))))
    }),
    routine("read", 1, read_into),
    routine("read", 3, read_into),
    routine("available", 0, |_, of, _| {
        let input = thing!(of, Input);
        Ok(int_value(input.bytes.len() - input.at.get()))
    }),
    routine("skip", 1, |_, of, arguments| {
        let most = usize::try_from(integer(&arguments[0])?).unwrap_or(0);
        let skipped = next(of, most)?.len();
        Ok(Value::Long(i64::try_from(skipped).unwrap_or(i64::MAX)))
    }),
    routine("reset", 0, |_, of, _| {
        thing!(of, Input).at.set(0);
        Ok(Value::Void)
    }),
    routine("readAllBytes", 0, |machine, of, _| {
        made_bytes(machine, next(of, usize::MAX)?)
    }),
    routine("getBytes", 0, |machine, of, _| {
        made_bytes(machine, next(of, usize::MAX)?)
    }),
    between("getText", 0, 1, |machine, of, arguments| {
        let text = decoded(next(of, usize::MAX)?, arguments.first())?;
        machine.text(text)
    }),
    between("readLines", 0, 1, |machine, of, arguments| {
        let text = decoded(next(of, usize::MAX)?, arguments.first())?;
        machine.list(text.lines().map(Value::text).collect())
    }),
    routine("close", 0, |_, _, _| Ok(Value::Void)),
];

/// Fills an array, or a part of it; -1 at the end.
fn read_into(machine: &mut Machine<'_>, of: &Value, arguments: &[Value]) -> Answer {
    let Some(list) = arguments[0].as_list() else {
        return Err(Stop::unknown("reading into what is no array"));
    };
    let length = list.items.borrow().len();
    let (from, most) = part(&arguments[1..], length)?;
    if most == 0 {
        return Ok(Value::Int(0));
    }
    let read = next(of, most)?;
    machine.step(read.len() / 64)?;
    let mut items = list.items.borrow_mut();
    for (item, byte) in items.iter_mut().skip(from).zip(read) {
        *item = Value::Int(i32::from(byte.cast_signed()));
    }
    Ok(if read.is_empty() {
        Value::Int(-1)
    } else {
        int_value(read.len())
    })
}

/// Where a part of an array begins and how long it is, by `from, length`; all of it without them.
pub(super) fn part(bounds: &[Value], length: usize) -> Result<(usize, usize), Stop> {
    let [from, most] = bounds else {
        return Ok((0, length));
    };
    let (from, most) = (integer(from)?, integer(most)?);
    let both = (usize::try_from(from), usize::try_from(most));
    match both {
        (Ok(from), Ok(most)) if from.saturating_add(most) <= length => Ok((from, most)),
        _ => Err(Stop::thrown(
            "java.lang.IndexOutOfBoundsException",
            format!("Range [{from}, {from} + {most}) out of bounds for length {length}"),
        )),
    }
}

pub(super) static OUTPUT: Class = Class {
    make: Some(between("ByteArrayOutputStream", 0, 1, |_, _, _| {
        Ok(output(None))
    })),
    methods: &[OF_ARRAY_OUTPUTS, OF_OUTPUTS],
    ..Class::named("java.io.ByteArrayOutputStream")
};

/// Opening a file makes it, and empties it unless it is appended to.
static FILE_OUTPUT: Class = Class {
    make: Some(between(
        "FileOutputStream",
        1,
        2,
        |machine, _, arguments| {
            let path = path_of(&arguments[0])?;
            let mode = match arguments.get(1) {
                Some(Value::Bool(true)) => WriteMode::Append,
                _ => WriteMode::Replace,
            };
            files::write(machine, &path, &[], mode)?;
            Ok(output(Some(path)))
        },
    )),
    methods: &[OF_OUTPUTS],
    ..Class::named("java.io.FileOutputStream")
};

static ANY_OUTPUT: Class = Class {
    methods: &[OF_ARRAY_OUTPUTS, OF_OUTPUTS],
    ..Class::named("java.io.OutputStream")
};

fn output(path: Option<Arc<str>>) -> Value {
    Value::thing(Thing::Output(Rc::new(Output {
        bytes: RefCell::new(Vec::new()),
        path,
    })))
}

fn write(machine: &mut Machine<'_>, of: &Value, bytes: &[u8]) -> Result<(), Stop> {
    let output = thing!(of, Output);
    if let Some(path) = &output.path {
        return files::write(machine, path, bytes, WriteMode::Append);
    }
    machine.takes_bytes(bytes.len())?;
    output.bytes.borrow_mut().extend(bytes);
    Ok(())
}

/// The bytes of a stream that keeps them.
fn kept(of: &Value) -> Result<Vec<u8>, Stop> {
    let output = thing!(of, Output);
    if output.path.is_some() {
        return Err(Stop::unknown("the bytes of a stream into a file"));
    }
    Ok(output.bytes.borrow().clone())
}

const OF_OUTPUTS: &[Routine] = &[
    routine("write", 1, |machine, of, arguments| {
        match arguments[0].as_list() {
            Some(_) => write(machine, of, &bytes_of(&arguments[0])?)?,
            None => write(machine, of, &[integer(&arguments[0])? as u8])?,
        }
        Ok(Value::Void)
    }),
    routine("write", 3, |machine, of, arguments| {
        let bytes = bytes_of(&arguments[0])?;
        let (from, length) = part(&arguments[1..], bytes.len())?;
        write(machine, of, &bytes[from..from + length])?;
        Ok(Value::Void)
    }),
    routine("leftShift", 1, |machine, of, arguments| {
        match arguments[0].as_list() {
            Some(_) => write(machine, of, &bytes_of(&arguments[0])?)?,
            None => write(machine, of, &encoded(&arguments[0].to_text(), None)?)?,
        }
        Ok(of.clone())
    }),
    routine("flush", 0, |_, _, _| Ok(Value::Void)),
    routine("close", 0, |_, _, _| Ok(Value::Void)),
];

const OF_ARRAY_OUTPUTS: &[Routine] = &[
    routine("writeBytes", 1, |machine, of, arguments| {
        write(machine, of, &bytes_of(&arguments[0])?)?;
        Ok(Value::Void)
    }),
    routine("toByteArray", 0, |machine, of, _| {
        made_bytes(machine, &kept(of)?)
    }),
    between("toString", 0, 1, |machine, of, arguments| {
        let text = decoded(&kept(of)?, arguments.first())?;
        machine.text(text)
    }),
    routine("size", 0, |_, of, _| Ok(int_value(kept(of)?.len()))),
    routine("reset", 0, |_, of, _| {
        kept(of)?;
        thing!(of, Output).bytes.borrow_mut().clear();
        Ok(Value::Void)
    }),
];
