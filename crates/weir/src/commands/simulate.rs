//! `weir simulate`: what a network of servers would do, and cases with known answers.

pub(crate) mod network;
mod oracle;

use std::path::PathBuf;

use clap::Args;

use crate::error::ExpectedError;

/// Simulate a network of servers, users and limits.
///
/// Plays the network of the file event by event, several times over with different random numbers,
/// on all CPUs, and prints throughput, response times, utilization and waits with their intervals.
/// The same file and seed give the same figures on every machine. The seconds of the first
/// replications are kept as a run, which `weir report` makes a page of.
#[derive(Debug, Args)]
pub(crate) struct SimulateArguments {
    /// The network (schema weir/network/1).
    #[arg(value_name = "NET.toml", required_unless_present = "oracle")]
    network: Option<PathBuf>,
    /// Instead of a network, take a file of cases with known answers (JSON): each is solved by its
    /// formula or exact chain and, where events can be played, simulated until the interval is
    /// small against its tolerance; `--json` gets every case with what was expected, solved
    /// and simulated.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["network", "replications", "seed", "seconds"])]
    oracle: Option<PathBuf>,
    /// How often to play it, instead of what the file says; intervals need at least 2.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=10_000))]
    replications: Option<u32>,
    /// Seed of the first replication, instead of what the file says.
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Seconds that count in each replication, instead of what the file says.
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u32).range(1..=31_622_400))]
    seconds: Option<u32>,
    /// Write the figures as JSON to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where runs lie.
    #[arg(long, value_name = "DIR", default_value = weir_record::RUNS)]
    runs: PathBuf,
}

pub(crate) fn run(arguments: &SimulateArguments) -> Result<u8, ExpectedError> {
    match (&arguments.oracle, &arguments.network) {
        (Some(cases), _) => oracle::run(cases, arguments.json.as_deref()),
        (None, Some(network)) => network::run(network, arguments),
        (None, None) => unreachable!("the grammar requires one of the two"),
    }
}
