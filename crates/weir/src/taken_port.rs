//! Who holds a port that is taken.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;

use weir_server::{Machine, ProcessFacts};

/// What is said behind an error of listening: which process has the address, where that is why and
/// this user may see it; else nothing.
pub(crate) fn holder(address: SocketAddr, error: &Error) -> String {
    if error.kind() != ErrorKind::AddrInUse {
        return String::new();
    }
    let pids = weir_probe::servers_listening(address.port());
    let Some(pid) = pids.first() else {
        return match weir_probe::user_listening(address.port()) {
            Some(user) => format!(": a process of the user with the id {user} has it"),
            None => String::new(),
        };
    };
    match ProcessFacts::of(*pid, &Machine::here()) {
        Ok(facts) => format!(": process {pid} has it ({})", facts.in_short()),
        Err(_) => format!(": process {pid} has it"),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_process_with_the_port_is_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let taken = TcpListener::bind(address).unwrap_err();
        let says = holder(address, &taken);
        let own = format!(": process {} has it (", std::process::id());
        assert!(says.starts_with(&own), "{says}");
        let other = Error::from(ErrorKind::PermissionDenied);
        assert_eq!(holder(address, &other), "");
        drop(listener);
        assert_eq!(holder(address, &taken), "");
    }
}
