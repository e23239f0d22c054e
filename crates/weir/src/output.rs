//! The only place that writes to standard output and standard error.
//!
//! Data goes to standard output, talk to standard error. A reader that has gone away (`weir … |
//! head`) is no error.

use std::io::{self, Write as _};
use std::path::Path;

use miette::{GraphicalReportHandler, GraphicalTheme};
use serde::Serialize;
use weir_record::failed_to;

use crate::error::ExpectedError;

/// Prints a line of data.
pub(crate) fn data(text: &str) {
    ignore_gone(writeln!(io::stdout().lock(), "{text}"));
}

/// Prints a line of talk.
pub(crate) fn talk(text: &str) {
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
    ignore_gone(writeln!(out, "{line}").and_then(|()| out.flush()));
}

/// Writes a value as JSON to a file, or to standard output for `-`.
pub(crate) fn json_to(path: &Path, value: &impl Serialize) -> Result<(), ExpectedError> {
    if path == Path::new("-") {
        data(&weir_record::json_text(value).expect("plain data serialises"));
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
                talk(&text);
            }
        }
    }
    talk(&format!("error: {error}"));
}
