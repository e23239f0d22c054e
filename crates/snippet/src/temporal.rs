//! Dates and times of `java.time`, amounts of time, and how Java writes them.
//!
//! The calendar and the time zones are jiff's; its years reach from −9999 to 9999.

use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Zoned};

/// What is known of a moment: what a pattern writes, and what it reads.
#[derive(Debug, Clone, Default)]
pub struct DateParts {
    /// Year, month and day.
    pub date: Option<Date>,
    /// The time of the day.
    pub time: Option<Time>,
    /// How far the clock is ahead of UTC.
    pub offset: Option<Offset>,
    /// The zone that says so, where it has a name.
    pub zone: Option<TimeZone>,
}

/// A time zone and the name that it was asked for by.
#[derive(Debug, Clone)]
pub(crate) struct Zone {
    pub(crate) name: Arc<str>,
    pub(crate) rules: TimeZone,
}

impl Zone {
    /// As `ZoneId.of`: an offset, UTC under its names, or a place.
    pub(crate) fn named(name: &str) -> Option<Self> {
        if name == "Z" {
            return Some(Self::offset(Offset::UTC));
        }
        if matches!(name, "UTC" | "GMT" | "UT") {
            return Some(Self {
                name: name.into(),
                rules: TimeZone::UTC,
            });
        }
        if let Some(offset) = offset(name) {
            return Some(Self::offset(offset));
        }
        let rules = TimeZone::get(name).ok()?;
        // Java is strict about upper and lower case.
        (rules.iana_name() == Some(name)).then(|| Self {
            name: name.into(),
            rules,
        })
    }

    pub(crate) fn offset(offset: Offset) -> Self {
        Self {
            name: offset_text(offset).into(),
            rules: TimeZone::fixed(offset),
        }
    }

    /// Whether it is an offset and no place.
    pub(crate) fn is_offset(&self) -> bool {
        self.name.starts_with(['Z', '+', '-'])
    }

    pub(crate) fn as_offset(&self) -> Option<Offset> {
        let offset = self.is_offset().then(|| self.rules.to_fixed_offset().ok());
        offset.flatten()
    }
}

/// `+2`, `+02`, `+02:00`, `+0200`, `+02:00:30`.
fn offset(text: &str) -> Option<Offset> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let two = |text: &str| -> Option<i32> {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse().ok()).flatten()
    };
    let parts: Vec<&str> = rest.split(':').collect();
    let (hours, minutes, seconds) = match parts.as_slice() {
        [hour] if hour.len() == 1 => (hour.parse().ok()?, 0, 0),
        [hours] if hours.len() == 2 => (two(hours)?, 0, 0),
        [both] if both.len() == 4 => (two(both.get(..2)?)?, two(both.get(2..)?)?, 0),
        [hours, minutes] => (two(hours)?, two(minutes)?, 0),
        [hours, minutes, seconds] => (two(hours)?, two(minutes)?, two(seconds)?),
        _ => return None,
    };
    let all = hours * 3_600 + minutes * 60 + seconds;
    let fits = minutes < 60 && seconds < 60 && all <= 18 * 3_600;
    fits.then(|| Offset::from_seconds(sign * all).ok())
        .flatten()
}

/// `Z`, `+02:00`.
pub(crate) fn offset_text(offset: Offset) -> String {
    let seconds = offset.seconds();
    if seconds == 0 {
        return "Z".to_owned();
    }
    let sign = if seconds < 0 { '-' } else { '+' };
    let size = seconds.abs();
    let mut text = format!("{sign}{:02}:{:02}", size / 3_600, size / 60 % 60);
    if size % 60 != 0 {
        let _ = write!(text, ":{:02}", size % 60);
    }
    text
}

/// A date, a time, or both, with a zone or without. Moments are `Thing::Instant`.
#[derive(Debug, Clone)]
pub(crate) enum Temporal {
    Date(Date),
    Time(Time),
    DateTime(DateTime),
    Zoned(Zoned, Zone),
    /// With an offset and no place.
    Offset(Zoned),
}

