//! How the start of a sample is written.
//!
//! JMeter takes a pattern of Java's `SimpleDateFormat`. It is translated once into the directives
//! of jiff, which formats and parses with it.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;

use super::JtlError;

/// How the start of a sample is written.
#[derive(Debug, Clone, PartialEq)]
pub enum TimestampFormat {
    /// Not at all.
    None,
    /// Milliseconds since 1970.
    Milliseconds,
    /// A date and time of day.
    Pattern {
        /// In the directives of `strftime`.
        directives: String,
        /// Where the clock stands that is shown.
        zone: TimeZone,
    },
}

/// Patterns that a file may have been written with although nobody says so: those that JMeter
/// tries, and ISO 8601, which tools that make result files write.
const COMMON: [&str; 10] = [
    "yyyy/MM/dd HH:mm:ss.SSS",
    "yyyy/MM/dd HH:mm:ss",
    "yyyy-MM-dd HH:mm:ss.SSS",
    "yyyy-MM-dd HH:mm:ss",
    "MM/dd/yy HH:mm:ss",
    "yyyy-MM-dd'T'HH:mm:ss.SSSXXX",
    "yyyy-MM-dd'T'HH:mm:ss.SSSZ",
    "yyyy-MM-dd'T'HH:mm:ssXXX",
    "yyyy-MM-dd'T'HH:mm:ss.SSS",
    "yyyy-MM-dd'T'HH:mm:ss",
];

impl TimestampFormat {
    /// `none`, `ms` (also when empty), or a pattern.
    pub fn parse(text: &str, zone: &TimeZone) -> Result<Self, JtlError> {
        match text {
            "none" => Ok(Self::None),
            "" | "ms" => Ok(Self::Milliseconds),
            pattern => Self::pattern(pattern, zone).ok_or_else(|| JtlError::Setting {
                setting: "jmeter.save.saveservice.timestamp_format",
                value: pattern.to_owned(),
                must: "it is none, ms, or a pattern such as yyyy/MM/dd HH:mm:ss.SSS",
            }),
        }
    }

    /// Formats to try on a file, the given one first.
    pub(crate) fn candidates(&self, zone: &TimeZone) -> Vec<Self> {
        let common = COMMON
            .iter()
            .filter_map(|pattern| Self::pattern(pattern, zone));
        std::iter::once(self.clone())
            .filter(|format| matches!(format, Self::Pattern { .. }))
            .chain(common)
            .collect()
    }

    fn pattern(pattern: &str, zone: &TimeZone) -> Option<Self> {
        directives(pattern).map(|directives| Self::Pattern {
            directives,
            zone: zone.clone(),
        })
    }

    /// Adds the text of a moment to a row.
    pub(crate) fn write(&self, epoch_ms: u64, row: &mut Vec<u8>) {
        match self {
            Self::None => {}
            Self::Milliseconds => row.extend_from_slice(epoch_ms.to_string().as_bytes()),
            Self::Pattern { directives, zone } => {
                let moment = Timestamp::from_millisecond(epoch_ms.cast_signed());
                let text = moment
                    .map(|moment| moment.to_zoned(zone.clone()))
                    .and_then(|moment| strtime::format(directives, &moment));
                // A moment beyond the calendar: the number says more than nothing.
                let text = text.unwrap_or_else(|_| epoch_ms.to_string());
                row.extend_from_slice(text.as_bytes());
            }
        }
    }

    /// The moment that a text names, in milliseconds since 1970.
    pub(crate) fn read(&self, text: &str) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Milliseconds => text.parse().ok(),
            Self::Pattern { directives, zone } => {
                // ISO 8601 writes UTC as a letter.
                let in_utc = text.strip_suffix('Z');
                let in_utc = in_utc.filter(|_| directives.ends_with("%:z"));
                let text =
                    in_utc.map_or(Cow::Borrowed(text), |text| format!("{text}+00:00").into());
                let parsed = strtime::parse(directives, &*text).ok()?;
                let moment = parsed.to_timestamp().or_else(|_| {
                    let local: DateTime = parsed.to_datetime()?;
                    local
                        .to_zoned(zone.clone())
                        .map(|moment| moment.timestamp())
                });
                let moment = moment.ok()?;
                u64::try_from(moment.as_millisecond()).ok()
            }
        }
    }
}

