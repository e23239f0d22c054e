//! `weir sample-server`: the built-in application server.

use std::io::Read as _;
use std::thread;

use clap::Args;
use serde::Serialize;
use weir_record::failed_to;

use crate::error::ExpectedError;
use crate::output;

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
        thread::spawn(end_with_input);
    }
    weir_sample::serve(&arguments.options, |addresses| {
        output::json_line(&Ready {
            listen: addresses.listen.to_string(),
            admin: addresses.admin.to_string(),
        });
    })
    .map_err(|error| ExpectedError::Environment(failed_to(&error)))?;
    Ok(0)
}

/// Waits until the other end of standard input is closed, then ends this process as SIGTERM would.
fn end_with_input() {
    let mut rest = [0; 256];
    let mut input = std::io::stdin().lock();
    while matches!(input.read(&mut rest), Ok(read) if read > 0) {}
    // The server's own handler cleans up; if the signal cannot be raised, nothing else can be done.
    let _ = signal_hook::low_level::raise(signal_hook::consts::SIGTERM);
}
