//! Dates in headers.

use jiff::civil::Date;
use jiff::tz::TimeZone;

/// A way to write a date, as JMeter's HTTP library names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// `Wed, 21 Oct 2026 07:28:00 GMT`
    Rfc1123,
    /// `Wed, 21-Oct-26 07:28:00 GMT`, with a year of two digits or more.
    Rfc1036,
    /// `Wed Oct 21 07:28:00 2026`
    Asctime,
}

const ANY: [Pattern; 3] = [Pattern::Rfc1123, Pattern::Rfc1036, Pattern::Asctime];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// Names of zones in North America and their hours, RFC 822.
const ZONES: [(&str, i64); 8] = [
    ("EST", -5),
    ("EDT", -4),
    ("CST", -6),
    ("CDT", -5),
    ("MST", -7),
    ("MDT", -6),
    ("PST", -8),
    ("PDT", -7),
];

/// Milliseconds since 1970 of a date in one of the ways that HTTP allows.
pub(crate) fn any_ms(text: &str) -> Option<i64> {
    of_patterns_ms(text, &ANY)
}

/// Milliseconds since 1970 of a date in one of these ways; what stands after it does not matter.
pub(crate) fn of_patterns_ms(text: &str, patterns: &[Pattern]) -> Option<i64> {
    let unquoted = text.strip_prefix('\'').and_then(|t| t.strip_suffix('\''));
    let text = unquoted.unwrap_or(text);
    patterns.iter().find_map(|pattern| read(text, *pattern))
}

fn read(text: &str, pattern: Pattern) -> Option<i64> {
    let mut reader = Reader(text);
    reader.name(&DAYS)?;
    let mut parts = Parts::default();
    if pattern == Pattern::Asctime {
        reader.literal(" ")?;
        parts.month = reader.name(&MONTHS)?;
        reader.literal(" ")?;
        parts.day = reader.number()?.0;
        reader.literal(" ")?;
        reader.time(&mut parts)?;
        reader.literal(" ")?;
        parts.year = reader.number()?.0;
        return parts.ms(0);
    }
    let between = if pattern == Pattern::Rfc1123 {
        " "
    } else {
        "-"
    };
    reader.literal(", ")?;
    parts.day = reader.number()?.0;
    reader.literal(between)?;
    parts.month = reader.name(&MONTHS)?;
    reader.literal(between)?;
    let (year, digits) = reader.number()?;
    // Only where two digits are asked for do they mean this century.
    let is_short = pattern == Pattern::Rfc1036 && digits == 2;
    parts.year = if is_short { year + 2000 } else { year };
    reader.literal(" ")?;
    reader.time(&mut parts)?;
    reader.literal(" ")?;
    let offset_min = reader.zone()?;
    parts.ms(offset_min)
}

#[derive(Debug, Default)]
struct Parts {
    year: i64,
    /// From 0.
    month: usize,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
}

impl Parts {
    /// Days and times past their end run on into the next month or day, as Java's calendar does.
    fn ms(&self, offset_min: i64) -> Option<i64> {
        let month = i8::try_from(self.month).ok()? + 1;
        let first = Date::new(i16::try_from(self.year).ok()?, month, 1).ok()?;
        let midnight = first.to_zoned(TimeZone::UTC).ok()?;
        let minutes = ((self.day - 1) * 24 + self.hour) * 60 + self.minute - offset_min;
        let milliseconds = (minutes * 60 + self.second) * 1000;
        Some(midnight.timestamp().as_millisecond() + milliseconds)
    }
}

struct Reader<'a>(&'a str);

impl Reader<'_> {
    fn literal(&mut self, text: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(text)?;
        Some(())
    }

    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    /// Number and how many digits it has.
    fn number(&mut self) -> Option<(i64, usize)> {
        self.skip_blanks();
        let digits = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.0.split_at(digits);
        self.0 = rest;
        // More digits than any date has would overflow what is computed from them.
        (digits < 7).then_some((number.parse().ok()?, digits))
    }

    /// Which of the names comes, in full or its first three letters.
    fn name(&mut self, names: &[&str]) -> Option<usize> {
        self.skip_blanks();
        let starts = |name: &str| {
            let start = self.0.get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        let found = names.iter().position(|name| starts(&name[..3]))?;
        let name = names[found];
        let length = if starts(name) { name.len() } else { 3 };
        self.0 = &self.0[length..];
        Some(found)
    }

    fn time(&mut self, parts: &mut Parts) -> Option<()> {
        parts.hour = self.number()?.0;
        self.literal(":")?;
        parts.minute = self.number()?.0;
        self.literal(":")?;
        parts.second = self.number()?.0;
        Some(())
    }

    /// Minutes east of Greenwich.
    fn zone(&mut self) -> Option<i64> {
        self.skip_blanks();
        let name: String = self
            .0
            .chars()
            .take_while(char::is_ascii_alphabetic)
            .collect();
        self.0 = &self.0[name.len()..];
        let is_universal = ["", "GMT", "UTC"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&name));
        if !is_universal {
            let zone = ZONES
                .iter()
                .find(|(known, _)| known.eq_ignore_ascii_case(&name));
            return zone.map(|(_, hours)| hours * 60);
        }
        let sign = match self.0.bytes().next() {
            Some(b'+') => 1,
            Some(b'-') => -1,
            _ => return (!name.is_empty()).then_some(0),
        };
        self.0 = &self.0[1..];
        let (number, digits) = self.number()?;
        if digits == 4 {
            return Some(sign * (number / 100 * 60 + number % 100));
        }
        self.literal(":")?;
        Some(sign * (number * 60 + self.number()?.0))
    }
}

