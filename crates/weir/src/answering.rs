//! Whether anybody listens where load is to go, asked once before it goes.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use crate::error::ExpectedError;
use crate::hosts::NamedHost;

/// How long a connection may take to open.
const PATIENCE: Duration = Duration::from_secs(5);

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

/// Opens a connection to one of these addresses, and closes it.
///
/// # Errors
/// Nobody takes it.
pub(crate) fn ask(at: &str, addresses: &[SocketAddr]) -> Result<(), ExpectedError> {
    let mut why = None;
    for address in addresses {
        match TcpStream::connect_timeout(address, PATIENCE) {
            Ok(_) => return Ok(()),
            Err(error) => why = Some(error),
        }
    }
    why.map_or(Ok(()), |error| {
        Err(ExpectedError::Environment(format!(
            "nobody answers at {at}: {}; nothing was sent (start the server, or mend the address)",
            reason(&error)
        )))
    })
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        ErrorKind::TimedOut => format!("no connection within {} s", PATIENCE.as_secs()),
        _ => error.to_string(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn one_address_that_answers_is_enough() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = listener.local_addr().unwrap();
        let free = {
            let gone = TcpListener::bind("127.0.0.1:0").unwrap();
            gone.local_addr().unwrap()
        };
        assert!(ask("a", &[free, taken]).is_ok());
        let error = ask("shop:80", &[free]).unwrap_err().to_string();
        assert!(
            error.contains("nobody answers at shop:80: connection refused"),
            "{error}"
        );
    }
}
