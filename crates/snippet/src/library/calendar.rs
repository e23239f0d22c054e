//! `Calendar` and `GregorianCalendar`.

use std::cell::{RefCell, RefMut};
use std::rc::Rc;
use std::sync::Arc;

use super::time::{date, now, written, zone_of};
use super::{integer, text_of, thing};
use crate::Value;
use crate::calendar::{Calendar, Field};
use crate::class::{Answer, Class, Constant, Routine, between, routine};
use crate::machine::{Machine, Stop};
use crate::temporal::Zone;
use crate::value::Thing;

pub(super) const CLASSES: &[&Class] = &[&CALENDAR, &GREGORIAN];

pub(super) static CALENDAR: Class = Class {
    statics: &[between("getInstance", 0, 1, make)],
    constants: CONSTANTS,
    methods: &[METHODS],
    ..Class::named("java.util.Calendar")
};

pub(super) static GREGORIAN: Class = Class {
    make: Some(between(
        "GregorianCalendar",
        0,
        6,
        |machine, none, arguments| {
            if arguments.len() < 3 {
                return make(machine, none, arguments);
            }
            let calendar = make(machine, none, &[])?;
            set_many(&calendar, arguments)?;
            for unset in MANY
                .iter()
                .skip(arguments.len())
                .chain(&[Field::Millisecond])
            {
                borrowed(&calendar)?.set(*unset, 0);
            }
            Ok(calendar)
        },
    )),
    constants: CONSTANTS,
    methods: &[METHODS],
    ..Class::named("java.util.GregorianCalendar")
};

/// What the machine cannot tell of a calendar.
pub(super) fn beyond<T>(known: Option<T>) -> Result<T, Stop> {
    known.ok_or_else(|| Stop::unknown("a date before the year 1583 or after 9999, or a week"))
}

/// The zone of whoever runs the script, or one by its name.
pub(super) fn zone(machine: &Machine<'_>, name: Option<Arc<str>>) -> Result<Zone, Stop> {
    if let Some(name) = name {
        let rules = crate::zone::time_zone_of_java(&name);
        return Ok(Zone { name, rules });
    }
    let rules = machine.host.time_zone();
    let name = rules.iana_name().map(Arc::from);
    let name = name.ok_or_else(|| Stop::unknown("a calendar in a zone without a name"))?;
    Ok(Zone { name, rules })
}

/// A calendar at a moment.
pub(super) fn calendar(machine: &Machine<'_>, at: i64, named: Option<Arc<str>>) -> Answer {
    let calendar = beyond(Calendar::at(at, zone(machine, named)?))?;
    Ok(Value::thing(Thing::Calendar(Rc::new(RefCell::new(
        calendar,
    )))))
}

fn make(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Answer {
    let named = zone_of(arguments.first());
    if named.is_none() && !arguments.is_empty() {
        return Err(Stop::unknown("a calendar of a language"));
    }
    calendar(machine, now(machine), named)
}

fn borrowed(of: &Value) -> Result<RefMut<'_, Calendar>, Stop> {
    Ok(thing!(of, Calendar).borrow_mut())
}

/// The field that a number of Java's stands for.
fn field(number: &Value) -> Result<Field, Stop> {
    let number = integer(number)?;
    Field::numbered(number).ok_or_else(|| Stop::unknown(format!("the calendar's field {number}")))
}

/// A field that can be set: what a day of the week means depends on where weeks begin.
fn settable(number: &Value) -> Result<Field, Stop> {
    match field(number)? {
        Field::Week | Field::DayOfWeek | Field::Era => Err(Stop::unknown(
            "setting a calendar's week, day of the week or era",
        )),
        field => Ok(field),
    }
}

fn millis(of: &Value) -> Result<i64, Stop> {
    beyond(borrowed(of)?.millis())
}

/// A field of a moment in the zone of whoever runs the script.
pub(super) fn field_at(machine: &Machine<'_>, at: i64, number: &Value) -> Answer {
    get(&calendar(machine, at, None)?, number)
}

