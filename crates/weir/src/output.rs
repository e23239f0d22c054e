//! The only place that writes to standard output and standard error.
//!
//! Data goes to standard output, talk to standard error. A reader that has gone away (`weir … |
//! head`) is no error.
//!
//! What is printed holds names and messages from outside. Whatever of it a terminal would obey is
//! made visible here ([`weir_shown`]), the last place that all of it passes. Text is one line
//! unless its caller says that it has several, so that a name cannot begin a line that looks like
//! Weir's.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Mutex;

use miette::{GraphicalReportHandler, GraphicalTheme};
use serde::Serialize;
use weir_record::failed_to;

use crate::error::ExpectedError;

/// Prints a line of data.
pub(crate) fn data(text: &str) {
    to_stdout(&weir_shown::line(text));
}

/// Prints data that has several lines.
pub(crate) fn data_lines(text: &str) {
    to_stdout(&weir_shown::text(text));
}

/// Prints an answer that has several lines: as data, unless standard output is for the JSON of the
/// same answer.
pub(crate) fn answer_lines(text: &str, json: Option<&Path>) {
    if json == Some(Path::new("-")) {
        talk_lines(text);
    } else {
        data_lines(text);
    }
}

/// Prints a line of talk.
pub(crate) fn talk(text: &str) {
    to_stderr(&weir_shown::line(text));
}

/// Prints a line of talk that turns up more than once, the first time.
pub(crate) fn talk_once(text: &str) {
    static TOLD: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if TOLD
        .lock()
        .is_ok_and(|mut told| told.insert(text.to_owned()))
    {
        talk(text);
    }
}

/// Prints talk that has several lines.
pub(crate) fn talk_lines(text: &str) {
    to_stderr(&weir_shown::text(text));
}

fn to_stdout(text: &str) {
    ignore_gone(writeln!(io::stdout().lock(), "{text}"));
}

fn to_stderr(text: &str) {
    ignore_gone(writeln!(io::stderr().lock(), "{text}"));
}

/// How many columns a table may have.
pub(crate) fn width() -> usize {
    const UNKNOWN: usize = 100;
    rustix::termios::tcgetwinsize(io::stderr())
        .map_or(UNKNOWN, |size| usize::from(size.ws_col))
        .clamp(60, UNKNOWN)
}

/// Prints a value as one line of JSON, at once.
pub(crate) fn json_line(value: &impl Serialize) {
    let line = serde_json::to_string(value).expect("plain data serialises");
    let mut out = io::stdout().lock();
    let line = weir_shown::json(&line);
    ignore_gone(writeln!(out, "{line}").and_then(|()| out.flush()));
}

/// Writes a value as JSON to a file, or to standard output for `-`.
pub(crate) fn json_to(path: &Path, value: &impl Serialize) -> Result<(), ExpectedError> {
    if path == Path::new("-") {
        let text = weir_record::json_text(value).expect("plain data serialises");
        to_stdout(&weir_shown::json(&text));
        return Ok(());
    }
    weir_record::write_json(path, value)
        .map_err(|error| ExpectedError::Environment(failed_to(&error)))
}

fn ignore_gone(written: io::Result<()>) {
    // Neither a closed pipe nor a full terminal log may end a run that is measuring.
    drop(written);
}

/// Tells what went wrong.
pub(crate) fn tell_error(error: &ExpectedError) {
    if let ExpectedError::File(problems) = error {
        let theme = if std::env::var_os("NO_COLOR").is_some()
            || !io::IsTerminal::is_terminal(&io::stderr())
        {
            GraphicalTheme::unicode_nocolor()
        } else {
            GraphicalTheme::unicode()
        };
        let handler = GraphicalReportHandler::new_themed(theme);
        for problem in problems.diagnostics() {
            let mut text = String::new();
            if handler.render_report(&mut text, &problem).is_ok() {
                // What is from outside is made visible where it enters; the rest is its styling.
                to_stderr(&text);
            }
        }
    }
    talk_lines(&indented(&format!("error: {error}")));
}

/// An error with its later lines indented, so that none of them looks like one of Weir's.
pub(crate) fn indented(says: &str) -> String {
    let lines: Vec<&str> = says.trim_end().lines().collect();
    lines.join("\n  ")
}
