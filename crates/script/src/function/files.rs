//! Files that functions read and write, as small as people keep them beside a plan.
//!
//! A file to read is looked for where the program was started and then beside the plan; one to
//! write goes where the program was started. Reading and writing blocks the thread.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::sync::{Arc, PoisonError};

use weir_charset::Charset;
use weir_reach::WriteMode;

use super::{Answer, Argument, Call, CallError, Function, Name, Prepared, remember};
use crate::{Scope, java_decimal_format};

/// Largest file that is read as a whole, and longest line.
pub(super) const BYTES_MAX: u64 = 64 << 20;

/// What JMeter gives for a file that it cannot read.
const ERROR: &str = "**ERR**";

/// The variable of a `__StringFromFile` that names none.
pub(super) const LINE_VARIABLE: &str = "StringFromFile_";

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("__CSVRead", (2, 2), Answer::Changes, csv_read),
    Function::new("__StringFromFile", (1, 4), Answer::Changes, next_line)
        .stores(1, Name::Trimmed)
        .prepares(remember),
    Function::new("__FileToString", (1, 3), Answer::Changes, whole_file)
        .stores(2, Name::Trimmed)
        .prepares(|arguments, _| check_charset(arguments.get(1))),
    Function::new("__StringToFile", (2, 4), Answer::Changes, write_file)
        .prepares(|arguments, _| check_charset(arguments.get(3))),
];

/// The files of `__CSVRead` by name or alias, read once for all users.
#[derive(Debug, Default)]
pub(crate) struct CsvFiles(BTreeMap<String, Rows>);

type Rows = Arc<Vec<Vec<String>>>;

/// `*alias` in the second place opens a file under another name, in the first place uses it.
fn csv_read(call: &Call, scope: &mut Scope, out: &mut String) {
    let name = call.argument(0, scope);
    let column = call.argument(1, scope);
    if column.starts_with('*') {
        let rows = read_rows(&name, scope);
        scope
            .live()
            .csv_files()
            .0
            .extend(rows.map(|rows| (column.into_owned(), rows)));
        return;
    }
    let opened = scope.live().csv_files().0.get(&*name).cloned();
    let rows = opened.or_else(|| {
        // An alias that was never opened is no file.
        let rows = (!name.starts_with('*'))
            .then(|| read_rows(&name, scope))
            .flatten()?;
        let mut files = scope.live().csv_files();
        Some(Arc::clone(files.0.entry(name.to_string()).or_insert(rows)))
    });
    let Some(rows) = rows.filter(|rows| !rows.is_empty()) else {
        return;
    };
    let (row, first) = user_row(&name, scope);
    if column == "next" || column == "next()" {
        // For a user who comes here first, the next row is the first one.
        *row = if first { 0 } else { (*row + 1) % rows.len() };
    } else if let Some(cell) = column.parse().ok().and_then(|n: usize| rows[*row].get(n)) {
        out.push_str(cell);
    }
}

/// The user's row, and whether the user has none before.
fn user_row<'a>(name: &str, scope: &'a mut Scope) -> (&'a mut usize, bool) {
    let rows = &mut scope.memory().rows;
    let at = rows.iter().position(|(file, _)| **file == *name);
    let first = at.is_none();
    if first {
        rows.push((name.into(), 0));
    }
    let at = at.unwrap_or(rows.len() - 1);
    (&mut rows[at].1, first)
}

/// Plain splitting: quotes are no quotes. An empty line ends the file.
fn read_rows(name: &str, scope: &Scope) -> Option<Rows> {
    let live = scope.live();
    let text = read_whole(name, "__CSVRead", scope).ok()?;
    let text = String::from_utf8_lossy(&text);
    let delimiter = live.property("csvread.delimiter");
    let delimiter = delimiter
        .filter(|text| !text.is_empty())
        .unwrap_or(",".into());
    let lines = text.lines().take_while(|line| !line.is_empty());
    let cells = |line: &str| line.split(&*delimiter).map(str::to_owned).collect();
    Some(Arc::new(lines.map(cells).collect()))
}

/// Reads a file for a function; that it was refused goes to the log.
pub(super) fn read_whole(name: &str, function: &str, scope: &Scope) -> io::Result<Vec<u8>> {
    let live = scope.live();
    let reach = live.reach();
    let read = reach.read_whole(&reach.find(name), BYTES_MAX);
    read.inspect_err(|error| live.log_refusal(function, error))
}

/// One file that is read line by line by all users, from its start again after its end; or one
/// file after the other, by their numbers.
#[derive(Debug, Default)]
pub(super) struct Lines {
    file: Option<BufReader<File>>,
    /// The file that comes next in a sequence.
    number: Option<i64>,
}

/// Why there is no line.
enum NoLine {
    Unreadable,
    EndOfSequence,
}