/// Milliseconds since 1970 as browsers read the dates of cookies: RFC 6265, 5.1.1.
pub(crate) fn of_cookie_ms(text: &str) -> Option<i64> {
    let is_delimiter = |c: char| matches!(c, '\t' | ' '..='/' | ';'..='@' | '['..='`' | '{'..='~');
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        if time.is_none()
            && let Some(found) = time_of(token)
        {
            time = Some(found);
        } else if day.is_none()
            && let Some((found, _)) = digits_of(token, 1..=2)
        {
            day = Some(found);
        } else if month.is_none()
            && let Some(found) = Reader(token).name(&MONTHS)
        {
            month = Some(found);
        } else if year.is_none()
            && let Some((found, _)) = digits_of(token, 2..=4)
        {
            year = Some(found);
        }
    }
    let (hour, minute, second) = time?;
    let year = match year? {
        year @ 70..=99 => year + 1900,
        year @ 0..=69 => year + 2000,
        year => year,
    };
    let parts = Parts {
        year,
        month: month?,
        day: day?,
        hour,
        minute,
        second,
    };
    let is_date = (1..=31).contains(&parts.day) && year >= 1601;
    let is_time = hour <= 23 && minute <= 59 && second <= 59;
    if is_date && is_time {
        parts.ms(0)
    } else {
        None
    }
}

fn time_of(token: &str) -> Option<(i64, i64, i64)> {
    let (hour, rest) = digits_of(token, 1..=2)?;
    let (minute, rest) = digits_of(rest.strip_prefix(':')?, 1..=2)?;
    let (second, _) = digits_of(rest.strip_prefix(':')?, 1..=2)?;
    Some((hour, minute, second))
}

/// The number at the start of a text if it has so many digits, and what follows.
fn digits_of(text: &str, allowed: std::ops::RangeInclusive<usize>) -> Option<(i64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    allowed
        .contains(&digits)
        .then_some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 21 October 2026, 07:28:00 UTC, by `date -u -d @1792567680`.
    const KNOWN: i64 = 1_792_567_680_000;

    #[test]
    fn the_three_ways_of_http() {
        for text in [
            "Wed, 21 Oct 2026 07:28:00 GMT",
            "wed, 21 october 2026 7:28:0 UTC, and more",
            "Wednesday, 21-Oct-26 07:28:00 GMT",
            "Wed, 21-Oct-2026 08:28:00 +0100",
            "Wed, 21 Oct 2026 05:28:00 GMT-02:00",
            "Wed, 21 Oct 2026 03:28:00 EDT",
            "Wed Oct 21 07:28:00 2026",
            "Wed Oct  21 07:28:00 2026",
            "'Wed, 21 Oct 2026 07:28:00 GMT'",
            // The weekday is read and not believed.
            "Mon, 21 Oct 2026 07:28:00 GMT",
            "Tue, 20 Oct 2026 31:28:00 GMT",
        ] {
            assert_eq!(any_ms(text), Some(KNOWN), "{text}");
        }
        for text in [
            "",
            "0",
            "-1",
            "21 Oct 2026 07:28:00 GMT",
            "Wed, 21 Oct 2026",
        ] {
            assert_eq!(any_ms(text), None, "{text}");
        }
        assert_eq!(any_ms("Thu, 01 Jan 1970 00:00:00 GMT"), Some(0));
        let netscape = [Pattern::Rfc1036];
        assert_eq!(
            of_patterns_ms("Wed, 21 Oct 2026 07:28:00 GMT", &netscape),
            None
        );
    }

    /// Examples of RFC 6265 in its own words: order is free, the year may be short.
    #[test]
    fn the_way_of_cookies() {
        for text in [
            "Wed, 21 Oct 2026 07:28:00 GMT",
            "Wed, 21-Oct-26 07:28:00 GMT",
            "2026 Oct 21 07:28:00",
            "21 7:28:00 OCTOBER 26",
            "Wed Oct 21 07:28:00 2026 +0500",
        ] {
            assert_eq!(of_cookie_ms(text), Some(KNOWN), "{text}");
        }
        for text in [
            "",
            "Oct 21 2026",
            "21 Oct 1600 07:28:00",
            "32 Oct 2026 07:28:00",
            "21 Oct 2026 24:00:00",
        ] {
            assert_eq!(of_cookie_ms(text), None, "{text}");
        }
        assert!(of_cookie_ms("Thu, 01-Jan-99 00:00:00 GMT").is_some_and(|ms| ms < KNOWN));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC*") {
            let _ = any_ms(&text);
            let _ = of_cookie_ms(&text);
        }

        #[test]
        fn any_numbers_are_read(a in 0_u64.., b in 0_u32.., c in 0_u32..) {
            let _ = any_ms(&format!("Wed, {b} Oct {a} {c}:{b}:{c} GMT+{c}:{b}"));
            let _ = any_ms(&format!("Wed Oct {a} {c}:{b}:{c} {b}"));
        }
    }
}
