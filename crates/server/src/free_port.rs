//! The port that a server gets.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use crate::error::TargetError;

/// The port that the study names, if nobody listens there; for 0 one that was free a moment ago.
/// Another server that answered there would be measured in place of the one that is started.
pub(crate) fn port_for(named: u16) -> Result<u16, TargetError> {
    if named == 0 {
        return free_port();
    }
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, named));
    match TcpListener::bind(address) {
        Err(source) if source.kind() == io::ErrorKind::AddrInUse => {
            Err(TargetError::PortTaken { address, source })
        }
        // Whether this user may listen there is the server's business.
        _ => Ok(named),
    }
}

/// A port of the loopback address that was free a moment ago. Servers that keep their port over a
/// new start cannot let the kernel choose each time.
pub(crate) fn free_port() -> Result<u16, TargetError> {
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|l| l.local_addr());
    port.map(|address| address.port())
        .map_err(TargetError::Port)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_another_server_has_is_refused() {
        let other = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).unwrap();
        let port = other.local_addr().unwrap().port();
        let error = port_for(port).unwrap_err();
        assert!(matches!(error, TargetError::PortTaken { .. }), "{error}");
        drop(other);
        assert_eq!(port_for(port).unwrap(), port);
        assert_ne!(port_for(0).unwrap(), 0);
    }
}
