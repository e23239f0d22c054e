//! How exact a cap on the rate is.
//!
//! A server that only notes when requests arrive stands behind each gateway in turn. What was
//! admitted is counted at the server, so that every gateway is read with the same clock.
//!
//! What this cannot tell: what a gateway decided in which nanosecond. A thread that records an
//! arrival late moves it, so that a second at the server may hold one more or less than the gateway
//! let through.

mod arrivals;
mod table;

use std::time::Duration;

use crate::bench::gate::clients::{Load, Phase, poisson};
use crate::bench::gate::peers::{Hold, Peer, Peers, Subject};
use crate::bench::gate::rate_cap::arrivals::Arrivals;
use crate::bench::gate::rate_cap::table::Seen;
use crate::error::TaskError;

/// Clients at once; more than any of the queues holds.
const CLIENTS: usize = 600;
/// A gateway that does not answer within this has lost the request.
const PATIENCE: Duration = Duration::from_secs(20);

/// What is held, and what comes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RateCap {
    pub(crate) seconds: u32,
    pub(crate) rate: u32,
    pub(crate) offered: u32,
}

/// The gateways, in the order of the table.
pub(crate) fn subjects(rate: u32) -> [Subject; 3] {
    [Peer::Weir, Peer::Nginx, Peer::Haproxy].map(|peer| Subject {
        peer,
        hold: Hold::Rate(rate),
    })
}

/// Runs every gateway in turn and gives back the table.
pub(crate) fn play(row: RateCap, peers: &Peers, rounds: u32) -> Result<String, TaskError> {
    let subjects = subjects(row.rate);
    let mut seen = Vec::new();
    for round in 0..rounds {
        let turn = round as usize % subjects.len();
        for subject in subjects[turn..].iter().chain(&subjects[..turn]) {
            let one = turn_of(*subject, peers, row, u64::from(round))?;
            println!("round {}, {}: {}", round + 1, subject.name(), one.line());
            seen.push((*subject, one));
        }
    }
    Ok(table::table(&seen, row.rate, row.offered))
}

fn turn_of(subject: Subject, peers: &Peers, row: RateCap, round: u64) -> Result<Seen, TaskError> {
    let arrivals = Arrivals::start()?;
    let gateway = peers.start(subject, arrivals.port())?;
    let length = Duration::from_secs(row.seconds.into());
    let phase = Phase {
        per_s: f64::from(row.offered),
        length,
    };
    let load = Load {
        port: gateway.port(),
        // Every gateway of a round meets the same arrivals.
        arrivals: poisson("/", &[phase], 11 + round),
        clients: CLIENTS,
        patience: PATIENCE,
        retries: 0,
    };
    let answers = load.send();
    drop(gateway);
    Ok(Seen::of(&arrivals.times(), &answers, length))
}
