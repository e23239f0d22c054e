//! What a backend is told about the client: `Forwarded` (RFC 7239) and the `X-Forwarded-*` that
//! came before it.

use std::net::IpAddr;

use bytes::Bytes;
use http::header::{FORWARDED, HeaderMap, HeaderName, HeaderValue};

use crate::certificate::Certificate;
use crate::client::{ClientAddress, Named};
use crate::hop::{reads_as, remove_named};
use crate::settings::Forwarded;

const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
/// Fields in which proxies tell who the client is.
const CLAIMS: [&str; 5] = [
    "x-real-ip",
    "x-client-ip",
    "x-cluster-client-ip",
    "true-client-ip",
    "client-ip",
];
/// And what all others of the kind begin with.
const CLAIMS_BEGIN: &str = "x-forwarded-";
/// RFC 7239, 6.2.
const UNKNOWN: HeaderValue = HeaderValue::from_static("unknown");
const VISIBLE: &str = "addresses and checked hosts are visible characters";

/// Who is at the other end of a connection; the same for all its requests.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(crate) address: ClientAddress,
    pub(crate) is_secure: bool,
    /// The version of TLS that it speaks to this gateway.
    pub(crate) tls: Option<&'static str>,
    pub(crate) certificate: Certificate,
    address_text: HeaderValue,
    /// `for=…;proto=…`, to which the host is added.
    begin: String,
}

impl Client {
    pub(crate) fn new(address: ClientAddress, is_secure: bool) -> Self {
        let ip = address.ip();
        let proto = scheme(is_secure);
        Self {
            address,
            is_secure,
            tls: None,
            certificate: Certificate::default(),
            address_text: ip.map_or(UNKNOWN, |ip| text(&ip.to_string())),
            begin: format!("for={};proto={proto}", node(ip)),
        }
    }

    /// Tells about this client in a request's fields; `named` is for whom it has passed the request
    /// on, if it is a trusted proxy.
    pub(crate) fn tell(
        &self,
        headers: &mut HeaderMap,
        host: Option<&HeaderValue>,
        how: Forwarded,
        named: Option<&Named>,
    ) {
        match how {
            Forwarded::Off => {}
            Forwarded::Replace => {
                remove_named(headers, is_claim);
                headers.insert(FOR, self.address_text.clone());
                headers.insert(PROTO, HeaderValue::from_static(scheme(self.is_secure)));
                headers.insert(FORWARDED, self.forwarded(host));
                if let Some(named) = named {
                    tell_named(headers, named);
                }
                if let Some(host) = host {
                    headers.insert(HOST, host.clone());
                }
            }
            Forwarded::Append => {
                extend(headers, &FOR, &self.address_text);
                extend(headers, &FORWARDED, &self.forwarded(host));
                // The proxy that the client has met knows how and for whom it came; these have no
                // list.
                let proto = HeaderValue::from_static(scheme(self.is_secure));
                headers.entry(PROTO).or_insert(proto);
                if let Some(host) = host {
                    headers.entry(HOST).or_insert(host.clone());
                }
            }
        }
    }

    fn forwarded(&self, host: Option<&HeaderValue>) -> HeaderValue {
        let host = host.and_then(|host| host.to_str().ok());
        let Some(host) = host else {
            return text(&self.begin);
        };
        let is_token = host
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_'));
        // What is no token stands in quotes; a host has none in it.
        let quote = if is_token { "" } else { "\"" };
        let told = [&self.begin, ";host=", quote, host, quote].concat();
        HeaderValue::from_maybe_shared(Bytes::from(told)).expect(VISIBLE)
    }
}

/// Tells of whom trusted proxies have told, before what this gateway has seen.
fn tell_named(headers: &mut HeaderMap, named: &Named) {
    let way: Vec<String> = named.way.iter().map(ToString::to_string).collect();
    let nodes: Vec<String> = named
        .way
        .iter()
        .map(|ip| format!("for={}", node(Some(*ip))))
        .collect();
    for (name, way) in [(FOR, way), (FORWARDED, nodes)] {
        if let Some(own) = headers.remove(&name).filter(|_| !way.is_empty()) {
            headers.insert(&name, text(&way.join(", ")));
            extend(headers, &name, &own);
        }
    }
    if let Some(is_secure) = named.is_secure {
        headers.insert(PROTO, HeaderValue::from_static(scheme(is_secure)));
    }
}

