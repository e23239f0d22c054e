//! `cargo xtask bench gate`: the gateway on sockets, beside nginx and haproxy.
//!
//! Gateways take turns within a round, because the machine changes from minute to minute; the
//! tables give the median of the rounds and the range. Loads are open: waits count from the
//! intended start. The peers are Debian's packages, unpacked below `target/`, not installed. Load
//! and gateway have one CPU, the server another.
//!
//! What two CPUs do not allow: load, gateway and server apart. In the rows about overload the load
//! takes CPU time from the gateway, a tenth at most at these rates; in the row without a limit it
//! takes it from the server, and the gateway has its CPU alone.

pub(crate) mod backend;
mod classes;
pub(crate) mod clients;
mod cpu;
mod drift;
pub(crate) mod figures;
mod halves;
mod memory;
mod mix;
mod no_limit;
mod overload;
mod pauses;
pub(crate) mod peers;
mod rate_cap;
mod scenario;
pub(crate) mod status;
mod storm;

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::bench::gate::backend::Given;
use crate::bench::gate::peers::Peers;
use crate::bench::gate::rate_cap::RateCap;
use crate::error::TaskError;
use crate::process::{cargo, run};
use crate::workspace::Workspace;

/// Where gateways run, and what sends to them.
pub(crate) const GATE_CPU: u32 = 0;
/// Where the server behind them runs.
pub(crate) const SERVER_CPU: u32 = 1;
/// Seconds of a turn, where nothing else is asked for.
const SECONDS: u32 = 20;

/// Compare the gateway with nginx and haproxy
#[derive(Debug, Args)]
pub(crate) struct GateBench {
    /// How often every gateway has its turn
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only this table; may be given several times
    #[arg(long, value_enum, value_name = "ROW")]
    only: Vec<Row>,
    /// Seconds of each turn of `rate-cap`, `no-limit` (20 otherwise) and `drift` (600 otherwise)
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=3_600))]
    seconds: Option<u32>,
    /// Requests a second that are let through in `rate-cap`
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=5_000))]
    rate: u32,
    /// Requests a second that come in `rate-cap`
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    offered: u32,
    /// Take the program as it was built before, in this profile
    #[arg(long, value_name = "PROFILE")]
    no_build: Option<String>,
    /// Another server than the sample server: its process. It answers what java/stress does, and
    /// is kept to a CPU already
    #[arg(long, value_name = "PID", requires = "server_port")]
    server_pid: Option<u32>,
    /// Where that server listens, on 127.0.0.1
    #[arg(long, value_name = "PORT", requires = "server_pid")]
    server_port: Option<u16>,
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Row {
    /// How exact a cap on the rate is
    RateCap,
    /// CPU time a request and memory when nothing is held
    NoLimit,
    /// Memory of connections that are idle or queued
    Memory,
    /// A step to twice the capacity
    #[value(name = "overload-2x")]
    Twice,
    /// A step to five times the capacity
    #[value(name = "overload-5x")]
    FiveTimes,
    /// As `FiveTimes`, with work of which a tenth of the requests makes most
    Mix,
    /// Half of the capacity goes and comes back
    Halves,
    /// A server that stops now and then
    Pauses,
    /// Light requests with a promise beside heavy ones
    Classes,
    /// Clients that send again what was refused
    Storm,
    /// How well a goal for the server's CPU holds at twice the capacity
    Cpu,
    /// Whether the limit stays where it is at 120 % of the capacity for minutes, and at a request a
    /// second
    Drift,
}

impl GateBench {
    fn given(&self) -> Option<Given> {
        let (pid, port) = self.server_pid.zip(self.server_port)?;
        Some(Given { port, pid })
    }
}

impl Row {
    /// Whether it needs nothing that only the servers of this bench have.
    const fn is_for_any_server(self) -> bool {
        !matches!(
            self,
            Self::RateCap | Self::NoLimit | Self::Memory | Self::Classes
        )
    }
}

/// Plays the rows that are asked for and prints their tables.
pub(crate) fn bench(workspace: &Workspace, options: &GateBench) -> Result<(), TaskError> {
    let mut peers = provide(workspace, "bench-gate", options.no_build.as_deref())?;
    peers.server = options.given();
    peers.unpack()?;
    let mut tables = Vec::new();
    for row in Row::value_variants() {
        let is_wanted = match options.only.as_slice() {
            [] => peers.server.is_none() || row.is_for_any_server(),
            only => only.contains(row),
        };
        if is_wanted {
            tables.push(play(*row, &peers, options)?);
        }
    }
    println!("\n{}", tables.join("\n"));
    Ok(())
}

fn play(row: Row, peers: &Peers, options: &GateBench) -> Result<String, TaskError> {
    if peers.server.is_some() && !row.is_for_any_server() {
        let name = row.to_possible_value();
        let name = name.as_ref().map_or("this row", |value| value.get_name());
        return Err(TaskError::Checks(format!(
            "{name} needs a server of its own; leave out --server-pid and --server-port for it"
        )));
    }
    let rounds = options.rounds;
    let seconds = options.seconds.unwrap_or(SECONDS);
    // The cap on the rate is read where requests arrive, by a server in this program; that is done
    // from the other CPU.
    stay_on(if row == Row::RateCap {
        SERVER_CPU
    } else {
        GATE_CPU
    });
    match row {
        Row::RateCap => {
            let row = RateCap {
                // The edges are left out.
                seconds: seconds.max(6),
                rate: options.rate,
                offered: options.offered,
            };
            rate_cap::play(row, peers, rounds)
        }
        Row::NoLimit => no_limit::play(peers, rounds, seconds),
        Row::Memory => memory::play(peers, rounds),
        Row::Twice => overload::TWICE.play(peers, rounds),
        Row::FiveTimes => overload::FIVE_TIMES.play(peers, rounds),
        Row::Mix => mix::MIX.play(peers, rounds),
        Row::Halves => halves::HALVES.play(peers, rounds),
        Row::Pauses => pauses::PAUSES.play(peers, rounds),
        Row::Classes => classes::CLASSES.play(peers, rounds),
        Row::Storm => storm::STORM.play(peers, rounds),
        Row::Cpu => cpu::play(peers, rounds),
        Row::Drift => {
            let seconds = options.seconds.unwrap_or(drift::SECONDS);
            drift::play(peers, rounds, seconds)
        }
    }
}

/// Builds the program, unless it was built before.
pub(crate) fn provide(
    workspace: &Workspace,
    name: &str,
    no_build: Option<&str>,
) -> Result<Peers, TaskError> {
    let target = workspace.target_directory()?;
    let directory = target.join(name);
    create(&directory)?;
    if no_build.is_none() {
        let build = ["build", "--release", "--package", "weir"];
        run(&mut cargo(&workspace.root, &build))?;
    }
    let weir: PathBuf = target.join(no_build.unwrap_or("release")).join("weir");
    Ok(Peers::new(directory, weir))
}

fn create(directory: &Path) -> Result<(), TaskError> {
    fs::create_dir_all(directory).map_err(|source| TaskError::File {
        doing: "write",
        path: directory.to_owned(),
        source,
    })
}

/// Keeps this program, and so its clients, to a CPU. Where that is not allowed, they run where they
/// may.
fn stay_on(cpu: u32) {
    let mut cpus = CpuSet::new();
    cpus.set(cpu as usize);
    let _ = sched_setaffinity(None, &cpus);
}
