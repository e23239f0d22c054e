//! What can be typed.
//!
//! `weir run` hands on what follows it as it is: it has two grammars, see
//! [`crate::commands::run::grammar`].

#[cfg(test)]
mod documented;

use std::ffi::OsString;

use clap::{CommandFactory as _, Parser, Subcommand, ValueHint};

use crate::commands::run::grammar::UrlArguments;
use crate::commands::{
    check::CheckArguments, compare::CompareArguments, completions::CompletionsArguments,
    completions::ManArguments, explain::ExplainArguments, gate::GateArguments, init::InitArguments,
    model::ModelArguments, report::ReportArguments, sample_server::SampleServerArguments,
    simulate::SimulateArguments, size::SizeArguments, sweep::SweepArguments,
    target::TargetArguments, tune::TuneArguments, watch::WatchArguments,
};
use crate::output;

/// Finds how much concurrency a web application server can take, sets it, and holds it there.
#[derive(Debug, Parser)]
#[command(name = "weir", version, about, max_term_width = 100)]
#[command(after_long_help = EXIT_CODES)]
struct Weir {
    #[command(subcommand)]
    command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 answered; 1 answered, requirement not met; 2 bad input; 3 environment (target does \
not start, port taken, no rights, disk full); 4 measurement not valid (load generator saturated, machine too noisy); \
130 interrupted, partial results saved, target put back.";

/// One command and what was typed for it.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Find the answer of a study, derive every stage's setting, check that it holds.
    Tune(TuneArguments),
    /// Look at a running server and write a commented study for it.
    Init(InitArguments),
    /// Run a designed experiment and print its table.
    Sweep(SweepArguments),
    /// Run one load test: a JMeter plan, or a URL.
    #[command(disable_help_flag = true)]
    Run(RunTyped),
    /// Say everything that is wrong or unsupported in a plan, a study, a network or a gateway's
    /// file; send nothing.
    Check(CheckArguments),
    /// Show the signals of a target live, without load, and keep them as a run.
    Watch(WatchArguments),
    /// Say what differs between two runs, by how much, and how sure that is.
    Compare(CompareArguments),
    /// Say why a run was as slow as it was, or take in what a load test without Weir has left.
    Explain(Box<ExplainArguments>),
    /// Write the report of a stored run again.
    Report(ReportArguments),
    /// Fit a model to the trials of a run, show how well it predicts, and predict what was not
    /// measured.
    Model(ModelArguments),
    /// Say how many servers like the one of a run it takes for so many users.
    Size(SizeArguments),
    /// The servers that Weir can start: what is in its cache, and getting it there.
    Target(TargetArguments),
    /// Simulate a network of servers, users and limits.
    Simulate(SimulateArguments),
    /// Hold the flow: a gateway in front of a server, with caps, a bounded queue and a page that
    /// shows it.
    Gate(GateArguments),
    /// Run the built-in application server.
    SampleServer(SampleServerArguments),
    /// Print what a shell needs to complete commands and options.
    Completions(CompletionsArguments),
    /// Print the manual page, or write those of all commands.
    Man(ManArguments),
}

/// `weir run` as typed: its two grammars are told apart and parsed by the command itself.
#[derive(Debug, clap::Args)]
pub(crate) struct RunTyped {
    /// `PLAN.jmx …` as typed for JMeter, or `URL …` as typed for ab and wrk.
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PLAN.jmx | URL"
    )]
    pub(crate) rest: Vec<OsString>,
}

/// Parses the command line; wrong ones and `--help` end the program as clap does.
pub(crate) fn parse() -> Command {
    let words: Vec<OsString> = std::env::args_os().collect();
    // `weir run` has its help itself.
    if let [_, help, run] = words.as_slice()
        && help == "help"
        && run == "run"
    {
        let rest = vec!["--help".into()];
        return Command::Run(RunTyped { rest });
    }
    parsed::<Weir>(words).command
}

/// The whole command line with the options of `weir run URL`, which parses its own: for completions
/// and manual pages.
pub(crate) fn described() -> clap::Command {
    Weir::command().mut_subcommand("run", |run| {
        let about = run.get_about().cloned().unwrap_or_default();
        let plan_or_url = |arg: clap::Arg| arg.value_hint(ValueHint::FilePath);
        UrlArguments::command()
            .name("run")
            .about(about)
            .mut_arg("url", plan_or_url)
    })
}

/// Parses words as clap does, which repeats what was typed: where that has something in it that a
/// terminal would obey, it is made visible.
pub(crate) fn parsed<P: Parser>(words: impl IntoIterator<Item = OsString>) -> P {
    let words: Vec<OsString> = words.into_iter().collect();
    P::try_parse_from(&words).unwrap_or_else(|error| {
        let mut words = words.iter();
        if !words.any(|word| word.to_string_lossy().contains(weir_shown::is_hidden)) {
            error.exit();
        }
        output::talk_lines(&output::indented(&error.render().to_string()));
        #[expect(clippy::exit, reason = "clap ends the program here, too")]
        std::process::exit(error.exit_code());
    })
}
