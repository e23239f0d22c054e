//! `java.time`: dates and times. What they have in common stands here, once.

mod amounts;
mod formats;
mod moments;
mod names;
mod units;
mod zones;

use std::rc::Rc;

use jiff::civil::{Date, DateTime, Time};

use self::formats::{formatted, read};
use self::units::{Unit, minus, plus, until};
use super::{integer, thing};
use crate::Value;
use crate::arithmetic::Number;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::machine::{Machine, Stop};
use crate::syntax::Operator;
use crate::temporal::{Temporal, Zone};
use crate::value::Thing;

pub(super) use self::amounts::{DURATION, PERIOD};
pub(super) use self::formats::FORMATTER;
pub(crate) use self::formats::Formatter;
pub(super) use self::moments::INSTANT;
pub(crate) use self::names::Names;
pub(super) use self::names::{ROUNDING_MODE, english};
pub(super) use self::units::shifted;
pub(super) use self::zones::ZONE_ID;

pub(super) const CLASSES: &[&Class] = &[
    &DATE,
    &TIME,
    &DATE_TIME,
    &ZONED,
    &OFFSET,
    &INSTANT,
    &DURATION,
    &PERIOD,
    &FORMATTER,
    &ZONE_ID,
    &zones::ZONE_OFFSET,
    &names::CHRONO_UNIT,
    &names::DAY_OF_WEEK,
    &names::MONTH,
    &names::TIME_UNIT,
    &names::LOCALE,
];

/// The class of a date or time.
pub(super) fn class_of(temporal: &Temporal) -> &'static Class {
    match temporal {
        Temporal::Date(_) => &DATE,
        Temporal::Time(_) => &TIME,
        Temporal::DateTime(_) => &DATE_TIME,
        Temporal::Zoned(..) => &ZONED,
        Temporal::Offset(_) => &OFFSET,
    }
}

fn value(temporal: Temporal) -> Value {
    Value::thing(Thing::Temporal(Rc::new(temporal)))
}

/// A result of the calendar, which ends earlier than Java's.
fn made(temporal: Option<Temporal>) -> Answer {
    temporal.map(value).ok_or_else(beyond)
}

fn beyond() -> Stop {
    Stop::unknown("dates before the year -9999 and after 9999")
}

fn wrong(says: impl Into<String>) -> Stop {
    Stop::thrown("java.time.DateTimeException", says.into())
}

fn unsupported(says: impl Into<String>) -> Stop {
    let class = "java.time.temporal.UnsupportedTemporalTypeException";
    Stop::thrown(class, says.into())
}

fn temporal(of: &Value) -> Result<&Temporal, Stop> {
    Ok(thing!(of, Temporal))
}

fn int(of: impl Into<i32>) -> Value {
    Value::Int(of.into())
}

/// A field of a date or time from an argument.
fn field<T: TryFrom<i64>>(argument: &Value, name: &str) -> Result<T, Stop> {
    let number = match argument.as_thing() {
        Some(Thing::Named(names, at)) => names.number(*at),
        _ => integer(argument)?,
    };
    T::try_from(number).map_err(|_| wrong(format!("Invalid value for {name}: {number}")))
}

fn date_of(year: &Value, month: &Value, day: &Value) -> Result<Date, Stop> {
    let year_ = field::<i16>(year, "Year")?;
    let month = field::<i8>(month, "MonthOfYear")?;
    let day = field::<i8>(day, "DayOfMonth")?;
    Date::new(year_, month, day).map_err(|_| {
        if (1..=12).contains(&month) {
            wrong(format!("Invalid date in {year_}-{month}: {day}"))
        } else {
            wrong(format!("Invalid value for MonthOfYear: {month}"))
        }
    })
}

/// Hour and minute, and what else there is.
fn time_of(arguments: &[Value]) -> Result<Time, Stop> {
    let names = ["HourOfDay", "MinuteOfHour", "SecondOfMinute"];
    let mut parts = [0_i8; 3];
    for ((part, argument), name) in parts.iter_mut().zip(arguments).zip(names) {
        *part = field(argument, name)?;
    }
    let nano = match arguments.get(3) {
        Some(nano) => field::<i32>(nano, "NanoOfSecond")?,
        None => 0,
    };
    let [hour, minute, second] = parts;
    Time::new(hour, minute, second, nano).map_err(|_| wrong("Invalid value for a time of the day"))
}

