//! Proxies in front, and what they may say.

use std::net::IpAddr;

use http::header::HeaderName;
use ipnet::IpNet;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Proxies in front whose word about their clients counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedProxies {
    /// Where they are.
    pub networks: Vec<IpNet>,
    /// Whether programs of this machine are among them that come over a socket of the file system.
    pub on_paths: bool,
    /// The field in which they name the client.
    pub client_header: HeaderName,
    /// Whether each of their connections begins with the PROXY protocol.
    pub proxy_protocol: bool,
}

impl Default for TrustedProxies {
    fn default() -> Self {
        Self {
            networks: Vec::new(),
            on_paths: false,
            client_header: X_FORWARDED_FOR,
            proxy_protocol: false,
        }
    }
}

impl TrustedProxies {
    /// Whether what this one says counts; `None` is one that comes over a path.
    pub(crate) fn trusts(&self, from: Option<IpAddr>) -> bool {
        match from {
            Some(ip) => self.networks.iter().any(|network| network.contains(&ip)),
            None => self.on_paths,
        }
    }
}