/// Translates a pattern; `None` when it has a letter that has no counterpart.
fn directives(pattern: &str) -> Option<String> {
    let mut made = String::new();
    let letters: Vec<char> = pattern.chars().collect();
    let mut at = 0;
    while at < letters.len() {
        let letter = letters[at];
        if letter == '\'' {
            at = quoted(&letters, at, &mut made)?;
            continue;
        }
        if !letter.is_ascii_alphabetic() {
            push_literal(letter, &mut made);
            at += 1;
            continue;
        }
        let count = letters[at..]
            .iter()
            .take_while(|other| **other == letter)
            .count();
        made.push_str(directive(letter, count)?);
        at += count;
    }
    Some(made)
}

/// Text between quotes; two quotes are one. Returns the place after it.
fn quoted(letters: &[char], start: usize, made: &mut String) -> Option<usize> {
    let mut at = start + 1;
    if letters.get(at) == Some(&'\'') {
        made.push('\'');
        return Some(at + 1);
    }
    loop {
        match (*letters.get(at)?, letters.get(at + 1)) {
            ('\'', Some('\'')) => {
                made.push('\'');
                at += 2;
            }
            ('\'', _) => return Some(at + 1),
            (literal, _) => {
                push_literal(literal, made);
                at += 1;
            }
        }
    }
}

fn push_literal(letter: char, made: &mut String) {
    if letter == '%' {
        made.push('%');
    }
    made.push(letter);
}

fn directive(letter: char, count: usize) -> Option<&'static str> {
    Some(match (letter, count) {
        ('y' | 'u', 2) => "%y",
        ('y' | 'u', _) => "%Y",
        ('M' | 'L', 1) => "%-m",
        ('M' | 'L', 2) => "%m",
        ('M' | 'L', 3) => "%b",
        ('M' | 'L', _) => "%B",
        ('d', 1) => "%-d",
        ('d', _) => "%d",
        ('D', _) => "%j",
        ('E', ..=3) => "%a",
        ('E', _) => "%A",
        ('a', _) => "%p",
        ('H', 1) => "%-H",
        ('H', _) => "%H",
        ('h', 1) => "%-I",
        ('h', _) => "%I",
        ('m', 1) => "%-M",
        ('m', _) => "%M",
        ('s', 1) => "%-S",
        ('s', _) => "%S",
        ('S', _) => "%3f",
        ('z', _) => "%Z",
        ('Z', _) | ('X', 2) => "%z",
        ('X', 3) => "%:z",
        _ => return None,
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn written(pattern: &str, epoch_ms: u64) -> String {
        let format = TimestampFormat::parse(pattern, &TimeZone::UTC).unwrap();
        let mut text = Vec::new();
        format.write(epoch_ms, &mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn patterns_write_what_java_writes() {
        for (pattern, text) in [
            ("ms", "1795219292625"),
            ("", "1795219292625"),
            ("none", ""),
            ("yyyy/MM/dd HH:mm:ss.SSS", "2026/11/21 00:01:32.625"),
            ("dd.MM.yy 'um' H:mm", "21.11.26 um 0:01"),
            ("EEE MMM d ''yy", "Sat Nov 21 '26"),
            ("hh:mm a", "12:01 AM"),
            ("yyyy-MM-dd'T'HH:mm:ssZ", "2026-11-21T00:01:32+0000"),
        ] {
            assert_eq!(written(pattern, 1_795_219_292_625), text, "{pattern}");
        }
    }

    #[test]
    fn what_was_written_is_read() {
        for pattern in COMMON {
            let format = TimestampFormat::parse(pattern, &TimeZone::UTC).unwrap();
            let text = written(pattern, 1_795_219_292_000);
            assert_eq!(format.read(&text), Some(1_795_219_292_000), "{pattern}");
        }
    }

    #[test]
    fn letters_without_a_meaning_are_refused() {
        let error = TimestampFormat::parse("yyyy-bb", &TimeZone::UTC).unwrap_err();
        assert!(error.to_string().contains("`yyyy-bb`"), "{error}");
    }
}
