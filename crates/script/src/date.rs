//! Patterns of `java.time.format.DateTimeFormatter`, which all date functions of JMeter use.
//!
//! jiff has no Java patterns; it gives the calendar and the time zones, and this module the
//! letters. Supported are `G y u M L d D Q q E e c F a H k K h m s S A n N w W Y Z X x O VV z`,
//! quoted text and optional sections, with the names of the English language; widths, signs and
//! adjacent numbers follow Java's strict parsing, missing and conflicting fields its smart
//! resolving.

mod fields;
mod parse;
mod pattern;

use jiff::Timestamp;
use jiff::tz::TimeZone;

pub(crate) use self::fields::Fields;
pub(crate) use self::parse::Defaults;
pub(crate) use self::pattern::DatePattern;

/// The time as a pattern says; the pattern is one that we wrote.
pub(crate) fn format_epoch(epoch_ms: i64, pattern: &str, zone: TimeZone) -> String {
    let pattern = DatePattern::new(pattern).expect("the pattern is fixed");
    let fields = Fields::at(epoch_ms, zone);
    let text = fields.and_then(|fields| pattern.format(&fields));
    text.unwrap_or_default()
}

/// The point in time, unless it is beyond the calendar.
pub(crate) fn timestamp(epoch_ms: i64) -> Option<Timestamp> {
    Timestamp::from_millisecond(epoch_ms).ok()
}
