//! What is known of a date and time, field by field.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::{Offset, TimeZone};
use jiff::{Timestamp, Zoned};

use weir_snippet::DateParts;

use super::timestamp;

/// A field that a letter of a pattern stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Era,
    YearOfEra,
    Year,
    WeekYear,
    Quarter,
    Month,
    Week,
    WeekOfMonth,
    Day,
    DayOfYear,
    /// From Monday = 1.
    Weekday,
    /// From Sunday = 1, as in the United States.
    WeekdayFromSunday,
    /// Days since the last day whose number divides by 7, and 1.
    WeekdayInMonth,
    AmPm,
    Hour,
    HourFrom1,
    HalfDayHour,
    HalfDayHourFrom1,
    Minute,
    Second,
    Nano,
    MilliOfDay,
    NanoOfDay,
}

/// What is known; a field that is not there cannot be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(super) date: Option<Date>,
    /// What is known of the date when it is not whole.
    pub(super) year: Option<i64>,
    pub(super) month: Option<i64>,
    pub(super) day: Option<i64>,
    pub(super) day_of_year: Option<i64>,
    pub(super) weekday: Option<i64>,
    pub(super) hour: Option<i64>,
    pub(super) minute: Option<i64>,
    pub(super) second: Option<i64>,
    pub(super) nano: Option<i64>,
    pub(super) offset_s: Option<i32>,
    pub(super) zone: Option<TimeZone>,
}

impl Fields {
    /// All fields of a moment.
    pub(crate) fn of(zoned: &Zoned) -> Self {
        let time = zoned.time();
        Self {
            hour: Some(time.hour().into()),
            minute: Some(time.minute().into()),
            second: Some(time.second().into()),
            nano: Some(time.subsec_nanosecond().into()),
            offset_s: Some(zoned.offset().seconds()),
            zone: Some(zoned.time_zone().clone()),
            ..Self::of_date(zoned.date())
        }
    }

    /// All fields of a moment; `None` beyond the calendar.
    pub(crate) fn at(epoch_ms: i64, zone: TimeZone) -> Option<Self> {
        Some(Self::of(&timestamp(epoch_ms)?.to_zoned(zone)))
    }

    pub(crate) fn of_date(date: Date) -> Self {
        Self {
            date: Some(date),
            ..Self::default()
        }
    }

    /// What of a date and time there is.
    pub(crate) fn of_parts(parts: &DateParts) -> Self {
        let time = parts.time;
        Self {
            date: parts.date,
            hour: time.map(|time| time.hour().into()),
            minute: time.map(|time| time.minute().into()),
            second: time.map(|time| time.second().into()),
            nano: time.map(|time| time.subsec_nanosecond().into()),
            offset_s: parts.offset.map(Offset::seconds),
            zone: parts.zone.clone(),
            ..Self::default()
        }
    }

    /// What was read: with an hour, the rest of a time is 0 where nothing is said of it.
    pub(crate) fn parts(&self) -> DateParts {
        let small = |value: Option<i64>| i8::try_from(value.unwrap_or(0)).ok();
        let time = self.hour.and_then(|hour| {
            let nano = i32::try_from(self.nano.unwrap_or(0)).ok()?;
            let (minute, second) = (small(self.minute)?, small(self.second)?);
            Time::new(small(Some(hour))?, minute, second, nano).ok()
        });
        DateParts {
            date: self.date,
            time,
            offset: self.offset_s.and_then(|s| Offset::from_seconds(s).ok()),
            zone: self.zone.clone(),
        }
    }

    pub(crate) fn date(&self) -> Option<Date> {
        self.date
    }

    /// The moment, when date, time and offset are there; the offset says when, the zone only how it
    /// is shown.
    pub(crate) fn zoned(&self) -> Option<Zoned> {
        let offset = Offset::from_seconds(self.offset_s?).ok()?;
        let zone = self.zone.clone().unwrap_or_else(|| TimeZone::fixed(offset));
        Some(self.timestamp(offset)?.to_zoned(zone))
    }

    fn timestamp(&self, offset: Offset) -> Option<Timestamp> {
        offset.to_timestamp(self.local()?).ok()
    }

    fn local(&self) -> Option<DateTime> {
        let date = self.date?;
        let small = |value: Option<i64>| i8::try_from(value?).ok();
        let nano = i32::try_from(self.nano?).ok()?;
        let (hour, minute, second) = (small(self.hour)?, small(self.minute)?, small(self.second)?);
        Some(date.at(hour, minute, second, nano))
    }

