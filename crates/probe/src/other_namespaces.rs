//! Servers of this machine in other network namespaces, such as those of containers.
//!
//! A container has addresses of its own, and its sockets stand in no table of this namespace. What
//! each process's own `/proc/PID/net` tells is that of its namespace. An address may be another's
//! as well (two networks that know nothing of each other): one connection shows whose it is here.

use std::collections::HashSet;
use std::fs;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::Duration;

use crate::files::numbered;
use crate::listeners::{listening, sockets};
use crate::tcp::has_connection;

/// A connection within this machine takes no longer.
const CONNECTS: Duration = Duration::from_secs(1);
/// How Docker names what passes a published port on, where the kernel does not.
const DOCKER_PROXY: &str = "docker-proxy";

/// The process that listens at an address of another network namespace of this machine, the one
/// with the lowest id: of a server with children, its parent. Only root sees those of others.
pub fn process_in_other_namespace(address: SocketAddr) -> Option<u32> {
    let own = namespace("self")?;
    let mut pids = numbered("/proc");
    pids.sort_unstable();
    let mut seen = HashSet::from([own]);
    let others: Vec<(u32, PathBuf)> = pids
        .iter()
        .filter_map(|pid| Some((*pid, namespace(&pid.to_string())?)))
        .collect();
    let first_of_each = others
        .iter()
        .filter(|(_, space)| seen.insert(space.clone()));
    let mut with_address = first_of_each.filter(|(pid, _)| has_address(*pid, address.ip()));
    let (one, space) = with_address.find(|(pid, _)| is_met_in(*pid, address))?;
    let inodes: HashSet<u64> = listening(&format!("/proc/{one}/net"))
        .into_iter()
        .filter(|(port, _)| *port == address.port())
        .map(|(_, inode)| inode)
        .collect();
    let inside = others.iter().filter(|(_, of)| of == space);
    let mut listeners = inside.map(|(pid, _)| *pid);
    listeners.find(|pid| sockets(*pid).iter().any(|inode| inodes.contains(inode)))
}

/// Where a process passes its connections on, when it is one of Docker's for a published port.
pub fn passes_on_to(pid: u32) -> Option<SocketAddr> {
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    docker_proxy(&command)
}

fn docker_proxy(command: &[u8]) -> Option<SocketAddr> {
    let words: Vec<&str> = command
        .split(|byte| *byte == 0)
        .map(|word| std::str::from_utf8(word).unwrap_or_default())
        .collect();
    let program = words.first()?.rsplit('/').next()?;
    let after = |option: &str| {
        let at = words.iter().position(|word| *word == option)?;
        words.get(at + 1)
    };
    if program != DOCKER_PROXY || after("-proto").is_some_and(|proto| *proto != "tcp") {
        return None;
    }
    let ip: IpAddr = after("-container-ip")?.parse().ok()?;
    Some(SocketAddr::new(ip, after("-container-port")?.parse().ok()?))
}

fn namespace(pid: &str) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/ns/net")).ok()
}

/// Whether the namespace of a process has this address.
fn has_address(pid: u32, ip: IpAddr) -> bool {
    let file = |name: &str| fs::read_to_string(format!("/proc/{pid}/net/{name}"));
    match ip {
        IpAddr::V4(ip) => file("fib_trie").is_ok_and(|text| is_local(&text, &ip.to_string())),
        IpAddr::V6(ip) => file("if_inet6").is_ok_and(|text| is_among(&text, ip)),
    }
}

/// Whether a connection from here to the address arrives in the namespace of a process.
fn is_met_in(pid: u32, address: SocketAddr) -> bool {
    let own_port = TcpStream::connect_timeout(&address, CONNECTS)
        .and_then(|stream| Ok((stream.local_addr()?.port(), stream)));
    let Ok((own_port, _open)) = own_port else {
        return false;
    };
    ["tcp", "tcp6"].iter().any(|table| {
        let text = fs::read(format!("/proc/{pid}/net/{table}"));
        text.is_ok_and(|text| has_connection(&text, address.port(), own_port))
    })
}

/// `fib_trie` has an address in one line, and what it is for in the next.
fn is_local(trie: &str, address: &str) -> bool {
    let lines: Vec<&str> = trie.lines().map(str::trim).collect();
    lines.windows(2).any(|pair| {
        pair[0].strip_prefix("|-- ") == Some(address) && pair[1].starts_with("/32 host LOCAL")
    })
}

/// `if_inet6` begins each line with an address, in hexadecimal digits.
fn is_among(addresses: &str, ip: Ipv6Addr) -> bool {
    let digits = format!("{:032x}", ip.to_bits());
    addresses.lines().any(|line| line.starts_with(&digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_of_a_namespace_are_those_that_are_local() {
        let trie = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 172.17.0.0\n        /16 link UNICAST\n     |-- 172.17.0.1\n        \
                    /0 universe UNICAST\nLocal:\n        |-- 172.17.0.2\n           /32 host LOCAL\n";
        assert!(is_local(trie, "172.17.0.2"));
        assert!(!is_local(trie, "172.17.0.1"));
        assert!(!is_local(trie, "172.17.0.20"));
        let inet6 = "00000000000000000000000000000001 01 80 10 80       lo\n";
        assert!(is_among(inet6, Ipv6Addr::LOCALHOST));
        assert!(!is_among(inet6, Ipv6Addr::UNSPECIFIED));
    }

    #[test]
    fn a_connection_is_known_by_its_two_ports() {
        let table = b"  sl  local_address rem_address   st\n   0: 0200D50A:1F90 0100D50A:C001 01 00000000:00000000\n";
        assert!(has_connection(table, 8080, 0xC001));
        assert!(!has_connection(table, 8080, 0xC002));
        assert!(!has_connection(table, 0xC001, 8080));
    }

    #[test]
    fn a_published_port_leads_to_its_container() {
        let command = |words: &str| words.replace(' ', "\0").into_bytes();
        let proxy = "/usr/bin/docker-proxy -proto tcp -host-ip 0.0.0.0 -host-port 8080 -container-ip 172.17.0.2 \
                     -container-port 80 -use-listen-fd";
        assert_eq!(
            docker_proxy(&command(proxy)),
            Some(SocketAddr::from(([172, 17, 0, 2], 80)))
        );
        assert_eq!(docker_proxy(&command(&proxy.replace(" tcp", " udp"))), None);
        assert_eq!(
            docker_proxy(&command("/usr/bin/java -container-ip 172.17.0.2")),
            None
        );
    }

    #[test]
    fn nobody_listens_at_an_address_that_no_namespace_has() {
        let nowhere = SocketAddr::from(([192, 0, 2, 1], 80));
        assert_eq!(process_in_other_namespace(nowhere), None);
    }
}
