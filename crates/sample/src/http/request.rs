//! One request: its head parsed and checked, its parameters taken from query and body.

use weir_exchange::is_named_by_address;

use super::{Parameters, Response};

/// Longest head accepted, in bytes.
pub(super) const HEAD_MAX: usize = 16 * 1024;
/// Longest body accepted, in bytes.
pub(super) const BODY_MAX: usize = 64 * 1024;
/// Most header fields accepted.
const FIELDS_MAX: usize = 64;

/// What is asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path as sent, without the query.
    pub(crate) path: String,
    pub(crate) parameters: Parameters,
    /// Whether the client wants the connection to stay open.
    pub(crate) keep_alive: bool,
    /// The request is meant for a name that may be anybody's.
    pub(crate) is_for_other_name: bool,
}

/// The methods that some endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
    Other,
}

/// A complete head, before its body is there.
#[derive(Debug)]
pub(super) struct Head {
    /// Bytes of the head, including the empty line.
    pub(super) length: usize,
    /// Bytes of the body that follows.
    pub(super) body_length: usize,
    /// The client waits for leave to send the body.
    pub(super) expects_continue: bool,
    method: Method,
    target: String,
    keep_alive: bool,
    body_is_form: bool,
    host: Option<HostName>,
}

impl Head {
    /// Parses the head at the start of `bytes`; none while it is incomplete, an answer when it is
    /// refused.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Self>, Response> {
        let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
        let mut request = httparse::Request::new(&mut fields);
        let length = match request.parse(bytes) {
            Ok(httparse::Status::Complete(length)) if length <= HEAD_MAX => length,
            Ok(httparse::Status::Partial) if bytes.len() < HEAD_MAX => return Ok(None),
            Ok(_) => {
                return Err(Response::refusal(
                    431,
                    format!("the head is longer than {HEAD_MAX} bytes"),
                ));
            }
            Err(httparse::Error::TooManyHeaders) => {
                return Err(Response::refusal(
                    431,
                    format!("there are more than {FIELDS_MAX} header fields"),
                ));
            }
            Err(error) => {
                return Err(Response::bad_request(format!(
                    "this is not an HTTP/1 request: {error}"
                )));
            }
        };
        let version_1_1 = request.version == Some(1);
        let fields = Fields::collect(request.headers)?;
        if version_1_1 && fields.host.is_none() {
            return Err(Response::bad_request(
                "a request of HTTP/1.1 needs a Host field",
            ));
        }
        Ok(Some(Self {
            length,
            body_length: fields.content_length.unwrap_or(0),
            expects_continue: version_1_1 && fields.expects_continue,
            method: method(request.method.unwrap_or_default()),
            target: request.path.unwrap_or_default().to_owned(),
            keep_alive: if version_1_1 {
                !fields.close
            } else {
                fields.keep_alive && !fields.close
            },
            body_is_form: fields.form,
            host: fields.host,
        }))
    }

    /// Joins the head with its body, which has the announced length.
    pub(super) fn with_body(self, body: &[u8]) -> Result<Request, Response> {
        let target = origin_form(&self.target);
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut parameters = Parameters::default();
        parameters.extend_from_form(query.as_bytes());
        if self.body_is_form {
            parameters.extend_from_form(body);
        } else if !body.is_empty() {
            return Err(Response::refusal(
                415,
                "a body is only read as application/x-www-form-urlencoded, and the Content-Type says something else",
            ));
        }
        Ok(Request {
            method: self.method,
            path: path.to_owned(),
            parameters,
            keep_alive: self.keep_alive,
            is_for_other_name: self.host == Some(HostName::Other),
        })
    }
}

/// What a `Host` field names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostName {
    /// An address, or localhost.
    Address,
    /// A name that may be anybody's.
    Other,
}

/// The header fields that matter here.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one header field, present or not"
)]
struct Fields {
    content_length: Option<usize>,
    host: Option<HostName>,
    close: bool,
    keep_alive: bool,
    form: bool,
    expects_continue: bool,
}

