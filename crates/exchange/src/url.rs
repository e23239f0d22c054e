//! Where a server tells about itself: plain HTTP on this machine or a private network.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use crate::credentials::Credentials;
use crate::near::is_near;

/// An address that cannot be asked; each message fits after "failed to ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// It is not one that may be asked.
    #[error("use `{url}` as the address of metrics: {why}")]
    Form {
        /// The address as given.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Its host has no address.
    #[error("find the host of the metrics at `{url}`")]
    Host {
        /// The address as given.
        url: String,
        /// What the resolver said.
        #[source]
        source: std::io::Error,
    },
}

/// Why a host is not asked, and the way out.
const NOT_NEAR: &str = "the host is neither loopback nor private (10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, fc00::/7): \
                        name its private address, or lead a port of 127.0.0.1 there (ssh -L)";

/// The address of a page of metrics, found and checked: `http://127.0.0.1:9081/metrics`.
///
/// The host must be loopback or private. Reading metrics each second is load, and a public host
/// has not been asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsUrl {
    authority: String,
    path: String,
    address: SocketAddr,
    credentials: Option<Box<Credentials>>,
}

impl MetricsUrl {
    /// This address, asked with these credentials.
    #[must_use]
    pub fn with_credentials(self, credentials: Credentials) -> Self {
        Self {
            credentials: Some(Box::new(credentials)),
            ..self
        }
    }

    /// What it is asked with. They are no part of the address as it is displayed.
    pub fn credentials(&self) -> Option<&Credentials> {
        self.credentials.as_deref()
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Host and port as given.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Its path and query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// This address with a slash at the end of its path.
    #[must_use]
    pub fn as_folder(mut self) -> Self {
        if !self.path.ends_with('/') {
            self.path.push('/');
        }
        self
    }

    /// The request for the page, as bytes.
    pub fn get(&self) -> Vec<u8> {
        self.get_with(&self.proof())
    }

    /// As `get`, for whoever shows this token (RFC 6750), which has no line breaks. In the path it
    /// would stand in logs.
    pub fn get_with_token(&self, token: &str) -> Vec<u8> {
        self.get_with(&format!("Authorization: Bearer {token}\r\n"))
    }

    fn get_with(&self, proof: &str) -> Vec<u8> {
        format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nAccept: text/plain\r\n{proof}User-Agent: weir\r\n\r\n",
            self.path, self.authority,
        )
        .into_bytes()
    }

    /// A request that posts a JSON text there, as bytes.
    pub fn post_json(&self, json: &str) -> Vec<u8> {
        format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n{}User-Agent: weir\r\n\r\n{json}",
            self.path,
            self.authority,
            json.len(),
            self.proof()
        )
        .into_bytes()
    }

    /// The lines of a head that carry the credentials.
    fn proof(&self) -> String {
        let credentials = self.credentials.as_deref();
        credentials.map_or_else(String::new, Credentials::head_lines)
    }
}

impl fmt::Display for MetricsUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}{}", self.authority, self.path)
    }
}

impl FromStr for MetricsUrl {
    type Err = UrlError;

    fn from_str(url: &str) -> Result<Self, UrlError> {
        let wrong = |why| UrlError::Form {
            url: url.to_owned(),
            why,
        };
        let rest = url
            .strip_prefix("http://")
            .ok_or_else(|| wrong("it does not start with http://"))?;
        if !rest.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(wrong(
                "it has spaces or characters that must be percent-encoded",
            ));
        }
        let (authority, path) = match rest.find(['/', '?', '#']) {
            Some(end) if rest[end..].starts_with('/') => rest.split_at(end),
            Some(_) => return Err(wrong("the path does not start with a slash")),
            None => (rest, "/"),
        };
        if authority.is_empty() || authority.contains('@') {
            return Err(wrong("it has no plain host"));
        }
        let address = resolve(authority).map_err(|source| UrlError::Host {
            url: url.to_owned(),
            source,
        })?;
        let address = address.ok_or_else(|| wrong(NOT_NEAR))?;
        Ok(Self {
            authority: authority.to_owned(),
            path: path.split('#').next().unwrap_or(path).to_owned(),
            address,
            credentials: None,
        })
    }
}