    /// With a zone that was read, Java shows the moment in the machine's zone instead.
    pub(crate) fn shown_in(self, machine: &TimeZone) -> Self {
        let moment = match (&self.zone, self.local()) {
            (Some(zone), Some(local)) => match self.offset_s {
                Some(_) => self.zoned(),
                None => local.to_zoned(zone.clone()).ok(),
            },
            _ => None,
        };
        match moment {
            Some(moment) => Self::of(&moment.with_time_zone(machine.clone())),
            None => self,
        }
    }

    pub(super) fn zone_id(&self) -> Option<String> {
        let zone = self.zone.as_ref()?;
        match zone.iana_name() {
            Some(name) => Some(name.to_owned()),
            None => zone.to_fixed_offset().ok().map(|offset| offset.to_string()),
        }
    }

    pub(super) fn zone_name(&self) -> Option<String> {
        let moment = self.zoned()?;
        let zone = self.zone.as_ref()?;
        let info = zone.to_offset_info(moment.timestamp());
        Some(info.abbreviation().to_owned())
    }

    pub(super) fn get(&self, field: Field) -> Option<i64> {
        let date = self.date.map(|date| of_date(field, date));
        if let Some(Some(value)) = date {
            return Some(value);
        }
        match field {
            Field::Year => self.year,
            Field::YearOfEra => self.year.map(|year| if year > 0 { year } else { 1 - year }),
            Field::Era => self.year.map(|year| i64::from(year > 0)),
            Field::Month => self.month,
            Field::Quarter => self.month.map(|month| (month + 2) / 3),
            Field::Day => self.day,
            Field::DayOfYear => self.day_of_year,
            Field::Weekday => self.weekday,
            Field::WeekdayFromSunday => self.weekday.map(|day| day % 7 + 1),
            Field::AmPm => self.hour.map(|hour| hour / 12),
            Field::Hour => self.hour,
            Field::HourFrom1 => self.hour.map(|hour| if hour == 0 { 24 } else { hour }),
            Field::HalfDayHour => self.hour.map(|hour| hour % 12),
            Field::HalfDayHourFrom1 => self.hour.map(|hour| (hour + 11) % 12 + 1),
            Field::Minute => self.minute,
            Field::Second => self.second,
            Field::Nano => self.nano,
            Field::NanoOfDay => self.nano_of_day(),
            Field::MilliOfDay => self.nano_of_day().map(|nanos| nanos / 1_000_000),
            Field::WeekYear | Field::Week | Field::WeekOfMonth | Field::WeekdayInMonth => None,
        }
    }

    fn nano_of_day(&self) -> Option<i64> {
        let seconds = (self.hour? * 60 + self.minute?) * 60 + self.second?;
        Some(seconds * 1_000_000_000 + self.nano?)
    }
}

/// A field of a whole date; `None` for those of the time.
fn of_date(field: Field, date: Date) -> Option<i64> {
    let year = i64::from(date.year());
    let day_of_year = i64::from(date.day_of_year());
    let day = i64::from(date.day());
    // Sunday = 0.
    let weekday = |date: Date| i64::from(date.weekday().to_sunday_zero_offset());
    Some(match field {
        Field::Year => year,
        Field::YearOfEra if year > 0 => year,
        Field::YearOfEra => 1 - year,
        Field::Era => i64::from(year > 0),
        Field::Quarter => (i64::from(date.month()) + 2) / 3,
        Field::Month => date.month().into(),
        Field::Day => day,
        Field::DayOfYear => day_of_year,
        Field::Weekday => date.weekday().to_monday_one_offset().into(),
        Field::WeekdayFromSunday => weekday(date) + 1,
        Field::WeekdayInMonth => (day - 1) % 7 + 1,
        // Weeks start on Sunday, and the first one has the first day.
        Field::WeekOfMonth => (day - 1 + weekday(date.first_of_month())) / 7 + 1,
        Field::Week if starts_next_year(date) => 1,
        Field::Week => (day_of_year - 1 + weekday(date.first_of_year())) / 7 + 1,
        Field::WeekYear => year + i64::from(starts_next_year(date)),
        _ => return None,
    })
}

/// Whether the first week of the next year has begun.
fn starts_next_year(date: Date) -> bool {
    let last = date.last_of_year();
    let left = i64::from(last.day_of_year() - date.day_of_year());
    let week_starts_before_end = i64::from(last.weekday().to_sunday_zero_offset());
    last.weekday() != Weekday::Saturday && left <= week_starts_before_end
}
