//! `weir target show`: the funnel of a kind of server.

use clap::Args;
use weir_server::{KINDS, Kind, StageInWords, kind_named};

use crate::error::ExpectedError;
use crate::output;

/// Show a kind of server: its stages, outermost first, with the server's own word for each limit,
/// what is known of it, what becomes of who finds the stage full, and how the limit is set; then
/// where the server comes from, how it is started, watched and stopped, and how it is put back.
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
    output::data_lines(&text(kind));
    Ok(0)
}

fn text(kind: &Kind) -> String {
    let mut lines = vec![format!("{}: {}", kind.name, kind.what), String::new()];
    for stage in kind.stages {
        lines.push(stage.stage.to_owned());
        lines.push(format!("  limit      {}", limit(stage)));
        lines.push(format!("  tells      {}", stage.tells));
        lines.push(format!("  when full  {}", stage.when_full_words));
        lines.push(format!("  set        {}", stage.set));
    }
    lines.push(String::new());
    for (word, says) in [
        ("install", kind.install),
        ("start", kind.start),
        ("watch", kind.watch),
        ("stop", kind.stop),
        ("put back", kind.put_back),
    ] {
        lines.push(format!("{word:<9} {says}"));
    }
    lines.join("\n")
}

fn limit(stage: &StageInWords) -> String {
    match (stage.limit, stage.limit_note) {
        ("", "") => "no limit of its own".to_owned(),
        ("", note) => note.to_owned(),
        (word, "") => word.to_owned(),
        (word, note) => format!("{word} ({note})"),
    }
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
        assert!(at("maxPoolSize") < at("install  "), "{text}");
        assert!(text.contains("  limit      maxOpenConnections (of tcpOptions)\n"));
    }

    #[test]
    fn every_kind_is_shown_whole() {
        for kind in KINDS {
            let text = text(kind);
            for part in ["when full", "install", "start", "watch", "stop", "put back"] {
                assert!(text.contains(part), "{text}");
            }
        }
    }
}