/// The host's first address, or `None` when one of its addresses is public.
fn resolve(authority: &str) -> std::io::Result<Option<SocketAddr>> {
    let port_given = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.ends_with(']'));
    let addresses: Vec<SocketAddr> = if port_given {
        authority.to_socket_addrs()?.collect()
    } else {
        format!("{authority}:80").to_socket_addrs()?.collect()
    };
    let all_near = addresses.iter().all(|address| is_near(address.ip()));
    Ok(addresses.first().copied().filter(|_| all_near))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn addresses_that_can_be_read() {
        for (url, address, request) in [
            (
                "http://127.0.0.1:9081/metrics",
                "127.0.0.1:9081",
                "GET /metrics HTTP/1.1",
            ),
            ("http://10.1.2.3", "10.1.2.3:80", "GET / HTTP/1.1"),
            (
                "http://[::1]:8080/a?b=c#d",
                "[::1]:8080",
                "GET /a?b=c HTTP/1.1",
            ),
            ("http://[fd00::7]/m", "[fd00::7]:80", "GET /m HTTP/1.1"),
        ] {
            let read: MetricsUrl = url.parse().unwrap();
            assert_eq!(read.address().to_string(), address, "{url}");
            assert!(read.get().starts_with(request.as_bytes()), "{url}");
        }
    }

    #[test]
    fn credentials_are_sent_and_never_shown() {
        let url: MetricsUrl = "http://127.0.0.1:8778/jolokia".parse().unwrap();
        let plain = String::from_utf8(url.get()).unwrap();
        assert!(!plain.contains("Authorization") && !plain.contains("Origin"));
        let url = url.with_credentials(Credentials::new("weir", "p455word"));
        for request in [
            url.get(),
            url.post_json("[]"),
            url.clone().as_folder().get(),
        ] {
            let request = String::from_utf8(request).unwrap();
            // `printf weir:p455word | base64`
            let proof =
                "\r\nAuthorization: Basic d2VpcjpwNDU1d29yZA==\r\nOrigin: http://weir.invalid\r\n";
            assert!(request.contains(proof), "{request}");
        }
        for shown in [url.to_string(), format!("{url:?}"), format!("{url:#?}")] {
            assert!(!shown.contains("p455word"), "{shown}");
        }
    }

    #[test]
    fn addresses_that_are_refused_say_why() {
        for (url, why) in [
            ("https://127.0.0.1/metrics", "http://"),
            ("127.0.0.1:9081/metrics", "http://"),
            ("http://", "no plain host"),
            ("http://user@127.0.0.1/", "no plain host"),
            ("http://127.0.0.1/a b", "percent-encoded"),
            ("http://127.0.0.1/\r\nX: y", "percent-encoded"),
            ("http://127.0.0.1?x", "slash"),
            ("http://8.8.8.8/metrics", "neither loopback nor private"),
            (
                "http://[2001:4860::8888]/metrics",
                "neither loopback nor private",
            ),
            (
                "http://[::ffff:8.8.8.8]/metrics",
                "neither loopback nor private",
            ),
            (
                "http://169.254.169.254/latest/meta-data",
                "neither loopback nor private",
            ),
            ("http://[fe80::1%25lo]/metrics", "find the host"),
            ("http://[fe80::1]/metrics", "neither loopback nor private"),
            ("http://2852039166/metrics", "neither loopback nor private"),
            ("http://127.0.0.1:99999/metrics", "find the host"),
        ] {
            let message = url.parse::<MetricsUrl>().unwrap_err().to_string();
            assert!(message.contains(why), "{url}: {message}");
        }
    }
}
