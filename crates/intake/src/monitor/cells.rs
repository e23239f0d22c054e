//! Numbers and times as monitors write them.

use jiff::civil::{Date, Time};

/// A number; a comma may stand for the point, as some locales have it, and a percent sign behind
/// it.
pub(super) fn number(cell: &str) -> Option<f64> {
    let cell = cell.trim();
    let cell = cell.strip_suffix('%').unwrap_or(cell);
    let read = cell.parse::<f64>().or_else(|error| {
        if cell.contains(',') && !cell.contains('.') {
            cell.replace(',', ".").parse()
        } else {
            Err(error)
        }
    });
    read.ok().filter(|number| number.is_finite())
}

/// `14:03:59`
pub(super) fn time(cell: &str) -> Option<Time> {
    let mut parts = cell.split(':').map(|part| {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| part.parse::<i8>().ok()).flatten()
    });
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if parts.next().is_some() {
        return None;
    }
    Time::new(hour, minute, second.min(59), 0).ok()
}

/// As `time`, on a clock of twelve hours.
pub(super) fn time_of_twelve(time: Time, half: &str) -> Option<Time> {
    let afternoon = match half {
        "AM" | "am" | "a.m." => false,
        "PM" | "pm" | "p.m." => true,
        _ => return None,
    };
    let hour = time.hour() % 12 + if afternoon { 12 } else { 0 };
    Time::new(hour, time.minute(), time.second(), 0).ok()
}

/// Where year, month and day stand, in the orders that locales have.
pub(super) const ORDERS: [[usize; 3]; 3] = [[0, 1, 2], [2, 0, 1], [2, 1, 0]];

/// The year that a number stands for: of this century where it has two digits, and of the Buddhist
/// calendar, 543 years ahead, where Thai and Lao locales write it.
fn year_of(number: i16) -> i16 {
    match number {
        ..100 => number + 2000,
        2443..2643 => number - 543,
        _ => number,
    }
}

/// What a date in numbers means in each of the orders.
pub(super) fn by_order(cell: &str) -> [Option<Date>; 3] {
    let parts = cell.split(['/', '-', '.']).filter(|part| !part.is_empty());
    let numbers: Vec<i16> = parts.filter_map(|part| part.parse().ok()).collect();
    let Ok(numbers) = <[i16; 3]>::try_from(numbers) else {
        return [None; 3];
    };
    ORDERS.map(|order| {
        let [year, month, day] = order.map(|at| numbers[at]);
        Date::new(
            year_of(year),
            i8::try_from(month).ok()?,
            i8::try_from(day).ok()?,
        )
        .ok()
    })
}

/// Everything that a date in numbers may mean, the likeliest first: locales put year, month and day
/// in any order.
pub(super) fn dates(cell: &str) -> Vec<Date> {
    let parts: Vec<&str> = cell
        .split(['/', '-', '.'])
        .filter(|part| !part.is_empty())
        .collect();
    let numbers: Vec<i16> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    let [first, second, third] = numbers[..] else {
        return Vec::new();
    };
    let date = |y: i16, m: i16, d: i16| Date::new(year_of(y), m as i8, d as i8).ok();
    let mut meant = if first >= 100 {
        vec![date(first, second, third)]
    } else if cell.contains('.') {
        vec![date(third, second, first)]
    } else {
        vec![
            date(third, first, second),
            date(third, second, first),
            date(first, second, third),
        ]
    };
    meant.dedup();
    meant.into_iter().flatten().collect()
}

/// `JAN` … `DEC` in any case: 1 … 12.
pub(super) fn month(name: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ];
    let name = name.to_ascii_lowercase();
    let at = MONTHS.iter().position(|month| *month == name)?;
    Some(at as i8 + 1)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use jiff::civil::{date, time as at};

    use super::*;

    #[test]
    fn numbers_of_any_locale() {
        assert_eq!(number("12.50"), Some(12.5));
        assert_eq!(number("12,50"), Some(12.5));
        assert_eq!(
            (number("%user"), number(""), number("nan")),
            (None, None, None)
        );
    }

    #[test]
    fn clocks_of_twelve_hours() {
        let noon = time("12:00:01").unwrap();
        assert_eq!(time_of_twelve(noon, "AM"), Some(at(0, 0, 1, 0)));
        assert_eq!(time_of_twelve(noon, "PM"), Some(at(12, 0, 1, 0)));
        assert_eq!(
            time_of_twelve(time("01:02:03").unwrap(), "PM"),
            Some(at(13, 2, 3, 0))
        );
        assert_eq!(
            (time("Average:"), time("25:00:00"), time("1:2")),
            (None, None, None)
        );
    }

    #[test]
    fn dates_mean_what_they_can() {
        assert_eq!(dates("2026-11-22"), [date(2026, 11, 22)]);
        assert_eq!(dates("22.11.2026"), [date(2026, 11, 22)]);
        assert_eq!(dates("11/22/26"), [date(2026, 11, 22)]);
        assert_eq!(dates("22/11/26")[0], date(2026, 11, 22));
        assert_eq!(
            dates("03/04/2026")[..2],
            [date(2026, 3, 4), date(2026, 4, 3)]
        );
        assert!(dates("soon").is_empty());
    }
}
