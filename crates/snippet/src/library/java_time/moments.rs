//! Moments: `Instant`, and when dates with an offset are.

use std::cmp::Ordering;

use jiff::civil::Date;
use jiff::{Timestamp, Zoned};

use super::units::{Unit, minus, plus, shifted, until};
use super::{beyond, formats, temporal, value, zones};
use crate::Value;
use crate::class::{Answer, Class, between, routine};
use crate::library::{integer, thing, time};
use crate::machine::Stop;
use crate::temporal::{Temporal, Zone};
use crate::value::Thing;

pub(super) const EPOCH: Date = Date::constant(1970, 1, 1);

/// A moment that jiff's calendar has.
pub(super) fn timestamp(epoch_ms: i64) -> Result<Timestamp, Stop> {
    Timestamp::from_millisecond(epoch_ms).map_err(|_| beyond())
}

/// When a date with an offset is.
pub(super) fn of_zoned(of: &Value) -> Result<Timestamp, Stop> {
    if let Some(Thing::Instant(at)) = of.as_thing() {
        return timestamp(*at);
    }
    let zoned = temporal(of)?.zoned();
    let zoned = zoned.ok_or_else(|| Stop::unknown("the moment of a local time"))?;
    Ok(zoned.timestamp())
}

/// A moment as `Instant`, which has milliseconds here.
pub(super) fn instant(of: &Value) -> Answer {
    made(of_zoned(of)?)
}

fn made(at: Timestamp) -> Answer {
    if at.subsec_nanosecond() % 1_000_000 != 0 {
        return Err(Stop::unknown("an Instant with less than milliseconds"));
    }
    Ok(Value::thing(Thing::Instant(at.as_millisecond())))
}

/// So many nanoseconds later.
pub(super) fn later(at: i64, nanos: i128) -> Answer {
    if nanos % 1_000_000 != 0 {
        return Err(Stop::unknown("an Instant with less than milliseconds"));
    }
    let at = i128::from(at) + nanos / 1_000_000;
    let at = i64::try_from(at).map_err(|_| beyond())?;
    Ok(Value::thing(Thing::Instant(at)))
}

/// A moment in a zone.
pub(super) fn zoned(at: &Value, zone: &Value) -> Result<(Zoned, Zone), Stop> {
    let zone = zones::zone(zone)?;
    Ok((of_zoned(at)?.to_zoned(zone.rules.clone()), zone))
}

/// Which of two is earlier: dates with an offset by when they are.
pub(super) fn order(left: &Value, right: &Value) -> Result<Ordering, Stop> {
    if let (Some(Thing::Instant(left)), Some(Thing::Instant(right))) =
        (left.as_thing(), right.as_thing())
    {
        return Ok(left.cmp(right));
    }
    let (left, right) = (temporal(left)?, temporal(right)?);
    let order = match (left.zoned(), right.zoned()) {
        (Some(one), Some(other)) if left.class() == right.class() => {
            Some(one.timestamp().cmp(&other.timestamp()))
        }
        _ => left.compare(right),
    };
    order.ok_or_else(|| Stop::unknown("which of different kinds of time is earlier"))
}

/// As `compareTo`: dates say by how many years, months or days they differ.
pub(super) fn compare(left: &Value, right: &Value) -> Answer {
    if let (Some(Thing::Instant(left)), Some(Thing::Instant(right))) =
        (left.as_thing(), right.as_thing())
    {
        return Ok(Value::Int(left.cmp(right) as i32));
    }
    let (left, right) = (temporal(left)?, temporal(right)?);
    if let (Some(one), Some(other), None, None) =
        (left.date(), right.date(), left.zoned(), right.zoned())
    {
        let years = i32::from(one.year()) - i32::from(other.year());
        let months = i32::from(one.month()) - i32::from(other.month());
        let days = i32::from(one.day()) - i32::from(other.day());
        let first = [years, months, days].into_iter().find(|by| *by != 0);
        if let Some(by) = first {
            return Ok(Value::Int(by));
        }
    }
    let order = left.compare(right);
    let order =
        order.ok_or_else(|| Stop::unknown("which of different kinds of time is earlier"))?;
    Ok(Value::Int(order as i32))
}

