//! Who a client is: the other end of its connection, or whom a trusted proxy in front names.
//!
//! A proxy names the client for a whole connection (the PROXY protocol) or in a field of each
//! request (`X-Forwarded-For`, `Forwarded`). Such a field is a list to which every proxy on the way
//! adds whom it has seen. It is read from its end, for as long as who has written an entry is
//! trusted: what stands before that anybody can have made up.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use http::header::{FORWARDED, HeaderMap, HeaderName};

use crate::settings::TrustedProxies;

const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// What is known of where a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAddress {
    /// The other end of its connection.
    Socket(SocketAddr),
    /// Whom a trusted proxy has named.
    Named(IpAddr),
    /// A program of this machine, which came over a socket of the file system.
    Unix,
}

impl ClientAddress {
    /// Its address. A client that came over IPv4 to a socket for both has one of IPv4.
    pub(crate) fn ip(self) -> Option<IpAddr> {
        match self {
            Self::Socket(address) => Some(address.ip().to_canonical()),
            Self::Named(ip) => Some(ip),
            Self::Unix => None,
        }
    }
}

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(address) => address.fmt(f),
            Self::Named(ip) => ip.fmt(f),
            Self::Unix => f.write_str("unix:"),
        }
    }
}

/// For whom trusted proxies have passed a request on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    /// The client, and the proxies that it came through up to the one that has connected.
    pub(crate) way: Vec<IpAddr>,
    /// Whether the client speaks TLS, if that was told.
    pub(crate) is_secure: Option<bool>,
}

impl Named {
    /// Whom the head of a request names that came from this end of a connection.
    pub(crate) fn find(
        headers: &HeaderMap,
        from: ClientAddress,
        proxies: &TrustedProxies,
    ) -> Option<Box<Self>> {
        if !proxies.trusts(from.ip()) {
            return None;
        }
        let name = &proxies.client_header;
        let mut nodes = Vec::new();
        let mut is_secure = None;
        for line in headers.get_all(name) {
            // What cannot be read hides what stands before it.
            let line = line.to_str().unwrap_or_default();
            for entry in split(line, b',') {
                if *name == FORWARDED {
                    is_secure = parameter(entry, "proto").and_then(is_https);
                    nodes.push(parameter(entry, "for").unwrap_or_default());
                } else {
                    nodes.push(entry);
                }
            }
        }
        let mut way = Vec::new();
        for node in nodes.into_iter().rev() {
            let Some(ip) = ip_of(node) else { break };
            way.insert(0, ip);
            if !proxies.trusts(Some(ip)) {
                break;
            }
        }
        if *name != FORWARDED {
            let told = headers.get_all(PROTO).iter().next_back();
            is_secure = told.and_then(|told| is_https(told.to_str().ok()?));
        }
        let says_something = !way.is_empty() || is_secure.is_some();
        says_something.then(|| Box::new(Self { way, is_secure }))
    }

    /// The client.
    pub(crate) fn address(&self) -> Option<ClientAddress> {
        self.way.first().copied().map(ClientAddress::Named)
    }
}

/// The last one counts, where each proxy has added its own.
fn is_https(told: &str) -> Option<bool> {
    let last = told.rsplit(',').next().unwrap_or_default().trim();
    match last {
        _ if last.eq_ignore_ascii_case("https") => Some(true),
        _ if last.eq_ignore_ascii_case("http") => Some(false),
        _ => None,
    }
}

/// The pieces between separators that stand in no quotes.
fn split(text: &str, separator: u8) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut begin, mut is_quoted, mut is_escaped) = (0, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if byte == separator && !is_quoted => {
                pieces.push(text[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(text[begin..].trim());
    pieces
}

/// A parameter of an entry of `Forwarded` (RFC 7239, 4), without its quotes.
fn parameter<'a>(entry: &'a str, name: &str) -> Option<&'a str> {
    split(entry, b';').into_iter().find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        key.trim()
            .eq_ignore_ascii_case(name)
            .then(|| value.trim().trim_matches('"'))
    })
}

