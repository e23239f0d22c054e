//! A port that nobody listens on.

use std::net::{Ipv4Addr, TcpListener};

use crate::error::TargetError;

/// A port of the loopback address that was free a moment ago. Servers that keep their port over a
/// new start cannot let the kernel choose each time.
pub(crate) fn free_port() -> Result<u16, TargetError> {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr());
    port.map(|address| address.port())
        .map_err(TargetError::Port)
}