fn next_line(call: &Call, scope: &mut Scope, out: &mut String) {
    let name = call.argument(0, scope);
    let start = call.argument(2, scope);
    let end = call.argument(3, scope);
    let lines = &call.occurrence().0.lines;
    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    let line = if start.is_empty() && end.is_empty() {
        lines.of_file(&name, scope)
    } else {
        lines.of_sequence(&name, (start.parse().ok(), end.parse().ok()), scope)
    };
    drop(lines);
    let line = match line {
        Ok(line) => line,
        Err(NoLine::Unreadable) => ERROR.to_owned(),
        Err(NoLine::EndOfSequence) => return scope.fail("End of sequence"),
    };
    out.push_str(&line);
    if !call.has(1) {
        scope.variables.set(LINE_VARIABLE, &line);
    }
}

impl Lines {
    fn of_file(&mut self, name: &str, scope: &Scope) -> Result<String, NoLine> {
        // A file that has just been opened has no line only when it is empty, which JMeter calls
        // null.
        if let Some(line) = self.next()? {
            return Ok(line);
        }
        self.open(name, scope)?;
        Ok(self.next()?.unwrap_or_else(|| "null".to_owned()))
    }

    /// The name is a pattern for the number of the file.
    fn of_sequence(
        &mut self,
        pattern: &str,
        (start, end): (Option<i64>, Option<i64>),
        scope: &Scope,
    ) -> Result<String, NoLine> {
        let start = start.ok_or(NoLine::EndOfSequence)?;
        loop {
            if let Some(line) = self.next()? {
                return Ok(line);
            }
            let number = self.number.unwrap_or(start);
            if end.is_some_and(|end| number > end) {
                return Err(NoLine::EndOfSequence);
            }
            self.number = Some(number.saturating_add(1));
            let opened = self.open(&java_decimal_format(pattern, number), scope);
            // A file that is missing ends a sequence that has an end.
            opened.map_err(|missing| match end {
                Some(_) => NoLine::EndOfSequence,
                None => missing,
            })?;
        }
    }

    fn open(&mut self, name: &str, scope: &Scope) -> Result<(), NoLine> {
        self.file = None;
        let (live, reach) = (scope.live(), scope.live().reach());
        let file = reach.read(&reach.find(name)).map_err(|error| {
            live.log_refusal("__StringFromFile", &error);
            NoLine::Unreadable
        })?;
        self.file = Some(BufReader::new(file));
        Ok(())
    }

    fn next(&mut self) -> Result<Option<String>, NoLine> {
        let Some(file) = &mut self.file else {
            return Ok(None);
        };
        let mut line = Vec::new();
        let read = file.take(BYTES_MAX).read_until(b'\n', &mut line);
        if read.map_err(|_| NoLine::Unreadable)? == 0 {
            self.file = None;
            return Ok(None);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Some(String::from_utf8_lossy(line).into_owned()))
    }
}

/// The encoding of a file: UTF-8 where none is named.
fn charset(name: &str) -> Option<Charset> {
    match name {
        "" => Some(Charset::UTF_8),
        name => Charset::named(name).ok(),
    }
}

fn check_charset(name: Option<&Argument>) -> Result<Prepared, CallError> {
    match name.and_then(Argument::constant) {
        Some(name) if charset(name).is_none() => {
            let says = format!("the encoding \"{name}\" of a file is not supported");
            Err(CallError::new(says).instead("use UTF-8 or ISO-8859-1"))
        }
        _ => Ok(Prepared::Nothing),
    }
}

fn whole_file(call: &Call, scope: &mut Scope, out: &mut String) {
    let name = call.argument(0, scope);
    let charset = call.argument(1, scope);
    let Some(known) = self::charset(&charset) else {
        let says = "java.nio.charset.UnsupportedCharsetException";
        return scope.fail(format!("{says}: {charset}"));
    };
    match read_whole(&name, "__FileToString", scope) {
        Ok(bytes) => out.push_str(&known.decode(&bytes)),
        Err(_) => out.push_str(ERROR),
    }
}

/// Answers whether it worked.
fn write_file(call: &Call, scope: &mut Scope, out: &mut String) {
    let name = call.argument(0, scope);
    // The two characters `\n` are a line end here.
    let text = call.argument(1, scope).replace("\\n", "\n");
    let append = call.argument(2, scope);
    let appends = append.is_empty() || append.eq_ignore_ascii_case("true");
    let charset = call.argument(3, scope);
    let written = self::charset(&charset)
        .is_some_and(|charset| write(&name, &charset.encode(&text), appends, scope).is_ok());
    super::push(out, written);
}

/// A relative name starts where Weir was started.
fn write(name: &str, bytes: &[u8], append: bool, scope: &Scope) -> io::Result<()> {
    let mode = if append {
        WriteMode::Append
    } else {
        WriteMode::Replace
    };
    let live = scope.live();
    let opened = live.reach().write(name.as_ref(), mode);
    let mut file = opened.inspect_err(|error| live.log_refusal("__StringToFile", error))?;
    // One call, so that lines of several users do not mix.
    file.write_all(bytes)
}
