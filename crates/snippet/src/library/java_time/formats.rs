//! `DateTimeFormatter`: patterns of letters, and the standard's forms.

use std::fmt::Write as _;
use std::rc::Rc;
use std::sync::Arc;

use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use super::{moments, temporal, unsupported, zones};
use crate::Value;
use crate::class::{Answer, Class, between, routine};
use crate::library::{text_of, thing};
use crate::machine::{Machine, Stop};
use crate::temporal::{DateParts, Zone, fraction, offset_text};
use crate::value::Thing;

/// What a `DateTimeFormatter` writes.
#[derive(Debug, Clone)]
pub(crate) struct Formatter {
    form: Form,
    zone: Option<Zone>,
}

#[derive(Debug, Clone)]
enum Form {
    Pattern(Arc<str>),
    Iso(Iso),
}

/// A standard form: which parts it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Iso {
    date: Need,
    time: Need,
    offset: Need,
    zone: Need,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Yes,
    No,
    /// Where it is known.
    May,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Extended,
    Basic,
    Instant,
    Rfc1123,
}

const fn iso(date: Need, time: Need, offset: Need, zone: Need) -> Iso {
    Iso {
        date,
        time,
        offset,
        zone,
        kind: Kind::Extended,
    }
}

#[rustfmt::skip]
const FORMS: [(&str, Iso); 13] = [
    ("ISO_LOCAL_DATE", iso(Need::Yes, Need::No, Need::No, Need::No)),
    ("ISO_LOCAL_TIME", iso(Need::No, Need::Yes, Need::No, Need::No)),
    ("ISO_LOCAL_DATE_TIME", iso(Need::Yes, Need::Yes, Need::No, Need::No)),
    ("ISO_DATE", iso(Need::Yes, Need::No, Need::May, Need::No)),
    ("ISO_TIME", iso(Need::No, Need::Yes, Need::May, Need::No)),
    ("ISO_OFFSET_DATE", iso(Need::Yes, Need::No, Need::Yes, Need::No)),
    ("ISO_OFFSET_TIME", iso(Need::No, Need::Yes, Need::Yes, Need::No)),
    ("ISO_OFFSET_DATE_TIME", iso(Need::Yes, Need::Yes, Need::Yes, Need::No)),
    ("ISO_ZONED_DATE_TIME", iso(Need::Yes, Need::Yes, Need::Yes, Need::May)),
    ("ISO_DATE_TIME", iso(Need::Yes, Need::Yes, Need::May, Need::May)),
    ("ISO_INSTANT", Iso { kind: Kind::Instant, ..iso(Need::Yes, Need::Yes, Need::Yes, Need::No) }),
    ("BASIC_ISO_DATE", Iso { kind: Kind::Basic, ..iso(Need::Yes, Need::No, Need::May, Need::No) }),
    ("RFC_1123_DATE_TIME", Iso { kind: Kind::Rfc1123, ..iso(Need::Yes, Need::Yes, Need::Yes, Need::No) }),
];

fn standard(name: &str) -> Form {
    let found = FORMS.iter().find(|(known, _)| *known == name);
    Form::Iso(found.expect("the name is one of the table").1)
}

macro_rules! constants {
    ($($name:literal),*) => {
        &[$(($name, |_| made(Formatter { form: standard($name), zone: None }))),*]
    };
}

fn made(formatter: Formatter) -> Value {
    Value::thing(Thing::Formatter(Rc::new(formatter)))
}

pub(crate) static FORMATTER: Class = Class {
    statics: &[between("ofPattern", 1, 2, |_, _, arguments| {
        if let Some(locale) = arguments.get(1) {
            super::names::english(locale)?;
        }
        let form = Form::Pattern(text_of(&arguments[0])?);
        Ok(made(Formatter { form, zone: None }))
    })],
    constants: constants!(
        "ISO_LOCAL_DATE",
        "ISO_LOCAL_TIME",
        "ISO_LOCAL_DATE_TIME",
        "ISO_DATE",
        "ISO_TIME",
        "ISO_OFFSET_DATE",
        "ISO_OFFSET_TIME",
        "ISO_OFFSET_DATE_TIME",
        "ISO_ZONED_DATE_TIME",
        "ISO_DATE_TIME",
        "ISO_INSTANT",
        "BASIC_ISO_DATE",
        "RFC_1123_DATE_TIME"
    ),
    methods: &[&[
        routine("format", 1, |machine, of, arguments| {
            let parts = match arguments[0].as_thing() {
                Some(Thing::Instant(at)) => return instant(machine, thing!(of, Formatter), *at),
                _ => temporal(&arguments[0])?.parts(),
            };
            formatted(machine, of, parts)
        }),
        routine("withZone", 1, |_, of, zone| {
            let mut formatter = Formatter::clone(thing!(of, Formatter));
            formatter.zone = Some(zones::zone(&zone[0])?);
            Ok(made(formatter))
        }),
        routine("withLocale", 1, |_, of, locale| {
            super::names::english(&locale[0])?;
            Ok(of.clone())
        }),
    ]],
    ..Class::named("java.time.format.DateTimeFormatter")
};

