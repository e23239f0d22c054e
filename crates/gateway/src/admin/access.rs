//! Who may use the admin port.
//!
//! On loopback without a token everybody on the machine may, and that includes the user's browser,
//! which any page can tell to send requests: hence the rules for `Host` and `Origin`. No browser
//! reaches a socket of the file system, whose rights say who may.

use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, ORIGIN};
use http::{Method, Request, StatusCode};
use weir_exchange::is_named_by_address;

/// Who may use it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule<'a> {
    /// What is to be shown by whoever does anything.
    pub(super) token: Option<&'a str>,
    /// What is to be shown by whoever only looks.
    pub(super) read_token: Option<&'a str>,
    /// Whether the caller came over a socket of the file system.
    pub(super) is_local: bool,
}

impl Rule<'_> {
    /// Whether a request is answered; else why not.
    pub(super) fn check<B>(self, request: &Request<B>) -> Result<(), (StatusCode, &'static str)> {
        match self.token {
            // The page has no figures in it, and asks for the token itself.
            Some(token) if !shows(request, token) && !is_for_page(request) => {
                self.check_reader(request)?;
            }
            None if !self.is_local && !is_for_this_machine(request.headers()) => {
                return Err((
                    StatusCode::FORBIDDEN,
                    "call the admin port by its address or as localhost: another name may be a page's trick",
                ));
            }
            // Whoever knows the token is not led here by a page.
            Some(_) | None => {}
        }
        if request.method() == Method::POST {
            return check_change(request.headers());
        }
        Ok(())
    }

    fn check_reader<B>(self, request: &Request<B>) -> Result<(), (StatusCode, &'static str)> {
        let is_reader = self.read_token.is_some_and(|token| shows(request, token));
        if !is_reader {
            return Err((
                StatusCode::UNAUTHORIZED,
                "show the token of the gateway's file: Authorization: Bearer TOKEN. In a URL it would stand in logs and \
                 in histories; the page asks for it",
            ));
        }
        if request.method() == Method::GET {
            return Ok(());
        }
        Err((
            StatusCode::FORBIDDEN,
            "this token may look and not change anything: `admin-token` may",
        ))
    }
}

fn is_for_page<B>(request: &Request<B>) -> bool {
    request.method() == Method::GET && request.uri().path() == "/"
}

fn shows<B>(request: &Request<B>, token: &str) -> bool {
    let bearer = request
        .headers()
        .get(AUTHORIZATION)
        .and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    bearer.is_some_and(|shown| is_same(shown, token.as_bytes()))
}

/// Compares in a time that does not tell how many bytes are right.
fn is_same(left: &[u8], right: &[u8]) -> bool {
    let differs = left
        .iter()
        .zip(right)
        .fold(0, |differs, (left, right)| differs | (left ^ right));
    left.len() == right.len() && differs == 0
}

fn is_for_this_machine(headers: &HeaderMap) -> bool {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    host.is_some_and(is_named_by_address)
}

/// A page elsewhere can send a form, but not JSON without being asked first, and tells where it is
/// from.
fn check_change(headers: &HeaderMap) -> Result<(), (StatusCode, &'static str)> {
    let kind = headers
        .get(CONTENT_TYPE)
        .map_or(&b""[..], |kind| kind.as_bytes());
    if !kind.starts_with(b"application/json") {
        return Err((
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "send the change as JSON: Content-Type: application/json",
        ));
    }
    let (origin, host) = (headers.get(ORIGIN), headers.get(HOST));
    let is_own = match (origin.map(http::HeaderValue::as_bytes), host) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin
            .strip_prefix(b"http://")
            .is_some_and(|origin| origin == host.as_bytes()),
        (Some(_), None) => false,
    };
    if is_own {
        Ok(())
    } else {
        Err((
            StatusCode::FORBIDDEN,
            "a page of another place may not change limits",
        ))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    const READ: &str = "fedcba9876543210";

    fn told(method: &str, uri: &str, fields: &[(&str, &str)], token: Option<&str>) -> u16 {
        let mut builder = Request::builder().method(method).uri(uri);
        for (name, value) in fields {
            builder = builder.header(*name, *value);
        }
        let request = builder.body(()).unwrap();
        let rule = Rule {
            token,
            read_token: token.map(|_| READ),
            is_local: false,
        };
        rule.check(&request)
            .map_or_else(|(status, _)| status.as_u16(), |()| 200)
    }

    #[test]
    fn pages_of_others_cannot_get_in() {
        let host = ("host", "127.0.0.1:8082");
        let json = ("content-type", "application/json");
        for (method, fields, expected) in [
            ("GET", &[host][..], 200),
            ("GET", &[("host", "localhost:8082")], 200),
            ("GET", &[("host", "[::1]:8082")], 200),
            ("GET", &[("host", "rebound.example")], 403),
            ("GET", &[], 403),
            ("POST", &[host, json], 200),
            ("POST", &[host], 415),
            ("POST", &[host, ("content-type", "text/plain")], 415),
            (
                "POST",
                &[host, json, ("origin", "http://127.0.0.1:8082")],
                200,
            ),
            (
                "POST",
                &[host, json, ("origin", "http://evil.example")],
                403,
            ),
        ] {
            assert_eq!(
                told(method, "/", fields, None),
                expected,
                "{method} {fields:?}"
            );
        }
    }

    #[test]
    fn a_token_has_to_be_shown() {
        let token = Some("0123456789abcdef");
        for (uri, fields, expected) in [
            ("/", &[][..], 200),
            ("/status", &[], 401),
            ("/status?token=0123456789abcdef", &[], 401),
            (
                "/status",
                &[("authorization", "Bearer 0123456789abcdef")],
                200,
            ),
            (
                "/status",
                &[("authorization", "Bearer 0123456789abcdeg")],
                401,
            ),
            ("/metrics", &[("authorization", "0123456789abcdef")], 401),
        ] {
            assert_eq!(
                told("GET", uri, fields, token),
                expected,
                "{uri} {fields:?}"
            );
        }
    }

    #[test]
    fn who_may_look_may_not_change() {
        let token = Some("0123456789abcdef");
        let json = ("content-type", "application/json");
        for (method, shown, expected) in [
            ("GET", READ, 200),
            ("POST", READ, 403),
            ("GET", "0123456789abcdef", 200),
            ("POST", "0123456789abcdef", 200),
            ("GET", "fedcba9876543211", 401),
        ] {
            let shown = format!("Bearer {shown}");
            let fields = [json, ("authorization", &shown)];
            assert_eq!(
                told(method, "/status", &fields, token),
                expected,
                "{method} {shown}"
            );
        }
    }

    #[test]
    fn a_socket_of_the_file_system_needs_no_host() {
        let rule = Rule {
            token: None,
            read_token: None,
            is_local: true,
        };
        let request = Request::builder().uri("/status").header("host", "gate");
        assert_eq!(rule.check(&request.body(()).unwrap()), Ok(()));
    }
}