/// Whether a client claims something about itself by this name.
fn is_claim(name: &str) -> bool {
    let begins = name.get(..CLAIMS_BEGIN.len());
    begins.is_some_and(|begin| reads_as(begin, CLAIMS_BEGIN))
        || CLAIMS.iter().any(|claim| reads_as(name, claim))
}

/// An address as `Forwarded` has it (RFC 7239, 6).
fn node(address: Option<IpAddr>) -> String {
    match address {
        Some(IpAddr::V4(ip)) => ip.to_string(),
        Some(IpAddr::V6(ip)) => format!("\"[{ip}]\""),
        None => "unknown".to_owned(),
    }
}

fn scheme(is_secure: bool) -> &'static str {
    if is_secure { "https" } else { "http" }
}

fn text(plain: &str) -> HeaderValue {
    HeaderValue::from_str(plain).expect(VISIBLE)
}

/// Adds an element to the list that a field holds, which may come in several lines.
fn extend(headers: &mut HeaderMap, name: &HeaderName, value: &HeaderValue) {
    let mut list = Vec::new();
    for before in headers.get_all(name) {
        list.extend_from_slice(before.as_bytes());
        list.extend_from_slice(b", ");
    }
    list.extend_from_slice(value.as_bytes());
    if let Ok(list) = HeaderValue::from_bytes(&list) {
        headers.insert(name.clone(), list);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    fn told(how: Forwarded, client: &str, host: &'static str) -> Vec<String> {
        told_of(how, client, host, None)
    }

    fn told_of(
        how: Forwarded,
        client: &str,
        host: &'static str,
        named: Option<&Named>,
    ) -> Vec<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-forwarded-for", "10.0.0.1"),
            ("x-forwarded-for", "10.0.0.2"),
            ("x-forwarded-proto", "https"),
            ("forwarded", "for=10.0.0.1"),
            ("x-plan", "gold"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let address = ClientAddress::Socket(client.parse().unwrap());
        let client = Client::new(address, false);
        client.tell(
            &mut headers,
            Some(&HeaderValue::from_static(host)),
            how,
            named,
        );
        let mut lines: Vec<String> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        lines.sort();
        lines
    }

    #[test]
    fn what_clients_claim_is_replaced() {
        assert_eq!(
            told(Forwarded::Replace, "[::ffff:192.0.2.7]:1", "a.example"),
            [
                "forwarded: for=192.0.2.7;proto=http;host=a.example",
                "x-forwarded-for: 192.0.2.7",
                "x-forwarded-host: a.example",
                "x-forwarded-proto: http",
                "x-plan: gold",
            ]
        );
        assert_eq!(
            told(Forwarded::Replace, "[2001:db8::1]:1", "a:8081")[0],
            "forwarded: for=\"[2001:db8::1]\";proto=http;host=\"a:8081\""
        );
    }

    #[test]
    fn what_a_proxy_claims_is_added_to() {
        assert_eq!(
            told(Forwarded::Append, "192.0.2.7:1", "a"),
            [
                "forwarded: for=10.0.0.1, for=192.0.2.7;proto=http;host=a",
                "x-forwarded-for: 10.0.0.1, 10.0.0.2, 192.0.2.7",
                "x-forwarded-host: a",
                "x-forwarded-proto: https",
                "x-plan: gold",
            ]
        );
    }

    #[test]
    fn what_trusted_proxies_have_told_stays() {
        let named = Named {
            way: ["2001:db8::7", "10.0.0.9"]
                .map(|ip| ip.parse().unwrap())
                .into(),
            is_secure: Some(true),
        };
        assert_eq!(
            told_of(Forwarded::Replace, "10.0.0.1:1", "a", Some(&named)),
            [
                "forwarded: for=\"[2001:db8::7]\", for=10.0.0.9, for=10.0.0.1;proto=http;host=a",
                "x-forwarded-for: 2001:db8::7, 10.0.0.9, 10.0.0.1",
                "x-forwarded-host: a",
                "x-forwarded-proto: https",
                "x-plan: gold",
            ]
        );
    }

    #[test]
    fn claims_under_other_names_are_taken_out() {
        for name in [
            "x_forwarded_for",
            "x-forwarded_for",
            "x-forwarded-port",
            "x-forwarded-client-cert",
            "x-real-ip",
            "x_real_ip",
            "true-client-ip",
        ] {
            assert!(is_claim(name), "{name}");
        }
        for name in ["x-forwarded", "forwarded", "x-plan", "x_real", "via"] {
            assert!(!is_claim(name), "{name}");
        }
    }
}