/// Groovy's `+` and `-`: dates count days, all else seconds.
pub(super) fn operated(
    machine: &mut Machine<'_>,
    operator: Operator,
    left: &Value,
    right: &Value,
) -> Answer {
    let is_plus = operator == Operator::Plus;
    let name = if is_plus { "plus" } else { "minus" };
    let dates = (left.as_thing(), right.as_thing());
    if let ((Some(Thing::Temporal(_)), Some(Thing::Temporal(_))), false) = (dates, is_plus) {
        // How many days lie between.
        return Ok(Value::Long(until(Unit::Days, right, left)?));
    }
    if Number::of(right).is_none() {
        return super::call(machine, left, name, std::slice::from_ref(right));
    }
    let by = integer(right)?;
    let by = if is_plus { by } else { by.saturating_neg() };
    match left.as_thing() {
        Some(Thing::Instant(_)) => shifted(left, by, Unit::Seconds),
        Some(Thing::Temporal(temporal)) => match **temporal {
            Temporal::Date(_) => shifted(left, by, Unit::Days),
            _ => shifted(left, by, Unit::Seconds),
        },
        Some(Thing::Duration(_)) => super::call(machine, left, "plusSeconds", &[Value::Long(by)]),
        _ => amounts::period_later(left, by),
    }
}

/// The current time, in a zone that is named or the machine's.
fn now(machine: &Machine<'_>, arguments: &[Value]) -> Result<(jiff::Zoned, Zone), Stop> {
    let zone = match arguments.first() {
        Some(zone) => zones::zone(zone)?,
        None => zones::of_machine(machine),
    };
    let now = moments::timestamp(super::time::now(machine))?;
    Ok((now.to_zoned(zone.rules.clone()), zone))
}

/// What all dates and times have.
const COMMON: &[Routine] = &[
    between("plus", 1, 2, |_, of, by| plus(of, by)),
    between("minus", 1, 2, |_, of, by| minus(of, by)),
    between("until", 1, 2, |_, of, arguments| match arguments {
        [other, unit] => Ok(Value::Long(until(Unit::of(unit)?, of, other)?)),
        _ => amounts::period_between(of, &arguments[0]),
    }),
    routine("isBefore", 1, |_, of, to| {
        Ok(Value::Bool(moments::order(of, &to[0])?.is_lt()))
    }),
    routine("isAfter", 1, |_, of, to| {
        Ok(Value::Bool(moments::order(of, &to[0])?.is_gt()))
    }),
    routine("isEqual", 1, |_, of, to| {
        Ok(Value::Bool(moments::order(of, &to[0])?.is_eq()))
    }),
    routine("compareTo", 1, |_, of, to| moments::compare(of, &to[0])),
    between("format", 1, 2, |machine, of, arguments| {
        let parts = temporal(of)?.parts();
        formatted(machine, &arguments[0], parts)
    }),
    routine("truncatedTo", 1, |_, of, unit| {
        let unit = Unit::of(&unit[0])?;
        let temporal = temporal(of)?;
        let time = temporal.time().ok_or_else(|| unit.unsupported())?;
        made(temporal.with(None, Some(unit.cut(time)?)))
    }),
];

/// What goes on by units, forwards and backwards.
macro_rules! shifts {
    ($($unit:ident $plus:literal $minus:literal),*) => {
        &[$(
            routine($plus, 1, |_, of, by| {
                shifted(of, integer(&by[0])?, Unit::$unit)
            }),
            routine($minus, 1, |_, of, by| {
                shifted(of, integer(&by[0])?.saturating_neg(), Unit::$unit)
            }),
        )*]
    };
}

const BY_DATES: &[Routine] = shifts!(
    Days "plusDays" "minusDays",
    Weeks "plusWeeks" "minusWeeks",
    Months "plusMonths" "minusMonths",
    Years "plusYears" "minusYears"
);
const BY_TIMES: &[Routine] = shifts!(
    Hours "plusHours" "minusHours",
    Minutes "plusMinutes" "minusMinutes",
    Seconds "plusSeconds" "minusSeconds",
    Nanos "plusNanos" "minusNanos"
);

fn date(of: &Value) -> Result<Date, Stop> {
    let date = temporal(of)?.date();
    date.ok_or_else(|| Stop::unknown("the date of a time"))
}

