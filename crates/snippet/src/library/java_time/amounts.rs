//! `Duration` and `Period`.

use std::rc::Rc;

use jiff::SignedDuration;

use super::units::{self, Unit, nanos_between};
use super::{beyond, date, temporal};
use crate::Value;
use crate::class::{Answer, Class, between, routine};
use crate::library::{integer, thing};
use crate::machine::Stop;
use crate::temporal::Period;
use crate::value::Thing;

fn duration(nanos: i128) -> Answer {
    let duration = units::duration(nanos)?;
    Ok(Value::thing(Thing::Duration(Rc::new(duration))))
}

fn nanos(of: &Value) -> Result<i128, Stop> {
    Ok(thing!(of, Duration).as_nanos())
}

/// So many units as a duration.
fn of_units(count: &Value, unit: Unit) -> Answer {
    let length = unit.nanos().ok_or_else(|| unit.unsupported())?;
    duration(i128::from(integer(count)?) * length)
}

fn long(value: i128) -> Answer {
    i64::try_from(value).map(Value::Long).map_err(|_| beyond())
}

/// So many whole units of a duration; Java rounds seconds down, and the rest to 0 from there.
fn whole(of: &Value, nanos_each: i128) -> Answer {
    let seconds = nanos(of)?.div_euclid(1_000_000_000);
    long(seconds / (nanos_each / 1_000_000_000))
}

/// What is left of the seconds in the next larger unit.
fn part(of: &Value, seconds_each: i128, most: i128) -> Answer {
    let seconds = nanos(of)?.div_euclid(1_000_000_000);
    Ok(Value::Int((seconds / seconds_each % most) as i32))
}

macro_rules! shifts {
    ($unit:ident, $plus:literal, $minus:literal) => {
        [
            routine($plus, 1, |_, of, by| {
                duration(nanos(of)? + nanos(&of_units(&by[0], Unit::$unit)?)?)
            }),
            routine($minus, 1, |_, of, by| {
                duration(nanos(of)? - nanos(&of_units(&by[0], Unit::$unit)?)?)
            }),
        ]
    };
}

pub(crate) static DURATION: Class = Class {
    statics: &[
        routine("ofDays", 1, |_, _, count| of_units(&count[0], Unit::Days)),
        routine("ofHours", 1, |_, _, count| of_units(&count[0], Unit::Hours)),
        routine("ofMinutes", 1, |_, _, count| {
            of_units(&count[0], Unit::Minutes)
        }),
        between("ofSeconds", 1, 2, |_, _, count| {
            let rest = count.get(1).map_or(Ok(0), integer)?;
            duration(i128::from(integer(&count[0])?) * 1_000_000_000 + i128::from(rest))
        }),
        routine("ofMillis", 1, |_, _, count| {
            of_units(&count[0], Unit::Millis)
        }),
        routine("ofNanos", 1, |_, _, count| of_units(&count[0], Unit::Nanos)),
        routine("of", 2, |_, _, arguments| {
            of_units(&arguments[0], Unit::of(&arguments[1])?)
        }),
        routine("between", 2, |_, _, ends| {
            if let (Some(Thing::Instant(from)), Some(Thing::Instant(to))) =
                (ends[0].as_thing(), ends[1].as_thing())
            {
                return duration((i128::from(*to) - i128::from(*from)) * 1_000_000);
            }
            let (from, to) = (temporal(&ends[0])?, temporal(&ends[1])?);
            if from.class() != to.class() {
                return Err(Stop::unknown("the time between different kinds of time"));
            }
            let between = nanos_between(from, to);
            duration(between.ok_or_else(|| Unit::Seconds.unsupported())?)
        }),
    ],
    constants: &[("ZERO", |_| {
        Value::thing(Thing::Duration(Rc::new(SignedDuration::ZERO)))
    })],
    methods: &[
        &[
            routine("getSeconds", 0, |_, of, _| whole(of, 1_000_000_000)),
            routine("toSeconds", 0, |_, of, _| whole(of, 1_000_000_000)),
            routine("getNano", 0, |_, of, _| {
                Ok(Value::Int(nanos(of)?.rem_euclid(1_000_000_000) as i32))
            }),
            routine("toDays", 0, |_, of, _| whole(of, 86_400_000_000_000)),
            routine("toHours", 0, |_, of, _| whole(of, 3_600_000_000_000)),
            routine("toMinutes", 0, |_, of, _| whole(of, 60_000_000_000)),
            routine("toMillis", 0, |_, of, _| {
                long(nanos(of)?.div_euclid(1_000_000))
            }),
            routine("toNanos", 0, |_, of, _| long(nanos(of)?)),
            routine("toDaysPart", 0, |_, of, _| whole(of, 86_400_000_000_000)),
            routine("toHoursPart", 0, |_, of, _| part(of, 3_600, 24)),
            routine("toMinutesPart", 0, |_, of, _| part(of, 60, 60)),
            routine("toSecondsPart", 0, |_, of, _| part(of, 1, 60)),
            routine("toMillisPart", 0, |_, of, _| {
                let rest = nanos(of)?.rem_euclid(1_000_000_000);
                Ok(Value::Int((rest / 1_000_000) as i32))
            }),
            routine("plus", 1, |_, of, by| duration(nanos(of)? + nanos(&by[0])?)),
            routine("minus", 1, |_, of, by| {
                duration(nanos(of)? - nanos(&by[0])?)
            }),
            routine("multipliedBy", 1, |_, of, by| {
                let by = i128::from(integer(&by[0])?);
                duration(nanos(of)?.checked_mul(by).ok_or_else(beyond)?)
            }),
            routine("dividedBy", 1, |_, of, by| {
                let by = match by[0].as_thing() {
                    Some(Thing::Duration(by)) => {
                        let by = by.as_nanos();
                        return match nanos(of)?.checked_div(by) {
                            Some(times) => long(times),
                            None => Err(by_zero()),
                        };
                    }
                    _ => i128::from(integer(&by[0])?),
                };
                duration(nanos(of)?.checked_div(by).ok_or_else(by_zero)?)
            }),
            routine("negated", 0, |_, of, _| duration(-nanos(of)?)),
            routine("abs", 0, |_, of, _| duration(nanos(of)?.abs())),
            routine("isZero", 0, |_, of, _| Ok(Value::Bool(nanos(of)? == 0))),
            routine("isNegative", 0, |_, of, _| Ok(Value::Bool(nanos(of)? < 0))),
            routine("compareTo", 1, |_, of, to| {
                let ordering = nanos(of)?.cmp(&nanos(&to[0])?);
                Ok(Value::Int(ordering as i32))
            }),
        ],
        &shifts!(Days, "plusDays", "minusDays"),
        &shifts!(Hours, "plusHours", "minusHours"),
        &shifts!(Minutes, "plusMinutes", "minusMinutes"),
        &shifts!(Seconds, "plusSeconds", "minusSeconds"),
        &shifts!(Millis, "plusMillis", "minusMillis"),
        &shifts!(Nanos, "plusNanos", "minusNanos"),
    ],
    ..Class::named("java.time.Duration")
};

