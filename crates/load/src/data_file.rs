//! The place in a CSV file from which users take lines.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::PathBuf;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

use crate::quoted::record;

/// The longest line that is read; a longer one ends the file.
const LINE_MAX: u64 = 16 * 1024 * 1024;
/// How much is read of a file in UTF-16, which is read at once.
const WIDE_MAX: u64 = 256 * 1024 * 1024;

/// How a file is read.
#[derive(Debug, Clone)]
pub(crate) struct Format {
    pub(crate) path: PathBuf,
    pub(crate) charset: Charset,
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
    reader: Option<Box<dyn Lines>>,
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
            reader: None,
            rest: String::new(),
            header: Vec::new(),
        };
        cursor.reopen();
        cursor
    }

    fn reopen(&mut self) {
        self.reader = self.format.open().ok();
        self.rest.clear();
        if self.format.has_header {
            // One line, whatever is quoted in it; its quotes always count.
            let mut line = self.line().unwrap_or_default();
            trim_end(&mut line);
            self.header = record(&mut line, || None, self.format.quoted_by()).unwrap_or_default();
        }
    }

    /// The file cannot be read.
    pub(crate) fn is_missing(&self) -> bool {
        self.reader.is_none()
    }

    /// The fields of the next line; `None` at the end of the file. An empty line without quoting has
    /// no fields, nor has one with a quote in the wrong place.
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
            let fields = record(&mut rest, || self.line(), delimiter);
            self.rest = rest;
            return fields;
        }
        let mut text = self.line()?;
        trim_end(&mut text);
        // JMeter finds no field in an empty line, and takes it for the end of the file.
        if text.is_empty() {
            return Some(Vec::new());
        }
        let fields = text.split(self.format.delimiter.as_str());
        Some(fields.map(str::to_owned).collect())
    }

    /// The next line with its end.
    fn line(&mut self) -> Option<String> {
        let reader = self.reader.as_mut()?;
        let mut bytes = Vec::new();
        let mut limited = reader.take(LINE_MAX);
        let read = limited.read_until(b'\n', &mut bytes).ok()?;
        (read > 0).then(|| self.format.charset.decoded(bytes))
    }
}

fn trim_end(line: &mut String) {
    line.truncate(line.trim_end_matches(['\n', '\r']).len());
}

/// Where lines are read from.
trait Lines: io::BufRead + std::fmt::Debug + Send {}

impl<T: io::BufRead + std::fmt::Debug + Send> Lines for T {}

/// A character set by Java's name; UTF-8 for one that is empty or unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Charset {
    /// Each byte is a character, unlike in the web's ISO-8859-1.
    Latin1,
    /// One of the others.
    Named(&'static Encoding),
}

impl Charset {
    /// The character set of this name.
    pub(crate) fn named(name: &str) -> Self {
        let name = name.trim();
        let is = |known: &[&str]| known.iter().any(|known| name.eq_ignore_ascii_case(known));
        if is(&["iso-8859-1", "iso8859_1", "latin1", "l1"]) {
            return Self::Latin1;
        }
        // Java's own names of what others call windows-1252 and the like.
        let web = name
            .to_ascii_lowercase()
            .replacen("cp125", "windows-125", 1);
        let found = match web.as_str() {
            // Java decides by the byte order mark, and without one for the greater end first.
            "utf-16" | "utf16" | "utf-16be" => Some(UTF_16BE),
            "us-ascii" | "ascii" => Some(encoding_rs::UTF_8),
            web => Encoding::for_label(web.as_bytes()),
        };
        Self::Named(found.unwrap_or(encoding_rs::UTF_8))
    }

    fn decoded(self, bytes: Vec<u8>) -> String {
        match self {
            Self::Latin1 => bytes.into_iter().map(char::from).collect(),
            // Wide files were decoded as a whole.
            Self::Named(encoding)
                if [UTF_16BE, UTF_16LE, encoding_rs::UTF_8].contains(&encoding) =>
            {
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Self::Named(encoding) => encoding.decode_without_bom_handling(&bytes).0.into_owned(),
        }
    }
}

impl Format {
    /// What stands between fields that may be quoted: one letter (JMeter).
    fn quoted_by(&self) -> char {
        self.delimiter.chars().next().unwrap_or(',')
    }

    /// The file behind its byte order mark.
    fn open(&self) -> io::Result<Box<dyn Lines>> {
        let mut file = BufReader::new(File::open(&self.path)?);
        if let Charset::Named(wide) = self.charset
            && [UTF_16BE, UTF_16LE].contains(&wide)
        {
            let mut bytes = Vec::new();
            file.take(WIDE_MAX).read_to_end(&mut bytes)?;
            let text = wide.decode(&bytes).0.into_owned();
            return Ok(Box::new(io::Cursor::new(text.into_bytes())));
        }
        if file.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            file.consume(3);
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
                charset: Charset::named(name),
                delimiter: ",".to_owned(),
                quoted: false,
                has_header: false,
                recycle: false,
            });
            let lines = std::iter::from_fn(|| cursor.next());
            lines.map(|fields| fields.join("|")).collect::<Vec<_>>()
        };
        assert_eq!(read("", b"\xef\xbb\xbf\xc3\xa9,1\n2"), ["\u{e9}|1", "2"]);
        assert_eq!(read("ISO-8859-1", b"\xe9\x80,1\r\n"), ["\u{e9}\u{80}|1"]);
        assert_eq!(read("Cp1252", b"\x80,1\n"), ["\u{20ac}|1"]);
        assert_eq!(read("Shift_JIS", b"\x82\xa0,1\n"), ["\u{3042}|1"]);
        assert_eq!(
            read("UTF-16", b"\xfe\xff\x00a\x00,\x20\xac\x00\n\x00b"),
            ["a|\u{20ac}", "b"]
        );
        assert_eq!(read("UTF-16LE", b"a\x00,\x00\xac\x20"), ["a|\u{20ac}"]);
        assert_eq!(read("no such", "\u{e9}".as_bytes()), ["\u{e9}"]);
    }
}
