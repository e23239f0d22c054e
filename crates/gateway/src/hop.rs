//! Fields that are meant for one connection only, and end here (RFC 9110, 7.6.1); and which names
//! a server may not tell apart.

use http::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};

const KEEP_ALIVE: HeaderName = HeaderName::from_static("keep-alive");
const PROXY_CONNECTION: HeaderName = HeaderName::from_static("proxy-connection");

static ALWAYS: [HeaderName; 9] = [
    CONNECTION,
    KEEP_ALIVE,
    PROXY_CONNECTION,
    PROXY_AUTHENTICATE,
    PROXY_AUTHORIZATION,
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Where in [`ALWAYS`] a name stands. By its text, of which most are told apart by their lengths.
fn place_in_always(name: &HeaderName) -> Option<usize> {
    Some(match name.as_str() {
        "connection" => 0,
        "keep-alive" => 1,
        "proxy-connection" => 2,
        "proxy-authenticate" => 3,
        "proxy-authorization" => 4,
        "te" => 5,
        "trailer" => 6,
        "transfer-encoding" => 7,
        "upgrade" => 8,
        _ => return None,
    })
}

/// What belongs to the message whatever `Connection` says: without it another message would arrive.
const NEVER: [HeaderName; 3] = [HOST, CONTENT_LENGTH, CONTENT_TYPE];

/// Removes the fields of this connection, and those that `Connection` names.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in named_by_connection(headers) {
        headers.remove(name);
    }
    // Most messages have one of them or none: one look at the names costs less than asking for
    // each.
    let mut found = [false; ALWAYS.len()];
    for name in headers.keys() {
        if let Some(at) = place_in_always(name) {
            found[at] = true;
        }
    }
    for (name, _) in ALWAYS.iter().zip(found).filter(|(_, is_there)| *is_there) {
        headers.remove(name);
    }
}

/// Names in `Connection`. They are few, and none at all in nearly every request.
fn named_by_connection(headers: &HeaderMap) -> Vec<HeaderName> {
    let mut named = Vec::new();
    for value in headers.get_all(CONNECTION) {
        for option in value.as_bytes().split(|&byte| byte == b',') {
            let option = option.trim_ascii();
            if option.is_empty()
                || option.eq_ignore_ascii_case(b"close")
                || option.eq_ignore_ascii_case(b"keep-alive")
                || option.eq_ignore_ascii_case(b"upgrade")
            {
                continue;
            }
            if let Ok(name) = HeaderName::from_bytes(option)
                && !NEVER.contains(&name)
            {
                named.push(name);
            }
        }
    }
    named
}

/// The protocol to which both sides may switch; never HTTP/2, which would take requests past the
/// gateway.
pub(crate) fn upgrade(headers: &HeaderMap) -> Option<HeaderValue> {
    let asks = headers.get_all(CONNECTION).iter().any(|value| {
        let mut options = value.as_bytes().split(|&byte| byte == b',');
        options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"upgrade"))
    });
    let protocol = headers.get(UPGRADE).filter(|_| asks)?;
    let is_http2 = protocol.as_bytes().split(|&byte| byte == b',').any(|one| {
        let one = one.trim_ascii().to_ascii_lowercase();
        one.starts_with(b"h2") || one.starts_with(b"http")
    });
    (!is_http2).then(|| protocol.clone())
}

/// Takes out the fields with such a name.
pub(crate) fn remove_named(headers: &mut HeaderMap, is_such: impl Fn(&str) -> bool) {
    let names: Vec<HeaderName> = headers
        .keys()
        .filter(|name| is_such(name.as_str()))
        .cloned()
        .collect();
    for name in names {
        headers.remove(name);
    }
}

/// Whether servers that hand fields to scripts as variables cannot tell two names apart: there `_`
/// is `-`.
pub(crate) fn reads_as(name: &str, known: &str) -> bool {
    let bytes = name.bytes().zip(known.bytes());
    name.len() == known.len()
        && bytes
            .into_iter()
            .all(|(a, b)| a == b || (a == b'_' && b == b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(fields: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in fields {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn each_name_is_found_at_its_place() {
        for (at, name) in ALWAYS.iter().enumerate() {
            assert_eq!(place_in_always(name), Some(at), "{name}");
        }
    }

    #[test]
    fn what_is_for_this_connection_ends_here() {
        let mut all = headers(&[
            ("connection", "close, X-One"),
            ("connection", "x-two,Host, content-length"),
            ("x-one", "1"),
            ("x-two", "2"),
            ("x-three", "3"),
            ("host", "a"),
            ("content-length", "1"),
            ("te", "trailers"),
            ("keep-alive", "timeout=5"),
            ("proxy-authorization", "secret"),
        ]);
        remove_hop_by_hop(&mut all);
        let mut left: Vec<&str> = all.keys().map(HeaderName::as_str).collect();
        left.sort_unstable();
        assert_eq!(left, ["content-length", "host", "x-three"]);
    }

    #[test]
    fn only_other_protocols_are_switched_to() {
        for (connection, protocol, expected) in [
            ("Upgrade", "websocket", true),
            ("keep-alive, upgrade", "websocket", true),
            ("keep-alive", "websocket", false),
            ("upgrade", "h2c", false),
            ("upgrade, http2-settings", "H2C", false),
            ("upgrade", "websocket, h2c", false),
            ("upgrade", "HTTP/2.0", false),
        ] {
            let found = upgrade(&headers(&[
                ("connection", connection),
                ("upgrade", protocol),
            ]));
            assert_eq!(found.is_some(), expected, "{connection} {protocol}");
        }
    }
}
