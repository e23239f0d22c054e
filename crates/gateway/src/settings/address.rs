//! Where a gateway listens.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;

/// What an address that is a path begins with, in the file and wherever it is shown.
pub const UNIX: &str = "unix:";

/// Where clients or operators connect.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ListenAddress {
    /// An address and a port.
    Tcp(SocketAddr),
    /// A socket of the file system.
    Unix(PathBuf),
}

impl ListenAddress {
    /// Address and port, if it has them.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Self::Tcp(address) => Some(*address),
            Self::Unix(_) => None,
        }
    }
}

impl From<SocketAddr> for ListenAddress {
    fn from(address: SocketAddr) -> Self {
        Self::Tcp(address)
    }
}

/// As the file has it.
impl fmt::Display for ListenAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}
