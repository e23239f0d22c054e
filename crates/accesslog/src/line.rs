//! One line of a log: `host ident user [time] "request" status bytes …`, or an object of JSON.
//!
//! After the `LogFormat` examples of Apache httpd's manual ("Log Files"). Only a time in brackets,
//! a request in quotes and the status behind it are looked at: so anything in front (syslog's
//! prefix, a virtual host), between and behind does no harm. `HAProxy` writes the status before the
//! request, behind five times (manual, "HTTP log format").

use std::borrow::Cow;

use crate::json;
use crate::time::seconds;

/// A request as it was logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request<'a> {
    /// When it was received or finished, as seconds since 1970.
    pub second: i64,
    /// Its method.
    pub method: Cow<'a, str>,
    /// Its path with the query.
    pub target: Cow<'a, str>,
    /// The status of the answer.
    pub status: u16,
    /// For how many requests the line stands: a log of which lines were left out may say so.
    pub stands_for: u64,
}

/// What a line lacks to be a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// A time that is understood.
    Time,
    /// A method with a path.
    Request,
    /// The status of the answer.
    Status,
    /// A field of an object of JSON with a time that is understood.
    TimeField,
    /// Fields with a method and a path.
    RequestField,
    /// A field with the status.
    StatusField,
    /// Text: it is UTF-16, or no text at all.
    Text,
}

impl Missing {
    /// What it is, for people.
    pub fn says(self) -> &'static str {
        match self {
            Self::Time => {
                "no time in brackets that is understood (10/Oct/2000:13:55:36 -0700, ISO 8601, seconds since 1970)"
            }
            Self::Request => "no request in quotes (\"GET /path HTTP/1.1\")",
            Self::Status => "no status behind its request",
            Self::TimeField => "no field with a time that is understood (time, timestamp, ts …)",
            Self::RequestField => {
                "no fields with a method and a path (method and uri, or request …)"
            }
            Self::StatusField => "no field with a status",
            Self::Text => {
                "no text in UTF-8; where it is UTF-16, iconv -f UTF-16 -t UTF-8 makes it one"
            }
        }
    }
}

/// The request of a line.
///
/// # Errors
/// What it lacks.
pub fn request(line: &[u8]) -> Result<Request<'_>, Missing> {
    let found = of_line(line);
    // Only what is no request is looked at once more.
    if found.is_err() && is_no_text(line) {
        return Err(Missing::Text);
    }
    found
}

/// Whether it is UTF-16 or no text at all: it begins with that one's mark, or has many zeros.
fn is_no_text(line: &[u8]) -> bool {
    let has_mark = line.starts_with(b"\xff\xfe") || line.starts_with(b"\xfe\xff");
    let zeros = line.split(|byte| *byte == 0).count() - 1;
    has_mark || zeros * 4 > line.len()
}

fn of_line(line: &[u8]) -> Result<Request<'_>, Missing> {
    let line = std::str::from_utf8(line)
        .map_err(|_| Missing::Request)?
        .trim();
    if line.starts_with('{') {
        return json::request(line);
    }
    let found = of_text(line);
    // Behind syslog's prefix.
    match line.find('{').filter(|_| found.is_err()) {
        Some(object) => json::request(&line[object..]).or(found),
        None => found,
    }
}

fn of_text(line: &str) -> Result<Request<'_>, Missing> {
    let (start, end, (method, target)) = request_in(line).ok_or(Missing::Request)?;
    let mut times = line.match_indices('[');
    let second = times.find_map(|(at, _)| {
        let (time, _) = line[at + 1..].split_once(']')?;
        seconds(time)
    });
    // Load balancers write it without brackets, first or behind the kind of the connection.
    let bare = || {
        let words = line.split_whitespace().take(2);
        words.filter(|word| word.contains('T')).find_map(seconds)
    };
    let second = second.or_else(bare).ok_or(Missing::Time)?;
    let behind = line[end + 1..].split_whitespace().next();
    let behind = behind.and_then(|word| status_of(word.trim_matches('"')));
    let status = behind
        .or_else(|| status_before(&line[..start]))
        .or_else(|| status_of_balancer(&line[..start - 1]))
        .ok_or(Missing::Status)?;
    Ok(Request {
        second,
        method: method.into(),
        target: target.into(),
        status,
        stands_for: 1,
    })
}

