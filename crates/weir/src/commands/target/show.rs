//! `weir target show`: the funnel of a kind of server.

use clap::Args;
use weir_target::{KINDS, Kind, kind_named};

use crate::error::ExpectedError;
use crate::output;

/// Show the funnel of a kind of server: its stages, outermost first, with the server's own word for
/// each limit, what it tells, what becomes of who finds the stage full, and how the limit is set.
#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// A kind as it stands in a study: `[target.KIND]`.
    #[arg(value_name = "KIND")]
    kind: String,
}

pub(crate) fn run(arguments: &ShowArguments) -> Result<u8, ExpectedError> {
    let kind = kind_named(&arguments.kind).ok_or_else(|| {
        let known: Vec<&str> = KINDS.iter().map(|kind| kind.name).collect();
        ExpectedError::Input(format!(
            "there is no kind of server `{}` to show; there are {}",
            arguments.kind,
            known.join(", ")
        ))
    })?;
    output::data(&text(kind));
    Ok(0)
}

fn text(kind: &Kind) -> String {
    let mut lines = vec![format!("{}: {}", kind.name, kind.what), String::new()];
    for stage in kind.stages {
        let limit = match stage.limit {
            "" => "no limit of its own",
            word => word,
        };
        lines.push(stage.stage.to_owned());
        lines.push(format!("  limit      {limit}"));
        lines.push(format!("  tells      {}", stage.tells));
        lines.push(format!("  when full  {}", stage.when_full));
        lines.push(format!("  set        {}", stage.set));
    }
    lines.push(String::new());
    lines.push(format!("figures: {}", kind.figures));
    lines.join("\n")
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn a_funnel_is_shown_from_the_outside_to_the_inside() {
        let text = text(kind_named("liberty").unwrap());
        let at = |part: &str| text.find(part).unwrap();
        assert!(at("maxOpenConnections") < at("maxThreads"), "{text}");
        assert!(at("maxThreads") < at("maxPoolSize"), "{text}");
    }
}
