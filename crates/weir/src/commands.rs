//! One file per command: it resolves what was typed into settings, wires the crates, and prints.

pub(crate) mod check;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod explain;
pub(crate) mod gate;
pub(crate) mod init;
pub(crate) mod model;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod sample_server;
pub(crate) mod simulate;
pub(crate) mod size;
mod studies;
pub(crate) mod sweep;
pub(crate) mod target;
pub(crate) mod tune;
pub(crate) mod watch;

use crate::cli::Command;
use crate::error::ExpectedError;

/// Runs a command; the number is the program's exit code.
pub(crate) fn run(command: Command) -> Result<u8, ExpectedError> {
    match command {
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Init(arguments) => init::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Run(typed) => run::run(&typed.rest),
        Command::Check(arguments) => check::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Watch(arguments) => watch::run(&arguments),
        Command::Report(arguments) => report::run(&arguments),
        Command::Model(arguments) => model::run(&arguments),
        Command::Size(arguments) => size::run(&arguments),
        Command::Target(arguments) => target::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Gate(arguments) => gate::run(&arguments),
        Command::SampleServer(arguments) => sample_server::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => completions::man(&arguments),
    }
}