fn time(of: &Value) -> Result<Time, Stop> {
    let time = temporal(of)?.time();
    time.ok_or_else(|| Stop::unknown("the time of a date"))
}

/// Date and time by the clock.
fn local(of: &Value) -> Result<DateTime, Stop> {
    Ok(date(of)?.to_datetime(time(of)?))
}

/// The offset of a date and time that has one.
fn offset(of: &Value) -> Result<Zone, Stop> {
    let offset = temporal(of)?.zoned().map(jiff::Zoned::offset);
    offset
        .map(Zone::offset)
        .ok_or_else(|| Stop::unknown("the offset of a local time"))
}

/// What `of` of dates with an offset is given: a local time in one, two or seven pieces, and a
/// zone.
fn local_and_zone(arguments: &[Value]) -> Result<(DateTime, Zone), Stop> {
    let (at, zone) = match arguments {
        [both, zone] => (local(both)?, zone),
        [day, at, zone] => (date(day)?.to_datetime(time(at)?), zone),
        [year, month, day, rest @ .., zone] if rest.len() == 4 => {
            let date = date_of(year, month, day)?;
            (date.to_datetime(time_of(rest)?), zone)
        }
        _ => return Err(Stop::unknown("a date with a zone of these arguments")),
    };
    Ok((at, zones::zone(zone)?))
}

fn with_date(of: &Value, date: Option<Date>) -> Answer {
    let date = date.ok_or_else(|| wrong("Invalid date"))?;
    made(temporal(of)?.with(Some(date), None))
}

fn with_time(of: &Value, time: Result<Time, jiff::Error>) -> Answer {
    let time = time.map_err(|_| wrong("Invalid value for a time of the day"))?;
    made(temporal(of)?.with(None, Some(time)))
}

/// What dates have, with a time or without.
const OF_DATES: &[Routine] = &[
    routine("getYear", 0, |_, of, _| Ok(int(date(of)?.year()))),
    routine("getMonthValue", 0, |_, of, _| Ok(int(date(of)?.month()))),
    routine("getMonth", 0, |_, of, _| {
        Ok(names::month(date(of)?.month()))
    }),
    routine("getDayOfMonth", 0, |_, of, _| Ok(int(date(of)?.day()))),
    routine("getDayOfYear", 0, |_, of, _| {
        Ok(int(date(of)?.day_of_year()))
    }),
    routine("getDayOfWeek", 0, |_, of, _| {
        let weekday = date(of)?.weekday().to_monday_one_offset();
        Ok(names::weekday(weekday))
    }),
    routine("withDayOfMonth", 1, |_, of, day| {
        let day = field(&day[0], "DayOfMonth")?;
        with_date(of, date(of)?.with().day(day).build().ok())
    }),
    routine("withDayOfYear", 1, |_, of, day| {
        let day = field(&day[0], "DayOfYear")?;
        with_date(of, date(of)?.with().day_of_year(day).build().ok())
    }),
    routine("withMonth", 1, |_, of, month| {
        let month: i64 = field(&month[0], "MonthOfYear")?;
        let known = (1..=12).contains(&month);
        let date = date(of)?;
        let by = month - i64::from(date.month());
        let moved = known.then(|| crate::temporal::plus_months(date, by));
        with_date(of, moved.flatten())
    }),
    routine("withYear", 1, |_, of, year| {
        let year: i64 = field(&year[0], "Year")?;
        let date = date(of)?;
        let by = (year - i64::from(date.year())).saturating_mul(12);
        with_date(of, crate::temporal::plus_months(date, by))
    }),
];

/// What times have, with a date or without.
const OF_TIMES: &[Routine] = &[
    routine("getHour", 0, |_, of, _| Ok(int(time(of)?.hour()))),
    routine("getMinute", 0, |_, of, _| Ok(int(time(of)?.minute()))),
    routine("getSecond", 0, |_, of, _| Ok(int(time(of)?.second()))),
    routine("getNano", 0, |_, of, _| {
        Ok(int(time(of)?.subsec_nanosecond()))
    }),
    routine("withHour", 1, |_, of, hour| {
        let hour = field(&hour[0], "HourOfDay")?;
        with_time(of, time(of)?.with().hour(hour).build())
    }),
    routine("withMinute", 1, |_, of, minute| {
        let minute = field(&minute[0], "MinuteOfHour")?;
        with_time(of, time(of)?.with().minute(minute).build())
    }),
    routine("withSecond", 1, |_, of, second| {
        let second = field(&second[0], "SecondOfMinute")?;
        with_time(of, time(of)?.with().second(second).build())
    }),
    routine("withNano", 1, |_, of, nano| {
        let nano = field(&nano[0], "NanoOfSecond")?;
        with_time(of, time(of)?.with().subsec_nanosecond(nano).build())
    }),
];

