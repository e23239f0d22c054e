//! Weir: finds how much concurrency a web application server can take, sets it, and holds it there.
//!
//! The whole program in a page: parse what was typed, run one command, map what happened to an
//! exit code. Each command is a file of [`commands`]; they resolve what was typed into the settings
//! of the crates below, wire those together, and print.

mod answering;
mod apps;
mod cli;
mod commands;
mod commands_of;
mod configuration;
mod error;
mod far;
mod for_others;
mod hosts;
mod intake;
mod interrupt;
mod jmeter;
mod job;
mod output;
mod places;
mod plan_files;
mod plan_reach;
mod plans;
mod progress;
mod put_back;
mod secrets;
mod shelf;
mod stored;
mod taken_port;
mod targets;
mod url_plan;
mod user_configuration;

use std::process::ExitCode;

fn main() -> ExitCode {
    match commands::run(cli::parse()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::tell_error(&error);
            ExitCode::from(error.exit_code())
        }
    }
}
