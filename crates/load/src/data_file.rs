//! The place in a CSV file from which users take lines.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::PathBuf;

use weir_charset::Charset;
use weir_reach::Reach;

use crate::quoted::record;

/// The longest line that is read; a longer one ends the file.
const LINE_MAX: usize = 16 * 1024 * 1024;
/// How much is read of a file in UTF-16, which is read at once.
const WIDE_MAX: u64 = 256 * 1024 * 1024;

/// How a file is read.
#[derive(Debug, Clone)]
pub(crate) struct Format {
    pub(crate) path: PathBuf,
    /// The files that the plan may touch.
    pub(crate) reach: Reach,
    /// None for a name that is unknown: nothing can be read.
    pub(crate) charset: Option<Charset>,
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
    /// Where lines come from; else why there are none.
    reader: Result<Box<dyn Lines>, String>,
    /// What has been read and is not yet part of a record with quotes.
    rest: String,
    /// The fields of the first line, if it is not data.
    pub(crate) header: Vec<String>,
}

impl Cursor {
    /// The file at its beginning. A file that cannot be opened is missing.
    pub(crate) fn open(format: Format) -> Self {
        let mut cursor = Self {
            format,
            reader: Err("not opened".to_owned()),
            rest: String::new(),
            header: Vec::new(),
        };
        cursor.reopen();
        cursor
    }

    fn reopen(&mut self) {
        self.reader = self.format.open().map_err(|error| error.to_string());
        self.rest.clear();
        if self.format.has_header {
            // One line, whatever is quoted in it; its quotes always count.
            let Some(mut line) = self.line(true) else {
                // JMeter fails without the line that it was promised.
                if self.reader.is_ok() {
                    self.reader =
                        Err("it has no first line with the names of its columns".to_owned());
                }
                return;
            };
            trim_end(&mut line);
            self.header = record(&mut line, || None, self.format.quoted_by()).unwrap_or_default();
        }
    }

    /// Why the file cannot be read, if so.
    pub(crate) fn problem(&self) -> Option<&str> {
        self.reader.as_ref().err().map(String::as_str)
    }

    /// The fields of the next line; `None` at the end of the file. An empty line without quoting
    /// has no fields, nor has one with a quote in the wrong place.
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
        if self.format.quoted {
            let mut rest = std::mem::take(&mut self.rest);
            let delimiter = self.format.quoted_by();
            let fields = record(&mut rest, || self.line(false), delimiter);
            self.rest = rest;
            return fields;
        }
        let mut text = self.line(true)?;
        trim_end(&mut text);
        // JMeter finds no field in an empty line, and takes it for the end of the file.
        if text.is_empty() {
            return Some(Vec::new());
        }
        let fields = text.split(self.format.delimiter.as_str());
        Some(fields.map(str::to_owned).collect())
    }

    /// The next line with its end: a line feed, or also a carriage return.
    fn line(&mut self, also_return: bool) -> Option<String> {
        let reader = self.reader.as_mut().ok()?;
        let mut bytes = Vec::new();
        read_line(reader.as_mut(), also_return, &mut bytes).ok()?;
        let text = || self.format.line_charset().decode(&bytes).into_owned();
        (!bytes.is_empty()).then(text)
    }
}

/// Reads up to a line's end; of a carriage return with a line feed, only the first is kept.
fn read_line(reader: &mut dyn Lines, also_return: bool, line: &mut Vec<u8>) -> io::Result<()> {
    while line.len() < LINE_MAX {
        let read = reader.fill_buf()?;
        let ends = |byte: &u8| *byte == b'\n' || (also_return && *byte == b'\r');
        let end = read.iter().position(ends);
        let length = end.map_or(read.len(), |end| end + 1);
        line.extend_from_slice(&read[..length]);
        reader.consume(length);
        if end.is_none() && length > 0 {
            continue;
        }
        if also_return && line.ends_with(b"\r") && reader.fill_buf()?.starts_with(b"\n") {
            reader.consume(1);
        }
        break;
    }
    Ok(())
}

fn trim_end(line: &mut String) {
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
}

/// Where lines are read from.
trait Lines: io::BufRead + std::fmt::Debug + Send {}

impl<T: io::BufRead + std::fmt::Debug + Send> Lines for T {}

impl Format {
    /// What stands between fields that may be quoted: one letter (JMeter).
    fn quoted_by(&self) -> char {
        self.delimiter.chars().next().unwrap_or(',')
    }

    /// How a line's bytes become text: wide files have become UTF-8 when they were opened.
    fn line_charset(&self) -> Charset {
        self.charset
            .filter(|set| !set.is_wide())
            .unwrap_or_default()
    }

    /// The file behind its byte order mark.
    fn open(&self) -> io::Result<Box<dyn Lines>> {
        let mut file = BufReader::new(self.reach.read(&self.path)?);
        let Some(charset) = self.charset else {
            return Ok(Box::new(io::empty()));
        };
        if file.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            file.consume(3);
        }
        if charset.is_wide() {
            let mut bytes = Vec::new();
            file.take(WIDE_MAX).read_to_end(&mut bytes)?;
            let text = charset.decode(&bytes).into_owned();
            return Ok(Box::new(io::Cursor::new(text.into_bytes())));
        }
        Ok(Box::new(file))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    /// The bytes are what Java's `String.getBytes` makes of the text.
    #[test]
    fn lines_are_read_in_the_file_s_charset() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.csv");
        let read = |name: &str, bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let mut cursor = Cursor::open(Format {
                path: path.clone(),
                reach: Reach::default().allow(&path),
                charset: Charset::named(name).ok(),
                delimiter: ",".to_owned(),
                quoted: false,
                has_header: false,
                recycle: false,
            });
            let lines = std::iter::from_fn(|| cursor.next());
            lines.map(|fields| fields.join("|")).collect::<Vec<_>>()
        };
        assert_eq!(
            read("UTF-8", b"\xef\xbb\xbf\xc3\xa9,1\n2"),
            ["\u{e9}|1", "2"]
        );
        assert_eq!(read("UTF-8", b"1,2\r3,4\r\n5\r"), ["1|2", "3|4", "5"]);
        assert_eq!(read("ISO-8859-1", b"\xe9\x80,1\r\n"), ["\u{e9}\u{80}|1"]);
        assert_eq!(read("Cp1252", b"\x80,1\n"), ["\u{20ac}|1"]);
        assert_eq!(read("Shift_JIS", b"\x82\xa0,1\n"), ["\u{3042}|1"]);
        assert_eq!(
            read("UTF-16", b"\xfe\xff\x00a\x00,\x20\xac\x00\n\x00b"),
            ["a|\u{20ac}", "b"]
        );
        assert_eq!(read("UTF-16LE", b"a\x00,\x00\xac\x20"), ["a|\u{20ac}"]);
        assert_eq!(read("no such", b"a"), [""; 0]);
    }

    /// JMeter's user ends where a first line with names was promised.
    #[test]
    fn a_header_that_is_not_there_makes_a_file_missing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.csv");
        let open = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Cursor::open(Format {
                path: path.clone(),
                reach: Reach::default().allow(&path),
                charset: Some(Charset::UTF_8),
                delimiter: ",".to_owned(),
                quoted: false,
                has_header: true,
                recycle: true,
            })
        };
        assert!(open("").problem().unwrap().contains("no first line"));
        let mut only_names = open("a,b\n");
        assert_eq!(only_names.problem(), None);
        assert_eq!(only_names.header, ["a", "b"]);
        assert_eq!(only_names.next(), None);
    }
}
