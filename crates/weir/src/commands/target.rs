//! `weir target`: the servers that Weir can start.

mod install;
mod list;
mod restore;
mod show;

use clap::{Args, Subcommand};

use crate::error::ExpectedError;

/// The servers that Weir can start: what is in its cache, and getting it there.
///
/// A study fetches what it needs by itself; `install` does so beforehand. Everything is unpacked
/// below Weir's cache (`WEIR_CACHE`, else `$XDG_CACHE_HOME/weir`, else `~/.cache/weir`), never into
/// a system folder; removing a directory there removes the package.
#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    #[command(subcommand)]
    command: TargetCommand,
}

#[derive(Debug, Subcommand)]
enum TargetCommand {
    /// List what can be had, and what of it is in the cache.
    List,
    /// Fetch packages into the cache, and check them.
    Install(install::InstallArguments),
    /// Show the funnel of a kind of server.
    Show(show::ShowArguments),
    /// Put back what a Weir has changed that was killed.
    Restore(restore::RestoreArguments),
}

pub(crate) fn run(arguments: &TargetArguments) -> Result<u8, ExpectedError> {
    match &arguments.command {
        TargetCommand::List => list::run(),
        TargetCommand::Install(arguments) => install::run(arguments),
        TargetCommand::Show(arguments) => show::run(arguments),
        TargetCommand::Restore(arguments) => restore::run(arguments),
    }
}
