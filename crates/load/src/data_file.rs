//! The place in a CSV file from which users take lines.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::PathBuf;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

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
    /// The fields of the first line, if it is not data.
    pub(crate) header: Vec<String>,
}

impl Cursor {
    /// The file at its beginning. A file that cannot be opened is missing.
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
        self.reader = self.format.open().ok();
        if self.format.has_header {
            self.header = self.read().unwrap_or_default();
        }
    }

    /// The file cannot be read.
    pub(crate) fn is_missing(&self) -> bool {
        self.reader.is_none()
    }

    /// The fields of the next line; `None` at the end of the file. An empty line without quoting has
    /// no fields.
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
            // JMeter finds no field in an empty line, and takes it for the end of the file.
            if text.is_empty() {
                return Some(Vec::new());
            }
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
        let mut limited = reader.take(LINE_MAX);
        let read = limited.read_until(b'\n', &mut bytes).ok()?;
        if read == 0 {
            return None;
        }
        while matches!(bytes.last(), Some(b'\n' | b'\r')) {
            bytes.pop();
        }
        Some(self.format.charset.decoded(bytes))
    }
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
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
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
