//! The connections that a server has, of servers that count them as a limit and tell nobody how
//! many there are.
//!
//! From the kernel's sockets alone: the open connections of its port without those in the accept
//! queue. A proxy's connections to servers behind count as well where its workers' files may be
//! looked at (as their user, or root): each of its sockets takes a place, those that listen too.

use std::fs;

use crate::files::numbered;
use crate::reading::{Reading, put};
use crate::source::Origins;

/// Files of a worker of which it is looked up whether they are sockets: 4 ms. Of more than that
/// nearly all are.
const LOOKED_UP: usize = 2000;

/// The sockets of a server's workers: the processes that this one has started, or itself.
fn of_workers(parent: u32) -> Option<f64> {
    let mut workers = children(parent)?;
    if workers.is_empty() {
        workers.push(parent);
    }
    // Each has a channel to every other, which takes no place.
    let channels = workers.len() - 1;
    let each: Option<Vec<usize>> = workers.into_iter().map(sockets).collect();
    let places = each?
        .into_iter()
        .map(|sockets| sockets.saturating_sub(channels));
    let all: usize = places.sum();
    (all > 0).then_some(all as f64)
}

/// The processes that a process has started, where the kernel tells (`CONFIG_PROC_CHILDREN`).
pub(crate) fn children(parent: u32) -> Option<Vec<u32>> {
    let text = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).ok()?;
    let pids = text.split_whitespace().filter_map(|pid| pid.parse().ok());
    Some(pids.collect())
}

/// `None` where they may not be seen.
fn sockets(pid: u32) -> Option<usize> {
    let folder = format!("/proc/{pid}/fd");
    let files = numbered(&folder);
    let (looked_up, rest) = files.split_at(files.len().min(LOOKED_UP));
    let names = looked_up
        .iter()
        .map(|file| fs::read_link(format!("{folder}/{file}")));
    let mut sockets = rest.len();
    let mut seen = false;
    for name in names.flatten() {
        seen = true;
        sockets += usize::from(name.to_string_lossy().starts_with("socket:"));
    }
    seen.then_some(sockets)
}

/// The connections that the server has accepted.
pub(crate) fn accepted(port: u16, reading: &Reading) -> Option<f64> {
    let tcp = |name: &str| reading.get(format!("tcp.{port}.{name}").as_str()).copied();
    let open = tcp("established")? + tcp("close-wait")?;
    // The table is read while connections come and go.
    Some((open - tcp("accept-queue")?).max(0.0))
}

/// Puts them as the stage `connections`, and the accept queue as the stage in front of it;
/// `workers` is the process whose workers count their connections themselves.
pub(crate) fn put_connections(port: u16, workers: Option<u32>, reading: &mut Reading) {
    put_backlog(port, reading);
    let own = workers.and_then(of_workers);
    let connections = own.or_else(|| accepted(port, reading));
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
pub(crate) fn add_origins(port: u16, workers: Option<u32>, origins: &mut Origins) {
    let connections = match workers {
        Some(pid) => format!(
            "the sockets of the workers of process {pid}; where they may not be seen, {}",
            origin(port)
        ),
        None => origin(port),
    };
    for (signal, from) in [
        ("backlog.occupancy", queue_origin(port)),
        ("backlog.limit", queue_origin(port)),
        ("connections.occupancy", connections),
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
    fn every_socket_of_a_worker_takes_a_place() {
        use std::net::TcpListener;
        use std::os::fd::OwnedFd;
        use std::process::{Command, Stdio};

        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let mut worker = Command::new("sleep");
        worker
            .arg("60")
            .stdin(Stdio::from(OwnedFd::from(listener)))
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut worker = worker.spawn().expect("there is a sleep");
        let seen = of_workers(worker.id());
        worker.kill().and_then(|()| worker.wait()).expect("it ends");
        assert_eq!(seen, Some(1.0));
        let nobody = of_workers(u32::MAX);
        assert_eq!(nobody, None);
    }

    #[test]
    fn who_is_not_in_the_queue_was_accepted() {
        for (established, queue, connections) in [
            (180.0, Some(140.0), Some(43.0)),
            (1.0, Some(9.0), Some(0.0)),
            (180.0, None, None),
        ] {
            let mut reading = reading(established, queue);
            put_connections(80, None, &mut reading);
            assert_eq!(reading.get("connections.occupancy").copied(), connections);
            assert_eq!(reading.get("backlog.occupancy").copied(), queue);
        }
    }
}
