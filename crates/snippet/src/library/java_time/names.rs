//! Constants with names: `ChronoUnit`, `DayOfWeek`, `Month`, `TimeUnit`, `Locale`.

use crate::Value;
use crate::class::{Class, Routine, routine};
use crate::library::{integer, time};
use crate::machine::Stop;
use crate::value::Thing;

/// The constants of a class.
#[derive(Debug)]
pub(crate) struct Names {
    pub(crate) class: &'static Class,
    /// What `toString` gives, in order.
    shown: &'static [&'static str],
    /// The number of the first one.
    first: i64,
}

impl Names {
    pub(crate) fn shown(&self, at: u8) -> &'static str {
        self.shown.get(usize::from(at)).copied().unwrap_or_default()
    }

    pub(super) fn are_units(&self) -> bool {
        std::ptr::eq(self.class, &raw const CHRONO_UNIT)
    }

    pub(crate) fn are_roundings(&self) -> bool {
        std::ptr::eq(self.class, &raw const ROUNDING_MODE)
    }

    /// As `getValue`.
    pub(super) fn number(&self, at: u8) -> i64 {
        i64::from(at) + self.first
    }
}

static UNITS: Names = Names {
    class: &CHRONO_UNIT,
    shown: &[
        "Nanos",
        "Micros",
        "Millis",
        "Seconds",
        "Minutes",
        "Hours",
        "HalfDays",
        "Days",
        "Weeks",
        "Months",
        "Years",
        "Decades",
        "Centuries",
    ],
    first: 0,
};
static DAYS: Names = Names {
    class: &DAY_OF_WEEK,
    shown: &[
        "MONDAY",
        "TUESDAY",
        "WEDNESDAY",
        "THURSDAY",
        "FRIDAY",
        "SATURDAY",
        "SUNDAY",
    ],
    first: 1,
};
static MONTHS: Names = Names {
    class: &MONTH,
    shown: &[
        "JANUARY",
        "FEBRUARY",
        "MARCH",
        "APRIL",
        "MAY",
        "JUNE",
        "JULY",
        "AUGUST",
        "SEPTEMBER",
        "OCTOBER",
        "NOVEMBER",
        "DECEMBER",
    ],
    first: 1,
};
static TIMES: Names = Names {
    class: &TIME_UNIT,
    shown: &[
        "NANOSECONDS",
        "MICROSECONDS",
        "MILLISECONDS",
        "SECONDS",
        "MINUTES",
        "HOURS",
        "DAYS",
    ],
    first: 0,
};
static ROUNDINGS: Names = Names {
    class: &ROUNDING_MODE,
    shown: &[
        "UP",
        "DOWN",
        "CEILING",
        "FLOOR",
        "HALF_UP",
        "HALF_DOWN",
        "HALF_EVEN",
    ],
    first: 0,
};
static LOCALES: Names = Names {
    class: &LOCALE,
    shown: &["en", "en_US"],
    first: 0,
};

fn named(names: &'static Names, at: u8) -> Value {
    Value::thing(Thing::Named(names, at))
}

pub(super) fn month(month: i8) -> Value {
    named(&MONTHS, month.cast_unsigned().saturating_sub(1))
}

/// From Monday = 1.
pub(super) fn weekday(day: i8) -> Value {
    named(&DAYS, day.cast_unsigned().saturating_sub(1))
}

/// Names of days and months are known in English.
pub(crate) fn english(locale: &Value) -> Result<(), Stop> {
    match locale.as_thing() {
        Some(Thing::Named(names, _)) if std::ptr::eq(names.class, &raw const LOCALE) => Ok(()),
        _ => Err(Stop::unknown(
            "names of days and months that are not English",
        )),
    }
}

const OF_NAMES: &[Routine] = &[
    routine("ordinal", 0, |_, of, _| {
        let Some(Thing::Named(_, at)) = of.as_thing() else {
            return Err(Stop::unknown("this call without an object"));
        };
        Ok(Value::Int(i32::from(*at)))
    }),
    routine("compareTo", 1, |_, of, to| {
        match (of.as_thing(), to[0].as_thing()) {
            (Some(Thing::Named(_, one)), Some(Thing::Named(_, other))) => {
                Ok(Value::Int(i32::from(*one) - i32::from(*other)))
            }
            _ => Err(Stop::unknown("this call without an object")),
        }
    }),
];

/// Those whose `name` is what `toString` gives.
const OF_ENUMS: &[Routine] = &[routine("name", 0, |machine, of, _| {
    machine.text(of.to_text())
})];

/// Days and months, which follow one another around the year.
const OF_CALENDARS: &[Routine] = &[
    routine("getValue", 0, |_, of, _| match of.as_thing() {
        Some(Thing::Named(names, at)) => Ok(Value::Int(names.number(*at) as i32)),
        _ => Err(Stop::unknown("this call without an object")),
    }),
    routine("plus", 1, |_, of, by| turned(of, integer(&by[0])?)),
    routine("minus", 1, |_, of, by| {
        turned(of, integer(&by[0])?.saturating_neg())
    }),
];

/// So many further on, around the end.
fn turned(of: &Value, by: i64) -> Result<Value, Stop> {
    match of.as_thing() {
        Some(Thing::Named(names, at)) => {
            let count = i64::try_from(names.shown.len()).unwrap_or(1);
            let at = (i64::from(*at) + by.rem_euclid(count)).rem_euclid(count);
            Ok(named(names, u8::try_from(at).unwrap_or(0)))
        }
        _ => Err(Stop::unknown("this call without an object")),
    }
}

macro_rules! constants {
    ($names:ident: $($name:literal $at:literal),*) => {
        &[$(($name, |_| named(&$names, $at))),*]
    };
}

