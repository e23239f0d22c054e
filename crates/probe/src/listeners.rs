//! Which process listens on a port of this machine, and on which ports a process listens.
//!
//! `/proc/net/tcp` names the socket of a port by its inode, `/proc/PID/fd` those that a process has
//! open. Processes of other users show theirs to root only. What the texts mean is the same for
//! another machine ([`FarMachine`]).
//!
//! [`FarMachine`]: crate::FarMachine

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};

use crate::files::numbered;
use crate::kernel_text::{hexadecimal, number, words};
use crate::target::process::ProcessStat;

/// The kernel's number of a listening socket's state.
const LISTEN: u64 = 10;
/// Generations above a process that are looked at.
const ANCESTORS_MAX: usize = 64;

/// The processes that listen on a port, lowest id first: of a server with children, its parent.
pub fn processes_listening(port: u16) -> Vec<u32> {
    let inodes: HashSet<u64> = listening("/proc/net")
        .into_iter()
        .filter(|(found, _)| *found == port)
        .map(|(_, inode)| inode)
        .collect();
    if inodes.is_empty() {
        return Vec::new();
    }
    let mut pids = numbered("/proc");
    pids.retain(|pid| sockets(*pid).iter().any(|inode| inodes.contains(inode)));
    pids.sort_unstable();
    pids
}

/// Those of them that descend from none of the others: a server without its children, which hold
/// the same socket as a rule.
pub fn servers_listening(port: u16) -> Vec<u32> {
    let pids = processes_listening(port);
    let descends = |pid: &u32| ancestors(*pid).any(|above| pids.contains(&above));
    pids.iter().copied().filter(|pid| !descends(pid)).collect()
}

/// Parents of a process up to the first one.
fn ancestors(pid: u32) -> impl Iterator<Item = u32> {
    let parent = |pid: &u32| {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        ProcessStat::parse(&stat).map(|stat| stat.parent)
    };
    // While it is gone through, processes end and ids are given anew; it ends all the same.
    std::iter::successors(Some(pid), parent)
        .skip(1)
        .take(ANCESTORS_MAX)
}

/// The user whose process listens on a port, whoever may look at that process.
pub fn user_listening(port: u16) -> Option<u32> {
    let lines = listening_lines("/proc/net");
    let line = lines
        .iter()
        .find(|line| listener(line).is_some_and(|(of, _)| of == port))?;
    u32::try_from(number(words(line).nth(7)?)?).ok()
}

/// The ports on which a process listens, in order.
pub fn listening_ports(pid: u32) -> Vec<u16> {
    let sockets = sockets(pid);
    let mut ports: Vec<u16> = listening(&format!("/proc/{pid}/net"))
        .into_iter()
        .filter(|(_, inode)| sockets.contains(inode))
        .map(|(port, _)| port)
        .collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// Ports and inodes of all listening sockets of a network namespace.
pub(crate) fn listening(folder: &str) -> Vec<(u16, u64)> {
    let lines = listening_lines(folder);
    lines.iter().filter_map(|line| listener(line)).collect()
}

/// The lines of listening sockets, which come first (`networking/proc_net_tcp.rst` of the kernel's
/// documentation). Those of connections are not even made: on a busy server they are tens of
/// thousands.
fn listening_lines(folder: &str) -> Vec<Vec<u8>> {
    let files = ["tcp", "tcp6"].map(|table| File::open(format!("{folder}/{table}")));
    let lines = files.into_iter().flatten().flat_map(|file| {
        let lines = BufReader::new(file)
            .split(b'\n')
            .skip(1)
            .map_while(Result::ok);
        lines.take_while(|line| listener(line).is_some())
    });
    lines.collect()
}

/// Port and inode of a line of `/proc/net/tcp`: columns as in `proc_pid_net(5)`.
pub(crate) fn listener(line: &[u8]) -> Option<(u16, u64)> {
    let columns: Vec<&[u8]> = words(line).collect();
    let address = columns.get(1)?;
    let port = address.rsplit(|&byte| byte == b':').next()?;
    let state = hexadecimal(columns.get(3)?)?;
    let port = u16::try_from(hexadecimal(port)?).ok()?;
    let inode = number(columns.get(9)?)?;
    (state == LISTEN).then_some((port, inode))
}

/// Inodes of the sockets that a process has open.
pub(crate) fn sockets(pid: u32) -> HashSet<u64> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return HashSet::new();
    };
    let links = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    links.filter_map(|link| socket(link.to_str()?)).collect()
}

/// The inode of the socket that a link of `/proc/PID/fd` leads to.
pub(crate) fn socket(link: &str) -> Option<u64> {
    let inode = link.strip_prefix("socket:[")?.strip_suffix(']')?;
    inode.parse().ok()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listener_of_this_process_is_found_both_ways() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(processes_listening(port).contains(&std::process::id()));
        assert!(listening_ports(std::process::id()).contains(&port));
        assert_eq!(
            user_listening(port),
            Some(rustix::process::geteuid().as_raw())
        );
        drop(listener);
        assert_eq!(user_listening(port), None);
        assert!(!listening_ports(std::process::id()).contains(&port));
        assert!(processes_listening(port).is_empty());
    }

    /// A child that holds the socket of its parent is part of the server and not one of its own.
    #[test]
    fn children_are_not_servers_of_their_own() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        rustix::io::fcntl_setfd(&listener, rustix::io::FdFlags::empty()).unwrap();
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .spawn()
            .unwrap();
        rustix::io::fcntl_setfd(&listener, rustix::io::FdFlags::CLOEXEC).unwrap();
        let listening = processes_listening(port);
        let servers = servers_listening(port);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(listening.contains(&child.id()), "{listening:?}");
        assert_eq!(servers, [std::process::id()]);
    }

    #[test]
    fn only_listening_sockets_count() {
        let line = b"   1: 0100007F:1F90 00000000:0000 0A 00000000:00000003 00:00000000 00000000     0        0 4711 2 x";
        assert_eq!(listener(line), Some((8080, 4711)));
        let connected = String::from_utf8_lossy(line).replace(" 0A ", " 01 ");
        assert_eq!(listener(connected.as_bytes()), None);
        assert_eq!(
            listener(b"  sl  local_address rem_address   st tx_queue"),
            None
        );
        assert_eq!(listener(b""), None);
    }
}
