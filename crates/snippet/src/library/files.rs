//! Files: `File`, `Files`, `FileWriter`, `BufferedReader`.
//!
//! A writer keeps what it was given until it is flushed or closed, as Java's does; what is never
//! flushed is lost there as here.

use std::cell::RefCell;
use std::io::ErrorKind;
use std::rc::Rc;
use std::sync::Arc;

use super::charsets::{decoded, encoded};
use super::{bytes_of, made_bytes, text_of, thing};
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
    &STREAM_READER,
    &PATHS,
    &PATH,
    &FILES,
];

/// The path of a file, or a text as one.
pub(super) fn path_of(value: &Value) -> Result<Arc<str>, Stop> {
    match value.as_thing() {
        Some(Thing::File(path)) => Ok(Arc::clone(path)),
        _ => text_of(value),
    }
}

fn failed(path: &str, error: &std::io::Error) -> Stop {
    let says = match error.kind() {
        ErrorKind::NotFound => "No such file or directory".to_owned(),
        ErrorKind::PermissionDenied => "Permission denied".to_owned(),
        _ => error.to_string(),
    };
    Stop::thrown("java.io.FileNotFoundException", format!("{path} ({says})"))
}

pub(super) fn bytes(machine: &mut Machine<'_>, path: &str) -> Result<Vec<u8>, Stop> {
    let bytes = machine.host.read_file(path);
    bytes.map_err(|error| failed(path, &error))
}

/// The text of a file, in the character set that an argument names.
fn whole(machine: &mut Machine<'_>, path: &str, charset: Option<&Value>) -> Result<String, Stop> {
    let bytes = bytes(machine, path)?;
    machine.takes_bytes(bytes.len())?;
    decoded(&bytes, charset)
}

pub(super) fn write(
    machine: &mut Machine<'_>,
    path: &str,
    bytes: &[u8],
    mode: WriteMode,
) -> Result<(), Stop> {
    let written = machine.host.write_file(path, bytes, mode);
    written.map_err(|error| failed(path, &error))
}

/// Writes what is an argument, as bytes or as text in the character set that another one names.
fn write_value(
    machine: &mut Machine<'_>,
    of: &Value,
    arguments: &[Value],
    mode: WriteMode,
) -> Answer {
    let path = path_of(of)?;
    let bytes = match &arguments[0] {
        array if array.as_list().is_some_and(|list| list.array_of.is_some()) => bytes_of(array)?,
        other => encoded(&other.to_text(), arguments.get(1))?,
    };
    write(machine, &path, &bytes, mode)?;
    Ok(Value::Void)
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
    between("getText", 0, 1, |machine, of, arguments| {
        let path = path_of(of)?;
        let text = whole(machine, &path, arguments.first())?;
        machine.text(text)
    }),
    between("readLines", 0, 1, |machine, of, arguments| {
        let path = path_of(of)?;
        let text = whole(machine, &path, arguments.first())?;
        let lines = text.lines().map(Value::text).collect();
        machine.list(lines)
    }),
    between("eachLine", 1, 2, |machine, of, arguments| {
        let Some((closure, charset)) = arguments.split_last() else {
            return Ok(Value::Null);
        };
        let path = path_of(of)?;
        let text = whole(machine, &path, charset.first())?;
        let mut last = Value::Null;
        for line in text.lines() {
            machine.step(1)?;
            last = machine.call_value(closure, &[Value::text(line)])?;
        }
        Ok(last)
    }),
    routine("getBytes", 0, all_bytes),
    routine("readBytes", 0, all_bytes),
    between("append", 1, 2, |machine, of, arguments| {
        write_value(machine, of, arguments, WriteMode::Append)
    }),
    between("write", 1, 2, |machine, of, arguments| {
        write_value(machine, of, arguments, WriteMode::Replace)
    }),
    between("setText", 1, 2, |machine, of, arguments| {
        write_value(machine, of, arguments, WriteMode::Replace)
    }),
    routine("setBytes", 1, |machine, of, arguments| {
        write_value(machine, of, arguments, WriteMode::Replace)
    }),
    routine("length", 0, length),
    routine("size", 0, length),
    routine("isFile", 0, |machine, of, _| {
        let path = path_of(of)?;
        let is_file = machine.host.exists(&path) && !machine.host.is_folder(&path);
        Ok(Value::Bool(is_file))
    }),
    routine("isDirectory", 0, |machine, of, _| {
        let path = path_of(of)?;
        Ok(Value::Bool(machine.host.is_folder(&path)))
    }),
    // As in Java, what does not work is no exception.
    routine("delete", 0, |machine, of, _| {
        let path = path_of(of)?;
        Ok(Value::Bool(machine.host.remove_file(&path).is_ok()))
    }),
    routine("createNewFile", 0, |machine, of, _| {
        let path = path_of(of)?;
        if machine.host.exists(&path) {
            return Ok(Value::Bool(false));
        }
        write(machine, &path, &[], WriteMode::Append)?;
        Ok(Value::Bool(true))
    }),
    routine("mkdirs", 0, |machine, of, _| {
        let path = path_of(of)?;
        let is_made = !machine.host.exists(&path) && machine.host.make_folders(&path).is_ok();
        Ok(Value::Bool(is_made))
    }),
    routine("mkdir", 0, |machine, of, _| {
        let path = path_of(of)?;
        let is_there = |parent: &str| parent.is_empty() || machine.host.is_folder(parent);
        let has_parent = path
            .rsplit_once('/')
            .is_none_or(|(above, _)| is_there(above));
        let is_new = has_parent && !machine.host.exists(&path);
        let is_made = is_new && machine.host.make_folders(&path).is_ok();
        Ok(Value::Bool(is_made))
    }),
    routine("toPath", 0, |_, of, _| Ok(of.clone())),
    routine("toFile", 0, |_, of, _| Ok(of.clone())),
];

