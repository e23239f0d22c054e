//! What can be asked of the bench.

use clap::Args;

use crate::bench::load::table::Row;
use crate::bench::load::tools::Peer;

/// Compare what the load engine costs with its peers
#[derive(Debug, Args)]
pub(crate) struct LoadBench {
    /// How often every tool has its turn
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) rounds: u32,
    /// Seconds of each turn
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=600))]
    pub(crate) seconds: u32,
    /// Only this row of the table; may be given several times
    #[arg(long, value_enum, value_name = "ROW")]
    pub(crate) only: Vec<Row>,
    /// Tools to compare with
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        default_value = "wrk,ab,oha,bombardier,hey"
    )]
    pub(crate) peers: Vec<Peer>,
    /// Take the program as it was built before
    #[arg(long)]
    pub(crate) no_build: bool,
}

impl LoadBench {
    /// Whether a row was asked for.
    pub(crate) fn wants(&self, row: Row) -> bool {
        self.only.is_empty() || self.only.contains(&row)
    }
}