fn by_zero() -> Stop {
    Stop::thrown("java.lang.ArithmeticException", "Cannot divide by zero")
}

fn period(years: i64, months: i64, days: i64) -> Answer {
    let part = |number: i64| i32::try_from(number).map_err(|_| beyond());
    Ok(Value::thing(Thing::Period(Rc::new(Period {
        years: part(years)?,
        months: part(months)?,
        days: part(days)?,
    }))))
}

/// As `Period.between`: dates only.
pub(super) fn period_between(from: &Value, to: &Value) -> Answer {
    let between = Period::between(date(from)?, date(to)?);
    Ok(Value::thing(Thing::Period(Rc::new(between))))
}

fn period_of(of: &Value) -> Result<Period, Stop> {
    Ok(**thing!(of, Period))
}

fn period_plus(of: &Value, by: &Value, sign: i64) -> Answer {
    let (of, by) = (period_of(of)?, period_of(by)?);
    let sum = |one: i32, other: i32| i64::from(one) + i64::from(other) * sign;
    period(
        sum(of.years, by.years),
        sum(of.months, by.months),
        sum(of.days, by.days),
    )
}

/// So many days more.
pub(super) fn period_later(of: &Value, days: i64) -> Answer {
    period_plus(of, &period(0, 0, days)?, 1)
}

pub(crate) static PERIOD: Class = Class {
    statics: &[
        routine("of", 3, |_, _, parts| {
            period(
                integer(&parts[0])?,
                integer(&parts[1])?,
                integer(&parts[2])?,
            )
        }),
        routine("ofDays", 1, |_, _, days| period(0, 0, integer(&days[0])?)),
        routine("ofWeeks", 1, |_, _, weeks| {
            period(0, 0, integer(&weeks[0])?.saturating_mul(7))
        }),
        routine("ofMonths", 1, |_, _, months| {
            period(0, integer(&months[0])?, 0)
        }),
        routine("ofYears", 1, |_, _, years| {
            period(integer(&years[0])?, 0, 0)
        }),
        routine("between", 2, |_, _, ends| {
            period_between(&ends[0], &ends[1])
        }),
    ],
    constants: &[("ZERO", |_| {
        Value::thing(Thing::Period(Rc::new(Period::default())))
    })],
    methods: &[&[
        routine("getDays", 0, |_, of, _| Ok(Value::Int(period_of(of)?.days))),
        routine("getMonths", 0, |_, of, _| {
            Ok(Value::Int(period_of(of)?.months))
        }),
        routine("getYears", 0, |_, of, _| {
            Ok(Value::Int(period_of(of)?.years))
        }),
        routine("toTotalMonths", 0, |_, of, _| {
            let period = period_of(of)?;
            let months = i64::from(period.years) * 12 + i64::from(period.months);
            Ok(Value::Long(months))
        }),
        routine("plus", 1, |_, of, by| period_plus(of, &by[0], 1)),
        routine("minus", 1, |_, of, by| period_plus(of, &by[0], -1)),
        routine("negated", 0, |_, of, _| {
            let zero = Value::thing(Thing::Period(Rc::new(Period::default())));
            period_plus(&zero, of, -1)
        }),
    ]],
    ..Class::named("java.time.Period")
};