fn all_bytes(machine: &mut Machine<'_>, of: &Value, _: &[Value]) -> Answer {
    let bytes = bytes(machine, &path_of(of)?)?;
    made_bytes(machine, &bytes)
}

/// A file that is not there has no bytes.
fn length(machine: &mut Machine<'_>, of: &Value, _: &[Value]) -> Answer {
    let length = machine.host.file_length(&path_of(of)?).unwrap_or(0);
    Ok(Value::Long(i64::try_from(length).unwrap_or(i64::MAX)))
}

/// A path is a file here.
static PATHS: Class = Class {
    statics: &[between("get", 1, 2, path)],
    ..Class::named("java.nio.file.Paths")
};

static PATH: Class = Class {
    statics: &[between("of", 1, 2, path)],
    methods: &[OF_FILES],
    ..Class::named("java.nio.file.Path")
};

fn path(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    super::make(machine, "java.io.File", arguments)
}

static FILES: Class = Class {
    statics: &[
        routine("exists", 1, |machine, _, arguments| {
            let path = path_of(&arguments[0])?;
            Ok(Value::Bool(machine.host.exists(&path)))
        }),
        routine("size", 1, |machine, _, arguments| {
            let path = path_of(&arguments[0])?;
            let length = machine.host.file_length(&path);
            let length = length.map_err(|error| no_file(&path, &error))?;
            Ok(Value::Long(i64::try_from(length).unwrap_or(i64::MAX)))
        }),
        routine("readAllBytes", 1, |machine, _, arguments| {
            let path = path_of(&arguments[0])?;
            let bytes = machine.host.read_file(&path);
            let bytes = bytes.map_err(|error| no_file(&path, &error))?;
            made_bytes(machine, &bytes)
        }),
        between("readAllLines", 1, 2, |machine, _, arguments| {
            let text = exact_text(machine, arguments)?;
            let lines = text.lines().map(Value::text).collect();
            machine.list(lines)
        }),
        between("readString", 1, 2, |machine, _, arguments| {
            let text = exact_text(machine, arguments)?;
            machine.text(text)
        }),
        routine("write", 2, |machine, _, arguments| {
            write_value(machine, &arguments[0], &arguments[1..], WriteMode::Replace)?;
            Ok(arguments[0].clone())
        }),
        routine("deleteIfExists", 1, |machine, _, arguments| {
            let path = path_of(&arguments[0])?;
            match machine.host.remove_file(&path) {
                Ok(()) => Ok(Value::Bool(true)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(Value::Bool(false)),
                Err(error) => Err(no_file(&path, &error)),
            }
        }),
        routine("delete", 1, |machine, _, arguments| {
            let path = path_of(&arguments[0])?;
            let removed = machine.host.remove_file(&path);
            removed.map_err(|error| no_file(&path, &error))?;
            Ok(Value::Void)
        }),
    ],
    ..Class::named("java.nio.file.Files")
};

/// What the newer classes throw.
fn no_file(path: &str, error: &std::io::Error) -> Stop {
    let class = match error.kind() {
        ErrorKind::NotFound => "java.nio.file.NoSuchFileException",
        ErrorKind::PermissionDenied => "java.nio.file.AccessDeniedException",
        ErrorKind::DirectoryNotEmpty => "java.nio.file.DirectoryNotEmptyException",
        _ => "java.nio.file.FileSystemException",
    };
    Stop::thrown(class, path)
}

/// The text of a file whose bytes are all characters.
fn exact_text(machine: &mut Machine<'_>, arguments: &[Value]) -> Result<String, Stop> {
    let path = path_of(&arguments[0])?;
    let bytes = machine.host.read_file(&path);
    let bytes = bytes.map_err(|error| no_file(&path, &error))?;
    machine.takes_bytes(bytes.len())?;
    let text = decoded(&bytes, arguments.get(1))?;
    let is_exact = encoded(&text, arguments.get(1))? == bytes;
    is_exact.then_some(text).ok_or_else(|| {
        Stop::thrown(
            "java.nio.charset.MalformedInputException",
            "Input length = 1",
        )
    })
}

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
    write(machine, &path, &[], mode)?;
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
        write(machine, &writer.path, waiting.as_bytes(), WriteMode::Append)?;
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
    make: Some(between("FileReader", 1, 2, make_reader)),
    methods: &[&[routine("close", 0, |_, _, _| Ok(Value::Void))]],
    ..Class::named("java.io.FileReader")
};

fn make_reader(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let path = path_of(&arguments[0])?;
    let text = whole(machine, &path, arguments.get(1))?;
    Ok(lines_of(&text))
}

fn lines_of(text: &str) -> Value {
    let lines = text.lines().map(str::to_owned).collect();
    Value::thing(Thing::Reader(Rc::new(RefCell::new(lines))))
}

/// A reader of a stream's bytes takes all of them.
static STREAM_READER: Class = Class {
    make: Some(between(
        "InputStreamReader",
        1,
        2,
        |machine, _, arguments| {
            let Some(Thing::Input(_)) = arguments[0].as_thing() else {
                return Err(Stop::unknown("an InputStreamReader of what is no stream"));
            };
            let text = super::call(machine, &arguments[0], "getText", &arguments[1..])?;
            Ok(lines_of(&text.to_text()))
        },
    )),
    methods: &[&[routine("close", 0, |_, _, _| Ok(Value::Void))]],
    ..Class::named("java.io.InputStreamReader")
};
