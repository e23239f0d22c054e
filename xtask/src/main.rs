//! Development tasks: what continuous integration runs and what a developer runs.
//!
//! `cargo xtask test` builds and runs every test; `cargo xtask ci` checks everything else. Tooling
//! is Rust rather than shell so that it works the same everywhere and can be tested itself.
//!
//! A task prints what it does and ends with one line that says how it went; the exit code is 0 only
//! if all of it went well.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a development task talks to the person who started it"
)]

mod advisories;
mod bench;
mod ci;
mod compare_jmeter;
mod error;
mod fuzz;
mod generate;
mod lock_file;
mod needs;
mod process;
mod release;
mod steps;
mod tally;
mod test;
mod tidy;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::TaskError;
use crate::steps::Steps;
use crate::workspace::Workspace;

/// Development tasks of Weir.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct CommandLine {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Run every test: unit and integration tests, then the system profile
    ///
    /// The system profile drives the real program and a real Chromium. What it needs is installed
    /// with apt-get when that is possible, else named.
    Test {
        /// Leave the system profile out
        #[arg(long)]
        fast: bool,
    },
    /// Check formatting, lints, structure, generated files, documentation and dependencies
    Ci,
    /// Do all that continuous integration does: `ci`, `fuzz`, then `test`, and say where the time
    /// went
    All {
        /// How long inputs are made by chance, for each target
        #[arg(long, default_value_t = 5)]
        fuzz_seconds: u64,
    },
    /// Check the structure: crate edges, the crate table, files
    Tidy,
    /// Write the generated files: schemas and reference pages
    Generate,
    /// Give the parsers inputs made by chance
    Fuzz {
        /// How long, for each target
        #[arg(long, default_value_t = 600)]
        seconds: u64,
    },
    /// Run plans made by chance in Weir and in a real JMeter, and show where the two differ
    ///
    /// Each plan has forty thread groups of elements put together by chance. Where requests or rows
    /// differ, the group is made smaller for as long as it differs, and kept as a file.
    CompareJmeter {
        /// How long plans are made
        #[arg(long, default_value_t = 600)]
        seconds: u64,
        /// The number of the first plan; the same number makes the same plan
        #[arg(long, default_value_t = 0)]
        first: u64,
    },
    Advisories(advisories::AdvisoriesOptions),
    Release(release::ReleaseOptions),
    /// Run a long measurement; the machine should have nothing else to do
    #[command(subcommand)]
    Bench(Bench),
}

#[derive(Subcommand)]
enum Bench {
    /// Print how Weir's limit does beside others in overload, pauses, retries, on the simulator
    Limit {
        /// Only one of the scenarios: step-2x, step-5x, mix, half, slices, pauses, stops, spells,
        /// classes, cpu, p99, storm, cold, blind, late, pool, sixteen, single or drift
        #[arg(default_value = "all")]
        scenario: String,
        /// How often each is played
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        seeds: u32,
    },
    Explain(bench::explain::ExplainBench),
    FirstHour(bench::first_hour::FirstHourBench),
    Gate(bench::gate::GateBench),
    Load(bench::load::LoadBench),
    /// Print how right the searches are and what they cost, next to bisection, sweeps, grids and
    /// random search
    Search {
        /// Only one of the tables
        #[arg(value_parser = ["largest", "outside", "rate", "best", "matters"])]
        table: Option<String>,
        /// The first seed; the tables in the documentation begin at 0
        #[arg(long, default_value_t = 0)]
        first_seed: u64,
    },
    Simulate(bench::simulate::SimulateBench),
    Soak(bench::soak::SoakBench),
    /// Print how often the intervals and comparisons of the statistics crate are right
    Statistics,
    /// Compare the answers of `weir tune` with exact closed MVA
    Tune {
        /// How often to tune
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
        runs: u32,
    },
}

fn main() -> ExitCode {
    let task = CommandLine::parse().task;
    match perform(&task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("failed to {}", error::chain(&error));
            ExitCode::FAILURE
        }
    }
}

fn perform(task: &Task) -> Result<(), TaskError> {
    let workspace = Workspace::read()?;
    let steps = &mut Steps::begin();
    match task {
        Task::Test { fast: true } => test::fast(&workspace, steps),
        Task::Test { fast: false } => test::everything(&workspace, steps),
        Task::Ci => ci::check(&workspace, steps),
        Task::All { fuzz_seconds } => {
            ci::check(&workspace, steps)?;
            fuzz::run(&workspace, *fuzz_seconds, steps)?;
            // Last, so that its closing line "N passed, N failed" is the last line of all.
            test::everything(&workspace, steps)
        }
        Task::Tidy => tidy::check(&workspace),
        Task::Fuzz { seconds } => fuzz::run(&workspace, *seconds, steps),
        Task::CompareJmeter { seconds, first } => compare_jmeter::run(&workspace, *seconds, *first),
        Task::Generate => generate::write(&workspace),
        Task::Advisories(options) => advisories::run(&workspace, options),
        Task::Release(options) => release::release(&workspace, options),
        Task::Bench(Bench::Limit { scenario, seeds }) => {
            bench::limit::bench(&workspace, scenario, *seeds)
        }
        Task::Bench(Bench::Explain(options)) => bench::explain::bench(&workspace, options),
        Task::Bench(Bench::FirstHour(options)) => bench::first_hour::bench(&workspace, options),
        Task::Bench(Bench::Gate(options)) => bench::gate::bench(&workspace, options),
        Task::Bench(Bench::Load(options)) => bench::load::bench(&workspace, options),
        Task::Bench(Bench::Search { table, first_seed }) => {
            bench::search::bench(&workspace, table.as_deref(), *first_seed)
        }
        Task::Bench(Bench::Simulate(options)) => bench::simulate::bench(&workspace, options),
        Task::Bench(Bench::Soak(options)) => bench::soak::bench(&workspace, options),
        Task::Bench(Bench::Statistics) => bench::statistics::bench(&workspace),
        Task::Bench(Bench::Tune { runs }) => bench::tune::bench(&workspace, *runs),
    }
}
