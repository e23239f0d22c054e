//! Where a request goes, as far as cookies and passwords care.

/// The parts of a URL as `java.net.URL` takes it apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Origin<'a> {
    /// `http` or `https`, as it is written.
    pub scheme: &'a str,
    /// Host name or address; an IPv6 address in its brackets.
    pub host: &'a str,
    /// The port, if the URL has one.
    pub port: Option<u16>,
    /// The path as it is written, without the query; may be empty.
    pub path: &'a str,
}

impl<'a> Origin<'a> {
    /// Takes a whole URL apart; `None` for anything else.
    pub fn of(url: &'a str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        if !["http", "https"]
            .iter()
            .any(|known| known.eq_ignore_ascii_case(scheme))
        {
            return None;
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        let host = authority.rsplit('@').next().unwrap_or_default();
        // A colon inside brackets belongs to the address.
        let after_address = host.rfind(']').unwrap_or(0);
        let (host, port) = match host[after_address..].find(':') {
            Some(colon) => {
                let (host, port) = host.split_at(after_address + colon);
                (host, port[1..].parse().ok())
            }
            None => (host, None),
        };
        let path = tail.split(['?', '#']).next().unwrap_or_default();
        Some(Self {
            scheme,
            host,
            port,
            path,
        })
    }

    /// Whether the connection is encrypted.
    pub fn is_secure(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("https")
    }

    /// The port that the scheme has when the URL names none.
    pub(crate) fn default_port(&self) -> u16 {
        if self.is_secure() { 443 } else { 80 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_apart() {
        let check = |url: &str, host: &str, port: Option<u16>, path: &str| {
            let origin = Origin::of(url).unwrap_or_else(|| panic!("{url}"));
            assert_eq!((origin.host, origin.port, origin.path), (host, port, path));
        };
        check("http://a.b/c/d?e/f", "a.b", None, "/c/d");
        check("http://a.b:81", "a.b", Some(81), "");
        check("http://a.b:?x", "a.b", None, "");
        check("HTTPS://u:p@[::1]:8443/#/x", "[::1]", Some(8443), "/");
        check("http://[fe80::1]", "[fe80::1]", None, "");
        assert!(Origin::of("https://a").is_some_and(|origin| origin.is_secure()));
        assert_eq!(Origin::of("ftp://a/"), None);
        assert_eq!(Origin::of("/path"), None);
    }
}