impl Temporal {
    pub(crate) fn class(&self) -> &'static str {
        match self {
            Self::Date(_) => "java.time.LocalDate",
            Self::Time(_) => "java.time.LocalTime",
            Self::DateTime(_) => "java.time.LocalDateTime",
            Self::Zoned(..) => "java.time.ZonedDateTime",
            Self::Offset(_) => "java.time.OffsetDateTime",
        }
    }

    pub(crate) fn date(&self) -> Option<Date> {
        match self {
            Self::Date(date) => Some(*date),
            Self::Time(_) => None,
            Self::DateTime(both) => Some(both.date()),
            Self::Zoned(zoned, _) | Self::Offset(zoned) => Some(zoned.date()),
        }
    }

    pub(crate) fn time(&self) -> Option<Time> {
        match self {
            Self::Date(_) => None,
            Self::Time(time) => Some(*time),
            Self::DateTime(both) => Some(both.time()),
            Self::Zoned(zoned, _) | Self::Offset(zoned) => Some(zoned.time()),
        }
    }

    pub(crate) fn zoned(&self) -> Option<&Zoned> {
        match self {
            Self::Zoned(zoned, _) | Self::Offset(zoned) => Some(zoned),
            _ => None,
        }
    }

    /// Another date and time of the same kind; a zone stays and says what the clock shows.
    pub(crate) fn with(&self, date: Option<Date>, time: Option<Time>) -> Option<Self> {
        let date = date.or_else(|| self.date());
        let time = time.or_else(|| self.time());
        let both = || Some(date?.to_datetime(time?));
        Some(match self {
            Self::Date(_) => Self::Date(date?),
            Self::Time(_) => Self::Time(time?),
            Self::DateTime(_) => Self::DateTime(both()?),
            Self::Zoned(zoned, zone) => {
                // Where the clock shows a time twice, the offset stays if it can.
                let local = both()?;
                let rules = zoned.time_zone();
                let kept = rules.to_ambiguous_zoned(local);
                let moved = match kept.offset() {
                    jiff::tz::AmbiguousOffset::Fold { after, .. } if after == zoned.offset() => {
                        kept.later()
                    }
                    _ => kept.compatible(),
                };
                Self::Zoned(moved.ok()?, zone.clone())
            }
            Self::Offset(zoned) => {
                let zoned = both()?.to_zoned(zoned.time_zone().clone()).ok()?;
                Self::Offset(zoned)
            }
        })
    }

    /// So much later by the clock of the world.
    pub(crate) fn later(&self, by: SignedDuration) -> Option<Self> {
        Some(match self {
            Self::Date(_) => return None,
            Self::Time(time) => Self::Time(time.wrapping_add(by)),
            Self::DateTime(both) => Self::DateTime(both.checked_add(by).ok()?),
            Self::Zoned(zoned, zone) => Self::Zoned(zoned.checked_add(by).ok()?, zone.clone()),
            Self::Offset(zoned) => Self::Offset(zoned.checked_add(by).ok()?),
        })
    }

    pub(crate) fn parts(&self) -> DateParts {
        let zone = match self {
            Self::Zoned(_, zone) if !zone.is_offset() => Some(zone.rules.clone()),
            _ => None,
        };
        DateParts {
            date: self.date(),
            time: self.time(),
            offset: self.zoned().map(Zoned::offset),
            zone,
        }
    }

    /// As `compareTo`; `None` between different kinds.
    pub(crate) fn compare(&self, other: &Self) -> Option<Ordering> {
        Some(match (self, other) {
            (Self::Date(left), Self::Date(right)) => left.cmp(right),
            (Self::Time(left), Self::Time(right)) => left.cmp(right),
            (Self::DateTime(left), Self::DateTime(right)) => left.cmp(right),
            (Self::Zoned(left, zone), Self::Zoned(right, other)) => {
                let by_time = left.timestamp().cmp(&right.timestamp());
                let by_time = by_time.then_with(|| left.datetime().cmp(&right.datetime()));
                by_time.then_with(|| zone.name.cmp(&other.name))
            }
            (Self::Offset(left), Self::Offset(right)) => {
                let by_time = left.timestamp().cmp(&right.timestamp());
                by_time.then_with(|| left.datetime().cmp(&right.datetime()))
            }
            _ => return None,
        })
    }
}

impl fmt::Display for Temporal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(date) => write_date(f, *date),
            Self::Time(time) => write_time(f, *time),
            Self::DateTime(both) => write_both(f, *both),
            Self::Zoned(zoned, zone) => {
                write_both(f, zoned.datetime())?;
                f.write_str(&offset_text(zoned.offset()))?;
                if zone.is_offset() {
                    return Ok(());
                }
                write!(f, "[{}]", zone.name)
            }
            Self::Offset(zoned) => {
                write_both(f, zoned.datetime())?;
                f.write_str(&offset_text(zoned.offset()))
            }
        }
    }
}

