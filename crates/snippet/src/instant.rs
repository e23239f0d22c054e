//! Moments of `java.time` as Java writes them, which needs no pattern and no time zone.

use std::fmt::Write as _;

const DAY_MS: i64 = 86_400_000;

/// The text of a moment in milliseconds since 1970: a fraction of a second stands only where there
/// is one, years beyond four digits have a sign.
pub(crate) fn text(epoch_ms: i64) -> String {
    let (year, month, day) = date(epoch_ms.div_euclid(DAY_MS));
    let ms = epoch_ms.rem_euclid(DAY_MS);
    let mut text = match year {
        0..=9999 => format!("{year:04}"),
        _ => format!("{year:+05}"),
    };
    let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    let time = write!(
        text,
        "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}"
    );
    let fraction = match ms % 1_000 {
        0 => Ok(()),
        fraction => write!(text, ".{fraction:03}"),
    };
    time.and(fraction).expect("a String takes any text");
    text.push('Z');
    text
}

/// Year, month and day of a day since 1970-01-01 in the Gregorian calendar.
///
/// Years are counted from March in eras of 400 years, so that the day that may be missing is the
/// last of a year (Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`).
fn date(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let day = day.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::text;

    /// Seen in Java 17.
    #[test]
    fn moments_are_written_as_java_writes_them() {
        for (epoch_ms, written) in [
            (0, "1970-01-01T00:00:00Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00Z"),
            (951_868_799_010, "2000-02-29T23:59:59.010Z"),
            (1_790_000_000_123, "2026-09-21T14:13:20.123Z"),
            (253_402_300_800_000, "+10000-01-01T00:00:00Z"),
            (-62_167_219_200_001, "-0001-12-31T23:59:59.999Z"),
            (i64::MAX, "+292278994-08-17T07:12:55.807Z"),
            (i64::MIN, "-292275055-05-16T16:47:04.192Z"),
        ] {
            assert_eq!(text(epoch_ms), written);
        }
    }
}
