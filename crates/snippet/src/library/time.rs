//! Time: `System`, `Thread.sleep`, `Date`, `SimpleDateFormat`.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use jiff::{Timestamp, Zoned};

use super::{calendar, integer, jmeter, text_of, thing};
use crate::Value;
use crate::calendar::{Calendar, Field};
use crate::class::{Answer, Class, between, routine};
use crate::date::Date;
use crate::machine::{Machine, Stop};
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[&SYSTEM, &THREAD, &DATE, &FORMAT, &ZONE];

/// Longest sleep that a script may ask for: a day.
const SLEEP_MAX_MS: i64 = 86_400_000;

/// Milliseconds since 1970, with what the script has slept.
pub(super) fn now(machine: &Machine<'_>) -> i64 {
    let slept = i64::try_from(machine.bindings.sleep_ms).unwrap_or(0);
    machine.host.epoch_ms().saturating_add(slept)
}

/// The user sleeps when the script has ended; until then only its clock shows it.
pub(super) fn sleep(machine: &mut Machine<'_>, ms: i64) -> Result<(), Stop> {
    if machine.place() == crate::Place::Function {
        return Err(Stop::unknown("sleeping in a function or condition"));
    }
    if ms < 0 {
        return Err(Stop::thrown(
            "java.lang.IllegalArgumentException",
            "timeout value is negative",
        ));
    }
    let slept = i64::try_from(machine.bindings.sleep_ms).unwrap_or(0);
    let slept = slept.saturating_add(ms).min(SLEEP_MAX_MS);
    machine.bindings.sleep_ms = slept.cast_unsigned();
    Ok(())
}

static SYSTEM: Class = Class {
    statics: &[
        routine("currentTimeMillis", 0, |machine, _, _| {
            Ok(Value::Long(now(machine)))
        }),
        routine("nanoTime", 0, |machine, _, _| {
            Ok(Value::Long(now(machine).saturating_mul(1_000_000)))
        }),
        routine("lineSeparator", 0, |_, _, _| Ok(Value::text("\n"))),
        between("getProperty", 1, 2, |machine, _, arguments| {
            let name = text_of(&arguments[0])?;
            Ok(match &*name {
                "line.separator" => Value::text("\n"),
                "file.separator" => Value::text("/"),
                "user.dir" => Value::text(machine.host.directory()),
                name => match (machine.host.property(name), arguments.get(1)) {
                    (Some(value), _) => Value::text(value),
                    (None, Some(default)) => default.clone(),
                    (None, None) => Value::Null,
                },
            })
        }),
    ],
    constants: &[
        ("out", |_| super::names::single(&jmeter::STREAM)),
        ("err", |_| super::names::single(&jmeter::STREAM)),
    ],
    ..Class::named("java.lang.System")
};

static THREAD: Class = Class {
    statics: &[
        routine("sleep", 1, |machine, _, arguments| {
            let ms = integer(&arguments[0])?;
            sleep(machine, ms)?;
            Ok(Value::Void)
        }),
        routine("currentThread", 0, |_, _, _| {
            Ok(super::names::single(&jmeter::THREAD))
        }),
    ],
    ..Class::named("java.lang.Thread")
};

/// The name of a time zone that stands where one may.
pub(super) fn zone_of(value: Option<&Value>) -> Option<Arc<str>> {
    match value.and_then(Value::as_thing) {
        Some(Thing::Zone(name)) => Some(Arc::clone(name)),
        _ => None,
    }
}

pub(super) static ZONE: Class = Class {
    statics: &[routine("getTimeZone", 1, |_, _, arguments| {
        let id = crate::zone::id_of_java(&text_of(&arguments[0])?);
        Ok(Value::thing(Thing::Zone(id.into())))
    })],
    methods: &[&[
        routine("getID", 0, |_, of, _| {
            Ok(Value::Text(Arc::clone(thing!(of, Zone))))
        }),
        routine("toZoneId", 0, |_, of, _| {
            let zone = crate::temporal::Zone::named(thing!(of, Zone));
            let zone = zone.ok_or_else(|| Stop::unknown("the ZoneId of this TimeZone"))?;
            Ok(Value::thing(Thing::ZoneId(Rc::new(zone))))
        }),
    ]],
    ..Class::named("java.util.TimeZone")
};

