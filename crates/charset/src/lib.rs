//! Java's character sets, found by the names that Java knows them by.
//!
//! Plans name character sets for requests, files and responses, and mean Java's. Those of the web,
//! which `encoding_rs` has, are others under the same names: the web's ISO-8859-1 is Windows-1252,
//! its encoders never write UTF-16, and its Windows sets take all control characters. So the tables
//! are those of `encoding_rs`, and what Java does otherwise is written here. The sets for Chinese,
//! Japanese and Korean differ from Java's in rare characters; see [`Charset::is_exact`].
//!
//! ```
//! let latin = weir_charset::Charset::named("latin1").expect("Java knows it");
//! assert_eq!(latin.name(), "ISO-8859-1");
//! assert_eq!(*latin.encode("é€"), [0xe9, b'?']);
//! assert_eq!(latin.decode(&[0xe9, 0x80]), "é\u{80}");
//! ```

mod form;
mod names;
mod wide;

use std::borrow::Cow;
use std::fmt;

use encoding_rs::Encoding;

pub use form::{DecodeError, decode_form};

use wide::Wide;

/// A character set.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Charset {
    name: &'static str,
    form: Form,
}

/// How text becomes bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Utf8,
    /// The first so many characters of Unicode, a byte each.
    First(u8),
    /// Two or four bytes for each.
    Wide(Wide),
    /// A table, and what Java does otherwise.
    Table(&'static Encoding, Unlike),
}

/// What Java does otherwise than the web with the same table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unlike {
    /// Nothing.
    Not,
    /// Bytes without a character stay without one; on the web they are control characters.
    WithoutControls,
    /// Bytes from 0x80 to 0x9F are control characters; on the web they are Windows' letters.
    WithControls,
    /// The euro has two bytes.
    LongEuro,
    /// Only pairs of bytes from 0xA1 on.
    HighPairs,
    /// More than this, in rare characters.
    Rarely,
}

/// Why a name is not that of a character set; the texts are names of Java's exceptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoCharset {
    /// It has characters that no name has.
    #[error("java.nio.charset.IllegalCharsetNameException")]
    Illegal,
    /// There is none of this name.
    #[error("java.nio.charset.UnsupportedCharsetException")]
    Unsupported,
}

impl Default for Charset {
    fn default() -> Self {
        Self::UTF_8
    }
}

impl fmt::Debug for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Charset {
    /// UTF-8.
    pub const UTF_8: Self = Self {
        name: "UTF-8",
        form: Form::Utf8,
    };

    /// ASCII.
    pub const US_ASCII: Self = Self {
        name: "US-ASCII",
        form: Form::First(0x7f),
    };

    /// The character set of a name, in any case.
    ///
    /// # Errors
    /// What Java says of a name that it does not know.
    pub fn named(name: &str) -> Result<Self, NoCharset> {
        let legal = |c: char| c.is_ascii_alphanumeric() || "-+.:_".contains(c);
        if !name.starts_with(|c: char| c.is_ascii_alphanumeric()) || !name.chars().all(legal) {
            return Err(NoCharset::Illegal);
        }
        names::find(name).ok_or(NoCharset::Unsupported)
    }

    /// The name that Java gives it.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Whether each character has the bytes that Java gives it.
    pub fn is_exact(self) -> bool {
        use Unlike::{HighPairs, LongEuro, Rarely};
        !matches!(self.form, Form::Table(_, HighPairs | LongEuro | Rarely))
    }

    /// Whether a line end may be more than one byte.
    pub fn is_wide(self) -> bool {
        matches!(self.form, Form::Wide(_))
    }

    /// The bytes of a text; a question mark for what the set does not have.
    pub fn encode(self, text: &str) -> Cow<'_, [u8]> {
        match self.form {
            Form::Utf8 => Cow::Borrowed(text.as_bytes()),
            Form::First(last) => {
                let byte = |c| u8::try_from(u32::from(c)).ok().filter(|b| *b <= last);
                text.chars().map(|c| byte(c).unwrap_or(b'?')).collect()
            }
            Form::Wide(wide) => Cow::Owned(wide.encode(text)),
            Form::Table(table, unlike) => {
                let mut out = Vec::with_capacity(text.len());
                text.chars().for_each(|c| unlike.push(c, table, &mut out));
                Cow::Owned(out)
            }
        }
    }

    /// Whether the set has a character.
    pub fn has(self, c: char) -> bool {
        let mut text = [0; 4];
        c == '?' || *self.encode(c.encode_utf8(&mut text)) != *b"?"
    }

    /// The text of bytes; U+FFFD for what has no meaning.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self.form {
            Form::Utf8 => String::from_utf8_lossy(bytes),
            Form::First(last) => {
                let known = |b: u8| {
                    if b <= last {
                        char::from(b)
                    } else {
                        char::REPLACEMENT_CHARACTER
                    }
                };
                bytes.iter().map(|b| known(*b)).collect()
            }
            Form::Wide(wide) => Cow::Owned(wide.decode(bytes)),
            Form::Table(table, unlike) => unlike.decode(bytes, table),
        }
    }
}

const CONTROLS: std::ops::RangeInclusive<char> = '\u{80}'..='\u{9f}';

impl Unlike {
    /// Appends the bytes of a character.
    fn push(self, c: char, table: &'static Encoding, out: &mut Vec<u8>) {
        if c.is_ascii() {
            out.push(c as u8);
            return;
        }
        if CONTROLS.contains(&c) {
            match self {
                Self::WithControls => out.push(c as u8),
                Self::WithoutControls | Self::Rarely => out.push(b'?'),
                _ => push_as_web(c, table, out),
            }
            return;
        }
        let start = out.len();
        push_as_web(c, table, out);
        let is_other = match self {
            Self::WithControls => out[start] < 0xa0,
            Self::HighPairs => out[start..].iter().any(|byte| *byte < 0xa1),
            _ => false,
        };
        if is_other {
            out.truncate(start);
            out.push(b'?');
        } else if self == Self::LongEuro && c == '€' {
            out.truncate(start);
            out.extend([0xa2, 0xe3]);
        }
    }

    fn decode<'b>(self, bytes: &'b [u8], table: &'static Encoding) -> Cow<'b, str> {
        let (text, _) = table.decode_without_bom_handling(bytes);
        match self {
            Self::WithoutControls if text.contains(|c| CONTROLS.contains(&c)) => {
                let replacement = char::REPLACEMENT_CHARACTER.to_string();
                Cow::Owned(text.replace(|c| CONTROLS.contains(&c), &replacement))
            }
            // A byte is a character, so they can be told apart one by one.
            Self::WithControls => {
                let letters = bytes.iter().zip(text.chars());
                let with_controls = letters.map(|(byte, c)| match byte {
                    0x80..=0x9f => char::from(*byte),
                    _ => c,
                });
                Cow::Owned(with_controls.collect())
            }
            _ => text,
        }
    }
}

/// Appends the bytes that the web gives to a character.
fn push_as_web(c: char, table: &'static Encoding, out: &mut Vec<u8>) {
    let mut text = [0; 4];
    match table.encode(c.encode_utf8(&mut text)) {
        (bytes, _, false) => out.extend_from_slice(&bytes),
        _ => out.push(b'?'),
    }
}

#[cfg(test)]
mod tests;
