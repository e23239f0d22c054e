//! `weir target install`: packages into the cache.

use clap::Args;
use weir_shelf::{CATALOGUE, Package, package_named};

use crate::error::ExpectedError;
use crate::{interrupt, output, shelf};

/// Fetch packages into the cache, and check them.
///
/// What Maven fetches is used only if its SHA-256 is the one that Weir knows; of Debian packages
/// apt checks the distribution's signatures. The directory of each package is printed.
#[derive(Debug, Args)]
pub(crate) struct InstallArguments {
    /// Names as `weir target list` shows them.
    #[arg(required = true, value_name = "NAME")]
    names: Vec<String>,
}

pub(crate) fn run(arguments: &InstallArguments) -> Result<u8, ExpectedError> {
    let packages: Vec<&Package> = arguments
        .names
        .iter()
        .map(|name| package_named(name).ok_or_else(|| unknown(name)))
        .collect::<Result<_, _>>()?;
    let interrupted = interrupt::flag()?;
    for package in packages {
        let home = shelf::provide(package, &interrupted)?;
        output::data(&home.display().to_string());
    }
    Ok(0)
}

fn unknown(name: &str) -> ExpectedError {
    let known: Vec<&str> = CATALOGUE.iter().map(|package| package.name).collect();
    ExpectedError::Input(format!(
        "there is no package `{name}`; there are {}",
        known.join(", ")
    ))
}
