//! The servers behind.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use super::{CertificateFiles, UNIX};

/// Where a server behind the gateway is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BackendAddress {
    /// A host and a port.
    Tcp {
        /// Its name or address.
        host: String,
        /// Its port.
        port: u16,
        /// Whether it is spoken to over TLS.
        is_secure: bool,
    },
    /// A socket of the file system.
    Unix(PathBuf),
}

impl BackendAddress {
    /// Host and port as `Host` has them; a path has none of its own.
    pub fn authority(&self) -> String {
        match self {
            Self::Tcp { host, port, .. } if host.contains(':') => format!("[{host}]:{port}"),
            Self::Tcp { host, port, .. } => format!("{host}:{port}"),
            Self::Unix(_) => "localhost".to_owned(),
        }
    }

    /// Its name or address and its port, if it has them.
    pub fn host_and_port(&self) -> Option<(&str, u16)> {
        match self {
            Self::Tcp { host, port, .. } => Some((host, *port)),
            Self::Unix(_) => None,
        }
    }

    /// Whether it has a name, whose meaning may change.
    pub(crate) fn has_name(&self) -> bool {
        let host = self.host_and_port();
        host.is_some_and(|(host, _)| host.parse::<IpAddr>().is_err())
    }

    /// Whether it is spoken to over TLS.
    pub fn is_secure(&self) -> bool {
        matches!(self, Self::Tcp { is_secure, .. } if *is_secure)
    }
}

/// As the file has it.
impl fmt::Display for BackendAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { is_secure, .. } => {
                let scheme = if *is_secure { "https" } else { "http" };
                write!(f, "{scheme}://{}", self.authority())
            }
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

/// A server behind the gateway, and what is its due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendSettings {
    /// Where it is.
    pub address: BackendAddress,
    /// How many requests it has for each that one of weight 1 has.
    pub weight: u32,
    /// Whether it gets requests only when no other does.
    pub is_backup: bool,
    /// What is asked of it, in place of the path for all.
    pub health_path: Option<String>,
    /// Whether it is spoken to in HTTP/2: over TLS if it agrees to that, else without asking.
    pub is_http2: bool,
    /// How it is told on each connection for whom that is; `None`: it is not.
    pub proxy_protocol: Option<ProxyVersion>,
}

/// A version of the PROXY protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyVersion {
    /// A line of text.
    One,
    /// Bytes.
    Two,
}

impl BackendSettings {
    /// One like all others.
    pub fn new(address: BackendAddress) -> Self {
        Self {
            address,
            weight: 1,
            is_backup: false,
            health_path: None,
            is_http2: false,
            proxy_protocol: None,
        }
    }
}

/// TLS towards backends.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackendTls {
    /// Who signs their certificates; `None`: whom this machine trusts.
    pub ca: Option<PathBuf>,
    /// What the gateway shows them.
    pub certificate: Option<CertificateFiles>,
    /// The name that their certificates have to have, in place of their own.
    pub server_name: Option<String>,
    /// Whether any certificate is good enough.
    pub takes_any: bool,
}