/// A moment: with a zone it has all parts, without it has only the form that asks for a moment.
fn instant(machine: &mut Machine<'_>, formatter: &Formatter, at: i64) -> Answer {
    let is_instant = matches!(&formatter.form, Form::Iso(iso) if iso.kind == Kind::Instant);
    if is_instant {
        return machine.text(crate::instant::text(at));
    }
    let Some(zone) = &formatter.zone else {
        return Err(unsupported("Unsupported field: YearOfEra"));
    };
    let zoned = moments::timestamp(at)?.to_zoned(zone.rules.clone());
    let shown = super::value(crate::temporal::Temporal::Zoned(zoned, zone.clone()));
    let parts = temporal(&shown)?.parts();
    let formatter = made(Formatter {
        zone: None,
        ..formatter.clone()
    });
    formatted(machine, &formatter, parts)
}

/// `format(formatter)`, and Groovy's `format(pattern)`.
pub(super) fn formatted(machine: &mut Machine<'_>, by: &Value, mut parts: DateParts) -> Answer {
    let by = match by.as_thing() {
        Some(Thing::Formatter(formatter)) => Formatter::clone(formatter),
        _ => Formatter {
            form: Form::Pattern(text_of(by)?),
            zone: None,
        },
    };
    if let (Some(zone), Some(offset), Some(date), Some(time)) =
        (&by.zone, parts.offset, parts.date, parts.time)
    {
        let at = offset.to_timestamp(date.to_datetime(time));
        let at = at.map_err(|_| super::beyond())?;
        let shown = at.to_zoned(zone.rules.clone());
        parts = crate::temporal::Temporal::Zoned(shown, zone.clone()).parts();
    } else if by.zone.is_some() && matches!(by.form, Form::Pattern(_)) {
        return Err(Stop::unknown("a local time with the zone of a formatter"));
    }
    match &by.form {
        Form::Pattern(pattern) => match machine.host.format_parts(&parts, pattern) {
            Ok(Some(text)) => machine.text(text),
            Ok(None) => Err(unsupported(format!(
                "Unsupported field in the pattern \"{pattern}\""
            ))),
            Err(says) => Err(Stop::unknown(format!("the pattern \"{pattern}\": {says}"))),
        },
        Form::Iso(iso) => match iso.written(&parts) {
            Some(text) => machine.text(text),
            None => Err(unsupported("Unsupported field in a standard form")),
        },
    }
}

impl Iso {
    /// The text of what has all that the form needs.
    fn written(self, parts: &DateParts) -> Option<String> {
        let mut text = String::new();
        match self.kind {
            Kind::Instant => {
                let local = parts.date?.to_datetime(parts.time?);
                let at = parts.offset?.to_timestamp(local).ok()?;
                return Some(instant_text(at));
            }
            Kind::Rfc1123 => return rfc_1123(parts),
            Kind::Basic => {
                let date = parts.date?;
                let _ = write!(
                    text,
                    "{:04}{:02}{:02}",
                    date.year(),
                    date.month(),
                    date.day()
                );
                if let Some(offset) = parts.offset {
                    let _ = write!(text, "{}", offset_text(offset).replace(':', ""));
                }
                return Some(text);
            }
            Kind::Extended => {}
        }
        if self.date == Need::Yes {
            let date = parts.date?;
            text.push_str(&crate::temporal::Temporal::Date(date).to_string());
        }
        if self.time == Need::Yes {
            if self.date == Need::Yes {
                text.push('T');
            }
            let time = parts.time?;
            text.push_str(&whole_time(time));
        }
        match (self.offset, parts.offset) {
            (Need::No, _) | (Need::May, None) => {}
            (Need::Yes, None) => return None,
            (_, Some(offset)) => text.push_str(&offset_text(offset)),
        }
        if let (Need::May, Some(zone)) = (self.zone, &parts.zone) {
            let _ = write!(text, "[{}]", zone.iana_name()?);
        }
        Some(text)
    }
}

/// Hours to seconds, and what there is of a fraction.
fn whole_time(time: Time) -> String {
    let mut text = format!(
        "{:02}:{:02}:{:02}",
        time.hour(),
        time.minute(),
        time.second()
    );
    if time.subsec_nanosecond() != 0 {
        let fraction = format!("{:09}", time.subsec_nanosecond());
        text.push('.');
        text.push_str(fraction.trim_end_matches('0'));
    }
    text
}

/// In UTC, always with seconds.
fn instant_text(at: jiff::Timestamp) -> String {
    let local = Offset::UTC.to_datetime(at);
    format!(
        "{}T{:02}:{:02}:{:02}{}Z",
        crate::temporal::Temporal::Date(local.date()),
        local.hour(),
        local.minute(),
        local.second(),
        fraction(local.subsec_nanosecond())
    )
}

