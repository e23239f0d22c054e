//! Stage `backlog`: what the kernel holds of connections that are made and not yet accepted.
//!
//! The length is read from the listener's row in `/proc/net/tcp`: for a listening socket the column
//! `rx_queue` is the current length of the accept queue (`proc_pid_net(5)`; `net/ipv4/tcp_ipv4.c`,
//! `get_tcp4_sock`). Listeners come first in that file and reading stops at the row, so the cost
//! does not grow with the connections. The queue takes one connection more than its limit
//! (`sk_acceptq_is_full` asks for *more than*).
//!
//! The kernel gives a reading, no integral and no waiting times, so those rows are absent. What it
//! drops when the queue is full is counted for the machine only (`ListenOverflows`), so the refused
//! row is absent as well.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};

use crate::stage::StageReading;

/// The listener's queue.
pub(crate) struct Backlog {
    /// What the kernel made of the backlog that was asked for.
    pub(crate) limit: u64,
    address: SocketAddr,
}

impl Backlog {
    pub(crate) fn new(asked_for: u32, address: SocketAddr) -> Self {
        let largest = fs::read_to_string("/proc/sys/net/core/somaxconn")
            .ok()
            .and_then(|text| text.trim().parse().ok());
        Self {
            limit: u64::from(asked_for.min(largest.unwrap_or(u32::MAX))),
            address,
        }
    }

    pub(crate) fn read(&self) -> StageReading {
        let mut reading = StageReading::of("backlog");
        reading.limit = Some(self.limit);
        reading.occupancy = self.length();
        reading
    }

    fn length(&self) -> Option<u64> {
        let table = if self.address.is_ipv4() {
            "/proc/net/tcp"
        } else {
            "/proc/net/tcp6"
        };
        let rows = BufReader::new(File::open(table).ok()?).lines();
        let wanted = table_address(self.address);
        rows.map_while(Result::ok)
            .find_map(|row| accept_queue(&row, &wanted))
    }
}

/// The accept queue in a row of the table, if it is the listener at `address`.
fn accept_queue(row: &str, address: &str) -> Option<u64> {
    const LISTEN: &str = "0A";
    let mut columns = row.split_ascii_whitespace().skip(1);
    let (local, _remote, state, queues) = (
        columns.next()?,
        columns.next()?,
        columns.next()?,
        columns.next()?,
    );
    if local != address || state != LISTEN {
        return None;
    }
    u64::from_str_radix(queues.split_once(':')?.1, 16).ok()
}

/// An address as the table writes it: groups of four bytes as numbers in the machine's byte order.
fn table_address(address: SocketAddr) -> String {
    let octets = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let (groups, _) = octets.as_chunks::<4>();
    let groups: Vec<String> = groups
        .iter()
        .map(|group| format!("{:08X}", u32::from_ne_bytes(*group)))
        .collect();
    format!("{}:{:04X}", groups.concat(), address.port())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn addresses_as_the_kernel_writes_them() {
        assert_eq!(
            table_address("127.0.0.1:9080".parse().unwrap()),
            "0100007F:2378"
        );
        assert_eq!(
            table_address("[::1]:80".parse().unwrap()),
            "00000000000000000000000001000000:0050"
        );
    }

    #[test]
    fn rows_of_the_table() {
        let listener = "   1: 0100007F:2378 00000000:0000 0A 00000000:0000001F 00:00000000 00000000 0 0 7 1 0 100 0";
        let client = "   2: 0100007F:2378 0100007F:C350 01 00000000:0000001F 00:00000000 00000000 0 0 7 1 0 20 4";
        assert_eq!(accept_queue(listener, "0100007F:2378"), Some(31));
        assert_eq!(accept_queue(listener, "0100007F:2379"), None);
        assert_eq!(accept_queue(client, "0100007F:2378"), None);
        assert_eq!(
            accept_queue("  sl  local_address rem_address   st", "0100007F:2378"),
            None
        );
    }
}