/// The moment at which a moment's day began, in the zone of whoever runs the script.
pub(super) fn midnight(machine: &Machine<'_>, at: i64) -> Result<i64, Stop> {
    let calendar = calendar(machine, at, None)?;
    borrowed(&calendar)?.set_all(&MIDNIGHT);
    millis(&calendar)
}

fn get(of: &Value, number: &Value) -> Answer {
    Ok(Value::Int(beyond(borrowed(of)?.get(field(number)?))?))
}

/// The fields that are set at once.
const MANY: [Field; 6] = [
    Field::Year,
    Field::Month,
    Field::DayOfMonth,
    Field::HourOfDay,
    Field::Minute,
    Field::Second,
];

/// The time at which a day begins.
const MIDNIGHT: [(Field, i64); 4] = [
    (Field::HourOfDay, 0),
    (Field::Minute, 0),
    (Field::Second, 0),
    (Field::Millisecond, 0),
];

fn set_many(of: &Value, to: &[Value]) -> Result<(), Stop> {
    for (field, to) in MANY.iter().zip(to) {
        borrowed(of)?.set(*field, integer(to)?);
    }
    Ok(())
}

fn set_one(_: &mut Machine<'_>, of: &Value, arguments: &[Value]) -> Answer {
    borrowed(of)?.set(settable(&arguments[0])?, integer(&arguments[1])?);
    Ok(Value::Void)
}

/// How two calendars lie, of which one is called.
fn compared(of: &Value, other: &Value) -> Result<std::cmp::Ordering, Stop> {
    // They may be the same one.
    let at = millis(of)?;
    Ok(at.cmp(&millis(other)?))
}

const METHODS: &[Routine] = &[
    routine("getTimeInMillis", 0, |_, of, _| {
        Ok(Value::Long(millis(of)?))
    }),
    routine("setTimeInMillis", 1, |_, of, to| {
        beyond(borrowed(of)?.set_at(integer(&to[0])?))?;
        Ok(Value::Void)
    }),
    routine("getTime", 0, |machine, of, _| {
        let at = millis(of)?;
        Ok(date(machine, at))
    }),
    routine("setTime", 1, |_, of, to| {
        let at = thing!(to[0], Date).get();
        beyond(borrowed(of)?.set_at(at))?;
        Ok(Value::Void)
    }),
    routine("get", 1, |_, of, arguments| get(of, &arguments[0])),
    routine("getAt", 1, |_, of, arguments| get(of, &arguments[0])),
    routine("set", 2, set_one),
    routine("putAt", 2, set_one),
    between("set", 3, 6, |_, of, to| {
        if to.len() == 4 {
            return Err(Stop::unknown("the method set with 4 arguments of Calendar"));
        }
        set_many(of, to)?;
        Ok(Value::Void)
    }),
    routine("add", 2, |_, of, arguments| {
        let (field, amount) = (field(&arguments[0])?, integer(&arguments[1])?);
        beyond(borrowed(of)?.add(field, amount))?;
        Ok(Value::Void)
    }),
    routine("getActualMaximum", 1, |_, of, arguments| {
        let last = borrowed(of)?.last(field(&arguments[0])?);
        let last = last.ok_or_else(|| Stop::unknown("the last of what is no day"))?;
        Ok(Value::Int(last))
    }),
    routine("getActualMinimum", 1, |_, _, arguments| {
        match field(&arguments[0])? {
            Field::DayOfMonth | Field::DayOfYear => Ok(Value::Int(1)),
            _ => Err(Stop::unknown("the first of what is no day")),
        }
    }),
    between("clear", 0, 1, |_, of, arguments| {
        match arguments.first().map(field).transpose()? {
            None => {
                let zone = borrowed(of)?.zone.clone();
                let mut cleared = beyond(Calendar::at(0, zone))?;
                for (field, to) in MANY.iter().zip([1970, 0, 1]) {
                    cleared.set(*field, to);
                }
                cleared.set_all(&MIDNIGHT);
                // What is set afterwards counts alone.
                beyond(cleared.millis())?;
                *borrowed(of)? = cleared;
            }
            Some(field @ (Field::Minute | Field::Second | Field::Millisecond)) => {
                borrowed(of)?.set(field, 0);
            }
            Some(_) => return Err(Stop::unknown("clearing this field of a calendar")),
        }
        Ok(Value::Void)
    }),
    routine("clearTime", 0, |_, of, _| {
        borrowed(of)?.set_all(&MIDNIGHT);
        Ok(of.clone())
    }),
    routine("clone", 0, |_, of, _| {
        let other = borrowed(of)?.clone();
        Ok(Value::thing(Thing::Calendar(Rc::new(RefCell::new(other)))))
    }),
    routine("before", 1, |_, of, other| {
        Ok(Value::Bool(compared(of, &other[0])?.is_lt()))
    }),
    routine("after", 1, |_, of, other| {
        Ok(Value::Bool(compared(of, &other[0])?.is_gt()))
    }),
    routine("compareTo", 1, |_, of, other| {
        Ok(Value::Int(compared(of, &other[0])? as i32))
    }),
    routine("toString", 0, |_, _, _| {
        Err(Stop::unknown("the text of a Calendar with all its fields"))
    }),
    routine("getTimeZone", 0, |_, of, _| {
        let name = Arc::clone(&borrowed(of)?.zone.name);
        Ok(Value::thing(Thing::Zone(name)))
    }),
    routine("setTimeZone", 1, |machine, of, to| {
        let zone = zone(machine, zone_of(to.first()))?;
        borrowed(of)?.set_zone(zone);
        Ok(Value::Void)
    }),
    routine("setLenient", 1, |_, _, to| match to[0] {
        Value::Bool(true) => Ok(Value::Void),
        _ => Err(Stop::unknown("a calendar that is not lenient")),
    }),
    routine("isLeapYear", 1, |_, _, year| {
        let year = integer(&year[0])?;
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        Ok(Value::Bool(is_leap))
    }),
    routine("toInstant", 0, |_, of, _| {
        Ok(Value::thing(Thing::Instant(millis(of)?)))
    }),
    routine("format", 1, |machine, of, arguments| {
        let (at, name) = (millis(of)?, Arc::clone(&borrowed(of)?.zone.name));
        written(machine, at, &text_of(&arguments[0])?, Some(&name))
    }),
];