pub(crate) static INSTANT: Class = Class {
    statics: &[
        routine("now", 0, |machine, _, _| {
            Ok(Value::thing(Thing::Instant(time::now(machine))))
        }),
        routine("ofEpochMilli", 1, |_, _, at| {
            Ok(Value::thing(Thing::Instant(integer(&at[0])?)))
        }),
        between("ofEpochSecond", 1, 2, |_, _, at| {
            let nanos = at.get(1).map_or(Ok(0), integer)?;
            later(
                0,
                i128::from(integer(&at[0])?) * 1_000_000_000 + i128::from(nanos),
            )
        }),
        routine("parse", 1, |machine, _, arguments| {
            let (parts, text) = formats::read(machine, arguments, "ISO_INSTANT")?;
            let local = parts.date.zip(parts.time).zip(parts.offset);
            let ((date, time), offset) = local.ok_or_else(|| formats::unreadable(&text))?;
            let at = offset.to_timestamp(date.to_datetime(time));
            made(at.map_err(|_| beyond())?)
        }),
    ],
    constants: &[("EPOCH", |_| Value::thing(Thing::Instant(0)))],
    methods: &[&[
        routine("toEpochMilli", 0, |_, of, _| {
            Ok(Value::Long(*thing!(of, Instant)))
        }),
        routine("getEpochSecond", 0, |_, of, _| {
            Ok(Value::Long(thing!(of, Instant).div_euclid(1_000)))
        }),
        routine("getNano", 0, |_, of, _| {
            let ms = thing!(of, Instant).rem_euclid(1_000);
            Ok(Value::Int(ms as i32 * 1_000_000))
        }),
        routine("plusMillis", 1, |_, of, by| {
            shifted(of, integer(&by[0])?, Unit::Millis)
        }),
        routine("plusSeconds", 1, |_, of, by| {
            shifted(of, integer(&by[0])?, Unit::Seconds)
        }),
        routine("plusNanos", 1, |_, of, by| {
            shifted(of, integer(&by[0])?, Unit::Nanos)
        }),
        routine("minusMillis", 1, |_, of, by| {
            shifted(of, integer(&by[0])?.saturating_neg(), Unit::Millis)
        }),
        routine("minusSeconds", 1, |_, of, by| {
            shifted(of, integer(&by[0])?.saturating_neg(), Unit::Seconds)
        }),
        between("plus", 1, 2, |_, of, by| plus(of, by)),
        between("minus", 1, 2, |_, of, by| minus(of, by)),
        routine("until", 2, |_, of, arguments| {
            let unit = Unit::of(&arguments[1])?;
            Ok(Value::Long(until(unit, of, &arguments[0])?))
        }),
        routine("isBefore", 1, |_, of, to| {
            Ok(Value::Bool(order(of, &to[0])?.is_lt()))
        }),
        routine("isAfter", 1, |_, of, to| {
            Ok(Value::Bool(order(of, &to[0])?.is_gt()))
        }),
        routine("compareTo", 1, |_, of, to| compare(of, &to[0])),
        routine("atZone", 1, |_, of, zone| {
            let (zoned, zone) = zoned(of, &zone[0])?;
            Ok(value(Temporal::Zoned(zoned, zone)))
        }),
        routine("atOffset", 1, |_, of, zone| {
            let (zoned, zone) = zoned(of, &zone[0])?;
            zones::at_offset(zoned.datetime(), &zone)
        }),
        routine("truncatedTo", 1, |_, of, unit| {
            let unit = Unit::of(&unit[0])?;
            let at = *thing!(of, Instant);
            let zoned = timestamp(at)?.to_zoned(jiff::tz::TimeZone::UTC);
            let cut = unit.cut(zoned.time())?;
            let local = zoned.date().to_datetime(cut);
            let at = jiff::tz::Offset::UTC.to_timestamp(local);
            made(at.map_err(|_| beyond())?)
        }),
    ]],
    ..Class::named("java.time.Instant")
};