pub(super) fn written(
    machine: &mut Machine<'_>,
    epoch_ms: i64,
    pattern: &str,
    zone: Option<&str>,
) -> Answer {
    match machine.host.format_date(epoch_ms, pattern, zone) {
        Ok(text) => machine.text(text),
        Err(says) => Err(Stop::unknown(format!("the pattern \"{pattern}\": {says}"))),
    }
}

/// A field of a date where this process is.
fn field(machine: &mut Machine<'_>, of: &Value, field: fn(&Zoned) -> i32) -> Answer {
    let at = Timestamp::from_millisecond(thing!(of, Date).get());
    let at = at.map_err(|_| Stop::unknown("a date beyond the calendar"))?;
    let zoned = at.to_zoned(machine.host.time_zone());
    Ok(Value::Int(field(&zoned)))
}

/// Sets a field of a date where this process is.
fn set(machine: &mut Machine<'_>, of: &Value, field: Field, to: i64) -> Answer {
    let zone = calendar::zone(machine, None)?;
    let whole = |at| Calendar::at(at, zone);
    calendar::beyond(thing!(of, Date).set_field(field, to, whole))?;
    Ok(Value::Void)
}

pub(super) static DATE: Class = Class {
    make: Some(between("Date", 0, 1, |machine, _, arguments| {
        let at = match arguments.first() {
            Some(at) => integer(at)?,
            None => now(machine),
        };
        Ok(date(machine, at))
    })),
    methods: &[&[
        routine("getTime", 0, |_, of, _| {
            Ok(Value::Long(thing!(of, Date).get()))
        }),
        routine("setTime", 1, |_, of, arguments| {
            thing!(of, Date).set(integer(&arguments[0])?);
            Ok(Value::Void)
        }),
        routine("getYear", 0, |machine, of, _| {
            field(machine, of, |at| i32::from(at.year()) - 1900)
        }),
        routine("getMonth", 0, |machine, of, _| {
            field(machine, of, |at| i32::from(at.month()) - 1)
        }),
        routine("getDate", 0, |machine, of, _| {
            field(machine, of, |at| at.day().into())
        }),
        routine("getHours", 0, |machine, of, _| {
            field(machine, of, |at| at.hour().into())
        }),
        routine("getMinutes", 0, |machine, of, _| {
            field(machine, of, |at| at.minute().into())
        }),
        routine("getSeconds", 0, |machine, of, _| {
            field(machine, of, |at| at.second().into())
        }),
        routine("getDay", 0, |machine, of, _| {
            field(machine, of, |at| {
                at.weekday().to_sunday_zero_offset().into()
            })
        }),
        routine("setYear", 1, |machine, of, to| {
            let year = integer(&to[0])?.saturating_add(1900);
            set(machine, of, Field::Year, year)
        }),
        routine("setMonth", 1, |machine, of, to| {
            set(machine, of, Field::Month, integer(&to[0])?)
        }),
        routine("setDate", 1, |machine, of, to| {
            set(machine, of, Field::DayOfMonth, integer(&to[0])?)
        }),
        routine("setHours", 1, |machine, of, to| {
            set(machine, of, Field::HourOfDay, integer(&to[0])?)
        }),
        routine("setMinutes", 1, |machine, of, to| {
            set(machine, of, Field::Minute, integer(&to[0])?)
        }),
        routine("setSeconds", 1, |machine, of, to| {
            set(machine, of, Field::Second, integer(&to[0])?)
        }),
        between("format", 1, 2, |machine, of, arguments| {
            let at = thing!(of, Date).get();
            let pattern = text_of(&arguments[0])?;
            let zone = zone_of(arguments.get(1));
            written(machine, at, &pattern, zone.as_deref())
        }),
        routine("toString", 0, |_, of, _| {
            Ok(Value::text(thing!(of, Date).text()))
        }),
        routine("plus", 1, |machine, of, days| {
            days_later(machine, thing!(of, Date), integer(&days[0])?)
        }),
        routine("minus", 1, |machine, of, by| {
            let date = thing!(of, Date);
            let Some(Thing::Date(other)) = by[0].as_thing() else {
                return days_later(machine, date, integer(&by[0])?.saturating_neg());
            };
            let between = date.get().saturating_sub(other.get());
            if between % DAY_MS != 0 {
                return Err(Stop::unknown(
                    "the days between dates that are not whole days apart",
                ));
            }
            let days = i32::try_from(between / DAY_MS);
            Ok(Value::Int(days.unwrap_or(i32::MAX)))
        }),
        routine("getAt", 1, |machine, of, field| {
            calendar::field_at(machine, thing!(of, Date).get(), &field[0])
        }),
        routine("toCalendar", 0, |machine, of, _| {
            calendar::calendar(machine, thing!(of, Date).get(), None)
        }),
        routine("clearTime", 0, |machine, of, _| {
            let date = thing!(of, Date);
            date.set(calendar::midnight(machine, date.get())?);
            Ok(of.clone())
        }),
        routine("toInstant", 0, |_, of, _| {
            Ok(Value::thing(Thing::Instant(thing!(of, Date).get())))
        }),
        routine("before", 1, |_, of, arguments| {
            let other = thing!(arguments[0], Date).get();
            Ok(Value::Bool(thing!(of, Date).get() < other))
        }),
        routine("after", 1, |_, of, arguments| {
            let other = thing!(arguments[0], Date).get();
            Ok(Value::Bool(thing!(of, Date).get() > other))
        }),
    ]],
    statics: &[
        routine("parse", 2, |machine, _, arguments| {
            let pattern = text_of(&arguments[0])?;
            read(machine, &arguments[1], &pattern, None)
        }),
        routine("from", 1, |machine, _, arguments| {
            Ok(date(machine, *thing!(arguments[0], Instant)))
        }),
    ],
    ..Class::named("java.util.Date")
};

