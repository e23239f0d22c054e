//! Values of the short form's command line, each checked as it is typed.
//!
//! What would fail with every request is refused here, with what to write instead.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::time::Duration;

use url::{ParseError, Url};
use weir_metric::parse_duration;

/// What is going to be loaded.
pub(super) fn url(text: &str) -> Result<Url, String> {
    let without_scheme =
        || format!("it does not say how the server is spoken to; write http://{text}");
    let typed = if is_address(text) {
        format!("http://{text}")
    } else {
        text.to_owned()
    };
    let url: Url = typed.parse().map_err(|error| match error {
        ParseError::RelativeUrlWithoutBase => without_scheme(),
        other => other.to_string(),
    })?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        _ if !text.contains("://") => Err(without_scheme()),
        other => Err(format!(
            "a URL that is loaded begins with http:// or https://, not with {other}://"
        )),
    }
}

/// Whether a text is a server without `http://`: an address, `localhost`, or any name with a port.
pub(super) fn is_address(text: &str) -> bool {
    if text.contains("://") || text.starts_with(['-', '/', '.', '@']) {
        return false;
    }
    let (server, _) = text.split_at(text.find(['/', '?']).unwrap_or(text.len()));
    let is_number = |port: &str| port.parse::<u16>().is_ok_and(|port| port > 0);
    let (host, has_port) = match server.rsplit_once(':') {
        Some((host, port)) if is_number(port) => (host, true),
        Some(_) if !server.ends_with(']') => return false,
        _ => (server, false),
    };
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let is_ip = match bare {
        Some(host) => host.parse::<Ipv6Addr>().is_ok(),
        None => host.parse::<Ipv4Addr>().is_ok(),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let is_host = !host.is_empty() && host.chars().all(is_name);
    is_ip || host == "localhost" || (has_port && is_host)
}

/// The URLs of a file, one a line.
pub(super) fn urls(file: &Path) -> Result<Vec<Url>, String> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| format!("--urls {}: {error}", file.display()))?;
    let lines = text.lines().enumerate();
    let lines = lines.map(|(at, line)| (at + 1, line.trim()));
    let urls = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let urls: Vec<Url> = urls
        .map(|(at, line)| {
            url(line).map_err(|says| format!("{}:{at}: `{line}`: {says}", file.display()))
        })
        .collect::<Result<_, _>>()?;
    if urls.is_empty() {
        return Err(format!("--urls {}: it has no URL", file.display()));
    }
    Ok(urls)
}

/// A request body, or the file that it is in.
pub(super) fn body(text: &str) -> Result<String, String> {
    let Some(file) = text.strip_prefix('@') else {
        return Ok(text.to_owned());
    };
    let bytes = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
    String::from_utf8(bytes)
        .map_err(|_| format!("{file} is not UTF-8; a .jmx plan can send it as a file"))
}

/// A proxy.
pub(super) fn proxy(text: &str) -> Result<Url, String> {
    let says = "a proxy is written http://HOST:PORT";
    let url: Url = text.parse().map_err(|_| says.to_owned())?;
    let is_whole = url.scheme() == "http" && url.host_str().is_some();
    is_whole.then_some(url).ok_or_else(|| says.to_owned())
}

/// A length of time that is not nothing.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let read = if text.parse::<f64>().is_ok() {
        parse_duration(&format!("{text} s"))
    } else {
        parse_duration(text).or_else(|error| pieces(text).ok_or(error))
    };
    match read {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        Ok(_) => Err("a length of time is more than 0".to_owned()),
        Err(error) => Err(format!(
            "failed to {error}; a request body is -b TEXT or -b @FILE"
        )),
    }
}

/// A length of time as wrk, hey and oha write it: `1h30m`, `5m`.
fn pieces(text: &str) -> Option<Duration> {
    let mut whole = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let unit = rest.find(|c: char| c.is_ascii_alphabetic())?;
        let after = rest[unit..].find(|c: char| !c.is_ascii_alphabetic());
        let end = after.map_or(rest.len(), |after| unit + after);
        let name = match &rest[unit..end] {
            "m" => "min",
            name @ ("h" | "s" | "ms") => name,
            _ => return None,
        };
        whole += parse_duration(&format!("{} {name}", &rest[..unit])).ok()?;
        rest = &rest[end..];
    }
    Some(whole)
}

