//! Heads that break the rules, read as JMeter's HTTP library reads them.
//!
//! The strict parser comes first: this one sees only what that refuses. Its rules were found by
//! giving JMeter 5.6.3 such heads: a line ends with a line feed, whatever else is in it; the first
//! line has a version with a point, a status code of digits and a reason; a field has a colon with
//! something in front of it, of whatever letters.

use crate::http::outcome::Failure;

/// A head in its parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TolerantHead<'a> {
    /// Bytes up to and with the empty line.
    pub(super) length: usize,
    /// The version is 1.1 or later.
    pub(super) is_http_1_1: bool,
    pub(super) number: u16,
    pub(super) reason: &'a [u8],
    /// Names and values of the fields, without what follows in further lines.
    pub(super) fields: Vec<(&'a [u8], &'a [u8])>,
}

impl<'a> TolerantHead<'a> {
    /// Reads a head whose first line begins with `HTTP/`; `None` when it has not ended yet.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Option<Self>, Failure> {
        let mut lines = Lines { bytes, at: 0 };
        let Some(first) = lines.next() else {
            return Ok(None);
        };
        let (is_http_1_1, number, reason) = first_line(first).ok_or(Failure::NotHttp)?;
        let mut fields: Vec<&[u8]> = Vec::new();
        loop {
            match lines.next() {
                None => return Ok(None),
                Some([]) => break,
                Some([b' ' | b'\t', ..]) if !fields.is_empty() => {}
                Some(line) => fields.push(line),
            }
        }
        let fields: Option<Vec<_>> = fields.into_iter().map(field).collect();
        Ok(Some(Self {
            length: lines.at,
            is_http_1_1,
            number,
            reason,
            fields: fields.ok_or(Failure::NotHttp)?,
        }))
    }
}

struct Lines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Lines<'a> {
    /// The next whole line, without what ends it.
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        self.at += end + 1;
        let line = &rest[..end];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Whether the version is at least 1.1, the status code, the reason.
fn first_line(line: &[u8]) -> Option<(bool, u16, &[u8])> {
    let line = line.strip_prefix(b"HTTP/")?;
    let (version, rest) = split(line, b' ').unwrap_or((line, b""));
    let (major, minor) = split(version, b'.')?;
    let (major, minor): (u32, u32) = (number(major)?, number(minor)?);
    let rest = rest.trim_ascii();
    let (code, reason) = split(rest, b' ').unwrap_or((rest, b""));
    let code = u16::try_from(number(code)?).ok()?;
    Some(((major, minor) >= (1, 1), code, reason.trim_ascii()))
}

fn number(digits: &[u8]) -> Option<u32> {
    let digits = str::from_utf8(digits.trim_ascii()).ok()?;
    let is_number = digits.bytes().all(|digit| digit.is_ascii_digit());
    is_number.then(|| digits.parse().ok())?
}

fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = split(line, b':')?;
    let name = name.trim_ascii();
    (!name.is_empty()).then(|| (name, value.trim_ascii()))
}

fn split(bytes: &[u8], at: u8) -> Option<(&[u8], &[u8])> {
    let place = bytes.iter().position(|byte| *byte == at)?;
    Some((&bytes[..place], &bytes[place + 1..]))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn odd_heads_are_read() {
        let read = |text: &'static str| TolerantHead::read(text.as_bytes()).unwrap().unwrap();
        let head = read("HTTP/9.9 1000 So it is\r\nX Y: a\0b\n more\r\n :\u{1}: c\n\r\nbody");
        assert_eq!((head.is_http_1_1, head.number), (true, 1000));
        assert_eq!(head.reason, b"So it is");
        assert_eq!(head.fields[0], (&b"X Y"[..], &b"a\0b"[..]));
        assert_eq!(head.length, 49);
        let head = read("HTTP/0.9 200\n A: b\n\n");
        assert_eq!((head.is_http_1_1, head.reason), (false, &b""[..]));
        assert_eq!(head.fields, [(&b"A"[..], &b"b"[..])]);
    }

    #[test]
    fn what_is_missing_is_waited_for_and_what_is_wrong_is_not() {
        for text in ["HTTP/1.1 200", "HTTP/1.1 200 OK\r\nno colon\r\n"] {
            assert_eq!(TolerantHead::read(text.as_bytes()), Ok(None), "{text}");
        }
        for text in [
            "HTTP/2 200 OK\r\n",
            "HTTP/1.1\r\n",
            "HTTP/1.1 abc OK\r\n",
            "HTTP/1.1 -200 OK\r\n",
            "HTTP/1.x 200 OK\r\n",
            "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
            "HTTP/1.1 200 OK\r\n: x\r\n\r\n",
        ] {
            let read = TolerantHead::read(text.as_bytes());
            assert_eq!(read, Err(Failure::NotHttp), "{text}");
        }
    }
}
