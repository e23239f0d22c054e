//! Time zones by the names that `java.util.TimeZone` knows.

use jiff::tz::{Offset, TimeZone};

/// The zone that `TimeZone.getTimeZone` gives for a name: a place in upper and lower case as it
/// is written, one of Java's old abbreviations, or `GMT` with an offset. Any other name is GMT.
pub fn time_zone_of_java(name: &str) -> TimeZone {
    known(name).map_or(TimeZone::UTC, |(_, zone)| zone)
}

/// The name under which `TimeZone.getID` has such a zone.
pub(crate) fn id_of_java(name: &str) -> String {
    known(name).map_or_else(|| "GMT".to_owned(), |(id, _)| id)
}

fn known(name: &str) -> Option<(String, TimeZone)> {
    if let Some(offset) = name.strip_prefix("GMT").and_then(offset) {
        return Some(custom(offset));
    }
    let as_it_is = |zone| Some((name.to_owned(), zone));
    if let Some((_, place)) = OLD.iter().find(|(old, _)| *old == name) {
        return as_it_is(TimeZone::get(place).ok()?);
    }
    match name {
        "EST" => return as_it_is(TimeZone::fixed(jiff::tz::offset(-5))),
        "MST" => return as_it_is(TimeZone::fixed(jiff::tz::offset(-7))),
        "HST" => return as_it_is(TimeZone::fixed(jiff::tz::offset(-10))),
        _ => {}
    }
    let zone = TimeZone::get(name).ok()?;
    (zone.iana_name() == Some(name)).then(|| (name.to_owned(), zone))
}

/// `GMT+02:00`; no offset is `GMT`.
fn custom(offset: Offset) -> (String, TimeZone) {
    let minutes = offset.seconds() / 60;
    if minutes == 0 {
        return ("GMT".to_owned(), TimeZone::UTC);
    }
    let (sign, size) = (if minutes < 0 { '-' } else { '+' }, minutes.abs());
    let id = format!("GMT{sign}{:02}:{:02}", size / 60, size % 60);
    (id, TimeZone::fixed(offset))
}

/// What follows `GMT`: a sign, and hours, `hours:minutes` or `hoursminutes`.
fn offset(text: &str) -> Option<Offset> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let (hours, minutes) = match rest.split_once(':') {
        Some((hours, minutes)) if minutes.len() == 2 && hours.len() <= 2 => (hours, minutes),
        None if rest.len() <= 2 => (rest, "0"),
        None if rest.len() <= 4 => rest.split_at_checked(rest.len() - 2)?,
        _ => return None,
    };
    if !is_number(hours) || !is_number(minutes) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let fits = hours < 24 && minutes < 60;
    let seconds = sign * (hours * 3_600 + minutes * 60);
    fits.then(|| Offset::from_seconds(seconds).ok()).flatten()
}

/// The abbreviations of `ZoneId.SHORT_IDS` that stand for places.
const OLD: [(&str, &str); 25] = [
    ("ACT", "Australia/Darwin"),
    ("AET", "Australia/Sydney"),
    ("AGT", "America/Argentina/Buenos_Aires"),
    ("ART", "Africa/Cairo"),
    ("AST", "America/Anchorage"),
    ("BET", "America/Sao_Paulo"),
    ("BST", "Asia/Dhaka"),
    ("CAT", "Africa/Harare"),
    ("CNT", "America/St_Johns"),
    ("CST", "America/Chicago"),
    ("CTT", "Asia/Shanghai"),
    ("EAT", "Africa/Addis_Ababa"),
    ("ECT", "Europe/Paris"),
    ("IET", "America/Indiana/Indianapolis"),
    ("IST", "Asia/Kolkata"),
    ("JST", "Asia/Tokyo"),
    ("MIT", "Pacific/Apia"),
    ("NET", "Asia/Yerevan"),
    ("NST", "Pacific/Auckland"),
    ("PLT", "Asia/Karachi"),
    ("PNT", "America/Phoenix"),
    ("PRT", "America/Puerto_Rico"),
    ("PST", "America/Los_Angeles"),
    ("SST", "Pacific/Guadalcanal"),
    ("VST", "Asia/Ho_Chi_Minh"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_java() {
        // As OpenJDK 17 answers `TimeZone.getTimeZone(name).getID()`.
        for (name, id) in [
            ("GMT+2", "GMT+02:00"),
            ("GMT+230", "GMT+02:30"),
            ("GMT-0330", "GMT-03:30"),
            ("GMT+25", "GMT"),
            ("GMT+1:5", "GMT"),
            ("UTC+2", "GMT"),
            ("gmt+2", "GMT"),
            ("Europe/paris", "GMT"),
            ("Europe/Paris", "Europe/Paris"),
            ("IST", "IST"),
        ] {
            assert_eq!(id_of_java(name), id, "{name}");
        }
        let at = jiff::Timestamp::from_millisecond(1_790_000_000_000).expect("a time");
        for (name, offset) in [("GMT+5:30", 19_800), ("EST", -18_000), ("PST", -25_200)] {
            let zone = time_zone_of_java(name);
            assert_eq!(zone.to_offset(at).seconds(), offset, "{name}");
        }
    }
}
