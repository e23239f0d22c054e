//! Who a client is.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

/// What is known of where a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientAddress {
    /// The other end of its connection.
    Socket(SocketAddr),
    /// A program of this machine, which came over a socket of the file system.
    Unix,
}

impl ClientAddress {
    /// Its address. A client that came over IPv4 to a socket for both has one of IPv4.
    pub(crate) fn ip(self) -> Option<IpAddr> {
        match self {
            Self::Socket(address) => Some(address.ip().to_canonical()),
            Self::Unix => None,
        }
    }
}

impl fmt::Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Socket(address) => address.fmt(f),
            Self::Unix => f.write_str("unix:"),
        }
    }
}
