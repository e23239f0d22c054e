//! What passing on costs when nothing is held: CPU time a request, and memory.
//!
//! The gateway is alone on one CPU; load and server share the other, which limits them all to the
//! same rate or less. CPU time a request is therefore what is compared, never requests a second.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;

use crate::bench::gate::SERVER_CPU;
use crate::bench::gate::peers::{Hold, Peer, Peers, Subject};
use crate::bench::load::cost::{cpu_times, pinned, resident_mb};
use crate::bench::load::server::requests_in;
use crate::bench::spread::spread;
use crate::error::TaskError;

/// Users at once.
const USERS: &str = "64";

/// What a turn has shown.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// User and system time of the gateway, in microseconds.
    cpu_us: f64,
    resident_mb: f64,
    per_s: f64,
}

/// Runs every gateway in turn and gives back the table.
pub(crate) fn play(peers: &Peers, rounds: u32, seconds: u32) -> Result<String, TaskError> {
    let all = [Peer::Haproxy, Peer::Weir, Peer::Nginx];
    let mut seen: [Vec<Seen>; 3] = Default::default();
    for round in 0..rounds as usize {
        for step in 0..all.len() {
            let at = (step + round) % all.len();
            let one = turn(all[at], peers, seconds)?;
            println!(
                "round {}, {:?}: {:.2} µs of CPU a request, {:.1} MB, {:.0}/s",
                round + 1,
                all[at],
                one.cpu_us,
                one.resident_mb,
                one.per_s
            );
            seen[at].push(one);
        }
    }
    let mut text = format!(
        "No limit, {USERS} users\n\n| gateway | CPU µs a request | times HAProxy's in the same round | resident MB | requests/s |\n|:--|--:|--:|--:|--:|\n"
    );
    let [haproxy, ..] = &seen;
    for (peer, turns) in all.iter().zip(&seen) {
        let ratios = turns
            .iter()
            .zip(haproxy)
            .map(|(one, of)| one.cpu_us / of.cpu_us);
        let cells = [
            spread(turns.iter().map(|one| one.cpu_us).collect(), 2),
            spread(ratios.collect(), 2),
            spread(turns.iter().map(|one| one.resident_mb).collect(), 2),
            spread(turns.iter().map(|one| one.per_s).collect(), 2),
        ];
        // Writing to a text does not fail.
        let _ = writeln!(text, "| {peer:?} | {} |", cells.join(" | "));
    }
    Ok(text)
}

fn turn(peer: Peer, peers: &Peers, seconds: u32) -> Result<Seen, TaskError> {
    let server = peers.answering(SERVER_CPU)?;
    let subject = Subject {
        peer,
        hold: Hold::Nothing,
    };
    let gateway = peers.start(subject, server.port())?;
    // Once to warm up.
    load(peers, gateway.port(), 1)?;
    let (before, requests) = (cpu(gateway.pid()), answered(server.port())?);
    load(peers, gateway.port(), seconds)?;
    let used = cpu(gateway.pid()) - before;
    let requests = answered(server.port())?.saturating_sub(requests) as f64;
    Ok(Seen {
        cpu_us: used * 1e6 / requests.max(1.0),
        resident_mb: resident_mb(gateway.pid()),
        per_s: requests / f64::from(seconds),
    })
}

fn cpu(pid: u32) -> f64 {
    let (user, system) = cpu_times(pid);
    user + system
}

/// A closed load without think time, from the server's CPU.
fn load(peers: &Peers, port: u16, seconds: u32) -> Result<(), TaskError> {
    let words = [
        peers.weir.to_string_lossy().into_owned(),
        "run".to_owned(),
        format!("http://127.0.0.1:{port}/"),
        "-c".to_owned(),
        USERS.to_owned(),
        "-d".to_owned(),
        format!("{seconds}s"),
        "--load-cpus".to_owned(),
        SERVER_CPU.to_string(),
        "--json".to_owned(),
        "-".to_owned(),
    ];
    let words = pinned(&words, SERVER_CPU, false);
    let ended = Command::new(&words[0]).args(&words[1..]).output();
    let ended = ended.map_err(|source| TaskError::Start {
        command: words.join(" "),
        source,
    })?;
    // 4: the load generator was the limit, which it is here on purpose.
    if matches!(ended.status.code(), Some(0 | 4)) {
        return Ok(());
    }
    Err(TaskError::Ended {
        command: words.join(" "),
        status: format!(
            "{}\n{}",
            ended.status,
            String::from_utf8_lossy(&ended.stderr)
        ),
    })
}

/// Requests that the server has answered so far.
fn answered(port: u16) -> Result<u64, TaskError> {
    let page = || {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.write_all(b"GET /status HTTP/1.0\r\n\r\n")?;
        let mut page = String::new();
        stream.read_to_string(&mut page)?;
        Ok(page)
    };
    let page = page().map_err(|source| TaskError::Start {
        command: "nginx".to_owned(),
        source,
    })?;
    requests_in(&page).ok_or_else(|| TaskError::Form {
        what: "nginx's status page".to_owned(),
        why: "it has no line with three counts".to_owned(),
    })
}