/// Where the first text in quotes stands that is a request, with its method and path.
fn request_in(line: &str) -> Option<(usize, usize, (&str, &str))> {
    let mut at = 0;
    loop {
        let start = at + line[at..].find('"')? + 1;
        let end = start + end_of_quotes(&line[start..])?;
        if let Some(found) = method_and_path(&line[start..end]) {
            return Some((start, end, found));
        }
        at = end + 1;
    }
}

/// `GET /path HTTP/1.1`, or without the version.
pub(crate) fn method_and_path(text: &str) -> Option<(&str, &str)> {
    let mut words = text.split(' ');
    let (method, target) = (words.next()?, words.next()?);
    let is_version = |word: &str| word.starts_with("HTTP/");
    (is_method(method) && words.next().is_none_or(is_version)).then_some(())?;
    Some((method, path_of(target)?))
}

pub(crate) fn is_method(word: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_uppercase() || byte == b'-';
    !word.is_empty() && word.bytes().all(is_letter)
}

pub(crate) fn status_of(word: &str) -> Option<u16> {
    word.parse()
        .ok()
        .filter(|status| (100..1000).contains(status))
}

/// The word behind `HAProxy`'s times, five numbers with slashes.
fn status_before(line: &str) -> Option<u16> {
    let mut words = line.split_whitespace();
    let is_number = |text: &str| text.trim_start_matches(['+', '-']).parse::<u64>().is_ok();
    words.find(|word| {
        let mut times = word.split('/');
        times
            .by_ref()
            .take(5)
            .filter(|time| is_number(time))
            .count()
            == 5
            && times.next().is_none()
    })?;
    status_of(words.next()?)
}

