//! The servers behind.

use std::fmt;

/// A server behind the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BackendAddress {
    /// Its name or address.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl fmt::Display for BackendAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "http://[{}]:{}", self.host, self.port)
        } else {
            write!(f, "http://{}:{}", self.host, self.port)
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
}

impl BackendSettings {
    /// One like all others.
    pub fn new(address: BackendAddress) -> Self {
        Self {
            address,
            weight: 1,
            is_backup: false,
            health_path: None,
        }
    }
}
