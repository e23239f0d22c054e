//! `cargo xtask bench gate`: how exact a cap on the rate is, beside nginx and haproxy.
//!
//! A server that only notes when requests arrive stands behind each gateway in turn; an open load of Poisson arrivals stands in
//! front. What was admitted is counted at the server, so that every gateway is read with the same clock; waits count from the intended
//! start. Gateways take turns within a round, because the machine changes from minute to minute; the table gives the median of the rounds
//! and the range. The peers are Debian's packages, unpacked below `target/`, not installed.
//!
//! What this cannot tell: what a gateway decided in which nanosecond. A thread that records an arrival late moves it, so that a second at the server
//! may hold one more or less than the gateway let through.

mod arrivals;
mod clients;
mod cpu;
mod peers;
mod table;

use std::fs;
use std::time::Duration;

use clap::Args;

use crate::bench::gate::arrivals::Arrivals;
use crate::bench::gate::peers::{Peer, Peers};
use crate::bench::gate::table::Seen;
use crate::error::TaskError;
use crate::process::{cargo, run};
use crate::workspace::Workspace;

/// Compare the cap on the rate with that of nginx and haproxy
#[derive(Debug, Args)]
pub(crate) struct GateBench {
    /// How often every gateway has its turn
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Seconds of each turn
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(6..=600))]
    seconds: u32,
    /// Requests a second that are let through
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    rate: u32,
    /// Requests a second that come
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    offered: u32,
    /// Only the goal for the CPU: `cpu <= 80 %` at twice the capacity
    #[arg(long)]
    cpu: bool,
    /// Take the program as it was built before, in this profile
    #[arg(long, value_name = "PROFILE")]
    no_build: Option<String>,
}

/// Runs every gateway in turn and prints the table.
pub(crate) fn bench(workspace: &Workspace, options: &GateBench) -> Result<(), TaskError> {
    let target = workspace.target_directory()?;
    let directory = target.join("bench-gate");
    fs::create_dir_all(&directory).map_err(|source| TaskError::File {
        doing: "write",
        path: directory.clone(),
        source,
    })?;
    if options.no_build.is_none() {
        let build = ["build", "--release", "--package", "weir"];
        run(&mut cargo(&workspace.root, &build))?;
    }
    let profile = options.no_build.as_deref().unwrap_or("release");
    let weir = target.join(profile).join("weir");
    if options.cpu {
        return cpu::bench(&directory, &weir, options.rounds);
    }
    let peers = Peers::provide(&directory, weir)?;
    let mut seen = Vec::new();
    for round in 0..options.rounds {
        let turn = round as usize % Peer::ALL.len();
        for peer in Peer::ALL[turn..].iter().chain(&Peer::ALL[..turn]) {
            let one = turn_of(*peer, &peers, options, u64::from(round))?;
            println!("round {}: {}", round + 1, one.line());
            seen.push((*peer, one));
        }
    }
    println!("\n{}", table::table(&seen, options.rate, options.offered));
    Ok(())
}

fn turn_of(peer: Peer, peers: &Peers, options: &GateBench, round: u64) -> Result<Seen, TaskError> {
    let arrivals = Arrivals::start()?;
    let gateway = peers.start(peer, arrivals.port(), options.rate)?;
    let length = Duration::from_secs(options.seconds.into());
    let load = clients::Load {
        port: gateway.port(),
        per_s: f64::from(options.offered),
        length,
        // Every gateway of a round meets the same arrivals.
        seed: 11 + round,
    };
    let answers = load.send();
    drop(gateway);
    Ok(Seen::of(&arrivals.times(), &answers, length))
}
