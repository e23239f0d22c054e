//! A `java.util.GregorianCalendar`: a moment, and the fields that a clock of its zone shows.
//!
//! As in Java, what is set counts only when somebody asks for the time or a field: until then the
//! fields may contradict each other, and the one that was set last decides. The weeks of a year or
//! month are absent, because where they begin depends on the machine's language.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::AmbiguousOffset;
use jiff::{SignedDuration, Span, Timestamp, Zoned};

use crate::temporal::{Zone, plus_months};

const DAY_MS: i64 = 86_400_000;
const HOUR_MS: i64 = 3_600_000;

/// A field by Java's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Era,
    Year,
    Month,
    Week,
    DayOfMonth,
    DayOfYear,
    DayOfWeek,
    AmPm,
    Hour,
    HourOfDay,
    Minute,
    Second,
    Millisecond,
}

impl Field {
    pub(crate) fn numbered(number: i64) -> Option<Self> {
        Some(match number {
            0 => Self::Era,
            1 => Self::Year,
            2 => Self::Month,
            3 | 4 | 8 => Self::Week,
            5 => Self::DayOfMonth,
            6 => Self::DayOfYear,
            7 => Self::DayOfWeek,
            9 => Self::AmPm,
            10 => Self::Hour,
            11 => Self::HourOfDay,
            12 => Self::Minute,
            13 => Self::Second,
            14 => Self::Millisecond,
            _ => return None,
        })
    }
}

/// A calendar's moment or fields.
#[derive(Debug, Clone)]
pub(crate) struct Calendar {
    /// Milliseconds since 1970, of the fields without what was set.
    at: i64,
    /// What the clock showed when somebody looked last.
    shown: DateTime,
    /// What was set since, in its order.
    set: Vec<(Field, i64)>,
    /// The zone is another one since somebody looked.
    is_moved: bool,
    pub(crate) zone: Zone,
}

impl Calendar {
    /// At a moment; `None` beyond the calendar.
    pub(crate) fn at(at: i64, zone: Zone) -> Option<Self> {
        let shown = zoned(at, &zone)?.datetime();
        Some(Self {
            at,
            shown,
            set: Vec::new(),
            is_moved: false,
            zone,
        })
    }

    /// Moves it to another moment.
    pub(crate) fn set_at(&mut self, at: i64) -> Option<()> {
        *self = Self::at(at, self.zone.clone())?;
        Some(())
    }

    /// Another zone, which shows another time, or gives what was set another moment.
    pub(crate) fn set_zone(&mut self, zone: Zone) {
        self.zone = zone;
        self.is_moved = true;
    }

    /// Sets a field.
    pub(crate) fn set(&mut self, field: Field, to: i64) {
        self.set.push((field, to));
    }

    /// Sets fields one after the other.
    pub(crate) fn set_all(&mut self, fields: &[(Field, i64)]) {
        self.set.extend(fields);
    }

    /// Milliseconds since 1970.
    pub(crate) fn millis(&mut self) -> Option<i64> {
        if !self.set.is_empty() {
            let at = self.resolved()?;
            self.set_at(at)?;
        }
        Some(self.at)
    }

    /// Whether both are at the same moment in the same zone.
    pub(crate) fn equals(&mut self, other: &mut Self) -> bool {
        self.millis() == other.millis() && self.zone.name == other.zone.name
    }

    /// What the clock shows.
    fn looked_at(&mut self) -> Option<DateTime> {
        let at = self.millis()?;
        if self.is_moved {
            self.set_at(at)?;
        }
        Some(self.shown)
    }

    /// A field; `None` for those that are not known.
    pub(crate) fn get(&mut self, field: Field) -> Option<i32> {
        let shown = self.looked_at()?;
        Some(match field {
            Field::Era => 1,
            Field::Year => shown.year().into(),
            Field::Month => i32::from(shown.month()) - 1,
            Field::Week => return None,
            Field::DayOfMonth => shown.day().into(),
            Field::DayOfYear => shown.day_of_year().into(),
            Field::DayOfWeek => shown.weekday().to_sunday_one_offset().into(),
            Field::AmPm => (shown.hour() / 12).into(),
            Field::Hour => (shown.hour() % 12).into(),
            Field::HourOfDay => shown.hour().into(),
            Field::Minute => shown.minute().into(),
            Field::Second => shown.second().into(),
            Field::Millisecond => shown.millisecond().into(),
        })
    }

    /// The last day of the month, or of the year.
    pub(crate) fn last(&mut self, field: Field) -> Option<i32> {
        let shown = self.looked_at()?;
        match field {
            Field::DayOfMonth => Some(shown.days_in_month().into()),
            Field::DayOfYear => Some(shown.days_in_year().into()),
            _ => None,
        }
    }

