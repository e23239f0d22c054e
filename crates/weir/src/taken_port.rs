//! Who holds a port that is taken.

use std::io::{Error, ErrorKind};
use std::net::SocketAddr;

/// Longest part of a command line that is shown.
const SHOWN_MAX: usize = 80;

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
    match command(*pid) {
        Some(command) => format!(": process {pid} has it ({command})"),
        None => format!(": process {pid} has it"),
    }
}

/// What a process was started as.
fn command(pid: u32) -> Option<String> {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let words = String::from_utf8_lossy(&words);
    let text = words.trim_end_matches('\0').replace('\0', " ");
    let shown = match text.char_indices().nth(SHOWN_MAX) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    };
    (!shown.is_empty()).then_some(shown)
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