impl Fields {
    fn collect(headers: &[httparse::Header<'_>]) -> Result<Self, Response> {
        let mut fields = Self::default();
        for header in headers {
            let value = String::from_utf8_lossy(header.value)
                .trim()
                .to_ascii_lowercase();
            match header.name.to_ascii_lowercase().as_str() {
                "host" if is_named_by_address(&value) => fields.host = Some(HostName::Address),
                "host" => fields.host = Some(HostName::Other),
                "connection" => {
                    fields.close |= value.split(',').any(|token| token.trim() == "close");
                    fields.keep_alive |= value.split(',').any(|token| token.trim() == "keep-alive");
                }
                "content-type" => {
                    let media_type = value.split(';').next().unwrap_or_default();
                    fields.form = media_type.trim_end() == "application/x-www-form-urlencoded";
                }
                "content-length" => {
                    fields.content_length = Some(body_length(&value, fields.content_length)?);
                }
                "expect" => fields.expects_continue = value == "100-continue",
                "transfer-encoding" => {
                    return Err(Response::refusal(
                        411,
                        "send the body with a Content-Length, not with a transfer coding",
                    ));
                }
                _ => {}
            }
        }
        Ok(fields)
    }
}

/// Checks a Content-Length against the bound and against one that came before it (RFC 9112, section
/// 6.3).
fn body_length(value: &str, earlier: Option<usize>) -> Result<usize, Response> {
    let digits_only = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    if !digits_only {
        return Err(Response::bad_request(format!(
            "Content-Length {value:?} is not a number"
        )));
    }
    // All digits: what does not parse is too large for any body.
    let length = value.parse().unwrap_or(usize::MAX);
    if earlier.is_some_and(|earlier| earlier != length) {
        return Err(Response::bad_request("two Content-Length fields disagree"));
    }
    if length > BODY_MAX {
        return Err(Response::refusal(
            413,
            format!("the body is longer than {BODY_MAX} bytes"),
        ));
    }
    Ok(length)
}

fn method(name: &str) -> Method {
    match name {
        "GET" => Method::Get,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        _ => Method::Other,
    }
}

/// The path and query of a target; one that names a host (as sent to proxies) loses it.
fn origin_form(target: &str) -> &str {
    match target.strip_prefix("http://") {
        Some(rest) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => target,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Request, u16> {
        let head = Head::parse(text.as_bytes())
            .map_err(|refusal| refusal.status)?
            .unwrap();
        let body = &text.as_bytes()[head.length..];
        assert_eq!(body.len(), head.body_length);
        head.with_body(body).map_err(|refusal| refusal.status)
    }

    #[test]
    fn query_and_form_give_parameters() {
        let request = read(
            "POST /stress/hoge?bit=256 HTTP/1.1\r\nHost: a\r\nContent-Length: 13\r\n\
             Content-Type: application/x-www-form-urlencoded; charset=UTF-8\r\n\r\nsearchTime=20",
        )
        .unwrap();
        let mut expected = Parameters::default();
        expected.extend_from_form(b"bit=256&searchTime=20");
        assert_eq!(
            (request.method, request.path.as_str()),
            (Method::Post, "/stress/hoge")
        );
        assert_eq!((request.parameters, request.keep_alive), (expected, true));
    }

    #[test]
    fn names_are_told_from_addresses() {
        for (host, is_other) in [
            ("127.0.0.1:8099", false),
            ("[::1]:8099", false),
            ("localhost", false),
            ("evil.example:8099", true),
            ("localhost.evil.example", true),
            ("", true),
        ] {
            let request = read(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")).unwrap();
            assert_eq!(request.is_for_other_name, is_other, "{host}");
        }
    }

    #[test]
    fn keep_alive_follows_version_and_field() {
        for (text, keep_alive) in [
            ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", true),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n",
                false,
            ),
            (
                "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, close\r\n\r\n",
                false,
            ),
            ("GET / HTTP/1.0\r\n\r\n", false),
            ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true),
        ] {
            assert_eq!(read(text).unwrap().keep_alive, keep_alive, "{text}");
        }
    }

    #[test]
    fn refusals() {
        let long_head = format!("GET / HTTP/1.1\r\nHost: {}\r\n\r\n", "a".repeat(HEAD_MAX));
        let many_fields = format!(
            "GET / HTTP/1.1\r\n{}\r\n",
            "a: b\r\n".repeat(FIELDS_MAX + 1)
        );
        for (text, status) in [
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("HELO there\r\n\r\n", 400),
            ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc",
                400,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
                400,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
                411,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n",
                413,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n",
                413,
            ),
            (
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Type: text/xml\r\n\r\n<>",
                415,
            ),
            (&long_head, 431),
            (&many_fields, 431),
        ] {
            assert_eq!(read(text).unwrap_err(), status, "{text:.60}");
        }
    }

    #[test]
    fn a_target_that_names_the_host_is_a_path() {
        assert_eq!(
            read("GET http://a:1/x?y=1 HTTP/1.1\r\nHost: a\r\n\r\n")
                .unwrap()
                .path,
            "/x"
        );
        assert_eq!(
            read("GET http://a HTTP/1.1\r\nHost: a\r\n\r\n")
                .unwrap()
                .path,
            "/"
        );
    }

    proptest! {
        #[test]
        fn any_bytes_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            if let Ok(Some(head)) = Head::parse(&bytes) {
                prop_assert!(head.length <= bytes.len() && head.body_length <= BODY_MAX);
            }
        }

        /// What is a whole request in one piece is incomplete in every shorter piece, never
        /// something else.
        #[test]
        fn a_shorter_piece_is_incomplete(cut in 0_usize..53) {
            let text = "POST /stress HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
            prop_assert_eq!(text.len(), 53);
            prop_assert!(Head::parse(&text.as_bytes()[..cut]).is_ok_and(|head| head.is_none()));
        }
    }
}
