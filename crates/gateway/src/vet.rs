//! Requests that could be understood in two ways are passed on in none.
//!
//! What cannot be parsed never gets here: hyper answers it and closes. Here stand the rules for
//! heads that parse, and on which two servers could still disagree about whose request it is, where
//! it ends, or what it is.

use http::header::{EXPECT, HOST, HeaderMap, HeaderName, TRANSFER_ENCODING};
use http::uri::Authority;
use http::{HeaderValue, Method, StatusCode, Version, request::Parts};

use crate::malformed::Malformed;
use crate::settings::RequestLimits;

/// Why a request is not passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) status: StatusCode,
    pub(crate) says: &'static str,
    pub(crate) why: Malformed,
}

const fn unfit(status: StatusCode, why: Malformed, says: &'static str) -> Unfit {
    Unfit { status, says, why }
}

const BAD: StatusCode = StatusCode::BAD_REQUEST;
/// What servers that hand fields to scripts as variables cannot tell from the fields that say where
/// the body ends.
static LIKE_FRAMING: [HeaderName; 2] = [
    HeaderName::from_static("transfer_encoding"),
    HeaderName::from_static("content_length"),
];

/// Says for which host a request is, or why it is not passed on. `None`: an old client that names
/// no host.
pub(crate) fn vet(request: &Parts, limits: &RequestLimits) -> Result<Option<HeaderValue>, Unfit> {
    check_method(&request.method)?;
    check_target(request, limits)?;
    check_framing(&request.headers)?;
    check_expectation(&request.headers)?;
    host(request)
}

fn check_method(method: &Method) -> Result<(), Unfit> {
    match *method {
        Method::CONNECT => Err(unfit(
            StatusCode::NOT_IMPLEMENTED,
            Malformed::Method,
            "CONNECT makes tunnels, and this is a gateway to certain servers",
        )),
        Method::TRACE => Err(unfit(
            StatusCode::METHOD_NOT_ALLOWED,
            Malformed::Method,
            "TRACE would show a page what its own scripts may not see",
        )),
        _ => Ok(()),
    }
}

fn check_target(request: &Parts, limits: &RequestLimits) -> Result<(), Unfit> {
    let uri = &request.uri;
    let length = uri
        .path_and_query()
        .map_or(0, |target| target.as_str().len());
    if length > limits.max_uri as usize {
        return Err(unfit(
            StatusCode::URI_TOO_LONG,
            Malformed::Target,
            "the target of the request is longer than this gateway takes",
        ));
    }
    let is_for_all = uri.path() == "*" && request.method == Method::OPTIONS;
    if !uri.path().starts_with('/') && !is_for_all {
        return Err(unfit(
            BAD,
            Malformed::Target,
            "the target of a request begins with /",
        ));
    }
    let count = request.headers.len();
    if count > limits.max_headers as usize {
        return Err(unfit(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Malformed::Fields,
            "the request has more fields than this gateway takes",
        ));
    }
    Ok(())
}

/// hyper has settled where the body ends; what is left are fields that a server behind could read
/// as another end.
fn check_framing(headers: &HeaderMap) -> Result<(), Unfit> {
    let mut codings = headers.get_all(TRANSFER_ENCODING).iter();
    let is_chunked = |value: &HeaderValue| {
        value
            .as_bytes()
            .trim_ascii()
            .eq_ignore_ascii_case(b"chunked")
    };
    if let Some(first) = codings.next()
        && (codings.next().is_some() || !is_chunked(first))
    {
        return Err(unfit(
            StatusCode::NOT_IMPLEMENTED,
            Malformed::Framing,
            "the only transfer coding that this gateway takes is one `chunked`",
        ));
    }
    if LIKE_FRAMING.iter().any(|name| headers.contains_key(name)) {
        return Err(unfit(
            BAD,
            Malformed::Framing,
            "a field looks like one that says where the body ends",
        ));
    }
    Ok(())
}

fn check_expectation(headers: &HeaderMap) -> Result<(), Unfit> {
    let mut expectations = headers.get_all(EXPECT).iter();
    if expectations.all(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue")) {
        return Ok(());
    }
    Err(unfit(
        StatusCode::EXPECTATION_FAILED,
        Malformed::Expectation,
        "the only expectation that there is is 100-continue",
    ))
}

/// The host that the request is for: that of its target, else that of its one `Host` field (RFC
/// 9112, 3.2). In HTTP/2 both name one (RFC 9113, 8.3.1).
fn host(request: &Parts) -> Result<Option<HeaderValue>, Unfit> {
    let mut fields = request.headers.get_all(HOST).iter();
    let field = fields.next();
    if fields.next().is_some() {
        return Err(unfit(BAD, Malformed::Host, "a request has one Host field"));
    }
    if let Some(field) = field {
        check_host(field)?;
    }
    if let Some(authority) = request.uri.authority() {
        let host = HeaderValue::from_str(authority.as_str())
            .map_err(|_| unfit(BAD, Malformed::Host, "the target names no host"))?;
        check_host(&host)?;
        let is_another =
            |field: &HeaderValue| !field.as_bytes().eq_ignore_ascii_case(host.as_bytes());
        if request.version == Version::HTTP_2 && field.is_some_and(is_another) {
            let says = "`host` and `:authority` name one host";
            return Err(unfit(BAD, Malformed::Host, says));
        }
        return Ok(Some(host));
    }
    match field {
        Some(field) => Ok(Some(field.clone())),
        None if request.version == Version::HTTP_10 => Ok(None),
        None => Err(unfit(BAD, Malformed::Host, "a request has a Host field")),
    }
}