/// What dates with a time have.
const OF_BOTH: &[Routine] = &[
    routine("toLocalDate", 0, |_, of, _| {
        Ok(value(Temporal::Date(date(of)?)))
    }),
    routine("toLocalTime", 0, |_, of, _| {
        Ok(value(Temporal::Time(time(of)?)))
    }),
];

static DATE: Class = Class {
    statics: &[
        between("now", 0, 1, |machine, _, zone| {
            Ok(value(Temporal::Date(now(machine, zone)?.0.date())))
        }),
        routine("of", 3, |_, _, arguments| {
            let date = date_of(&arguments[0], &arguments[1], &arguments[2])?;
            Ok(value(Temporal::Date(date)))
        }),
        routine("ofYearDay", 2, |_, _, arguments| {
            let year = field(&arguments[0], "Year")?;
            let day = field(&arguments[1], "DayOfYear")?;
            let first = Date::new(year, 1, 1).map_err(|_| beyond())?;
            let date = first.with().day_of_year(day).build();
            let date = date.map_err(|_| wrong("Invalid date"))?;
            Ok(value(Temporal::Date(date)))
        }),
        routine("ofEpochDay", 1, |_, _, day| {
            let epoch = value(Temporal::Date(moments::EPOCH));
            shifted(&epoch, integer(&day[0])?, Unit::Days)
        }),
        routine("ofInstant", 2, |_, _, arguments| {
            let (zoned, _) = moments::zoned(&arguments[0], &arguments[1])?;
            Ok(value(Temporal::Date(zoned.date())))
        }),
        between("parse", 1, 2, |machine, _, arguments| {
            let (parts, text) = read(machine, arguments, "ISO_LOCAL_DATE")?;
            let date = parts.date.ok_or_else(|| formats::unreadable(&text))?;
            Ok(value(Temporal::Date(date)))
        }),
    ],
    constants: &[("EPOCH", |_| value(Temporal::Date(moments::EPOCH)))],
    methods: &[
        &[
            routine("lengthOfMonth", 0, |_, of, _| {
                Ok(int(date(of)?.days_in_month()))
            }),
            routine("lengthOfYear", 0, |_, of, _| {
                Ok(int(date(of)?.days_in_year()))
            }),
            routine("isLeapYear", 0, |_, of, _| {
                Ok(Value::Bool(date(of)?.in_leap_year()))
            }),
            routine("toEpochDay", 0, |_, of, _| {
                let days = until(Unit::Days, &value(Temporal::Date(moments::EPOCH)), of)?;
                Ok(Value::Long(days))
            }),
            between("atStartOfDay", 0, 1, |_, of, zone| {
                let local = date(of)?.to_datetime(Time::midnight());
                match zone.first() {
                    Some(zone) => zones::at(local, &zones::zone(zone)?),
                    None => Ok(value(Temporal::DateTime(local))),
                }
            }),
            between("atTime", 1, 4, |_, of, arguments| {
                let time = match arguments {
                    [one] => time(one)?,
                    several => time_of(several)?,
                };
                Ok(value(Temporal::DateTime(date(of)?.to_datetime(time))))
            }),
        ],
        COMMON,
        OF_DATES,
        BY_DATES,
    ],
    ..Class::named("java.time.LocalDate")
};

