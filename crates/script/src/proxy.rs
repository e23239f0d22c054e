//! Which proxy a request goes through.
//!
//! JMeter 5.6.3: a proxy counts when it has a name and a port; the port of a request's own proxy is
//! not guessed.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use weir_plan::Proxy;

/// An HTTP proxy that requests are sent to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProxyServer {
    /// Host name or address; an IPv6 address without brackets.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// The value of `Proxy-Authorization` for a proxy that asks for a name and a password.
    pub authorization: Option<String>,
}

impl ProxyServer {
    /// The proxy for requests to a host, of texts that have been rendered.
    pub(crate) fn of(proxy: &Proxy<String>, host: &str) -> Option<Self> {
        let port = proxy.port.trim().parse().ok().filter(|port| *port > 0)?;
        let name = proxy.host.trim();
        if name.is_empty() || is_excepted(&proxy.not_for, host) {
            return None;
        }
        let bare = name
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'));
        Some(Self {
            host: bare.unwrap_or(name).to_owned(),
            port,
            authorization: (!proxy.user.is_empty()).then(|| {
                let credentials = format!("{}:{}", proxy.user, proxy.password);
                format!("Basic {}", STANDARD.encode(credentials))
            }),
        })
    }
}

/// Whether a host is named in `a|*.b`. JMeter compares letters as they are.
fn is_excepted(names: &str, host: &str) -> bool {
    let names = names.split('|').filter(|name| !name.is_empty());
    let host = host.trim_start_matches('[').trim_end_matches(']');
    names.into_iter().any(|name| match name.strip_prefix('*') {
        Some(ending) => host.ends_with(ending),
        None => host == name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_can_be_left_out() {
        for (names, host, excepted) in [
            ("", "a.example", false),
            ("a.example", "a.example", true),
            ("a.example", "b.a.example", false),
            ("localhost|*.example", "a.example", true),
            ("localhost|*.example", "example", false),
            ("localhost|*.example", "localhost", true),
            ("::1", "[::1]", true),
        ] {
            assert_eq!(is_excepted(names, host), excepted, "{names} {host}");
        }
    }

    #[test]
    fn a_proxy_has_a_name_and_a_port() {
        let check = |host: &str, port: &str, user: &str| {
            let proxy = Proxy {
                host: host.to_owned(),
                port: port.to_owned(),
                user: user.to_owned(),
                password: "p:w".to_owned(),
                ..Proxy::default()
            };
            ProxyServer::of(&proxy, "h")
        };
        for (host, port) in [("", "1"), ("p", ""), ("p", "0"), ("p", "-1"), ("p", "x")] {
            assert_eq!(check(host, port, ""), None, "{host} {port}");
        }
        let proxy = ProxyServer {
            host: "::1".to_owned(),
            port: 3128,
            authorization: None,
        };
        assert_eq!(check("[::1]", " 3128", ""), Some(proxy.clone()));
        // RFC 7617, section 2, with another name and password.
        let authorization = Some("Basic dTpwOnc=".to_owned());
        let with_user = ProxyServer {
            authorization,
            ..proxy
        };
        assert_eq!(check("::1", "3128", "u"), Some(with_user));
    }
}
