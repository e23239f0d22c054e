//! Units of time: going on by them, counting them, cutting off what is smaller.

use jiff::SignedDuration;
use jiff::civil::{Date, Time};

use super::{beyond, made, moments, temporal, unsupported};
use crate::Value;
use crate::class::Answer;
use crate::library::integer;
use crate::machine::Stop;
use crate::temporal::{Period, Temporal, plus_months};
use crate::value::Thing;

/// A unit of time, as `ChronoUnit` has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
    Nanos,
    Micros,
    Millis,
    Seconds,
    Minutes,
    Hours,
    HalfDays,
    Days,
    Weeks,
    Months,
    Years,
    Decades,
    Centuries,
}

/// In the order of `ChronoUnit`.
const ALL: [Unit; 13] = [
    Unit::Nanos,
    Unit::Micros,
    Unit::Millis,
    Unit::Seconds,
    Unit::Minutes,
    Unit::Hours,
    Unit::HalfDays,
    Unit::Days,
    Unit::Weeks,
    Unit::Months,
    Unit::Years,
    Unit::Decades,
    Unit::Centuries,
];

impl Unit {
    /// The unit that an argument names.
    pub(super) fn of(argument: &Value) -> Result<Self, Stop> {
        let unit = match argument.as_thing() {
            Some(Thing::Named(names, at)) if names.are_units() => ALL.get(usize::from(*at)),
            _ => None,
        };
        unit.copied()
            .ok_or_else(|| Stop::unknown("what is no ChronoUnit as a unit of time"))
    }

    /// How long it is, by the clock; months and years have no length.
    pub(super) fn nanos(self) -> Option<i128> {
        Some(match self {
            Self::Nanos => 1,
            Self::Micros => 1_000,
            Self::Millis => 1_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Minutes => 60_000_000_000,
            Self::Hours => 3_600_000_000_000,
            Self::HalfDays => 43_200_000_000_000,
            Self::Days => 86_400_000_000_000,
            _ => return None,
        })
    }

    /// Whether the calendar counts it, not the clock.
    fn is_of_dates(self) -> bool {
        self as u8 >= Self::Days as u8
    }

    pub(super) fn unsupported(self) -> Stop {
        unsupported(format!("Unsupported unit: {self:?}"))
    }

    /// A time without what is smaller than the unit.
    pub(super) fn cut(self, time: Time) -> Result<Time, Stop> {
        if self.is_of_dates() && self != Self::Days {
            return Err(unsupported("Unit is too large to be used for truncation"));
        }
        let length = self.nanos().ok_or_else(|| self.unsupported())?;
        let since = i128::from(nano_of_day(time));
        let kept = since - since % length;
        let kept = i64::try_from(kept).unwrap_or(0);
        Ok(Time::midnight().wrapping_add(SignedDuration::from_nanos(kept)))
    }
}

fn nano_of_day(time: Time) -> i64 {
    let seconds =
        i64::from(time.hour()) * 3_600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    seconds * 1_000_000_000 + i64::from(time.subsec_nanosecond())
}

/// So many units later.
pub(crate) fn shifted(of: &Value, by: i64, unit: Unit) -> Answer {
    if let Some(Thing::Instant(at)) = of.as_thing() {
        let length = unit.nanos().ok_or_else(|| unit.unsupported())?;
        let by = i128::from(by) * length;
        return moments::later(*at, by);
    }
    let temporal = temporal(of)?;
    if !unit.is_of_dates() {
        let length = unit.nanos().ok_or_else(|| unit.unsupported())?;
        let nanos = i128::from(by).saturating_mul(length);
        let by = duration(nanos)?;
        if temporal.time().is_none() {
            return Err(unit.unsupported());
        }
        return made(temporal.later(by));
    }
    let date = temporal.date().ok_or_else(|| unit.unsupported())?;
    made(date_later(date, by, unit).and_then(|date| temporal.with(Some(date), None)))
}

fn date_later(date: Date, by: i64, unit: Unit) -> Option<Date> {
    let days = |days: i64| {
        let span = jiff::Span::new().try_days(days).ok()?;
        date.checked_add(span).ok()
    };
    match unit {
        Unit::Weeks => days(by.checked_mul(7)?),
        Unit::Months => plus_months(date, by),
        Unit::Years => plus_months(date, by.checked_mul(12)?),
        Unit::Decades => plus_months(date, by.checked_mul(120)?),
        Unit::Centuries => plus_months(date, by.checked_mul(1_200)?),
        _ => days(by),
    }
}

pub(super) fn duration(nanos: i128) -> Result<SignedDuration, Stop> {
    let seconds = i64::try_from(nanos.div_euclid(1_000_000_000)).map_err(|_| beyond())?;
    let rest = nanos.rem_euclid(1_000_000_000) as i32;
    Ok(SignedDuration::new(seconds, rest))
}