/// The address of an entry, which may have a port.
fn ip_of(node: &str) -> Option<IpAddr> {
    let bare = node.strip_prefix('[').map(|rest| rest.split(']').next());
    let bare = bare.flatten().unwrap_or(node);
    let ip = bare.parse().ok();
    let ip = ip.or_else(|| Some(bare.parse::<SocketAddr>().ok()?.ip()));
    ip.map(|ip: IpAddr| ip.to_canonical())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn named(header: &str, lines: &[(&str, &str)]) -> Option<(String, Option<bool>)> {
        let proxies = TrustedProxies {
            networks: vec!["10.0.0.0/8".parse().unwrap()],
            client_header: header.parse().unwrap(),
            ..TrustedProxies::default()
        };
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            let name: HeaderName = name.parse().unwrap();
            headers.append(name, value.parse().unwrap());
        }
        let from = ClientAddress::Named("10.0.0.1".parse().unwrap());
        let named = Named::find(&headers, from, &proxies)?;
        let way: Vec<String> = named.way.iter().map(ToString::to_string).collect();
        Some((way.join(" "), named.is_secure))
    }

    #[test]
    fn a_list_is_read_from_its_end_while_it_is_trusted() {
        for (list, expected) in [
            ("192.0.2.7", "192.0.2.7"),
            ("192.0.2.7, 10.0.0.9", "192.0.2.7 10.0.0.9"),
            ("8.8.8.8, 192.0.2.7, 10.0.0.9", "192.0.2.7 10.0.0.9"),
            ("8.8.8.8, 192.0.2.7", "192.0.2.7"),
            ("10.0.0.8, 10.0.0.9", "10.0.0.8 10.0.0.9"),
            ("192.0.2.7, unknown, 10.0.0.9", "10.0.0.9"),
            ("2001:db8::7", "2001:db8::7"),
            ("[2001:db8::7]:4711,10.0.0.9:80", "2001:db8::7 10.0.0.9"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("192.0.2.7:4711", "192.0.2.7"),
        ] {
            let way = named("x-forwarded-for", &[("x-forwarded-for", list)]);
            assert_eq!(way, Some((expected.to_owned(), None)), "{list}");
        }
        for list in ["", "somebody", "192.0.2.7,"] {
            let way = named("x-forwarded-for", &[("x-forwarded-for", list)]);
            assert_eq!(way, None, "{list}");
        }
        let lines = [
            ("x-forwarded-for", "8.8.8.8, 10.0.0.1"),
            ("x-forwarded-for", "192.0.2.7"),
        ];
        let way = named("x-forwarded-for", &lines).unwrap().0;
        assert_eq!(way, "192.0.2.7", "several lines are one list");
    }

    #[test]
    fn only_the_header_of_the_file_counts() {
        let lines = [
            ("forwarded", "for=192.0.2.7"),
            ("x-forwarded-for", "8.8.8.8"),
        ];
        assert_eq!(named("forwarded", &lines).unwrap().0, "192.0.2.7");
        assert_eq!(named("x-forwarded-for", &lines).unwrap().0, "8.8.8.8");
        assert_eq!(named("x-real-ip", &lines), None);
    }

    #[test]
    fn forwarded_is_read_as_its_rfc_has_it() {
        for (list, way, is_secure) in [
            (
                "For=\"[2001:db8:cafe::17]:4711\"",
                "2001:db8:cafe::17",
                None,
            ),
            (
                "for=192.0.2.60;proto=https;by=203.0.113.43",
                "192.0.2.60",
                Some(true),
            ),
            (
                "for=8.8.8.8, for=192.0.2.43;proto=http, for=10.0.0.4; proto=HTTPS",
                "192.0.2.43 10.0.0.4",
                Some(true),
            ),
            ("for=192.0.2.1;host=\"a, for=8.8.8.8\"", "192.0.2.1", None),
            (
                "host=\"a\\\", for=8.8.8.8\";for=192.0.2.1",
                "192.0.2.1",
                None,
            ),
        ] {
            let named = named("forwarded", &[("forwarded", list)]);
            assert_eq!(named, Some((way.to_owned(), is_secure)), "{list}");
        }
        let hidden = [("forwarded", "for=_hidden, for=unknown")];
        assert_eq!(named("forwarded", &hidden), None);
    }

    #[test]
    fn how_the_client_speaks_is_told_beside_it() {
        let told = |proto| {
            let lines = [
                ("x-forwarded-for", "192.0.2.7"),
                ("x-forwarded-proto", proto),
            ];
            named("x-forwarded-for", &lines).unwrap().1
        };
        assert_eq!(told("https"), Some(true));
        assert_eq!(told("https, http"), Some(false));
        assert_eq!(told("ws"), None);
    }
}
