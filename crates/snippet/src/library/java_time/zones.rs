//! `ZoneId` and `ZoneOffset`.

use std::rc::Rc;
use std::sync::Arc;

use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::{beyond, formats, wrong};
use crate::Value;
use crate::class::{Answer, Class, Routine, between, routine};
use crate::library::{integer, text_of, thing};
use crate::machine::{Machine, Stop};
use crate::temporal::{DateParts, Temporal, Zone};
use crate::value::Thing;

pub(super) fn value(zone: Zone) -> Value {
    Value::thing(Thing::ZoneId(Rc::new(zone)))
}

/// The zone that an argument is.
pub(super) fn zone(argument: &Value) -> Result<Zone, Stop> {
    match argument.as_thing() {
        Some(Thing::ZoneId(zone)) => Ok(Zone::clone(zone)),
        _ => Err(Stop::unknown("what is no ZoneId as a time zone")),
    }
}

/// The time zone of the machine that runs the script.
pub(super) fn of_machine(machine: &Machine<'_>) -> Zone {
    let rules = machine.host.time_zone();
    let name = rules.iana_name().unwrap_or("UTC").into();
    Zone { name, rules }
}

fn named(name: &str) -> Answer {
    Zone::named(name).map(value).ok_or_else(|| {
        Stop::thrown(
            "java.time.zone.ZoneRulesException",
            format!("Unknown time-zone ID: {name}"),
        )
    })
}

/// A local time in a zone: one that the clock leaves out is later by what it leaves out.
pub(super) fn at(local: DateTime, zone: &Zone) -> Answer {
    let zoned = local.to_zoned(zone.rules.clone()).map_err(|_| beyond())?;
    Ok(super::value(Temporal::Zoned(zoned, zone.clone())))
}

/// A local time at an offset.
pub(super) fn at_offset(local: DateTime, zone: &Zone) -> Answer {
    let offset = zone.as_offset();
    let offset = offset.ok_or_else(|| Stop::unknown("a ZoneId that is no offset here"))?;
    let rules = Zone::offset(offset).rules;
    let zoned = local.to_zoned(rules).map_err(|_| beyond())?;
    Ok(super::value(Temporal::Offset(zoned)))
}

/// As `ZonedDateTime.from` what was read.
pub(super) fn of_parts(parts: &DateParts, text: &str) -> Answer {
    let unreadable = || formats::unreadable(text);
    let (date, time) = parts.date.zip(parts.time).ok_or_else(unreadable)?;
    let local = date.to_datetime(time);
    let zone = match (&parts.zone, parts.offset) {
        (Some(rules), _) => Zone {
            name: rules.iana_name().unwrap_or("UTC").into(),
            rules: rules.clone(),
        },
        (None, Some(offset)) => Zone::offset(offset),
        (None, None) => return Err(unreadable()),
    };
    match parts.offset {
        // The offset says when, the zone how it is shown.
        Some(offset) => {
            let at = offset.to_timestamp(local).map_err(|_| beyond())?;
            let zoned = at.to_zoned(zone.rules.clone());
            Ok(super::value(Temporal::Zoned(zoned, zone)))
        }
        None => at(local, &zone),
    }
}

const OF_ZONES: &[Routine] = &[
    routine("getId", 0, |_, of, _| {
        Ok(Value::Text(Arc::clone(&thing!(of, ZoneId).name)))
    }),
    routine("getTotalSeconds", 0, |_, of, _| {
        let offset = thing!(of, ZoneId).as_offset();
        let offset = offset.ok_or_else(|| Stop::unknown("the seconds of a ZoneId"))?;
        Ok(Value::Int(offset.seconds()))
    }),
];

pub(crate) static ZONE_ID: Class = Class {
    statics: &[
        routine("of", 1, |_, _, name| named(&text_of(&name[0])?)),
        routine("systemDefault", 0, |machine, _, _| {
            Ok(value(of_machine(machine)))
        }),
    ],
    methods: &[OF_ZONES],
    ..Class::named("java.time.ZoneId")
};

pub(super) static ZONE_OFFSET: Class = Class {
    statics: &[
        routine("of", 1, |_, _, name| {
            let name = text_of(&name[0])?;
            match Zone::named(&name) {
                Some(zone) if zone.is_offset() => Ok(value(zone)),
                _ => Err(wrong(format!(
                    "Invalid ID for ZoneOffset, invalid format: {name}"
                ))),
            }
        }),
        routine("ofHours", 1, |_, _, hours| of_hours(integer(&hours[0])?, 0)),
        between("ofHoursMinutes", 2, 2, |_, _, parts| {
            of_hours(integer(&parts[0])?, integer(&parts[1])?)
        }),
        routine("ofTotalSeconds", 1, |_, _, seconds| {
            of_seconds(integer(&seconds[0])?)
        }),
    ],
    constants: &[("UTC", |_| value(Zone::offset(Offset::UTC)))],
    methods: &[OF_ZONES],
    ..Class::named("java.time.ZoneOffset")
};

fn of_hours(hours: i64, minutes: i64) -> Answer {
    if hours.abs() > 18 || minutes.abs() > 59 {
        return Err(wrong("Zone offset hours not in valid range"));
    }
    of_seconds(hours * 3_600 + minutes * 60)
}

fn of_seconds(seconds: i64) -> Answer {
    let known = (-64_800..=64_800).contains(&seconds);
    let offset = known.then(|| Offset::from_seconds(seconds as i32).ok());
    match offset.flatten() {
        Some(offset) => Ok(value(Zone::offset(offset))),
        None => Err(wrong("Zone offset not in valid range: -18:00 to +18:00")),
    }
}
