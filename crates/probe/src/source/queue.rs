//! The requests that wait for a thread, of a server that does not tell them.
//!
//! Every connection of the port is in one of four places: it waits to be accepted, it is kept
//! without a request, its request is with a thread, or its request waits for one. The kernel knows
//! all of them, the server the second and the third; what is left waits. HTTP/1 only: a connection
//! has one request at a time.

use crate::accepted::accepted;
use crate::reading::{Reading, put};

const CONNECTIONS: &str = "connections.occupancy";

/// What the derived signal is called, and where it comes from.
pub(crate) const SIGNAL: &str = "request-queue.waiting";

/// Puts the derived signal, unless the server told it, or something that is needed is absent.
pub(crate) fn put_derived(port: u16, reading: &mut Reading) {
    // A Tomcat that has all the connections that it may have tells one less: its acceptor counts
    // the one that it waits for. The kernel knows.
    if let (Some(told), Some(accepted)) =
        (reading.get(CONNECTIONS).copied(), accepted(port, reading))
    {
        put(reading, CONNECTIONS, Some(told.max(accepted)));
    }
    if reading.contains_key(SIGNAL) {
        return;
    }
    let waiting = waiting(port, reading);
    put(reading, SIGNAL, waiting);
}

fn waiting(port: u16, reading: &Reading) -> Option<f64> {
    let read = |name: &str| reading.get(name).copied();
    let established = read(&format!("tcp.{port}.established"))?;
    let not_accepted = read(&format!("tcp.{port}.accept-queue"))?;
    let busy = read("threads.occupancy")?;
    // Nothing waits while a thread is free: that connections are open then is because they are
    // kept.
    let is_free = read("threads.limit").map_or_else(
        || read("threads.idle").is_some_and(|idle| idle > 0.0),
        |limit| busy < limit,
    );
    if is_free {
        return Some(0.0);
    }
    // Many servers do not tell how many they keep without a request; Tomcat's `keepAliveCount`
    // counts all it has.
    let kept = read("connections.idle").unwrap_or(0.0);
    // The four are not read at one instant, so the difference can fall below nothing.
    Some((established - not_accepted - busy - kept).max(0.0))
}

/// What it is made of.
pub(crate) fn origin(port: u16) -> String {
    format!(
        "derived: tcp.{port}.established − tcp.{port}.accept-queue − threads.occupancy − connections.idle, 0 while a \
         thread is free"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_what_the_kernel_knows_where_the_server_tells_less() {
        for (told, established, known) in [(9.0, 42.0, 10.0), (12.0, 42.0, 12.0)] {
            let mut reading: Reading = [
                (CONNECTIONS, told),
                ("tcp.80.established", established),
                ("tcp.80.close-wait", 0.0),
                ("tcp.80.accept-queue", 32.0),
            ]
            .map(|(name, value)| (name.into(), value))
            .into();
            put_derived(80, &mut reading);
            assert_eq!(reading.get(CONNECTIONS).copied(), Some(known));
        }
    }

    fn derived(signals: &[(&'static str, f64)]) -> Option<f64> {
        let mut reading: Reading = signals.iter().map(|&(name, v)| (name.into(), v)).collect();
        put_derived(80, &mut reading);
        reading.get(SIGNAL).copied()
    }

    #[test]
    fn what_is_left_of_the_connections_waits() {
        let read = [
            ("tcp.80.established", 60.0),
            ("tcp.80.accept-queue", 3.0),
            ("threads.occupancy", 40.0),
        ];
        assert_eq!(derived(&read), Some(17.0));
        let kept = [&read[..], &[("connections.idle", 7.0)]].concat();
        assert_eq!(derived(&kept), Some(10.0));
        for missing in 0..read.len() {
            let mut read = read.to_vec();
            read.remove(missing);
            assert_eq!(derived(&read), None);
        }
        let free = [&read[..], &[("threads.limit", 41.0)]].concat();
        assert_eq!(derived(&free), Some(0.0), "a thread is free");
        let idle = [&read[..], &[("threads.idle", 1.0)]].concat();
        assert_eq!(derived(&idle), Some(0.0), "a thread waits for a request");
        let full = [&read[..], &[("threads.limit", 40.0), ("threads.idle", 1.0)]].concat();
        assert_eq!(derived(&full), Some(17.0));
        let told = [&read[..], &[(SIGNAL, 2.0)]].concat();
        assert_eq!(derived(&told), Some(2.0), "the server knows better");
        let fewer = [
            ("tcp.80.established", 39.0),
            ("tcp.80.accept-queue", 0.0),
            ("threads.occupancy", 40.0),
        ];
        assert_eq!(derived(&fewer), Some(0.0));
    }
}
