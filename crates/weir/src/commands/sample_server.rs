//! `weir sample-server`: the built-in application server.

use clap::Args;
use serde::Serialize;
use weir_record::failed_to;
use weir_sample::SampleError;

use crate::error::ExpectedError;
use crate::{interrupt, output, taken_port};

/// Run the built-in application server until it is stopped.
///
/// A thread-per-request server with the whole funnel: listen backlog, open connections, request
/// queue, worker threads, a pool of database connections, SQLite. Every limit is an option; the
/// admin endpoint changes thread, pool and connection limits while it runs (`PUT
/// /limits?threads=29&pool.db=4`) and shows the true occupancy and wait of every stage
/// (`GET /metrics`).
#[derive(Debug, Args)]
pub(crate) struct SampleServerArguments {
    #[command(flatten)]
    options: weir_sample::Options,
    /// End when standard input closes, so that the server never outlives the program that started
    /// it.
    #[arg(long)]
    with_parent: bool,
}

/// The line that is printed once the server answers.
#[derive(Serialize)]
struct Ready {
    listen: String,
    admin: String,
}

pub(crate) fn run(arguments: &SampleServerArguments) -> Result<u8, ExpectedError> {
    if arguments.with_parent {
        interrupt::with_parent();
    }
    weir_sample::serve(&arguments.options, |addresses| {
        output::json_line(&Ready {
            listen: addresses.listen.to_string(),
            admin: addresses.admin.to_string(),
        });
    })
    .map_err(|error| {
        let holder = match &error {
            SampleError::Listen { address, source } => taken_port::holder(*address, source),
            _ => String::new(),
        };
        ExpectedError::Environment(format!("{}{holder}", failed_to(&error)))
    })?;
    Ok(0)
}
