//! `cargo xtask bench soak`: the gateway for half an hour at 120 % of what its servers can do,
//! while all goes wrong that does in production.
//!
//! Each request takes 20 ms of a server and hardly any CPU time, so that other work of the machine
//! changes little: the capacity is the limit of the gateway divided by that time. Servers are child
//! processes; every few seconds one is killed and started again on its port, or hangs. Clients
//! leave before their answer, or read slowly. The gateway's file is changed and read again, and in
//! the first quarter one gateway takes over from another. Then it is checked that nothing leaks,
//! that no slot is stuck, and that every request that was sent has got an answer.

mod gates;
mod guests;
mod troubles;
mod verdict;
mod watch;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;

use crate::bench::gate::backend::Backend;
use crate::bench::gate::clients::{Load, Phase, poisson};
use crate::bench::gate::{SERVER_CPU, provide};
use crate::bench::soak::gates::{CONCURRENCY, Gates};
use crate::bench::soak::verdict::{Soaked, check};
use crate::bench::soak::watch::Watch;
use crate::error::TaskError;
use crate::workspace::Workspace;

/// Servers behind the gateway.
const SERVERS: usize = 3;
/// A request that sleeps for so long in its server, and little else.
const PATH: &str = "/heavy?walks=1&pause-ms=20";
const SERVICE_S: f64 = 0.020;
/// What of the capacity is asked for.
const LOAD: f64 = 1.2;
/// More than ever wait at once.
const CLIENTS: usize = 200;
/// A request without an answer after this never gets one: no time-out of the gateway is as long.
const PATIENCE: Duration = Duration::from_secs(60);
/// Clients at once that read slowly.
const SLOW: u64 = 2;
/// After the load, requests that run may end.
const SETTLES: Duration = Duration::from_secs(10);

/// Hold 120 % of the capacity for long while servers, clients and the gateway itself go wrong, and
/// look for leaks and stuck slots
#[derive(Debug, Args)]
pub(crate) struct SoakBench {
    /// How long
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1440))]
    minutes: u32,
    /// Seed of arrivals and of what goes wrong
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Take the program as it was built before, in this profile
    #[arg(long, value_name = "PROFILE")]
    no_build: Option<String>,
}

/// Soaks the gateway and says what was found; an error if anything was.
pub(crate) fn bench(workspace: &Workspace, options: &SoakBench) -> Result<(), TaskError> {
    let peers = provide(workspace, "bench-soak", options.no_build.as_deref())?;
    let mut servers = Vec::new();
    for _ in 0..SERVERS {
        servers.push(Backend::start(&peers, SERVER_CPU, None)?);
    }
    let pid = AtomicU32::new(0);
    let gates = Gates::start(&peers, &servers, &pid)?;
    let (port, admin) = (gates.port, gates.admin);
    let length = Duration::from_secs(u64::from(options.minutes) * 60);
    let per_s = LOAD * f64::from(CONCURRENCY) / SERVICE_S;
    println!(
        "{} minutes at {per_s:.0}/s in front of {SERVERS} servers, seed {}",
        options.minutes, options.seed
    );
    let phase = Phase { per_s, length };
    let load = Load {
        port,
        arrivals: poisson(PATH, &[phase], options.seed),
        clients: CLIENTS,
        patience: PATIENCE,
        retries: 0,
    };
    let sent = load.arrivals.len();
    let (seed, ends, ended) = (options.seed, AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let servers = scope.spawn(|| troubles::of_servers(&peers, &mut servers, seed, &ends));
        let gates = scope.spawn(|| troubles::of_gates(gates, length / 4, seed, &ends));
        let leaving = scope.spawn(|| guests::leave(port, seed, &ends));
        let slow: Vec<_> = (0..SLOW)
            .map(|one| {
                scope.spawn({
                    let ends = &ends;
                    move || guests::read_slowly(port, seed + one, ends)
                })
            })
            .collect();
        let watching = scope.spawn(|| Watch::until(&ended, &pid, admin));
        let answers = load.send();
        ends.store(true, Ordering::Relaxed);
        let mut guests = leaving.join().expect("a client that leaves does not panic");
        for slow in slow {
            guests.slow += slow.join().expect("a slow reader does not panic").slow;
        }
        let troubles = servers.join().expect("what goes wrong does not panic")?;
        let gates = gates.join().expect("what goes wrong does not panic")?;
        thread::sleep(SETTLES);
        ended.store(true, Ordering::Relaxed);
        let watch = watching.join().expect("watching does not panic");
        let reloads = gates.reloads();
        check(&Soaked {
            sent,
            answers,
            guests,
            troubles,
            reloads,
            watch,
            gates: gates.end()?,
        })
    })
}
