//! Dates and times of day.

use std::borrow::Cow;
use std::sync::LazyLock;

use fancy_regex::{Captures, Regex};
use jiff::civil::Date;
use jiff::{SignedDuration, Zoned};
use rand::RngExt as _;

use super::{Answer, Argument, Call, CallError, Function, Known, Name, Prepared, push};
use crate::Scope;
use crate::date::{DatePattern, Defaults, Fields, timestamp};

pub(super) const FUNCTIONS: &[Function] = &[
    Function::new("__time", (0, 2), Answer::Changes, time)
        .stores(1, Name::Trimmed)
        .prepares(prepare_time),
    Function::new("__timeShift", (4, 5), Answer::Changes, shift)
        .stores(4, Name::Trimmed)
        .prepares(|arguments, _| {
            prepare_patterns(arguments, &[0], true)?;
            check_locale(&arguments[0], arguments.get(3))?;
            Ok(Prepared::Nothing)
        }),
    Function::new("__dateTimeConvert", (3, 4), Answer::Changes, convert)
        .stores(3, Name::Trimmed)
        .prepares(|arguments, _| {
            prepare_patterns(arguments, &[1, 2], false)?;
            Ok(Prepared::Nothing)
        }),
];

/// What `__time` answers.
#[derive(Debug, Clone)]
pub(super) enum TimeFormat {
    /// Milliseconds since 1970, divided by this number.
    Divided(i64),
    Pattern(DatePattern),
}

impl TimeFormat {
    /// No format is milliseconds, `/n` divides them by n, a few words are names of properties that
    /// hold a pattern, and anything else is a pattern.
    fn read(format: &str, property: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        if format.is_empty() {
            return Ok(Self::Divided(1));
        }
        let digits = format
            .strip_prefix('/')
            .filter(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
        if let Some(digits) = digits {
            let divisor: i64 = digits.parse().map_err(|_| super::not_a_number(digits))?;
            let zero = "java.lang.ArithmeticException: / by zero";
            return (divisor > 0)
                .then_some(Self::Divided(divisor))
                .ok_or(zero.to_owned());
        }
        let alias = match format {
            "YMD" => Some("yyyyMMdd"),
            "HMS" => Some("HHmmss"),
            "YMDHMS" => Some("yyyyMMdd-HHmmss"),
            "USER1" | "USER2" => Some(""),
            _ => None,
        };
        let pattern = match alias {
            Some(usual) => property(&format!("time.{format}")).unwrap_or_else(|| usual.to_owned()),
            None => format.to_owned(),
        };
        DatePattern::new(&pattern)
            .map(Self::Pattern)
            .map_err(|error| format!("the format \"{pattern}\" of __time cannot be read: {error}"))
    }
}

fn prepare_time(arguments: &[Argument], known: &Known<'_>) -> Result<Prepared, CallError> {
    let format = arguments.first().map_or(Some(""), Argument::constant);
    let Some(format) = format else {
        return Ok(Prepared::Nothing);
    };
    match TimeFormat::read(format, |name| known.globals.property(name)) {
        Ok(format) => Ok(Prepared::Time(format)),
        Err(says) => Err(CallError::new(says)
            .instead("use nothing for milliseconds, /1000 for seconds, or a Java date pattern")),
    }
}

fn time(call: &Call, scope: &mut Scope, out: &mut String) {
    let late;
    let format = if let Prepared::Time(format) = &call.prepared {
        format
    } else {
        let format = call.argument(0, scope);
        match TimeFormat::read(&format, |name| scope.live().property(name)) {
            Ok(format) => {
                late = format;
                &late
            }
            Err(says) => return scope.fail(says),
        }
    };
    match format {
        TimeFormat::Divided(divisor) => push(out, scope.epoch_ms / divisor),
        TimeFormat::Pattern(pattern) => {
            let now = Fields::at(scope.epoch_ms, scope.live().time_zone());
            out.extend(now.and_then(|now| pattern.format(&now)));
        }
    }
}

/// Patterns that are known have to be readable.
fn prepare_patterns(arguments: &[Argument], at: &[usize], trimmed: bool) -> Result<(), CallError> {
    for index in at {
        let Some(pattern) = arguments.get(*index).and_then(Argument::constant) else {
            continue;
        };
        let pattern = if trimmed { pattern.trim() } else { pattern };
        if let Err(error) = DatePattern::new(pattern) {
            let says = format!("the date pattern \"{pattern}\" cannot be read: {error}");
            return Err(CallError::new(says));
        }
    }
    Ok(())
}

/// Only English names are known.
fn check_locale(pattern: &Argument, locale: Option<&Argument>) -> Result<(), CallError> {
    let (Some(pattern), Some(locale)) = (pattern.constant(), locale.and_then(Argument::constant))
    else {
        return Ok(());
    };
    if is_english(locale) || !DatePattern::new(pattern.trim()).is_ok_and(|p| p.has_names()) {
        return Ok(());
    }
    let says = format!("names of months and days in the locale \"{locale}\" are not supported");
    Err(CallError::new(says).instead("use numbers, or English names"))
}

fn is_english(locale: &str) -> bool {
    let locale = locale.trim();
    locale.is_empty() || locale == "en" || locale.starts_with("en_")
}

/// A date, or now, and some time more.
fn shift(call: &Call, scope: &mut Scope, out: &mut String) {
    let format = call.argument(0, scope);
    let date = call.argument(1, scope);
    let amount = call.argument(2, scope);
    let locale = call.argument(3, scope);
    let Ok(pattern) = DatePattern::new(format.trim()) else {
        return;
    };
    if pattern.has_names() && !is_english(&locale) {
        return scope.fail(format!("the locale \"{locale}\" is not supported"));
    }
    let millis = format.trim().is_empty();
    let zone = scope.live().time_zone();
    let Some(now) = timestamp(scope.epoch_ms).map(|now| now.to_zoned(zone.clone())) else {
        return;
    };
    let date = date.trim();
    let given = match (date.is_empty(), millis) {
        (true, _) => None,
        (false, true) => date
            .parse()
            .ok()
            .and_then(timestamp)
            .map(|t| t.to_zoned(zone)),
        (false, false) => pattern
            .parse(date, Some(defaults(&now)))
            .and_then(|f| f.zoned()),
    };
    let start = given.unwrap_or(now);
    let shifted = duration(amount.trim()).and_then(|amount| start.checked_add(amount).ok());
    let Some(shifted) = shifted else {
        return scope.fail("java.time.DateTimeException: the date is beyond the calendar");
    };
    if millis {
        push(out, shifted.timestamp().as_millisecond());
    } else {
        out.extend(pattern.format(&Fields::of(&shifted)));
    }
}

fn defaults(now: &Zoned) -> Defaults {
    Defaults {
        year: now.year().into(),
        offset_s: now.offset().seconds(),
    }
}

/// `java.time.Duration.parse`: days, hours, minutes and seconds, each with a sign.
///
/// What cannot be read is no time at all, as in JMeter; `None`: it is too long.
fn duration(text: &str) -> Option<SignedDuration> {
    static ISO: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(concat!(
            r"(?i)\A([-+]?)P(?:([-+]?[0-9]+)D)?",
            r"(T(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?\z"
        ))
        .expect("the pattern is fixed")
    });
    let Some(found) = ISO.captures(text).ok().flatten() else {
        return Some(SignedDuration::ZERO);
    };
    let units = [(2, 86_400), (4, 3_600), (5, 60), (6, 1)];
    let bare_t = found.get(3).is_some_and(|t| t.as_str().len() == 1);
    if bare_t || units.iter().all(|(group, _)| found.get(*group).is_none()) {
        return Some(SignedDuration::ZERO);
    }
    let nanos = nanoseconds(&found, &units)?;
    let limit = i128::from(i64::MAX) * 1_000_000_000;
    (nanos.abs() < limit).then(|| SignedDuration::from_nanos_i128(nanos))
}

