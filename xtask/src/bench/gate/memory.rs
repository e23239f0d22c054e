//! What connections cost in memory that only wait: for their next request, or for their turn.
//!
//! Both ends of a connection, and what a gateway keeps in reserve, need open files; where fewer are
//! allowed than are asked for, the figures for as many as there may be are carried forward by the
//! straight line through none and all.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Resource, getrlimit};

use crate::bench::gate::SERVER_CPU;
use crate::bench::gate::peers::{Hold, Peer, Peers, Running, Subject};
use crate::bench::load::cost::{allow_open_files, resident_mb};
use crate::bench::spread::spread;
use crate::error::TaskError;

/// Connections that are asked about.
const CONNECTIONS: usize = 15_000;
/// After the last request, until the memory is read; buffers are given back in between, and
/// connections to backends end.
const SETTLES: Duration = Duration::from_secs(6);
/// Longest wait until the gateway has accepted and read everything.
const PATIENCE: Duration = Duration::from_secs(30);
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: bench\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n";
/// Longer than a turn lasts.
const WAIT: Duration = Duration::from_secs(300);

/// Runs every gateway in turn and gives back the table.
pub(crate) fn play(peers: &Peers, rounds: u32) -> Result<String, TaskError> {
    allow_open_files();
    let count = connections();
    let mut text = format!(
        "{count} connections; resident MB, carried forward to {CONNECTIONS}\n\n| gateway | none | idle after a request | for {CONNECTIONS} | queued | for {CONNECTIONS} |\n|:--|--:|--:|--:|--:|--:|\n"
    );
    for peer in [Peer::Weir, Peer::Haproxy, Peer::Nginx] {
        let mut columns: [Vec<f64>; 5] = Default::default();
        for _ in 0..rounds {
            let (none, idle) = idle(peer, peers, count)?;
            let forward = |all: f64| none + (all - none) * CONNECTIONS as f64 / count as f64;
            // nginx has no queue.
            let queued = match peer {
                Peer::Nginx => None,
                Peer::Weir | Peer::Haproxy => Some(queued(peer, peers, count)?),
            };
            let figures = [
                Some(none),
                Some(idle),
                Some(forward(idle)),
                queued,
                queued.map(forward),
            ];
            println!("{peer:?}: {figures:.1?}");
            for (column, figure) in columns.iter_mut().zip(figures) {
                column.extend(figure);
            }
        }
        let cells = columns.map(|values| spread(values, 2));
        // Writing to a text does not fail.
        let _ = writeln!(text, "| {peer:?} | {} |", cells.join(" | "));
    }
    Ok(text)
}

/// As many as asked, or as open files leave room for: each takes two in a gateway, as a rule.
fn connections() -> usize {
    let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let room = (files / 2).saturating_sub(1_000);
    CONNECTIONS.min(usize::try_from(room).unwrap_or(CONNECTIONS))
}

/// Without a connection, and with all of them after a request each.
fn idle(peer: Peer, peers: &Peers, count: usize) -> Result<(f64, f64), TaskError> {
    let server = peers.answering(SERVER_CPU)?;
    let hold = Hold::Nothing;
    let gateway = peers.start(Subject { peer, hold }, server.port())?;
    let none = resident_mb(gateway.pid());
    let mut open = Vec::new();
    for _ in 0..count {
        let mut stream = connect(&gateway)?;
        let mut answer = [0; 1024];
        let asked = stream
            .write_all(REQUEST)
            .and_then(|()| stream.read(&mut answer));
        let count = asked.map_err(|source| started(&gateway, source))?;
        assert!(
            answer[..count].starts_with(b"HTTP/1.1 200"),
            "the server answers everything"
        );
        open.push(stream);
    }
    thread::sleep(SETTLES);
    Ok((none, resident_mb(gateway.pid())))
}

/// With all of them waiting for one that gets no answer.
fn queued(peer: Peer, peers: &Peers, count: usize) -> Result<f64, TaskError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let listener = listener.map_err(|source| TaskError::Start {
        command: "a server that does not answer".to_owned(),
        source,
    })?;
    let port = listener.local_addr().map_or(0, |address| address.port());
    // Accepted by nobody, connections stay in the backlog; that the gateway has begun is enough.
    let hold = Hold::Concurrency(1, WAIT);
    let gateway = peers.start(Subject { peer, hold }, port)?;
    let mut open = Vec::new();
    for _ in 0..count {
        let mut stream = connect(&gateway)?;
        stream
            .write_all(REQUEST)
            .map_err(|source| started(&gateway, source))?;
        open.push(stream);
    }
    let until = Instant::now() + PATIENCE;
    let mut before = 0.0;
    // It has read everything when nothing more is added.
    loop {
        thread::sleep(SETTLES / 3);
        let now = resident_mb(gateway.pid());
        if (now - before).abs() < 0.1 || Instant::now() > until {
            drop(open);
            return Ok(now);
        }
        before = now;
    }
}

fn connect(gateway: &Running) -> Result<TcpStream, TaskError> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, gateway.port()));
    stream.map_err(|source| started(gateway, source))
}

fn started(gateway: &Running, source: std::io::Error) -> TaskError {
    TaskError::Start {
        command: format!("a connection to the gateway at port {}", gateway.port()),
        source,
    }
}