static TIME: Class = Class {
    statics: &[
        between("now", 0, 1, |machine, _, zone| {
            Ok(value(Temporal::Time(now(machine, zone)?.0.time())))
        }),
        between("of", 2, 4, |_, _, arguments| {
            Ok(value(Temporal::Time(time_of(arguments)?)))
        }),
        routine("ofSecondOfDay", 1, |_, _, second| {
            let midnight = value(Temporal::Time(Time::midnight()));
            shifted(&midnight, integer(&second[0])?, Unit::Seconds)
        }),
        between("parse", 1, 2, |machine, _, arguments| {
            let (parts, text) = read(machine, arguments, "ISO_LOCAL_TIME")?;
            let time = parts.time.ok_or_else(|| formats::unreadable(&text))?;
            Ok(value(Temporal::Time(time)))
        }),
    ],
    constants: &[
        ("MIDNIGHT", |_| value(Temporal::Time(Time::midnight()))),
        ("MIN", |_| value(Temporal::Time(Time::MIN))),
        ("MAX", |_| value(Temporal::Time(Time::MAX))),
        ("NOON", |_| {
            value(Temporal::Time(Time::constant(12, 0, 0, 0)))
        }),
    ],
    methods: &[
        &[
            routine("toSecondOfDay", 0, |_, of, _| {
                let time = time(of)?;
                let minutes = i32::from(time.hour()) * 60 + i32::from(time.minute());
                Ok(int(minutes * 60 + i32::from(time.second())))
            }),
            routine("atDate", 1, |_, of, to| {
                let both = date(&to[0])?.to_datetime(time(of)?);
                Ok(value(Temporal::DateTime(both)))
            }),
        ],
        COMMON,
        OF_TIMES,
        BY_TIMES,
    ],
    ..Class::named("java.time.LocalTime")
};

static DATE_TIME: Class = Class {
    statics: &[
        between("now", 0, 1, |machine, _, zone| {
            Ok(value(Temporal::DateTime(now(machine, zone)?.0.datetime())))
        }),
        between("of", 2, 7, |_, _, arguments| {
            let both = match arguments {
                [one, other] => date(one)?.to_datetime(time(other)?),
                [year, month, day, rest @ ..] if rest.len() >= 2 => {
                    date_of(year, month, day)?.to_datetime(time_of(rest)?)
                }
                _ => return Err(Stop::unknown("LocalDateTime.of with these arguments")),
            };
            Ok(value(Temporal::DateTime(both)))
        }),
        routine("ofInstant", 2, |_, _, arguments| {
            let (zoned, _) = moments::zoned(&arguments[0], &arguments[1])?;
            Ok(value(Temporal::DateTime(zoned.datetime())))
        }),
        routine("ofEpochSecond", 3, |_, _, arguments| {
            let zone = zones::zone(&arguments[2])?;
            let nano = field::<i32>(&arguments[1], "NanoOfSecond")?;
            let at = jiff::Timestamp::new(integer(&arguments[0])?, nano).map_err(|_| beyond())?;
            Ok(value(Temporal::DateTime(
                at.to_zoned(zone.rules).datetime(),
            )))
        }),
        between("parse", 1, 2, |machine, _, arguments| {
            let (parts, text) = read(machine, arguments, "ISO_LOCAL_DATE_TIME")?;
            let both = parts.date.zip(parts.time);
            let (date, time) = both.ok_or_else(|| formats::unreadable(&text))?;
            Ok(value(Temporal::DateTime(date.to_datetime(time))))
        }),
    ],
    methods: &[
        &[
            routine("atZone", 1, |_, of, zone| {
                zones::at(local(of)?, &zones::zone(&zone[0])?)
            }),
            routine("atOffset", 1, |_, of, zone| {
                zones::at_offset(local(of)?, &zones::zone(&zone[0])?)
            }),
            routine("toInstant", 1, |_, of, zone| {
                let zoned = zones::at_offset(local(of)?, &zones::zone(&zone[0])?)?;
                moments::instant(&zoned)
            }),
            routine("toEpochSecond", 1, |_, of, zone| {
                let zoned = zones::at_offset(local(of)?, &zones::zone(&zone[0])?)?;
                Ok(Value::Long(moments::of_zoned(&zoned)?.as_second()))
            }),
        ],
        OF_BOTH,
        COMMON,
        OF_DATES,
        OF_TIMES,
        BY_DATES,
        BY_TIMES,
    ],
    ..Class::named("java.time.LocalDateTime")
};

/// What dates with a time and an offset have.
const OF_OFFSETS: &[Routine] = &[
    routine("toInstant", 0, |_, of, _| moments::instant(of)),
    routine("toEpochSecond", 0, |_, of, _| {
        Ok(Value::Long(moments::of_zoned(of)?.as_second()))
    }),
    routine("toLocalDateTime", 0, |_, of, _| {
        Ok(value(Temporal::DateTime(local(of)?)))
    }),
    routine("getOffset", 0, |_, of, _| Ok(zones::value(offset(of)?))),
];