pub(super) static CHRONO_UNIT: Class = Class {
    constants: constants!(UNITS:
        "NANOS" 0, "MICROS" 1, "MILLIS" 2, "SECONDS" 3, "MINUTES" 4, "HOURS" 5, "HALF_DAYS" 6,
        "DAYS" 7, "WEEKS" 8, "MONTHS" 9, "YEARS" 10, "DECADES" 11, "CENTURIES" 12),
    methods: &[
        &[routine("between", 2, |_, of, ends| {
            let unit = super::units::Unit::of(of)?;
            let between = super::units::until(unit, &ends[0], &ends[1])?;
            Ok(Value::Long(between))
        })],
        OF_NAMES,
    ],
    ..Class::named("java.time.temporal.ChronoUnit")
};

pub(super) static DAY_OF_WEEK: Class = Class {
    statics: &[routine("of", 1, |_, _, day| {
        let day = super::field::<i8>(&day[0], "DayOfWeek")?;
        if (1..=7).contains(&day) {
            Ok(weekday(day))
        } else {
            Err(super::wrong(format!("Invalid value for DayOfWeek: {day}")))
        }
    })],
    constants: constants!(DAYS:
        "MONDAY" 0, "TUESDAY" 1, "WEDNESDAY" 2, "THURSDAY" 3, "FRIDAY" 4, "SATURDAY" 5,
        "SUNDAY" 6),
    methods: &[OF_NAMES, OF_ENUMS, OF_CALENDARS],
    ..Class::named("java.time.DayOfWeek")
};

pub(super) static MONTH: Class = Class {
    statics: &[routine("of", 1, |_, _, number| {
        let number = super::field::<i8>(&number[0], "MonthOfYear")?;
        if (1..=12).contains(&number) {
            Ok(month(number))
        } else {
            Err(super::wrong(format!(
                "Invalid value for MonthOfYear: {number}"
            )))
        }
    })],
    constants: constants!(MONTHS:
        "JANUARY" 0, "FEBRUARY" 1, "MARCH" 2, "APRIL" 3, "MAY" 4, "JUNE" 5, "JULY" 6, "AUGUST" 7,
        "SEPTEMBER" 8, "OCTOBER" 9, "NOVEMBER" 10, "DECEMBER" 11),
    methods: &[OF_NAMES, OF_ENUMS, OF_CALENDARS],
    ..Class::named("java.time.Month")
};

/// Nanoseconds of each `TimeUnit`.
const TIME_UNIT_NANOS: [i128; 7] = [
    1,
    1_000,
    1_000_000,
    1_000_000_000,
    60_000_000_000,
    3_600_000_000_000,
    86_400_000_000_000,
];

/// So many of one unit as whole ones of another; too many are as many as there can be.
fn converted(of: &Value, count: &Value, to: usize) -> Result<i64, Stop> {
    let Some(Thing::Named(_, at)) = of.as_thing() else {
        return Err(Stop::unknown("this call without an object"));
    };
    let length = TIME_UNIT_NANOS.get(usize::from(*at)).copied().unwrap_or(1);
    let nanos = i128::from(integer(count)?) * length;
    let whole = nanos / TIME_UNIT_NANOS[to];
    let bounded = whole.clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    Ok(bounded as i64)
}

pub(super) static TIME_UNIT: Class = Class {
    constants: constants!(TIMES:
        "NANOSECONDS" 0, "MICROSECONDS" 1, "MILLISECONDS" 2, "SECONDS" 3, "MINUTES" 4, "HOURS" 5,
        "DAYS" 6),
    methods: &[
        &[
            routine("toNanos", 1, |_, of, by| {
                Ok(Value::Long(converted(of, &by[0], 0)?))
            }),
            routine("toMicros", 1, |_, of, by| {
                Ok(Value::Long(converted(of, &by[0], 1)?))
            }),
            routine("toMillis", 1, |_, of, by| {
                Ok(Value::Long(converted(of, &by[0], 2)?))
            }),
            routine("toSeconds", 1, |_, of, by| {
                Ok(Value::Long(converted(of, &by[0], 3)?))
            }),
            routine("toMinutes", 1, |_, of, by| {
                Ok(Value::Long(converted(of, &by[0], 4)?))
            }),
            routine("toHours", 1, |_, of, by| {
                Ok(Value::Long(converted(of, &by[0], 5)?))
            }),
            routine("toDays", 1, |_, of, by| {
                Ok(Value::Long(converted(of, &by[0], 6)?))
            }),
            routine("sleep", 1, |machine, of, by| {
                let ms = converted(of, &by[0], 2)?;
                // Nobody sleeps backwards.
                time::sleep(machine, ms.max(0))?;
                Ok(Value::Void)
            }),
        ],
        OF_NAMES,
        OF_ENUMS,
    ],
    ..Class::named("java.util.concurrent.TimeUnit")
};

pub(crate) static ROUNDING_MODE: Class = Class {
    constants: constants!(ROUNDINGS:
        "UP" 0, "DOWN" 1, "CEILING" 2, "FLOOR" 3, "HALF_UP" 4, "HALF_DOWN" 5, "HALF_EVEN" 6),
    methods: &[OF_NAMES, OF_ENUMS],
    ..Class::named("java.math.RoundingMode")
};

pub(super) static LOCALE: Class = Class {
    statics: &[routine("getDefault", 0, |_, _, _| Ok(named(&LOCALES, 1)))],
    constants: constants!(LOCALES: "ENGLISH" 0, "US" 1),
    methods: &[&[routine("getLanguage", 0, |_, of, _| {
        english(of)?;
        Ok(Value::text("en"))
    })]],
    ..Class::named("java.util.Locale")
};