/// `plus(count, unit)`, `plus(duration)`, `plus(period)`.
pub(super) fn plus(of: &Value, by: &[Value]) -> Answer {
    match by {
        [count, unit] => shifted(of, integer(count)?, Unit::of(unit)?),
        _ => plus_amount(of, &by[0], 1),
    }
}

/// As `plus`, the other way.
pub(super) fn minus(of: &Value, by: &[Value]) -> Answer {
    match by {
        [count, unit] => shifted(of, integer(count)?.saturating_neg(), Unit::of(unit)?),
        _ => plus_amount(of, &by[0], -1),
    }
}

/// With a duration or a period, forwards or backwards.
pub(super) fn plus_amount(of: &Value, amount: &Value, sign: i64) -> Answer {
    match amount.as_thing() {
        Some(Thing::Duration(duration)) => {
            let nanos = duration.as_nanos() * i128::from(sign);
            match of.as_thing() {
                Some(Thing::Instant(at)) => moments::later(*at, nanos),
                _ if temporal(of)?.time().is_none() => Err(Unit::Seconds.unsupported()),
                _ => made(temporal(of)?.later(self::duration(nanos)?)),
            }
        }
        Some(Thing::Period(period)) => {
            let Period {
                years,
                months,
                days,
            } = **period;
            let months = (i64::from(years) * 12 + i64::from(months)) * sign;
            let months = shifted(of, months, Unit::Months)?;
            shifted(&months, i64::from(days) * sign, Unit::Days)
        }
        _ => Err(Stop::unknown("what is neither Duration nor Period here")),
    }
}

/// How many whole units lie between two dates, times or moments.
pub(super) fn until(unit: Unit, from: &Value, to: &Value) -> Result<i64, Stop> {
    if let (Some(Thing::Instant(from)), Some(Thing::Instant(to))) = (from.as_thing(), to.as_thing())
    {
        let length = unit.nanos().ok_or_else(|| unit.unsupported())?;
        let nanos = (i128::from(*to) - i128::from(*from)) * 1_000_000;
        return i64::try_from(nanos / length).map_err(|_| beyond());
    }
    let (from, to) = (temporal(from)?, temporal(to)?);
    if from.class() != to.class() {
        return Err(Stop::unknown("the time between different kinds of time"));
    }
    // Both by the clock of the first.
    let moved = match (from.zoned(), to.zoned()) {
        (Some(from), Some(to)) => Some(to.with_time_zone(from.time_zone().clone())),
        _ => None,
    };
    let (end_date, end_time) = match &moved {
        Some(moved) => (Some(moved.date()), Some(moved.time())),
        None => (to.date(), to.time()),
    };
    if unit.is_of_dates() {
        let (Some(start), Some(mut end)) = (from.date(), end_date) else {
            return Err(unit.unsupported());
        };
        if let (Some(first), Some(last)) = (from.time(), end_time) {
            if end > start && last < first {
                end = end.yesterday().map_err(|_| beyond())?;
            } else if end < start && last > first {
                end = end.tomorrow().map_err(|_| beyond())?;
            }
        }
        return Ok(dates_until(unit, start, end));
    }
    let length = unit.nanos().ok_or_else(|| unit.unsupported())?;
    let nanos = nanos_between(from, to).ok_or_else(|| unit.unsupported())?;
    i64::try_from(nanos / length).map_err(|_| beyond())
}

/// From one to the other by the clock of the world; dates have none.
pub(super) fn nanos_between(from: &Temporal, to: &Temporal) -> Option<i128> {
    if let (Some(from), Some(to)) = (from.zoned(), to.zoned()) {
        return Some(to.timestamp().as_nanosecond() - from.timestamp().as_nanosecond());
    }
    let at = |temporal: &Temporal| {
        let time = i128::from(nano_of_day(temporal.time()?));
        let day = temporal.date().map_or(0, day);
        Some(i128::from(day) * 86_400_000_000_000 + time)
    };
    Some(at(to)? - at(from)?)
}

/// Days since 1970.
fn day(date: Date) -> i64 {
    let midnight = date.to_datetime(Time::midnight());
    let at = jiff::tz::Offset::UTC.to_timestamp(midnight);
    at.map_or(0, |at| at.as_second().div_euclid(86_400))
}

fn dates_until(unit: Unit, from: Date, to: Date) -> i64 {
    let days = || day(to) - day(from);
    let months = || {
        let at = |date: Date| {
            let months = i64::from(date.year()) * 12 + i64::from(date.month()) - 1;
            months * 32 + i64::from(date.day())
        };
        (at(to) - at(from)) / 32
    };
    match unit {
        Unit::Weeks => days() / 7,
        Unit::Months => months(),
        Unit::Years => months() / 12,
        Unit::Decades => months() / 120,
        Unit::Centuries => months() / 1_200,
        _ => days(),
    }
}