    /// Goes on by an amount of a field: hours and less are spans of time, days and more keep what
    /// the clock shows.
    pub(crate) fn add(&mut self, field: Field, amount: i64) -> Option<()> {
        let shown = self.looked_at()?;
        let unit = match field {
            Field::Year | Field::Month => {
                let months = if field == Field::Year { 12 } else { 1 };
                let day = plus_months(shown.date(), amount.checked_mul(months)?)?;
                self.set(Field::Year, day.year().into());
                self.set(Field::Month, i64::from(day.month()) - 1);
                if day.day() != shown.day() {
                    self.set(Field::DayOfMonth, day.day().into());
                }
                return Some(());
            }
            Field::Hour | Field::HourOfDay => HOUR_MS,
            Field::Minute => 60_000,
            Field::Second => 1_000,
            Field::Millisecond => 1,
            Field::Week => return self.add_days(amount.checked_mul(7)?, 0),
            Field::DayOfMonth | Field::DayOfYear | Field::DayOfWeek => {
                return self.add_days(amount, 0);
            }
            Field::AmPm => return self.add_days(amount / 2, amount % 2 * 12 * HOUR_MS),
            Field::Era => return None,
        };
        self.set_at(self.at.checked_add(amount.checked_mul(unit)?)?)
    }

    /// Another day at this time: first with the old offset of the zone, then put right by the
    /// difference, unless that leads to another day.
    fn add_days(&mut self, days: i64, later_ms: i64) -> Option<()> {
        let old_offset = self.offset_ms()?;
        let local = self.at.checked_add(old_offset)?.checked_add(later_ms)?;
        let local = local.checked_add(days.checked_mul(DAY_MS)?)?;
        self.set_at(local.checked_sub(old_offset)?)?;
        let difference = old_offset - self.offset_ms()?;
        if difference != 0 {
            let as_it_is = self.at;
            self.set_at(as_it_is + difference)?;
            if (self.at + self.offset_ms()?).div_euclid(DAY_MS) != local.div_euclid(DAY_MS) {
                self.set_at(as_it_is)?;
            }
        }
        Some(())
    }

    fn offset_ms(&self) -> Option<i64> {
        let at = zoned(self.at, &self.zone)?;
        Some(i64::from(at.offset().seconds()) * 1_000)
    }

    /// The moment that the fields stand for. A time that the clock shows twice is the second one,
    /// and one that it leaves out is as if it had not been put forward yet.
    fn resolved(&self) -> Option<i64> {
        let last = |fields: &[Field]| {
            let of_these = |(field, _): &&(Field, i64)| fields.contains(field);
            self.set.iter().rfind(of_these).copied()
        };
        let value = |field: Field, otherwise: i64| last(&[field]).map_or(otherwise, |(_, to)| to);
        let shown = self.shown;
        let hour = i64::from(shown.hour());
        let hours = match last(&[Field::HourOfDay, Field::Hour, Field::AmPm]) {
            None => hour,
            Some((Field::HourOfDay, hour)) => hour,
            Some(_) => value(Field::Hour, hour % 12) + 12 * value(Field::AmPm, hour / 12),
        };
        let minutes = value(Field::Minute, shown.minute().into());
        let seconds = value(Field::Second, shown.second().into());
        let millis = value(Field::Millisecond, shown.millisecond().into());
        let (year, of_year) = (value(Field::Year, shown.year().into()), shown.month() - 1);
        let (months, days) = match last(&[Field::DayOfMonth, Field::DayOfYear]) {
            Some((Field::DayOfYear, day)) => (0, day),
            day => {
                let day = day.map_or(shown.day().into(), |(_, day)| day);
                (value(Field::Month, of_year.into()), day)
            }
        };
        let first = Date::new(i16::try_from(year).ok()?, 1, 1).ok()?;
        let first = plus_months(first, months)?;
        let day = first.checked_add(Span::new().try_days(days.checked_sub(1)?).ok()?);
        let time = [
            (hours, HOUR_MS),
            (minutes, 60_000),
            (seconds, 1_000),
            (millis, 1),
        ];
        let time = time.into_iter().try_fold(0_i64, |sum, (count, unit)| {
            sum.checked_add(count.checked_mul(unit)?)
        });
        let local = day.ok()?.to_datetime(Time::midnight());
        let local = local.checked_add(SignedDuration::from_millis(time?)).ok()?;
        let known = self.zone.rules.to_ambiguous_zoned(local);
        let known = match known.offset() {
            AmbiguousOffset::Fold { .. } => known.later(),
            _ => known.compatible(),
        };
        Some(known.ok()?.timestamp().as_millisecond())
    }
}

/// A moment in a zone, in the centuries that have one calendar only: Java has an older one before
/// October 1582.
fn zoned(at: i64, zone: &Zone) -> Option<Zoned> {
    let zoned = Timestamp::from_millisecond(at).ok()?;
    let zoned = zoned.to_zoned(zone.rules.clone());
    (zoned.year() >= 1583).then_some(zoned)
}