fn write_both(f: &mut fmt::Formatter<'_>, both: DateTime) -> fmt::Result {
    write_date(f, both.date())?;
    f.write_char('T')?;
    write_time(f, both.time())
}

fn write_date(f: &mut fmt::Formatter<'_>, date: Date) -> fmt::Result {
    let sign = if date.year() < 0 { "-" } else { "" };
    let year = date.year().unsigned_abs();
    write!(f, "{sign}{year:04}-{:02}-{:02}", date.month(), date.day())
}

/// Seconds and their fraction stand only where there are some.
fn write_time(f: &mut fmt::Formatter<'_>, time: Time) -> fmt::Result {
    write!(f, "{:02}:{:02}", time.hour(), time.minute())?;
    let nano = time.subsec_nanosecond();
    if time.second() == 0 && nano == 0 {
        return Ok(());
    }
    write!(f, ":{:02}{}", time.second(), fraction(nano))
}

/// The fraction of a second in steps of three digits; nothing of a whole one.
pub(crate) fn fraction(nano: i32) -> String {
    if nano == 0 {
        String::new()
    } else if nano % 1_000_000 == 0 {
        format!(".{:03}", nano / 1_000_000)
    } else if nano % 1_000 == 0 {
        format!(".{:06}", nano / 1_000)
    } else {
        format!(".{nano:09}")
    }
}

/// Years, months and days, as `java.time.Period`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Period {
    pub(crate) years: i32,
    pub(crate) months: i32,
    pub(crate) days: i32,
}

impl Period {
    /// As `Period.between`.
    pub(crate) fn between(from: Date, to: Date) -> Self {
        let proleptic = |date: Date| i32::from(date.year()) * 12 + i32::from(date.month()) - 1;
        let mut months = proleptic(to) - proleptic(from);
        let mut days = i32::from(to.day()) - i32::from(from.day());
        if months > 0 && days < 0 {
            months -= 1;
            let moved = plus_months(from, i64::from(months));
            days = moved.map_or(0, |moved| to.since(moved).map_or(0, |span| span.get_days()));
        } else if months < 0 && days > 0 {
            months += 1;
            days -= i32::from(to.days_in_month());
        }
        Self {
            years: months / 12,
            months: months % 12,
            days,
        }
    }
}

/// This day so many months later, or the last one of that month.
pub(crate) fn plus_months(date: Date, months: i64) -> Option<Date> {
    let at = i64::from(date.year()) * 12 + i64::from(date.month()) - 1;
    let at = at.checked_add(months)?;
    let year = i16::try_from(at.div_euclid(12)).ok()?;
    let month = i8::try_from(at.rem_euclid(12) + 1).ok()?;
    let first = Date::new(year, month, 1).ok()?;
    Date::new(year, month, date.day().min(first.days_in_month())).ok()
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::default() {
            return f.write_str("P0D");
        }
        f.write_char('P')?;
        for (count, unit) in [(self.years, 'Y'), (self.months, 'M'), (self.days, 'D')] {
            if count != 0 {
                write!(f, "{count}{unit}")?;
            }
        }
        Ok(())
    }
}

/// As `Duration.toString`: hours, minutes and seconds that are there.
pub(crate) fn duration_text(duration: SignedDuration) -> String {
    if duration.is_zero() {
        return "PT0S".to_owned();
    }
    let nanos = duration.as_nanos();
    let whole = nanos / 1_000_000_000;
    let rest = (nanos % 1_000_000_000).unsigned_abs();
    let (hours, minutes, seconds) = (whole / 3_600, whole / 60 % 60, whole % 60);
    let mut text = "PT".to_owned();
    if hours != 0 {
        let _ = write!(text, "{hours}H");
    }
    if minutes != 0 {
        let _ = write!(text, "{minutes}M");
    }
    if seconds == 0 && rest == 0 {
        return text;
    }
    if seconds == 0 && nanos < 0 {
        text.push_str("-0");
    } else {
        let _ = write!(text, "{seconds}");
    }
    if rest != 0 {
        let fraction = format!("{rest:09}");
        text.push('.');
        text.push_str(fraction.trim_end_matches('0'));
    }
    text.push('S');
    text
}