/// A request method.
pub(super) fn method(text: &str) -> Result<String, String> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
        Err("a method is one word, such as GET or POST; a length of time is -d".to_owned())
    } else if is_token(text) {
        Ok(text.to_owned())
    } else {
        Err("a method is one word, such as GET or POST".to_owned())
    }
}

/// A header field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// Its name.
    pub(crate) name: String,
    /// Its value.
    pub(crate) value: String,
}

impl Header {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (name, value) = text.split_once(':').unwrap_or((text, "\n"));
        let (name, value) = (name.trim(), value.trim_matches([' ', '\t']));
        if is_token(name) && !value.contains(['\r', '\n', '\0']) {
            let [name, value] = [name, value].map(str::to_owned);
            Ok(Self { name, value })
        } else {
            Err("a header is written `Name: value`, on one line".to_owned())
        }
    }
}

/// A word as RFC 9110, 5.6.2, has it.
fn is_token(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_letter)
}

/// A field whose value is a random whole number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RandomField {
    /// Its name.
    pub(crate) name: String,
    /// The lowest value.
    pub(crate) low: i64,
    /// The highest value.
    pub(crate) high: i64,
}

impl RandomField {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let read = || {
            let (name, range) = text.split_once('=')?;
            let (low, high) = range.split_once("..")?;
            let number = |text: &str| text.trim().parse::<i64>().ok();
            let field = Self {
                name: name.trim().to_owned(),
                low: number(low)?,
                high: number(high)?,
            };
            (!field.name.is_empty() && field.low <= field.high).then_some(field)
        };
        read().ok_or_else(|| {
            "a random field is written `page=1..499`, the lower end first".to_owned()
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn a_url_says_how_its_server_is_spoken_to() {
        url("https://[::1]:8443/a?b=c").unwrap();
        for text in [
            "127.0.0.1:8080/a",
            "localhost",
            "localhost:8080",
            "[::1]:8080/?a=b",
            "shop.local:80",
            "10.0.0.1?x",
        ] {
            assert_eq!(url(text).unwrap(), url(&format!("http://{text}")).unwrap());
        }
        for text in ["x.jm", "shop.local", "shop.local/a:b"] {
            let says = url(text).unwrap_err();
            assert!(says.ends_with(&format!("write http://{text}")), "{says}");
        }
        assert!(url("ftp://127.0.0.1/").unwrap_err().contains("ftp://"));
        assert!(url("http://").is_err());
    }

    #[test]
    fn a_header_is_one_line_with_a_name() {
        let read = Header::parse(" Accept : a:b ").unwrap();
        assert_eq!((&*read.name, &*read.value), ("Accept", "a:b"));
        assert_eq!(Header::parse("X:").unwrap().value, "");
        for text in ["foo", ": a", "a b: c", "A: b\r\nX: y", ""] {
            assert!(Header::parse(text).is_err(), "{text:?}");
        }
        assert!(method("BA D").is_err() && method("").is_err());
        assert_eq!(method("M-SEARCH").unwrap(), "M-SEARCH");
    }

    #[test]
    fn a_bare_number_is_seconds() {
        assert_eq!(duration("10").unwrap(), Duration::from_secs(10));
        assert_eq!(duration("0.5").unwrap(), Duration::from_millis(500));
        for (text, seconds) in [
            ("2min", 120),
            ("2m", 120),
            ("1h30m5s", 5_405),
            ("1m30s", 90),
        ] {
            assert_eq!(
                duration(text).unwrap(),
                Duration::from_secs(seconds),
                "{text}"
            );
        }
        for text in [
            "0",
            "-1",
            "nan",
            "m",
            "5x",
            "1m5",
            "{\"a\": 1}",
            "@body.json",
        ] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(duration("@x").unwrap_err().contains("-b @FILE"));
        assert!(method("30").unwrap_err().contains("-d"));
    }

    #[test]
    fn a_random_field_has_its_lower_end_first() {
        let field = RandomField::parse("page = -3..499").unwrap();
        assert_eq!((&*field.name, field.low, field.high), ("page", -3, 499));
        for text in ["page=9..1", "page", "=1..2", "page=1..x"] {
            assert!(RandomField::parse(text).is_err(), "{text}");
        }
    }
}
