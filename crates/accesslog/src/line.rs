//! One line of a log: `host ident user [time] "request" status bytes …`.
//!
//! After the `LogFormat` examples of Apache httpd's manual ("Log Files"). Only the time in
//! brackets, the request in the quotes behind it and the status behind those are looked at: so a
//! virtual host in front and anything behind do no harm.

/// A request as it was logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'a> {
    /// When it was received or finished, as seconds since 1970.
    pub second: i64,
    /// Its method.
    pub method: &'a str,
    /// Its path with the query.
    pub target: &'a str,
    /// The status of the answer.
    pub status: u16,
}

/// The request of a line; `None` when the line has none that can be understood.
pub fn request(line: &[u8]) -> Option<Request<'_>> {
    let line = std::str::from_utf8(line).ok()?;
    let (_, timed) = line.split_once('[')?;
    let (time, rest) = timed.split_once(']')?;
    let quoted = rest.split_once('"')?.1;
    let end = end_of_quotes(quoted)?;
    let mut words = quoted[..end].split(' ');
    let (method, target) = (words.next()?, words.next()?);
    if method.is_empty()
        || !method
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'-')
    {
        return None;
    }
    let status = quoted[end + 1..].split_whitespace().next()?;
    let status: u16 = status
        .parse()
        .ok()
        .filter(|status| (100..1000).contains(status))?;
    Some(Request {
        second: seconds(time)?,
        method,
        target: path_of(target)?,
        status,
    })
}

/// Quotes inside are written with a backslash.
fn end_of_quotes(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        is_end
    })
}

/// A proxy is asked for whole URLs.
fn path_of(target: &str) -> Option<&str> {
    if target.starts_with('/') {
        return Some(target);
    }
    let behind = target.split_once("://")?.1;
    Some(behind.find('/').map_or("/", |slash| &behind[slash..]))
}

/// `10/Oct/2000:13:55:36 -0700` as seconds since 1970.
fn seconds(time: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (clock, zone) = time.trim().split_once(' ').unwrap_or((time, "+0000"));
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

    // The examples of Apache httpd's manual; seconds by `date -d … +%s`.
    #[test]
    fn common_and_combined_lines_are_read() {
        let common = br#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326"#;
        let expected = Request {
            second: 971_211_336,
            method: "GET",
            target: "/apache_pb.gif",
            status: 200,
        };
        assert_eq!(request(common), Some(expected));
        let combined = br#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326 "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)""#;
        assert_eq!(request(combined), Some(expected));
        let of_host = br#"shop:80 ::1 - - [29/Feb/2024:23:59:60 +0530] "POST http://shop/a?b=\"c HTTP/1.1" 503 - 0.1"#;
        let expected = Request {
            second: 1_709_231_400,
            method: "POST",
            target: "/a?b=\\\"c",
            status: 503,
        };
        assert_eq!(request(of_host), Some(expected));
    }

    #[test]
    fn what_is_no_request_is_none() {
        for line in [
            "",
            "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"-\" 408 -",
            "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"\\x16\\x03\\x01\" 400 226",
            "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /x HTTP/1.0 200 1",
            "127.0.0.1 - - [10/Okt/2000:13:55:36 -0700] \"GET /x HTTP/1.0\" 200 1",
            "127.0.0.1 - - [10/Oct/2000:25:55:36 -0700] \"GET /x HTTP/1.0\" 200 1",
            "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"GET /x HTTP/1.0\" - 1",
            "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"OPTIONS * HTTP/1.0\" 200 1",
            "127.0.0.1 - - [10/Oct/2000:13:55:36 -0700] \"get /x HTTP/1.0\" 200 1",
        ] {
            assert_eq!(request(line.as_bytes()), None, "{line}");
        }
        assert_eq!(request(b"\xff[\x00]"), None);
    }

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
}
