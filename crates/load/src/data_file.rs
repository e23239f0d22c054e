//! The place in a CSV file from which users take lines.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader};
use std::path::PathBuf;

/// The longest line that is read; a longer one ends the file.
const LINE_MAX: usize = 16 * 1024 * 1024;

/// How a file is read.
#[derive(Debug, Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the switches of a CSV Data Set"
)]
pub(crate) struct Format {
    pub(crate) path: PathBuf,
    pub(crate) is_latin1: bool,
    pub(crate) delimiter: String,
    pub(crate) quoted: bool,
    /// The first line holds names, or is left out.
    pub(crate) has_header: bool,
    pub(crate) recycle: bool,
}

/// A file that users read line by line.
#[derive(Debug)]
pub(crate) struct Cursor {
    format: Format,
    reader: Option<BufReader<File>>,
    /// The fields of the first line, if it is not data.
    pub(crate) header: Vec<String>,
}

impl Cursor {
    /// The file at its beginning. A file that cannot be opened has no lines.
    pub(crate) fn open(format: Format) -> Self {
        let mut cursor = Self {
            format,
            reader: None,
            header: Vec::new(),
        };
        cursor.reopen();
        cursor
    }

    fn reopen(&mut self) {
        self.reader = File::open(&self.format.path).ok().map(BufReader::new);
        if let Some(reader) = &mut self.reader
            && reader
                .fill_buf()
                .is_ok_and(|start| start.starts_with(b"\xef\xbb\xbf"))
        {
            reader.consume(3);
        }
        if self.format.has_header {
            self.header = self.read().unwrap_or_default();
        }
    }

    /// The fields of the next line; `None` at the end of the file.
    pub(crate) fn next(&mut self) -> Option<Vec<String>> {
        if let Some(fields) = self.read() {
            return Some(fields);
        }
        if !self.format.recycle {
            return None;
        }
        self.reopen();
        self.read()
    }

    fn read(&mut self) -> Option<Vec<String>> {
        let mut text = self.line()?;
        if !self.format.quoted {
            let fields = text.split(self.format.delimiter.as_str());
            return Some(fields.map(str::to_owned).collect());
        }
        // A quoted field may go on in the next line.
        while text.matches('"').count() % 2 == 1 {
            let Some(more) = self.line() else { break };
            text.push('\n');
            text.push_str(&more);
        }
        Some(split_quoted(&text, &self.format.delimiter))
    }

    /// The next line without its end.
    fn line(&mut self) -> Option<String> {
        let reader = self.reader.as_mut()?;
        let mut bytes = Vec::new();
        let mut limited = io::Read::take(reader, LINE_MAX as u64);
        let read = limited.read_until(b'\n', &mut bytes).ok()?;
        if read == 0 {
            return None;
        }
        while matches!(bytes.last(), Some(b'\n' | b'\r')) {
            bytes.pop();
        }
        Some(if self.format.is_latin1 {
            bytes.into_iter().map(char::from).collect()
        } else {
            String::from_utf8_lossy(&bytes).into_owned()
        })
    }
}

/// Fields that may be quoted; quotes inside are doubled.
fn split_quoted(text: &str, delimiter: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut rest = text;
    loop {
        let mut field = String::new();
        if let Some(mut quoted) = rest.strip_prefix('"') {
            loop {
                let Some((inside, after)) = quoted.split_once('"') else {
                    field.push_str(quoted);
                    rest = "";
                    break;
                };
                field.push_str(inside);
                if let Some(more) = after.strip_prefix('"') {
                    field.push('"');
                    quoted = more;
                } else {
                    rest = after;
                    break;
                }
            }
        }
        let (plain, more) = match rest.split_once(delimiter) {
            Some((plain, more)) => (plain, Some(more)),
            None => (rest, None),
        };
        field.push_str(plain);
        fields.push(field);
        match more {
            Some(more) => rest = more,
            None => return fields,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_hold_delimiters_and_quotes() {
        let split = |text| split_quoted(text, ",");
        assert_eq!(split("a,\"b,c\",d"), ["a", "b,c", "d"]);
        assert_eq!(split("\"say \"\"x\"\"\",2"), ["say \"x\"", "2"]);
        assert_eq!(split("a,,"), ["a", "", ""]);
        assert_eq!(split_quoted("a;;\"b;;c\"", ";;"), ["a", "b;;c"]);
    }
}