fn nanoseconds(found: &Captures<'_, str>, units: &[(usize, i128)]) -> Option<i128> {
    let group = |group: usize| found.get(group).map_or("", |found| found.as_str());
    let mut nanos: i128 = 0;
    for (at, seconds) in units {
        if found.get(*at).is_some() {
            let count: i64 = group(*at).parse().ok()?;
            nanos += i128::from(count) * seconds * 1_000_000_000;
        }
    }
    let fraction: i128 = format!("{:0<9}", group(7)).parse().ok()?;
    nanos += if group(6).starts_with('-') {
        -fraction
    } else {
        fraction
    };
    Some(if group(1) == "-" { -nanos } else { nanos })
}

/// From one pattern to another; what cannot be read or written is nothing.
fn convert(call: &Call, scope: &mut Scope, out: &mut String) {
    let text = call.argument(0, scope);
    let from = call.argument(1, scope);
    let to = call.argument(2, scope);
    let zone = scope.live().time_zone();
    let (Ok(source), Ok(target)) = (DatePattern::new(&from), DatePattern::new(&to)) else {
        return;
    };
    let fields = if from.is_empty() {
        text.parse()
            .ok()
            .and_then(|epoch_ms| Fields::at(epoch_ms, zone))
    } else {
        source
            .parse(&text, None)
            .map(|fields| fields.shown_in(&zone))
    };
    out.extend(fields.and_then(|fields| target.format(&fields)));
}

const RANDOM_PATTERN: &str = "yyyy-MM-dd";

pub(super) fn prepare_random(arguments: &[Argument], _: &Known<'_>) -> Result<Prepared, CallError> {
    prepare_patterns(arguments, &[0], true)?;
    check_locale(&arguments[0], arguments.get(3))?;
    Ok(Prepared::Nothing)
}

/// A day from the first to the last but one.
pub(super) fn random(call: &Call, scope: &mut Scope, out: &mut String) {
    let format = call.argument(0, scope);
    let start = call.argument(1, scope);
    let end = call.argument(2, scope);
    let locale = call.argument(3, scope);
    let format = match format.trim() {
        "" => Cow::Borrowed(RANDOM_PATTERN),
        format => Cow::Owned(format.to_owned()),
    };
    let Ok(pattern) = DatePattern::new(&format) else {
        return;
    };
    if pattern.has_names() && !is_english(&locale) {
        return scope.fail(format!("the locale \"{locale}\" is not supported"));
    }
    let Some(now) = timestamp(scope.epoch_ms).map(|now| now.to_zoned(scope.live().time_zone()))
    else {
        return;
    };
    let epoch = Date::constant(1970, 1, 1);
    let read = |text: &str| pattern.parse(text.trim(), Some(defaults(&now)))?.date();
    // A start that is not there is today; what cannot be read is 1970.
    let first = if start.trim().is_empty() {
        now.date()
    } else {
        read(&start).unwrap_or(epoch)
    };
    let last = read(&end).unwrap_or(epoch);
    let days = first.duration_until(last).as_hours() / 24;
    if days < 0 {
        return;
    }
    if days == 0 {
        let says = "java.lang.IllegalArgumentException: bound must be greater than origin";
        return scope.fail(says);
    }
    let chosen = SignedDuration::from_hours(24 * scope.random.random_range(0..days));
    let chosen = first.checked_add(chosen).ok().map(Fields::of_date);
    match chosen.and_then(|date| pattern.format(&date)) {
        Some(text) => out.push_str(&text),
        None => scope.fail("java.time.temporal.UnsupportedTemporalTypeException"),
    }
}
