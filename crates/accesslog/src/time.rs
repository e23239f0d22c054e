//! Times as logs write them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Times above these are in milliseconds, microseconds and nanoseconds since 1970: in seconds they
/// would lie after the year 5000.
const UNITS: [(f64, f64); 3] = [(1e17, 1e9), (1e14, 1e6), (1e11, 1e3)];

/// Seconds since 1970 of a time: as in Apache httpd's `%t`, ISO 8601, or a number since 1970.
pub(crate) fn seconds(time: &str) -> Option<i64> {
    let time = time.trim();
    of_common(time)
        .or_else(|| of_iso(time))
        .or_else(|| of_number(time.parse().ok()?))
}

/// A number of seconds, or of smaller units, since 1970.
pub(crate) fn of_number(number: f64) -> Option<i64> {
    // Smaller ones are something else: a count, a process, an address.
    let is_time = number.is_finite() && number >= 1e8;
    let unit = UNITS
        .iter()
        .find(|(above, _)| number >= *above)
        .map_or(1.0, |(_, unit)| *unit);
    is_time.then(|| (number / unit).floor() as i64)
}

/// `2024-05-14T13:00:00+00:00`, also with a blank in place of the T; without a zone as in UTC.
fn of_iso(time: &str) -> Option<i64> {
    if time.as_bytes().get(4) != Some(&b'-') {
        return None;
    }
    // "2024-05-14 15:00:00 +0200": the zone follows at once in the standard.
    let joined = match time.rsplit_once(' ') {
        Some((clock, zone)) if zone.starts_with(['+', '-']) => format!("{clock}{zone}"),
        _ => time.to_owned(),
    };
    let with_zone = joined.parse::<Timestamp>().ok();
    let timestamp = with_zone.or_else(|| {
        let civil: DateTime = joined.parse().ok()?;
        Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
    });
    timestamp.map(Timestamp::as_second)
}

/// `10/Oct/2000:13:55:36.5 -0700`; without a zone as in UTC.
fn of_common(time: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (clock, zone) = time.split_once(' ').unwrap_or((time, "+0000"));
    let clock = clock
        .split_once(['.', ','])
        .map_or(clock, |(whole, _)| whole);
    let mut parts = clock.split([':', '/']);
    let mut next = || parts.next();
    let day: i64 = next()?.parse().ok()?;
    let month = next()?;
    let month = MONTHS.iter().position(|known| *known == month)?;
    let month = i64::try_from(month).ok()? + 1;
    let year: i64 = next()?.parse().ok()?;
    let mut number = |most: i64| next()?.parse().ok().filter(|of| (0..=most).contains(of));
    let (hour, minute, second) = (number(23)?, number(59)?, number(60)?);
    if !(1..=31).contains(&day) || !(1970..10_000).contains(&year) {
        return None;
    }
    let offset: i64 = zone
        .trim()
        .parse()
        .ok()
        .filter(|of| (-2400..=2400).contains(of))?;
    let offset_s = (offset / 100 * 60 + offset % 100) * 60;
    Some(days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset_s)
}

/// Days from 1970-01-01 in the Gregorian calendar: years counted from March, so that the day that a
/// leap year has more is its last one.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let of_year = (153 * month + 2) / 5 + day - 1;
    let before_1970 = 719_468;
    year * 365 + year / 4 - year / 100 + year / 400 + of_year - before_1970
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (date, of) in [
            ((1970, 1, 1), 0),
            ((1970, 3, 1), 59),
            ((2000, 2, 29), 11_016),
            ((2000, 3, 1), 11_017),
            ((2100, 3, 1), 47_541),
        ] {
            assert_eq!(days(date.0, date.1, date.2), of, "{date:?}");
        }
    }

    // Seconds by `date -d … +%s`.
    #[test]
    fn every_form_is_the_same_second() {
        for time in [
            "14/May/2024:13:00:00 +0000",
            "14/May/2024:13:00:00.999",
            "2024-05-14T13:00:00Z",
            "2024-05-14T18:30:00.5+05:30",
            "2024-05-14 15:00:00 +0200",
            "2024-05-14T13:00:00",
            "1715691600",
            "1715691600.5",
            "1715691600250",
            "1715691600250000",
            "1715691600250000000",
        ] {
            assert_eq!(seconds(time), Some(1_715_691_600), "{time}");
        }
        for time in [
            "811",
            "2001:db8::1",
            "",
            "x",
            "2024-13-01T00:00:00Z",
            "notice",
            "nan",
        ] {
            assert_eq!(seconds(time), None, "{time}");
        }
    }
}
