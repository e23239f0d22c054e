//! Files of text: `File`, `FileWriter`, `BufferedReader`.
//!
//! A writer keeps what it was given until it is flushed or closed, as Java's does; what is never
//! flushed is lost there as here.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::{text_of, thing};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::host::WriteMode;
use crate::machine::{Machine, Stop};
use crate::value::{Thing, Writer};

pub(super) const CLASSES: &[&Class] = &[
    &FILE,
    &WRITER,
    &BUFFERED_WRITER,
    &PRINT_WRITER,
    &READER,
    &FILE_READER,
];

/// The path of a file, or a text as one.
fn path_of(value: &Value) -> Result<Arc<str>, Stop> {
    match value.as_thing() {
        Some(Thing::File(path)) => Ok(Arc::clone(path)),
        _ => text_of(value),
    }
}

fn failed(path: &str, error: &std::io::Error) -> Stop {
    let says = match error.kind() {
        std::io::ErrorKind::NotFound => "No such file or directory".to_owned(),
        std::io::ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        _ => error.to_string(),
    };
    Stop::thrown("java.io.FileNotFoundException", format!("{path} ({says})"))
}

fn whole(machine: &mut Machine<'_>, path: &str) -> Result<String, Stop> {
    let bytes = machine.host.read_file(path);
    let bytes = bytes.map_err(|error| failed(path, &error))?;
    machine.takes_bytes(bytes.len())?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(machine: &mut Machine<'_>, path: &str, text: &str, mode: WriteMode) -> Result<(), Stop> {
    let written = machine.host.write_file(path, text, mode);
    written.map_err(|error| failed(path, &error))
}

pub(super) static FILE: Class = Class {
    make: Some(between("File", 1, 2, |machine, _, arguments| {
        let path = path_of(&arguments[0])?;
        let path = match arguments.get(1) {
            Some(name) => {
                let name = text_of(name)?;
                machine.takes_bytes(path.len() + name.len())?;
                format!("{}/{name}", path.trim_end_matches('/')).into()
            }
            None => path,
        };
        Ok(Value::thing(Thing::File(path)))
    })),
    constants: &[
        ("separator", |_| Value::text("/")),
        ("separatorChar", |_| Value::Char('/')),
        ("pathSeparator", |_| Value::text(":")),
    ],
    methods: &[OF_FILES],
    ..Class::named("java.io.File")
};

const OF_FILES: &[Routine] = &[
    routine("getPath", 0, |_, of, _| Ok(Value::Text(path_of(of)?))),
    routine("getName", 0, |_, of, _| {
        let path = path_of(of)?;
        Ok(Value::text(path.rsplit('/').next().unwrap_or_default()))
    }),
    routine("getParent", 0, |_, of, _| {
        let path = path_of(of)?;
        Ok(match path.rsplit_once('/') {
            Some((parent, _)) => Value::text(parent),
            None => Value::Null,
        })
    }),
    routine("getAbsolutePath", 0, |machine, of, _| {
        let path = path_of(of)?;
        if path.starts_with('/') {
            return Ok(Value::Text(path));
        }
        let here = std::path::absolute(&*path);
        let here = here.map(|path| path.to_string_lossy().into_owned());
        machine.text(here.unwrap_or_else(|_| path.to_string()))
    }),
    routine("exists", 0, |machine, of, _| {
        let path = path_of(of)?;
        Ok(Value::Bool(machine.host.exists(&path)))
    }),
    between("getText", 0, 1, |machine, of, _| {
        let path = path_of(of)?;
        let text = whole(machine, &path)?;
        machine.text(text)
    }),
    routine("readLines", 0, |machine, of, _| {
        let path = path_of(of)?;
        let text = whole(machine, &path)?;
        let lines = text.lines().map(Value::text).collect();
        machine.list(lines)
    }),
    routine("eachLine", 1, |machine, of, arguments| {
        let path = path_of(of)?;
        let text = whole(machine, &path)?;
        let mut last = Value::Null;
        for line in text.lines() {
            machine.step(1)?;
            last = machine.call_value(&arguments[0], &[Value::text(line)])?;
        }
        Ok(last)
    }),
    between("append", 1, 2, |machine, of, arguments| {
        let path = path_of(of)?;
        write(machine, &path, &arguments[0].to_text(), WriteMode::Append)?;
        Ok(Value::Void)
    }),
    between("write", 1, 2, |machine, of, arguments| {
        let path = path_of(of)?;
        write(machine, &path, &arguments[0].to_text(), WriteMode::Replace)?;
        Ok(Value::Void)
    }),
    between("setText", 1, 2, |machine, of, arguments| {
        let path = path_of(of)?;
        write(machine, &path, &arguments[0].to_text(), WriteMode::Replace)?;
        Ok(Value::Void)
    }),
];

pub(super) static WRITER: Class = Class {
    make: Some(between("FileWriter", 1, 2, make_writer)),
    methods: &[OF_WRITERS],
    ..Class::named("java.io.FileWriter")
};

/// Opening a file makes it, and empties it unless it is appended to.
fn make_writer(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let path = path_of(&arguments[0])?;
    let mode = match arguments.get(1) {
        Some(Value::Bool(true)) => WriteMode::Append,
        _ => WriteMode::Replace,
    };
    write(machine, &path, "", mode)?;
    Ok(Value::thing(Thing::Writer(Rc::new(Writer {
        path,
        waiting: RefCell::new(String::new()),
    }))))
}

/// A writer around another is the same writer.
fn make_around(machine: &mut Machine<'_>, none: &Value, arguments: &[Value]) -> Answer {
    match arguments[0].as_thing() {
        Some(Thing::Writer(_)) => Ok(arguments[0].clone()),
        _ => make_writer(machine, none, &arguments[..1]),
    }
}

static BUFFERED_WRITER: Class = Class {
    make: Some(between("BufferedWriter", 1, 2, make_around)),
    methods: &[OF_WRITERS],
    ..Class::named("java.io.BufferedWriter")
};

static PRINT_WRITER: Class = Class {
    make: Some(between("PrintWriter", 1, 2, make_around)),
    methods: &[OF_WRITERS],
    ..Class::named("java.io.PrintWriter")
};

const OF_WRITERS: &[Routine] = &[
    routine("write", 1, |machine, of, arguments| {
        keep(machine, of, &text_of(&arguments[0])?)
    }),
    routine("print", 1, |machine, of, arguments| {
        keep(machine, of, &arguments[0].to_text())
    }),
    between("println", 0, 1, |machine, of, arguments| {
        let text = arguments.first().map(Value::to_text).unwrap_or_default();
        keep(machine, of, &format!("{text}\n"))
    }),
    routine("append", 1, |machine, of, arguments| {
        keep(machine, of, &arguments[0].to_text())?;
        Ok(of.clone())
    }),
    routine("newLine", 0, |machine, of, _| keep(machine, of, "\n")),
    routine("flush", 0, flush),
    routine("close", 0, flush),
];

fn keep(machine: &mut Machine<'_>, of: &Value, text: &str) -> Answer {
    machine.takes_bytes(text.len())?;
    thing!(of, Writer).waiting.borrow_mut().push_str(text);
    Ok(Value::Void)
}

fn flush(machine: &mut Machine<'_>, of: &Value, _: &[Value]) -> Answer {
    let writer = thing!(of, Writer);
    let waiting = writer.waiting.take();
    if !waiting.is_empty() {
        write(machine, &writer.path, &waiting, WriteMode::Append)?;
    }
    Ok(Value::Void)
}

pub(super) static READER: Class = Class {
    make: Some(between(
        "BufferedReader",
        1,
        2,
        |machine, _, arguments| match arguments[0].as_thing() {
            Some(Thing::Reader(_)) => Ok(arguments[0].clone()),
            _ => make_reader(machine, &Value::Null, &arguments[..1]),
        },
    )),
    methods: &[&[
        routine("readLine", 0, |_, of, _| {
            let line = thing!(of, Reader).borrow_mut().pop_front();
            Ok(line.map_or(Value::Null, Value::text))
        }),
        routine("readLines", 0, |machine, of, _| {
            let lines = thing!(of, Reader)
                .borrow_mut()
                .drain(..)
                .map(Value::text)
                .collect();
            machine.list(lines)
        }),
        routine("ready", 0, |_, of, _| {
            Ok(Value::Bool(!thing!(of, Reader).borrow().is_empty()))
        }),
        routine("close", 0, |_, _, _| Ok(Value::Void)),
    ]],
    ..Class::named("java.io.BufferedReader")
};

static FILE_READER: Class = Class {
    make: Some(between("FileReader", 1, 1, make_reader)),
    methods: &[&[routine("close", 0, |_, _, _| Ok(Value::Void))]],
    ..Class::named("java.io.FileReader")
};

fn make_reader(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let path = path_of(&arguments[0])?;
    let text = whole(machine, &path)?;
    let lines = text.lines().map(str::to_owned).collect();
    Ok(Value::thing(Thing::Reader(Rc::new(RefCell::new(lines)))))
}