fn rfc_1123(parts: &DateParts) -> Option<String> {
    let (date, time, offset) = (parts.date?, parts.time?, parts.offset?);
    let weekday = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
        .get(usize::try_from(date.weekday().to_monday_zero_offset()).ok()?)?;
    let month = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    .get(usize::try_from(date.month()).ok()?.checked_sub(1)?)?;
    let offset = match offset_text(offset).replace(':', "") {
        zero if zero == "Z" => "GMT".to_owned(),
        other => other,
    };
    Some(format!(
        "{weekday}, {} {month} {:04} {:02}:{:02}:{:02} {offset}",
        date.day(),
        date.year(),
        time.hour(),
        time.minute(),
        time.second()
    ))
}

/// What `parse(text)` and `parse(text, formatter)` read, and the text; each class has a form of
/// its own.
pub(super) fn read(
    machine: &mut Machine<'_>,
    arguments: &[Value],
    form: &str,
) -> Result<(DateParts, Arc<str>), Stop> {
    let text = text_of(&arguments[0])?;
    let (form, zone) = match arguments.get(1) {
        None => (standard(form), None),
        Some(by) => match by.as_thing() {
            Some(Thing::Formatter(formatter)) => (formatter.form.clone(), formatter.zone.clone()),
            // Groovy's parse(text, pattern).
            _ => (Form::Pattern(text_of(by)?), None),
        },
    };
    let parts = match &form {
        Form::Pattern(pattern) => machine
            .host
            .parse_parts(&text, pattern)
            .map_err(|says| Stop::unknown(format!("the pattern \"{pattern}\": {says}")))?,
        Form::Iso(iso) => match iso.kind {
            Kind::Rfc1123 => return Err(Stop::unknown("reading RFC_1123_DATE_TIME")),
            _ => iso.read(&text),
        },
    };
    let mut parts = parts.ok_or_else(|| unreadable(&text))?;
    if let (Some(zone), None, None) = (zone, parts.offset, &parts.zone) {
        parts.offset = zone.as_offset();
        parts.zone = (!zone.is_offset()).then_some(zone.rules);
    }
    Ok((parts, text))
}

pub(super) fn unreadable(text: &str) -> Stop {
    Stop::thrown(
        "java.time.format.DateTimeParseException",
        format!("Text '{text}' could not be parsed"),
    )
}

impl Iso {
    /// A whole text in this form.
    fn read(self, text: &str) -> Option<DateParts> {
        let mut parts = DateParts::default();
        let mut rest = text;
        if self.date == Need::Yes {
            let (date, after) = match self.kind {
                Kind::Basic => basic_date(rest)?,
                _ => date(rest)?,
            };
            (parts.date, rest) = (Some(date), after);
        }
        if self.time == Need::Yes {
            if self.date == Need::Yes {
                rest = rest.strip_prefix(['T', 't'])?;
            }
            let (time, after) = time(rest)?;
            (parts.time, rest) = (Some(time), after);
        }
        if self.offset != Need::No {
            let end = rest.find('[').unwrap_or(rest.len());
            let (written, after) = rest.split_at(end);
            if written.is_empty() && self.offset == Need::May {
                rest = after;
            } else {
                let written = match written {
                    "z" => "Z",
                    written => written,
                };
                // Hours and minutes at least, as the standard has them.
                if written != "Z" && written.len() < 5 {
                    return None;
                }
                (parts.offset, rest) = (Some(Zone::named(written)?.as_offset()?), after);
            }
        }
        if self.zone != Need::No && !rest.is_empty() {
            let name = rest.strip_prefix('[')?.strip_suffix(']')?;
            let zone = Zone::named(name)?;
            if !zone.is_offset() {
                parts.zone = Some(zone.rules);
            }
            rest = "";
        }
        rest.is_empty().then_some(parts)
    }
}

fn digits(text: &str, count: usize) -> Option<(i32, &str)> {
    let (number, rest) = text.split_at_checked(count)?;
    let all = number.bytes().all(|byte| byte.is_ascii_digit());
    all.then(|| number.parse().ok())
        .flatten()
        .map(|number| (number, rest))
}

fn date(text: &str) -> Option<(Date, &str)> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let (day, rest) = digits(rest.strip_prefix('-')?, 2)?;
    let date = Date::new(year as i16, month as i8, day as i8).ok()?;
    Some((date, rest))
}

fn basic_date(text: &str) -> Option<(Date, &str)> {
    let (year, rest) = digits(text, 4)?;
    let (month, rest) = digits(rest, 2)?;
    let (day, rest) = digits(rest, 2)?;
    let date = Date::new(year as i16, month as i8, day as i8).ok()?;
    Some((date, rest))
}

fn time(text: &str) -> Option<(Time, &str)> {
    let (hour, rest) = digits(text, 2)?;
    let (minute, mut rest) = digits(rest.strip_prefix(':')?, 2)?;
    let (mut second, mut nano) = (0, 0);
    if let Some(after) = rest.strip_prefix(':') {
        (second, rest) = digits(after, 2)?;
        if let Some(after) = rest.strip_prefix('.') {
            let count = after.bytes().take_while(u8::is_ascii_digit).count();
            if count > 9 {
                return None;
            }
            let (fraction, after) = after.split_at(count);
            nano = format!("{fraction:0<9}").parse().ok()?;
            rest = after;
        }
    }
    let time = Time::new(hour as i8, minute as i8, second as i8, nano).ok()?;
    Some((time, rest))
}
