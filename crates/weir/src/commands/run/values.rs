//! Values of the short form's command line, each checked as it is typed.
//!
//! What would fail with every request is refused here, with what to write instead.

use std::time::Duration;

use url::{ParseError, Url};
use weir_metric::parse_duration;

/// What is going to be loaded.
pub(super) fn url(text: &str) -> Result<Url, String> {
    let without_scheme =
        || format!("it does not say how the server is spoken to; write http://{text}");
    let url: Url = text.parse().map_err(|error| match error {
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

/// A proxy.
pub(super) fn proxy(text: &str) -> Result<Url, String> {
    let says = "a proxy is written http://HOST:PORT";
    let url: Url = text.parse().map_err(|_| says.to_owned())?;
    let is_whole = url.scheme() == "http" && url.host_str().is_some();
    is_whole.then_some(url).ok_or_else(|| says.to_owned())
}

/// A length of time that is not nothing.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match parse_duration(text) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        Ok(_) => Err("a length of time is more than 0".to_owned()),
        Err(error) => Err(format!("failed to {error}")),
    }
}

/// A request method.
pub(super) fn method(text: &str) -> Result<String, String> {
    if is_token(text) {
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
        for text in ["127.0.0.1:8080/a", "localhost", "localhost:8080", "x.jm"] {
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
    fn a_random_field_has_its_lower_end_first() {
        let field = RandomField::parse("page = -3..499").unwrap();
        assert_eq!((&*field.name, field.low, field.high), ("page", -3, 499));
        for text in ["page=9..1", "page", "=1..2", "page=1..x"] {
            assert!(RandomField::parse(text).is_err(), "{text}");
        }
    }
}
