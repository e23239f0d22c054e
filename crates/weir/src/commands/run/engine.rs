//! `--engine auto`: Weir itself where it runs all of a plan, else a JMeter.

use std::path::Path;

use weir_script::Properties;

use super::files;
use super::grammar::{EngineName, PlanArguments};
use crate::error::ExpectedError;
use crate::{output, plans};

/// The engine that runs a plan; a line says which one was chosen, and what decided it.
pub(super) fn chosen(
    path: &Path,
    arguments: &PlanArguments,
    properties: &Properties,
) -> Result<EngineName, ExpectedError> {
    if arguments.engine != EngineName::Auto {
        return Ok(arguments.engine);
    }
    let unsupported = plans::unsupported(path, files::reach(path, arguments), properties)?;
    let Some(first) = unsupported.first() else {
        output::talk("engine: Weir itself, which runs all of the plan");
        return Ok(EngineName::Native);
    };
    let others = match unsupported.len() - 1 {
        0 => String::new(),
        others => format!("; {others} more, which weir check names"),
    };
    output::talk(&format!(
        "engine: JMeter, because of what Weir does not run itself: {first}{others}"
    ));
    Ok(EngineName::Jmeter)
}
