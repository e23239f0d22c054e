//! `weir completions` and `weir man`: what shells and `man` are told of the command line.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use clap_complete::Shell;
use clap_mangen::Man;

use crate::cli;
use crate::error::{ExpectedError, environment};

/// The program as it is typed.
const PROGRAM: &str = "weir";

/// Print what a shell needs to complete Weir's commands and options.
///
/// For bash: `weir completions bash > ~/.local/share/bash-completion/completions/weir`.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Print the manual page, or write those of all commands.
///
/// Read it with `weir man | man -l -`.
#[derive(Debug, Args)]
pub(crate) struct ManArguments {
    /// Write the page of each command into this folder: `weir.1`, `weir-tune.1` …
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<u8, ExpectedError> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut cli::described(), PROGRAM, &mut text);
    print(&text)?;
    Ok(0)
}

pub(crate) fn man(arguments: &ManArguments) -> Result<u8, ExpectedError> {
    let command = cli::described();
    let Some(folder) = &arguments.out else {
        print(&page(command)?)?;
        return Ok(0);
    };
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    write_pages(&command, PROGRAM, folder)?;
    Ok(0)
}

/// The page of a command, then those of the commands below it.
fn write_pages(command: &clap::Command, name: &str, folder: &Path) -> Result<(), ExpectedError> {
    let path = folder.join(format!("{name}.1"));
    let of_command = command.clone().display_name(name.to_owned());
    fs::write(&path, page(of_command)?).map_err(|error| cannot_write(&path, &error))?;
    for below in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        write_pages(below, &format!("{name}-{}", below.get_name()), folder)?;
    }
    Ok(())
}

fn page(command: clap::Command) -> Result<Vec<u8>, ExpectedError> {
    let mut text = Vec::new();
    let rendered = Man::new(command).render(&mut text);
    rendered.map_err(|error| environment(&format!("make the manual page: {error}")))?;
    Ok(text)
}

/// To a reader that has gone, as `head`, nothing more is said.
fn print(text: &[u8]) -> Result<(), ExpectedError> {
    match io::stdout().lock().write_all(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(environment(&format!("write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> ExpectedError {
    environment(&format!("write `{}`: {error}", path.display()))
}