const DAY_MS: i64 = 86_400_000;

/// So many days later by the calendar of whoever runs the script.
fn days_later(machine: &Machine<'_>, date: &Date, days: i64) -> Answer {
    let beyond = || Stop::unknown("dates before the year -9999 and after 9999");
    let at = jiff::Timestamp::from_millisecond(date.get()).map_err(|_| beyond())?;
    let days = jiff::Span::new().try_days(days).map_err(|_| beyond())?;
    let later = at.to_zoned(machine.host.time_zone()).checked_add(days);
    let at = later.map_err(|_| beyond())?.timestamp().as_millisecond();
    Ok(Value::thing(Thing::Date(Rc::new(date.at(at)))))
}

pub(super) fn date(machine: &Machine<'_>, at: i64) -> Value {
    Value::thing(Thing::Date(Rc::new(Date::new(
        at,
        machine.host.date_writer(),
    ))))
}

fn read(machine: &mut Machine<'_>, text: &Value, pattern: &str, zone: Option<&str>) -> Answer {
    let text = text_of(text)?;
    match machine.host.parse_date(&text, pattern, zone) {
        Some(at) => Ok(date(machine, at)),
        None => Err(Stop::thrown(
            "java.text.ParseException",
            format!("Unparseable date: \"{text}\""),
        )),
    }
}

pub(super) static FORMAT: Class = Class {
    make: Some(between("SimpleDateFormat", 1, 2, |_, _, arguments| {
        if let Some(locale) = arguments.get(1) {
            super::java_time::english(locale)?;
        }
        let format = (text_of(&arguments[0])?, RefCell::new(None));
        Ok(Value::thing(Thing::DateFormat(Rc::new(format))))
    })),
    methods: &[&[
        routine("format", 1, |machine, of, arguments| {
            let (pattern, zone) = &**thing!(of, DateFormat);
            let zone = zone.borrow().clone();
            let at = match arguments[0].as_thing() {
                Some(Thing::Date(date)) => date.get(),
                _ => integer(&arguments[0])?,
            };
            written(machine, at, pattern, zone.as_deref())
        }),
        routine("setTimeZone", 1, |_, of, arguments| {
            thing!(of, DateFormat).1.replace(zone_of(arguments.first()));
            Ok(Value::Void)
        }),
        routine("parse", 1, |machine, of, arguments| {
            let (pattern, zone) = &**thing!(of, DateFormat);
            let zone = zone.borrow().clone();
            read(machine, &arguments[0], pattern, zone.as_deref())
        }),
        routine("setLenient", 1, |_, _, _| Ok(Value::Void)),
    ]],
    ..Class::named("java.text.SimpleDateFormat")
};