/// A name or an address of IPv4, and perhaps a port: all of it is what a host may be, so that
/// nothing has to be parsed.
fn is_plain(host: &[u8]) -> bool {
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let name = host.iter().take_while(|byte| is_of_name(byte)).count();
    match host.split_at(name) {
        ([], _) => false,
        (_, []) => true,
        (_, [b':', port @ ..]) => !port.is_empty() && is_port(port),
        _ => false,
    }
}

fn is_authority(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    match &host.as_bytes()[authority.host().len()..] {
        [] => true,
        [b':', port @ ..] => is_port(port),
        _ => false,
    }
}

/// Whether this can be a port; none at all may be said too (RFC 3986, 3.2.3).
fn is_port(port: &[u8]) -> bool {
    let value = std::str::from_utf8(port).ok();
    let is_number = port.iter().all(u8::is_ascii_digit);
    is_number && (port.is_empty() || value.is_some_and(|value| value.parse::<u16>().is_ok()))
}

fn check_host(host: &HeaderValue) -> Result<(), Unfit> {
    if is_plain(host.as_bytes()) {
        return Ok(());
    }
    let is_host = host
        .to_str()
        .ok()
        .filter(|host| !host.contains('@'))
        .is_some_and(is_authority);
    if is_host {
        Ok(())
    } else {
        Err(unfit(BAD, Malformed::Host, "the Host field names no host"))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn told(method: &str, target: &str, fields: &[(&str, &str)]) -> Result<String, u16> {
        let mut builder = http::Request::builder().method(method).uri(target);
        for (name, value) in fields {
            builder = builder.header(*name, *value);
        }
        let request = builder.body(()).unwrap().into_parts().0;
        match vet(&request, &RequestLimits::default()) {
            Ok(host) => Ok(host.unwrap().to_str().unwrap().to_owned()),
            Err(unfit) => Err(unfit.status.as_u16()),
        }
    }

    /// What is taken without being parsed would have been taken.
    #[test]
    fn plain_hosts_are_hosts() {
        for (host, is_taken) in [
            ("a", true),
            ("a.example:80", true),
            ("127.0.0.1:65535", true),
            ("127.0.0.1:99999", false),
            ("", false),
            (":80", false),
            ("a:", false),
            ("a:8o", false),
            ("a:80:80", false),
            ("[::1]:80", false),
            ("a/b", false),
            ("u@a", false),
        ] {
            assert_eq!(is_plain(host.as_bytes()), is_taken, "{host}");
            assert!(!is_taken || host.parse::<Authority>().is_ok(), "{host}");
        }
    }

    #[test]
    fn one_host_and_one_end() {
        let host = ("host", "a.example:80");
        for (method, target, fields, expected) in [
            ("GET", "/", &[host][..], Ok("a.example:80")),
            ("GET", "http://b.example/", &[host], Ok("b.example")),
            ("OPTIONS", "*", &[host], Ok("a.example:80")),
            ("GET", "*", &[host], Err(400)),
            ("GET", "/", &[], Err(400)),
            ("GET", "/", &[host, host], Err(400)),
            ("GET", "/", &[("host", "")], Err(400)),
            ("GET", "/", &[("host", "a b")], Err(400)),
            ("GET", "/", &[("host", "u@a")], Err(400)),
            ("GET", "/", &[("host", "a:99x")], Err(400)),
            ("GET", "/", &[("host", "a:70000")], Err(400)),
            ("GET", "/", &[("host", "[::1]:x")], Err(400)),
            ("GET", "/", &[("host", "[::1]:80")], Ok("[::1]:80")),
            ("GET", "/", &[("host", "a:")], Ok("a:")),
            ("GET", "/", &[("host", "a/b")], Err(400)),
            ("CONNECT", "a.example:80", &[host], Err(501)),
            ("TRACE", "/", &[host], Err(405)),
            (
                "POST",
                "/",
                &[host, ("transfer-encoding", "Chunked")],
                Ok("a.example:80"),
            ),
            (
                "POST",
                "/",
                &[host, ("transfer-encoding", "gzip, chunked")],
                Err(501),
            ),
            (
                "POST",
                "/",
                &[host, ("transfer_encoding", "chunked")],
                Err(400),
            ),
            (
                "POST",
                "/",
                &[
                    host,
                    ("transfer-encoding", "chunked"),
                    ("transfer-encoding", "chunked"),
                ],
                Err(501),
            ),
            (
                "POST",
                "/",
                &[host, ("expect", "100-Continue")],
                Ok("a.example:80"),
            ),
            ("POST", "/", &[host, ("expect", "miracles")], Err(417)),
        ] {
            let expected = expected.map(str::to_owned);
            assert_eq!(
                told(method, target, fields),
                expected,
                "{method} {target} {fields:?}"
            );
        }
        let long = format!("/{}", "a".repeat(9000));
        assert_eq!(told("GET", &long, &[host]), Err(414));
    }
}