static ZONED: Class = Class {
    statics: &[
        between("now", 0, 1, |machine, _, zone| {
            let (zoned, zone) = now(machine, zone)?;
            Ok(value(Temporal::Zoned(zoned, zone)))
        }),
        between("of", 2, 8, |_, _, arguments| {
            let (local, zone) = local_and_zone(arguments)?;
            zones::at(local, &zone)
        }),
        routine("ofInstant", 2, |_, _, arguments| {
            let (zoned, zone) = moments::zoned(&arguments[0], &arguments[1])?;
            Ok(value(Temporal::Zoned(zoned, zone)))
        }),
        between("parse", 1, 2, |machine, _, arguments| {
            let (parts, text) = read(machine, arguments, "ISO_ZONED_DATE_TIME")?;
            zones::of_parts(&parts, &text)
        }),
    ],
    methods: &[
        &[
            routine("getZone", 0, |_, of, _| match temporal(of)? {
                Temporal::Zoned(_, zone) => Ok(zones::value(zone.clone())),
                _ => Err(Stop::unknown("the zone of a local time")),
            }),
            routine("withZoneSameInstant", 1, |_, of, zone| {
                let zone = zones::zone(&zone[0])?;
                let zoned = moments::of_zoned(of)?.to_zoned(zone.rules.clone());
                Ok(value(Temporal::Zoned(zoned, zone)))
            }),
            routine("withZoneSameLocal", 1, |_, of, zone| {
                zones::at(local(of)?, &zones::zone(&zone[0])?)
            }),
            routine("toOffsetDateTime", 0, |_, of, _| {
                zones::at_offset(local(of)?, &offset(of)?)
            }),
        ],
        OF_OFFSETS,
        OF_BOTH,
        COMMON,
        OF_DATES,
        OF_TIMES,
        BY_DATES,
        BY_TIMES,
    ],
    ..Class::named("java.time.ZonedDateTime")
};

static OFFSET: Class = Class {
    statics: &[
        between("now", 0, 1, |machine, _, zone| {
            let (zoned, _) = now(machine, zone)?;
            zones::at_offset(zoned.datetime(), &Zone::offset(zoned.offset()))
        }),
        between("of", 2, 8, |_, _, arguments| {
            let (local, zone) = local_and_zone(arguments)?;
            zones::at_offset(local, &zone)
        }),
        routine("ofInstant", 2, |_, _, arguments| {
            let (zoned, _) = moments::zoned(&arguments[0], &arguments[1])?;
            zones::at_offset(zoned.datetime(), &Zone::offset(zoned.offset()))
        }),
        between("parse", 1, 2, |machine, _, arguments| {
            let (parts, text) = read(machine, arguments, "ISO_OFFSET_DATE_TIME")?;
            let both = parts.date.zip(parts.time).zip(parts.offset);
            let ((date, time), offset) = both.ok_or_else(|| formats::unreadable(&text))?;
            zones::at_offset(date.to_datetime(time), &Zone::offset(offset))
        }),
    ],
    methods: &[
        &[
            routine("withOffsetSameInstant", 1, |_, of, zone| {
                let zone = zones::zone(&zone[0])?;
                let zoned = moments::of_zoned(of)?.to_zoned(zone.rules.clone());
                zones::at_offset(zoned.datetime(), &zone)
            }),
            routine("withOffsetSameLocal", 1, |_, of, zone| {
                zones::at_offset(local(of)?, &zones::zone(&zone[0])?)
            }),
            routine("atZoneSameInstant", 1, |_, of, zone| {
                let zone = zones::zone(&zone[0])?;
                let zoned = moments::of_zoned(of)?.to_zoned(zone.rules.clone());
                Ok(value(Temporal::Zoned(zoned, zone)))
            }),
            routine("toZonedDateTime", 0, |_, of, _| {
                let zoned = temporal(of)?.zoned().cloned();
                let zoned = zoned.ok_or_else(|| Stop::unknown("the zone of a local time"))?;
                let zone = Zone::offset(zoned.offset());
                Ok(value(Temporal::Zoned(zoned, zone)))
            }),
        ],
        OF_OFFSETS,
        OF_BOTH,
        COMMON,
        OF_DATES,
        OF_TIMES,
        BY_DATES,
        BY_TIMES,
    ],
    ..Class::named("java.time.OffsetDateTime")
};
