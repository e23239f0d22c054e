//! The connections of a port that the server has accepted, from the kernel's sockets alone: the
//! open ones without those in the accept queue. Of servers that count them as a limit and tell
//! nobody how many there are.

use crate::reading::{Reading, put};
use crate::source::Origins;

/// The connections that the server has accepted.
pub(crate) fn accepted(port: u16, reading: &Reading) -> Option<f64> {
    let tcp = |name: &str| reading.get(format!("tcp.{port}.{name}").as_str()).copied();
    let open = tcp("established")? + tcp("close-wait")?;
    // The table is read while connections come and go.
    Some((open - tcp("accept-queue")?).max(0.0))
}

/// Puts them as the stage `connections`, and the accept queue as the stage in front of it.
pub(crate) fn put_connections(port: u16, reading: &mut Reading) {
    put_backlog(port, reading);
    let connections = accepted(port, reading);
    put(reading, "connections.occupancy", connections);
}

/// Puts the accept queue as the stage `backlog`.
pub(crate) fn put_backlog(port: u16, reading: &mut Reading) {
    for (signal, from) in [
        ("backlog.occupancy", "accept-queue"),
        ("backlog.limit", "accept-queue.limit"),
    ] {
        let figure = reading.get(format!("tcp.{port}.{from}").as_str()).copied();
        put(reading, signal, figure);
    }
}

/// Where the connections and the accept queue come from.
pub(crate) fn origin(port: u16) -> String {
    format!("the connections of port {port} without those that wait to be accepted")
}

/// Where the accept queue comes from.
pub(crate) fn queue_origin(port: u16) -> String {
    format!("the accept queue of port {port}")
}

/// Adds where the signals of [`put_connections`] come from.
pub(crate) fn add_origins(port: u16, origins: &mut Origins) {
    for (signal, from) in [
        ("backlog.occupancy", queue_origin(port)),
        ("backlog.limit", queue_origin(port)),
        ("connections.occupancy", origin(port)),
    ] {
        origins.entry(signal.to_owned()).or_insert(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(established: f64, queue: Option<f64>) -> Reading {
        let mut reading = Reading::new();
        put(&mut reading, "tcp.80.established", Some(established));
        put(&mut reading, "tcp.80.close-wait", Some(3.0));
        put(&mut reading, "tcp.80.accept-queue", queue);
        reading
    }

    #[test]
    fn who_is_not_in_the_queue_was_accepted() {
        for (established, queue, connections) in [
            (180.0, Some(140.0), Some(43.0)),
            (1.0, Some(9.0), Some(0.0)),
            (180.0, None, None),
        ] {
            let mut reading = reading(established, queue);
            put_connections(80, &mut reading);
            assert_eq!(reading.get("connections.occupancy").copied(), connections);
            assert_eq!(reading.get("backlog.occupancy").copied(), queue);
        }
    }
}
