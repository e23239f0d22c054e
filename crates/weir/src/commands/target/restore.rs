//! `weir target restore`: what a killed Weir has left.

use clap::Args;
use weir_server::Leftover;

use crate::error::ExpectedError;
use crate::{output, put_back};

/// Put back what a Weir has changed that was killed, or could not put back.
///
/// Files come back byte for byte, settings of running servers get their values back, and processes
/// that were started are ended. Every `tune` and `sweep` does this before it starts. A Weir that
/// runs is not disturbed. What was changed stands in journals in Weir's state directory
/// (`WEIR_STATE`, else `$XDG_STATE_HOME/weir`, else `~/.local/state/weir`).
#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// Forget what cannot be put back, such as a setting of a server that has gone for good.
    #[arg(long)]
    forget: bool,
    /// Change nothing: print what is left changed, a line each. Exit code 1 when there is
    /// something, else 0.
    #[arg(long, conflicts_with = "forget")]
    check: bool,
}

pub(crate) fn run(arguments: &RestoreArguments) -> Result<u8, ExpectedError> {
    if arguments.check {
        let left = put_back::left()?;
        for line in &left {
            output::data(line);
        }
        return Ok(u8::from(!left.is_empty()));
    }
    let leftover = if arguments.forget {
        Leftover::Forget
    } else {
        Leftover::Keep
    };
    let restored = put_back::abandoned(leftover)?;
    if restored.is_empty() {
        output::talk("there is nothing to put back");
    }
    if arguments.forget {
        for failed in &restored.failed {
            output::talk(&format!("  forgotten: {failed}"));
        }
        return Ok(0);
    }
    put_back::tell(&restored).map(|()| 0)
}