macro_rules! constants {
    ($($name:literal: $number:literal,)*) => {
        &[$(($name, |_| Value::Int($number)),)*]
    };
}

const CONSTANTS: &[Constant] = constants! {
    "ERA": 0,
    "YEAR": 1,
    "MONTH": 2,
    "WEEK_OF_YEAR": 3,
    "WEEK_OF_MONTH": 4,
    "DATE": 5,
    "DAY_OF_MONTH": 5,
    "DAY_OF_YEAR": 6,
    "DAY_OF_WEEK": 7,
    "DAY_OF_WEEK_IN_MONTH": 8,
    "AM_PM": 9,
    "HOUR": 10,
    "HOUR_OF_DAY": 11,
    "MINUTE": 12,
    "SECOND": 13,
    "MILLISECOND": 14,
    "AM": 0,
    "PM": 1,
    "JANUARY": 0,
    "FEBRUARY": 1,
    "MARCH": 2,
    "APRIL": 3,
    "MAY": 4,
    "JUNE": 5,
    "JULY": 6,
    "AUGUST": 7,
    "SEPTEMBER": 8,
    "OCTOBER": 9,
    "NOVEMBER": 10,
    "DECEMBER": 11,
    "SUNDAY": 1,
    "MONDAY": 2,
    "TUESDAY": 3,
    "WEDNESDAY": 4,
    "THURSDAY": 5,
    "FRIDAY": 6,
    "SATURDAY": 7,
};

/// Whether a use of a field depends on where weeks begin, which the machine's language decides.
pub(crate) fn is_of_weeks(method: &str, field: &str) -> bool {
    let week = matches!(
        field,
        "WEEK_OF_YEAR" | "WEEK_OF_MONTH" | "DAY_OF_WEEK_IN_MONTH"
    );
    match method {
        "get" | "getAt" => week,
        "set" | "putAt" => week || field == "DAY_OF_WEEK",
        _ => false,
    }
}