/// Of a load balancer of AWS: before the request stand three times in seconds, its own status, the
/// server's, and bytes received and sent ("Access logs for your Application Load Balancer").
fn status_of_balancer(line: &str) -> Option<u16> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [.., first, second, third, status, _, _, _] = words[..] else {
        return None;
    };
    let are_times = [first, second, third]
        .iter()
        .all(|word| word.contains('.') && word.parse::<f64>().is_ok());
    // Where no server was asked, its times are -1.
    let is_unasked = [first, second, third].contains(&"-1");
    status_of(status).filter(|_| are_times || is_unasked)
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
pub(crate) fn path_of(target: &str) -> Option<&str> {
    if target.starts_with('/') {
        return Some(target);
    }
    let behind = target.split_once("://")?.1;
    Some(behind.find('/').map_or("/", |slash| &behind[slash..]))
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
            method: "GET".into(),
            target: "/apache_pb.gif".into(),
            status: 200,
            stands_for: 1,
        };
        assert_eq!(request(common).as_ref(), Ok(&expected));
        let combined = br#"127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0" 200 2326 "http://www.example.com/start.html" "Mozilla/4.08 [en] (Win98; I ;Nav)""#;
        assert_eq!(request(combined), Ok(expected));
        let of_host = br#"shop:80 ::1 - - [29/Feb/2024:23:59:60 +0530] "POST http://shop/a?b=\"c HTTP/1.1" 503 - 0.1"#;
        let expected = Request {
            second: 1_709_231_400,
            method: "POST".into(),
            target: "/a?b=\\\"c".into(),
            status: 503,
            stands_for: 1,
        };
        assert_eq!(request(of_host), Ok(expected));
    }

    // The examples of AWS's manual, with another host.
    #[test]
    fn lines_of_load_balancers_are_read() {
        let balancer = br#"https 2018-07-02T22:23:00.186641Z app/my-loadbalancer/50dc6c495c0c9188 192.168.131.39:2817 10.0.0.1:80 0.086 0.048 0.037 200 201 0 57 "GET https://shop:443/a?b HTTP/1.1" "curl/7.46.0" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2"#;
        let mut expected = Request {
            second: 1_530_570_180,
            method: "GET".into(),
            target: "/a?b".into(),
            status: 200,
            stands_for: 1,
        };
        assert_eq!(request(balancer).as_ref(), Ok(&expected));
        let unasked = br#"h2 2018-07-02T22:23:00.186641Z app/b/5 192.168.131.39:2817 - -1 -1 -1 502 - 34 366 "GET https://shop:443/a?b HTTP/1.1" "-""#;
        expected.status = 502;
        assert_eq!(request(unasked).as_ref(), Ok(&expected));
        let classic = br#"2018-07-02T22:23:00.186641Z my-loadbalancer 192.168.131.39:2817 10.0.0.1:80 0.000073 0.001048 0.000057 200 200 0 29 "GET http://shop:80/a?b HTTP/1.1" "curl/7.38.0" - -"#;
        expected.status = 200;
        assert_eq!(request(classic).as_ref(), Ok(&expected));
    }

    #[test]
    fn what_is_missing_is_named_by_the_kind_of_line() {
        for (line, missing) in [
            (&b"a line"[..], Missing::Request),
            (b"{\"a\": 1}", Missing::RequestField),
            (b"\xff\xfe1\x000\x00", Missing::Text),
            (b"h [x] \"GET / HTTP/1.1\" 200", Missing::Time),
        ] {
            assert_eq!(request(line), Err(missing));
        }
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
            assert!(request(line.as_bytes()).is_err(), "{line}");
        }
        assert_eq!(request(b"\xff[\x00]"), Err(Missing::Request));
        for (line, missing) in [
            ("[10/Oct/2000] \"GET / HTTP/1.0\" 200", Missing::Time),
            ("[10/Oct/2000:13:55:36 -0700] GET / 200", Missing::Request),
            (
                "[10/Oct/2000:13:55:36 -0700] \"GET / HTTP/1.0\" -",
                Missing::Status,
            ),
        ] {
            assert_eq!(request(line.as_bytes()), Err(missing), "{line}");
        }
    }

    /// Lines of servers, proxies and syslog, each a GET of `/item/0` at the same second with status
    /// 200.
    #[test]
    fn lines_are_read_as_people_have_them() {
        let common = r#"10.0.0.1 - - [14/May/2024:13:00:00 +0000] "GET /item/0 HTTP/1.1" 200 512 "-" "curl/8""#;
        for line in [
            common,
            &format!("May 14 13:00:00 web1 nginx[811]: {common}"),
            &format!("<190>1 2024-05-14T13:00:00Z web1 httpd 811 - [x@1 a=\"b\"] {common}"),
            &common.replace("10.0.0.1", "[2001:db8::1]"),
            &common.replace(
                "14/May/2024:13:00:00 +0000",
                "14/May/2024:15:00:00.123 +0200",
            ),
            r#"127.0.0.1 - - [2024-05-14T13:00:00+00:00] "shop" "GET /item/0 HTTP/1.1" 200 5 "-" "curl/7" 0.038"#,
            r#"127.0.0.1 - - [2024-05-14 15:00:00 +0200] "GET /item/0 HTTP/1.1" "200" "5""#,
            r#"127.0.0.1 - - [1715691600.250] "GET /item/0" 200 5"#,
            r#"[2024-05-14T13:00:00.310Z] "GET /item/0 HTTP/2" 200 - 154 0 226 100 "10.0.35.28" "nsq2http""#,
            r#""GET /item/0 HTTP/1.1" 200 5 "agent [x]" [14/May/2024:13:00:00 +0000]"#,
            r#"May 14 13:00:00 lb haproxy[143]: 10.0.1.2:33317 [14/May/2024:13:00:00.655] in static/srv1 10/0/30/69/109 200 2750 - - ---- 1/1/1/1/0 0/0 {host} {} "GET /item/0 HTTP/1.1""#,
        ] {
            let expected = Request {
                second: 1_715_691_600,
                method: "GET".into(),
                target: "/item/0".into(),
                status: 200,
                stands_for: 1,
            };
            assert_eq!(request(line.as_bytes()), Ok(expected), "{line}");
        }
    }
}
