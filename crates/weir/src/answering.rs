//! Whether anybody listens where load is to go, asked once before it goes.

use std::net::{SocketAddr, ToSocketAddrs as _};

use weir_exchange::takes_connections;

use crate::error::ExpectedError;
use crate::hosts::NamedHost;

/// Asks each of these servers. One whose name has no address is left to who sends.
///
/// # Errors
/// Nobody answers at one of them.
pub(crate) fn ask_all(servers: &[NamedHost]) -> Result<(), ExpectedError> {
    for NamedHost { host, port, .. } in servers {
        let found = (host.as_str(), *port).to_socket_addrs();
        let addresses: Vec<SocketAddr> = found.into_iter().flatten().collect();
        ask(&format!("{host}:{port}"), &addresses)?;
    }
    Ok(())
}

/// Asks one server, which may have several addresses.
///
/// # Errors
/// Nobody answers at any of them.
pub(crate) fn ask(at: &str, addresses: &[SocketAddr]) -> Result<(), ExpectedError> {
    takes_connections(addresses).map_err(|says| {
        ExpectedError::Environment(format!(
            "nobody answers at {at}: {says}; nothing was sent (start the server, or mend the address)"
        ))
    })
}
